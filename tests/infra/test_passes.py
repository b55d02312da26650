"""What AWS holds for each pass: the promises of queue, schedule and function."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dreaming.passes.records import PASS_FUNCTIONS
from infra.config import HOURLY, PASSES, VISIBILITY_FACTOR
from tests.infra.templates import Assembly, Template, listed

STACKS = ("dreaming-prod", "dreaming-dev", "dreaming-local")
SELF_ENQUEUING = {definition.function for definition in PASSES if definition.self_enqueuing}
FOURTEEN_DAYS = 14 * 24 * 3600


@pytest.fixture(params=STACKS)
def stack(request: pytest.FixtureRequest, assembly: Assembly) -> Template:
    return assembly.stack(request.param)


def mapped(stack: Template) -> list[tuple[Any, Any, Any]]:
    """Each event source mapping with its queue and its function."""
    return [
        (
            mapping,
            stack.resources[stack.target(mapping["EventSourceArn"])]["Properties"],
            stack.resources[stack.target(mapping["FunctionName"])]["Properties"],
        )
        for mapping in stack.of_type("AWS::Lambda::EventSourceMapping").values()
    ]


def test_recursion_is_allowed_where_a_function_enqueues_to_itself_and_nowhere_else(stack: Template) -> None:
    allowed = {
        folder for folder, properties in stack.our_functions().items() if properties.get("RecursiveLoop") == "Allow"
    }
    assert allowed == SELF_ENQUEUING
    everywhere = [one for one in stack.of_type("AWS::Lambda::Function").values() if "RecursiveLoop" in one]
    assert len(everywhere) == len(allowed)


def test_a_pass_may_use_its_own_queue_and_no_other(stack: Template) -> None:
    for _, queue, function in mapped(stack):
        role = stack.target(function["Role"])
        used = [
            (stack.resources[stack.target(resource)]["Properties"], statement["Action"])
            for policy in stack.of_type("AWS::IAM::Policy").values()
            if [stack.target(one) for one in policy["Roles"]] == [role]
            for statement in policy["PolicyDocument"]["Statement"]
            if any(action.startswith("sqs:") for action in listed(statement["Action"]))
            for resource in listed(statement["Resource"])
        ]
        # Its tick sends the first message of a run, also where its batches send none.
        assert [(one["QueueName"], "sqs:SendMessage" in actions) for one, actions in used] == [
            (queue["QueueName"], True)
        ]


def test_every_queue_is_fifo_encrypted_and_does_not_deduplicate_by_content(stack: Template) -> None:
    queues = stack.of_type("AWS::SQS::Queue").values()
    assert len(queues) >= 2
    for queue in queues:
        assert queue["FifoQueue"] is True
        assert queue["QueueName"].endswith(".fifo")
        assert queue["ContentBasedDeduplication"] is False
        assert queue["SqsManagedSseEnabled"] is True


def test_every_queue_refuses_plain_http(stack: Template) -> None:
    guarded = set()
    for policy in stack.of_type("AWS::SQS::QueuePolicy").values():
        (statement,) = policy["PolicyDocument"]["Statement"]
        assert (statement["Effect"], statement["Condition"]) == ("Deny", {"Bool": {"aws:SecureTransport": "false"}})
        guarded |= {stack.target(queue) for queue in policy["Queues"]}
    assert guarded == set(stack.of_type("AWS::SQS::Queue"))


def test_a_received_message_is_hidden_for_six_time_outs_at_least(stack: Template) -> None:
    for _, queue, function in mapped(stack):
        assert queue["VisibilityTimeout"] >= VISIBILITY_FACTOR * function["Timeout"]


def test_a_batch_is_one_message_and_reports_its_failure_itself(stack: Template) -> None:
    for mapping, _, _ in mapped(stack):
        assert mapping["BatchSize"] == 1
        assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
        assert 2 <= mapping["ScalingConfig"]["MaximumConcurrency"] <= 1000


def test_a_message_that_fails_five_times_is_kept_for_fourteen_days(stack: Template) -> None:
    for _, queue, _ in mapped(stack):
        assert queue["RedrivePolicy"]["maxReceiveCount"] == 5
        dead = stack.resources[stack.target(queue["RedrivePolicy"]["deadLetterTargetArn"])]["Properties"]
        assert dead["MessageRetentionPeriod"] == FOURTEEN_DAYS
        assert dead["FifoQueue"] is True


def test_all_ticks_of_a_stage_come_in_the_same_minute(stack: Template) -> None:
    schedules = stack.of_type("AWS::Scheduler::Schedule").values()
    assert len(schedules) == len(mapped(stack))
    assert len({schedule["ScheduleExpression"].partition(" ")[0] for schedule in schedules}) == 1
    for schedule in schedules:
        assert schedule["FlexibleTimeWindow"] == {"Mode": "OFF"}
        assert json.loads(schedule["Target"]["Input"]) == {}


def test_the_schedule_invokes_the_function_that_its_queue_invokes(stack: Template) -> None:
    ticked = {stack.target(s["Target"]["Arn"]) for s in stack.of_type("AWS::Scheduler::Schedule").values()}
    drained = {stack.target(m["FunctionName"]) for m in stack.of_type("AWS::Lambda::EventSourceMapping").values()}
    assert ticked == drained


def ticks(stack: Template) -> dict[str, str]:
    """When each pass ticks, by its function."""
    return {
        schedule["Name"].removeprefix(f"{stack.name}-").replace("-", "_"): schedule["ScheduleExpression"]
        for schedule in stack.of_type("AWS::Scheduler::Schedule").values()
    }


def test_a_pass_ticks_as_its_line_says_where_a_database_sleeps(assembly: Assembly) -> None:
    for name in ("dreaming-prod", "dreaming-dev"):
        stack = assembly.stack(name)
        assert ticks(stack) == {definition.function: definition.tick for definition in PASSES}
        zones = {s["ScheduleExpressionTimezone"] for s in stack.of_type("AWS::Scheduler::Schedule").values()}
        assert zones == {"UTC"}
    assert {definition.function: definition.tick for definition in PASSES}["consolidate"] == HOURLY
    assert set(ticks(assembly.stack("dreaming-local")).values()) == {"rate(1 minute)"}


def test_another_pass_takes_one_line(assembly: Assembly) -> None:
    stack = assembly.stack("dreaming-local")
    passes = [*(definition.function for definition in PASSES), "second_pass"]
    assert set(stack.our_functions()) == {*passes, "api", "migrate"}
    assert {queue["QueueName"] for queue in stack.of_type("AWS::SQS::Queue").values()} == {
        f"dreaming-local-{name.replace('_', '-')}{end}.fifo" for name in passes for end in ("", "-dead")
    }
    assert set(ticks(stack)) == set(passes)


def test_every_pass_of_the_package_is_deployed() -> None:
    from infra.paths import FUNCTIONS

    assert sorted(definition.function for definition in PASSES) == sorted(PASS_FUNCTIONS.values())
    assert [d.function for d in PASSES if not (FUNCTIONS / d.function / "handler.py").is_file()] == []
