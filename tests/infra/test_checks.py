"""cdk-nag and cfn-lint find nothing, and would find something."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import infra  # tells jsii where Node is
from tests.architecture.modules import ROOT
from tests.infra.templates import Assembly


def lint(paths: list[Path]) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).with_name("cfn-lint")
    return subprocess.run([str(program), *map(str, paths)], capture_output=True, text=True, check=False)


def test_cdk_nag_finds_nothing(assembly: Assembly) -> None:
    reports = {report["pluginName"]: report for report in assembly.report["pluginReports"]}
    problems = [
        (violation["ruleName"], [construct["constructPath"] for construct in violation["violatingConstructs"]])
        for report in reports.values()
        for violation in report["violations"]
    ]
    assert problems == []


def test_cdk_nag_would_find_something(tmp_path: Path) -> None:
    from aws_cdk import App, Stack, Validations
    from aws_cdk import aws_sqs as sqs
    from cdk_nag import AwsSolutionsChecks

    assert infra.packaged_node() is not None
    app = App(outdir=str(tmp_path))
    sqs.Queue(Stack(app, "careless"), "Queue")
    Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    with pytest.raises(RuntimeError, match="ValidationFailed"):
        app.synth()
    report = json.loads((tmp_path / "validation-report.json").read_text("utf-8"))
    assert {v["ruleName"] for r in report["pluginReports"] for v in r["violations"]} >= {"AwsSolutions-SQS4"}


def test_every_exception_gives_a_reason_that_says_something() -> None:
    reasons = [
        ast.literal_eval(call.args[2])
        for path in sorted((ROOT / "infra").glob("[cs]*/*.py"))
        for call in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "acknowledge"
    ]
    assert len(reasons) >= 5
    assert [reason for reason in reasons if len(reason.split()) < 6] == []


def test_cfn_lint_finds_nothing(assembly: Assembly) -> None:
    done = lint(assembly.paths)
    assert (done.returncode, done.stdout) == (0, "")


def test_cfn_lint_minds_everything_but_redundant_dependencies(assembly: Assembly) -> None:
    for path in assembly.paths:
        metadata = json.loads(path.read_text("utf-8"))["Metadata"]
        assert metadata == {"cfn-lint": {"config": {"ignore_checks": ["W3005"]}}}


def test_cfn_lint_would_find_something(tmp_path: Path) -> None:
    template = tmp_path / "wrong.template.json"
    queue = {"Type": "AWS::SQS::Queue", "Properties": {"VisibilityTimeout": "long"}}
    template.write_text(json.dumps({"Resources": {"Queue": queue}}), "utf-8")
    assert "E3012" in lint([template]).stdout
