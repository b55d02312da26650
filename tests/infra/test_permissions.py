"""Every statement of every role, committed: who wants a function to do more changes that file too."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.infra.templates import Assembly, Template, listed, permissions, statements

COMMITTED = Path(__file__).with_name("statements.json")
STACKS = ("dreaming-prod", "dreaming-prod-data")
# What AWS can only grant on everything: traces, and the network interfaces of a function in a VPC.
WITHOUT_RESOURCES = {
    "ec2:CreateNetworkInterface",
    "ec2:DeleteNetworkInterface",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSubnets",
    "xray:PutTelemetryRecords",
    "xray:PutTraceSegments",
}


@pytest.fixture(params=STACKS)
def stack(request: pytest.FixtureRequest, assembly: Assembly) -> Template:
    return assembly.stack(request.param)


def test_the_statements_are_those_that_were_reviewed(assembly: Assembly) -> None:
    found = {name: statements(assembly.stack(name)) for name in STACKS}
    if os.environ.get("DREAMING_ACCEPT_STATEMENTS"):
        COMMITTED.write_text(json.dumps(found, indent=2) + "\n", "utf-8")
    assert found == json.loads(COMMITTED.read_text("utf-8")), (
        "permissions changed; to accept them after a look: DREAMING_ACCEPT_STATEMENTS=1 pytest tests/infra, then commit"
    )


def test_no_statement_grants_a_family_of_actions(stack: Template) -> None:
    actions = {action for _, statement in permissions(stack) for action in listed(statement["Action"])}
    assert {action for action in actions if "*" in action} == set()


def test_everything_is_granted_only_where_aws_knows_no_resources(stack: Template) -> None:
    everywhere = {
        action
        for _, statement in permissions(stack)
        if statement["Effect"] == "Allow" and "*" in listed(statement["Resource"])
        for action in listed(statement["Action"])
    }
    assert everywhere <= WITHOUT_RESOURCES


def test_every_function_has_a_role_of_its_own(stack: Template) -> None:
    roles = [stack.target(function["Role"]) for function in stack.of_type("AWS::Lambda::Function").values()]
    assert len(set(roles)) == len(roles)


def test_models_are_named_one_by_one_and_elsewhere_only_by_their_profile(assembly: Assembly) -> None:
    stack = assembly.stack("dreaming-prod")
    found = [
        (resource["Fn::Join"][1][-1], "Condition" in statement)
        for _, statement in permissions(stack)
        if "bedrock:InvokeModel" in listed(statement["Action"])
        for resource in listed(statement["Resource"])
    ]
    model = "foundation-model/anthropic.claude-haiku-4-5-20251001-v1:0"
    assert sorted((text.rpartition("::")[2], conditional) for text, conditional in found) == [
        (":inference-profile/us.anthropic.claude-haiku-4-5-20251001-v1:0", False),
        ("foundation-model/amazon.titan-embed-text-v2:0", False),
        (model, True),
        (model, True),
    ]
    assert "bedrock" not in json.dumps(assembly.stack("dreaming-dev").resources)
