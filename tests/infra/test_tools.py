"""The command lines around the app: the CDK's is pinned, SAM's configuration fits the templates."""

from __future__ import annotations

import json
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from infra import cdk
from infra.config import Stage
from tests.architecture.modules import ROOT
from tests.infra.templates import Assembly

INFRA = ROOT / "infra"


def read(name: str) -> Any:
    return json.loads((INFRA / name).read_text("utf-8"))


@pytest.fixture(scope="module")
def sam() -> Any:
    return tomllib.loads((ROOT / "samconfig.toml").read_text("utf-8"))


def test_the_command_line_of_the_cdk_is_pinned_by_hash_and_by_no_address() -> None:
    wanted = read("package.json")["devDependencies"]["aws-cdk"]
    locked = read("package-lock.json")["packages"]["node_modules/aws-cdk"]
    assert locked["version"] == wanted
    assert locked["integrity"].startswith("sha512-")
    assert "resolved" not in (INFRA / "package-lock.json").read_text("utf-8")
    assert "http" not in (INFRA / "package-lock.json").read_text("utf-8")


def test_the_app_is_started_so_that_our_folder_does_not_hide_the_package_constructs() -> None:
    assert " -P -m infra.app" in read("cdk.json")["app"]


def test_sam_reads_templates_that_are_synthesized(sam: Any, assembly: Assembly) -> None:
    names = {path.name for path in assembly.paths}
    for environment, commands in sam.items():
        if environment == "version":
            continue
        template = commands["global"]["parameters"]["template_file"]
        folder, _, name = template.rpartition("/")
        assert folder == "infra/cdk.out"
        assert name in names


def test_sam_has_an_environment_for_each_stage(sam: Any) -> None:
    assert set(sam) == {"version", "default", *Stage}


def test_sam_finds_the_code_of_every_function(sam: Any, assembly: Assembly) -> None:
    stack = assembly.stack("dreaming-local")
    for kind in ("AWS::Lambda::Function", "AWS::Lambda::LayerVersion"):
        for logical in stack.of_type(kind):
            asset = assembly.folder / stack.resources[logical]["Metadata"]["aws:asset:path"]
            assert asset.is_dir()
            if kind == "AWS::Lambda::Function":
                assert (asset / "handler.py").is_file()


def test_sam_never_deploys(sam: Any) -> None:
    assert [name for name, commands in sam.items() if name != "version" and {"deploy", "sync"} & set(commands)] == []


def test_events_for_a_local_invocation_are_read_by_the_handlers(sam: Any) -> None:
    for commands in sam.values():
        if isinstance(commands, dict) and "local_invoke" in commands:
            event = ROOT / commands["local_invoke"]["parameters"]["event"]
            assert json.loads(event.read_text("utf-8")) == {}


def test_bootstrap_does_not_meet_the_app(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside a `cdk.json` the CLI would synthesize first, without a stage and without layers."""
    started: list[Path] = []

    def run(command: list[str], *, cwd: Path, **options: object) -> subprocess.CompletedProcess[str]:
        started.append(cwd)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(cdk, "install", lambda node: None)
    monkeypatch.setattr("infra.cdk.subprocess.run", run)
    assert cdk.main(["bootstrap", "aws://123456789012/eu-west-1"]) == 0
    assert cdk.main(["synth"]) == 0
    assert not (started[0] / "cdk.json").exists()
    assert (started[1] / "cdk.json").exists()
