"""Runs the pinned CDK command line on the packaged Node, installing it first where it is missing.

`python -m infra.cdk deploy --all -c dreaming:stage=dev`, or `python -m infra.cdk install` alone.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from infra.node import packaged_node
from infra.paths import ROOT

FOLDER = ROOT / "infra"
_COMMAND = FOLDER / "node_modules" / "aws-cdk" / "bin" / "cdk"
_INSTALLED = FOLDER / "node_modules" / ".package-lock.json"
_LOCK = FOLDER / "package-lock.json"


def install(node: Path) -> None:
    """Install what package-lock.json pins, unless that is what is there; raises `CalledProcessError`."""
    if _INSTALLED.is_file() and _INSTALLED.stat().st_mtime >= _LOCK.stat().st_mtime:
        return
    # The package's own `npm` command is broken; the program behind it is not.
    npm = node.parents[1] / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    command = [str(node), str(npm), "ci", "--no-audit", "--no-fund", "--loglevel=error"]
    subprocess.run(command, cwd=FOLDER, env=_environment(node), check=True)
    _INSTALLED.touch()


def main(arguments: Sequence[str]) -> int:
    """Run `cdk` with these arguments in the folder of the app; returns its exit code."""
    node = packaged_node()
    if node is None:
        sys.stderr.write("The extra 'infra' is not installed: run make setup.\n")
        return 2
    install(node)
    if list(arguments) == ["install"]:
        return 0
    command = [str(node), str(_COMMAND), *arguments, "--no-notices"]
    # Beside an app the CLI synthesizes before it bootstraps, which needs a stage and the layers.
    folder = FOLDER / "node_modules" if arguments[:1] == ["bootstrap"] else FOLDER
    return subprocess.run(command, cwd=folder, env=_environment(node), check=False).returncode


def _environment(node: Path) -> dict[str, str]:
    return {**os.environ, "PATH": f"{node.parent}{os.pathsep}{os.environ.get('PATH', '')}"}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
