"""Every statement of every role and of every resource's policy, committed.

Who wants something to be allowed changes that file too. Of the passes it holds what a line of the list
asks for, so another pass of a known kind changes nothing.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from infra.config import PASSES, PassDefinition
from tests.infra.templates import Assembly, Template, construct, listed, permissions, resource_policies, statements

COMMITTED = Path(__file__).with_name("statements.json")
STACKS = ("dreaming-prod", "dreaming-prod-data")
KINDS = [(f"pass_{number}", kind) for number, kind in enumerate(product((False, True), repeat=3))]
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


def kind_of(chats: bool, embeds: bool, announces: bool) -> str:
    """A kind of pass in the words of the committed file."""
    called = [words for words, yes in (("chat", chats), ("embedding", embeds)) if yes]
    return f"a pass that calls {' and '.join(called) or 'no'} models{' and sends events' if announces else ''}"


def kind(definition: PassDefinition) -> str:
    """The kind of a pass where no event bus was named."""
    return kind_of(definition.calls_models, definition.calls_embedders, announces=False)


def of_pass(found: Mapping[str, list[str]], folder: str) -> dict[str, list[str]]:
    """What of `found` belongs to a pass, without the pass's name."""
    name, queue = construct(folder), folder.replace("_", "-")
    return {
        owner.removeprefix(name): sorted(
            line.replace(name, "Pass").replace(f"function:dreaming-prod-{queue}", "function:dreaming-prod-pass")
            for line in lines
        )
        for owner, lines in found.items()
        if owner.startswith(name)
    }


def reviewed(assembly: Assembly, combinations: Assembly) -> dict[str, Any]:
    """Everything that is allowed: of the stacks without their passes, and of each kind of pass."""
    found: dict[str, Any] = {}
    for name in STACKS:
        for what, ask in QUESTIONS.items():
            found[f"{name}, {what}"] = {
                owner: lines
                for owner, lines in ask(assembly.stack(name)).items()
                if not any(owner.startswith(construct(definition.function)) for definition in PASSES)
            }
    stack = combinations.stack("dreaming-prod")
    for folder, of_kind in KINDS:
        for what, ask in QUESTIONS.items():
            found[f"{kind_of(*of_kind)}, {what}"] = of_pass(ask(stack), folder)
    return found


QUESTIONS: Mapping[str, Callable[[Template], dict[str, list[str]]]] = {
    "roles": statements,
    "resources": resource_policies,
}


def test_the_statements_are_those_that_were_reviewed(assembly: Assembly, combinations: Assembly) -> None:
    found = reviewed(assembly, combinations)
    if os.environ.get("DREAMING_ACCEPT_STATEMENTS"):
        COMMITTED.write_text(json.dumps(found, indent=2) + "\n", "utf-8")
    assert found == json.loads(COMMITTED.read_text("utf-8")), (
        "permissions changed; to accept them after a look: DREAMING_ACCEPT_STATEMENTS=1 pytest tests/infra, then commit"
    )


@pytest.mark.parametrize("definition", PASSES, ids=lambda definition: str(definition.function))
def test_a_pass_may_do_what_its_kind_may_and_no_more(assembly: Assembly, definition: PassDefinition) -> None:
    stack = assembly.stack("dreaming-prod")
    committed = json.loads(COMMITTED.read_text("utf-8"))
    for what, ask in QUESTIONS.items():
        assert of_pass(ask(stack), definition.function) == committed[f"{kind(definition)}, {what}"]


def test_a_function_may_be_invoked_by_what_is_its_own_only(stack: Template) -> None:
    for permission in stack.of_type("AWS::Lambda::Permission").values():
        assert "SourceArn" in permission


def test_whoever_may_use_the_key_is_of_this_account(assembly: Assembly) -> None:
    (key,) = assembly.stack("dreaming-prod-data").of_type("AWS::KMS::Key").values()
    for statement in key["KeyPolicy"]["Statement"]:
        ours = "AWS" in statement["Principal"] and "*" not in statement["Principal"].values()
        assert ours or "aws:SourceAccount" in json.dumps(statement["Condition"])


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


@pytest.mark.parametrize(("folder", "of_kind"), KINDS)
def test_models_are_named_one_by_one_and_elsewhere_only_by_their_profile(
    combinations: Assembly, folder: str, of_kind: tuple[bool, bool, bool]
) -> None:
    stack = combinations.stack("dreaming-prod")
    chats, embeds, _ = of_kind
    found = [
        (resource["Fn::Join"][1][-1].rpartition("::")[2], "Condition" in statement)
        for role, statement in permissions(stack)
        if role.startswith(f"{construct(folder)}WorkerRole") and "bedrock:InvokeModel" in listed(statement["Action"])
        for resource in listed(statement["Resource"])
    ]
    model = "foundation-model/anthropic.claude-haiku-4-5-20251001-v1:0"
    chat = [(":inference-profile/us.anthropic.claude-haiku-4-5-20251001-v1:0", False), (model, True), (model, True)]
    embedding = [("foundation-model/amazon.titan-embed-text-v2:0", False)]
    assert sorted(found) == sorted([*(chat if chats else []), *(embedding if embeds else [])])


def test_events_go_to_the_one_bus_that_was_named(assembly: Assembly, combinations: Assembly) -> None:
    stack = combinations.stack("dreaming-prod")
    senders = {
        folder
        for folder, function in stack.our_functions().items()
        if function["Environment"]["Variables"].get("DREAMING_EVENT_BUS") == "memory"
    }
    assert senders == {folder for folder, (_, _, announces) in KINDS if announces}
    assert any("memory" in line for lines in statements(stack).values() for line in lines if "events:" in line)
    services = [
        json.dumps(endpoint["ServiceName"])
        for endpoint in combinations.stack("dreaming-prod-data").of_type("AWS::EC2::VPCEndpoint").values()
    ]
    assert sum(".events" in service for service in services) == 1
    assert "events:PutEvents" not in json.dumps(assembly.stack("dreaming-prod").resources)


def test_where_no_model_of_bedrock_was_named_nothing_speaks_of_it(assembly: Assembly) -> None:
    assert "bedrock" not in json.dumps(assembly.stack("dreaming-dev").resources)


def grants(*models: str) -> list[tuple[str, bool]]:
    """Each resource that a role may call for these models, and whether only by a profile."""
    from aws_cdk import App, Stack
    from aws_cdk import aws_iam as iam
    from aws_cdk.assertions import Template as Synthesized

    from infra.constructs import bedrock

    stack = Stack(App(), "models")
    role = iam.Role(stack, "Role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
    bedrock.allow_models(role, models)
    resources = Synthesized.from_stack(stack).to_json()["Resources"]
    (policy,) = statements(Template("models", resources)).values()
    return sorted(
        (where, " when " in line)
        for line in policy
        if "bedrock" in line
        for where in line.partition(" on ")[2].partition(" when ")[0].split(", ")
    )


PLACE = "arn:{AWS::Partition}:bedrock:"


def test_a_model_and_a_profile_may_be_named_by_their_arns() -> None:
    model = "arn:aws:bedrock:eu-west-1::foundation-model/amazon.nova-lite-v1:0"
    profile = "arn:aws:bedrock:eu-west-1:123456789012:inference-profile/eu.amazon.nova-lite-v1:0"
    assert grants(model) == [(model, False)]
    assert grants(profile, profile) == sorted(
        [
            (profile, False),
            (f"{PLACE}*::foundation-model/amazon.nova-lite-v1:0", True),
            (f"{PLACE}::foundation-model/amazon.nova-lite-v1:0", True),
        ]
    )


def test_a_profile_over_the_whole_world_reaches_models_without_a_region() -> None:
    model = "anthropic.claude-haiku-4-5-20251001-v1:0"
    assert grants(f"global.{model}") == [
        (f"{PLACE}*::foundation-model/{model}", True),
        (f"{PLACE}::foundation-model/{model}", True),
        (f"{PLACE}{{AWS::Region}}:{{AWS::AccountId}}:inference-profile/global.{model}", False),
    ]


def test_a_profile_of_an_application_reaches_models_only_by_that_profile() -> None:
    profile = "arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/abc123"
    assert grants(profile) == sorted(
        [
            (profile, False),
            (f"{PLACE}*::foundation-model/*", True),
            (f"{PLACE}::foundation-model/*", True),
        ]
    )
