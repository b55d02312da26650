"""What AWS holds for each pass: the promises of queue, schedule and function."""

from __future__ import annotations

import json
from typing import Any

import pytest

from infra.config import PASSES, VISIBILITY_FACTOR
from tests.infra.templates import Assembly, Template

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
        properties["FunctionName"].removeprefix(f"{stack.name}-")
        for properties in stack.of_type("AWS::Lambda::Function").values()
        if properties.get("RecursiveLoop") == "Allow"
    }
    assert allowed == SELF_ENQUEUING


def test_only_a_self_enqueuing_function_may_send_to_its_queue(stack: Template) -> None:
    senders = {
        properties["PolicyName"]
        for properties in stack.of_type("AWS::IAM::Policy").values()
        if any("sqs:SendMessage" in statement["Action"] for statement in properties["PolicyDocument"]["Statement"])
    }
    assert len(senders) == len(SELF_ENQUEUING)
    assert all(name.startswith("ConsolidateWorkerRole") for name in senders)


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
    assert len({schedule["ScheduleExpression"] for schedule in schedules}) == 1
    for schedule in schedules:
        assert schedule["FlexibleTimeWindow"] == {"Mode": "OFF"}
        assert json.loads(schedule["Target"]["Input"]) == {}


def test_the_schedule_invokes_the_function_that_its_queue_invokes(stack: Template) -> None:
    ticked = {stack.target(s["Target"]["Arn"]) for s in stack.of_type("AWS::Scheduler::Schedule").values()}
    drained = {stack.target(m["FunctionName"]) for m in stack.of_type("AWS::Lambda::EventSourceMapping").values()}
    assert ticked == drained


def test_ticks_are_hourly_where_a_database_sleeps(assembly: Assembly) -> None:
    for name in ("dreaming-prod", "dreaming-dev"):
        schedule = assembly.stack(name).only("AWS::Scheduler::Schedule")
        assert schedule["ScheduleExpression"] == "cron(0 * * * ? *)"
        assert schedule["ScheduleExpressionTimezone"] == "UTC"


def test_another_pass_takes_one_line(assembly: Assembly) -> None:
    stack = assembly.stack("dreaming-local")
    assert set(stack.our_functions()) == {"consolidate", "second_pass", "api", "migrate"}
    assert {queue["QueueName"] for queue in stack.of_type("AWS::SQS::Queue").values()} == {
        *("dreaming-local-consolidate.fifo", "dreaming-local-consolidate-dead.fifo"),
        *("dreaming-local-second-pass.fifo", "dreaming-local-second-pass-dead.fifo"),
    }
    assert len(stack.of_type("AWS::Scheduler::Schedule")) == 2


def test_every_pass_of_the_list_has_its_handler() -> None:
    from infra.paths import FUNCTIONS

    assert [d.function for d in PASSES if not (FUNCTIONS / d.function / "handler.py").is_file()] == []
