"""Each handler under Lambda's own runtime client: answers, errors, time-outs, and a second invocation."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.rows import TupleRow

from dreaming.database.migration import read_migrations
from dreaming.passes.records import BatchMessage
from tests.functions.http import request
from tests.functions.sqs_service import SqsService, sqs_service
from tests.waiting import wait_until
from tests.world import World, note

if sys.platform != "linux":
    pytest.skip("Lambda's runtime client is built for Linux only", allow_module_level=True)

from tests.functions.runtime_api import Failure, Runtime, TimedOut, runtime

SECONDS = 60.0


@pytest.fixture
def sqs() -> Iterator[SqsService]:
    with sqs_service() as service:
        yield service


@pytest.fixture
def consolidate(world: World, database_url: str, sqs: SqsService, tmp_path: Path) -> Iterator[Runtime]:
    environment = {**world.environment, **sqs.environment, "DATABASE_URL": database_url}
    with runtime("consolidate", environment, tmp_path / "consolidate.log") as started:
        yield started


def sqs_event(message: dict[str, Any], *, receives: int = 1) -> dict[str, Any]:
    return {
        "Records": [
            {
                "messageId": "message-1",
                "receiptHandle": "receipt-1",
                "body": message["MessageBody"],
                "attributes": {
                    "ApproximateReceiveCount": str(receives),
                    "MessageGroupId": message["MessageGroupId"],
                    "SentTimestamp": "0",
                    "SequenceNumber": "1",
                    "SenderId": "test",
                    "ApproximateFirstReceiveTimestamp": "0",
                },
                "messageAttributes": {},
                "md5OfBody": "",
                "eventSource": "aws:sqs",
                "eventSourceARN": "arn:aws:sqs:eu-west-1:000000000000:consolidate.fifo",
                "awsRegion": "eu-west-1",
            }
        ]
    }


def test_a_tick_and_its_batches_run_in_one_warm_process(world: World, consolidate: Runtime, sqs: SqsService) -> None:
    world.ingest(*(note(f"n{number}", f"The shed has {number} windows.") for number in range(5)))
    answer = consolidate.invoke({}, seconds=SECONDS)
    (sent,) = sqs.of("SendMessage")
    message = BatchMessage.model_validate_json(sent["MessageBody"])
    assert answer["started"] == [message.model_dump(mode="json")]
    assert (sent["MessageGroupId"], sent["MessageDeduplicationId"]) == (message.group_id, message.deduplication_id)

    for number in range(3):
        assert len(sqs.of("SendMessage")) == number + 1
        event = sqs_event(sqs.of("SendMessage")[-1])
        assert consolidate.invoke(event, seconds=SECONDS) == {"batchItemFailures": []}
    assert len(sqs.of("SendMessage")) == 3
    assert world.counters().consolidated == 5
    assert consolidate.starts == 1


def test_a_failed_item_is_an_answer_and_comes_again_soon(consolidate: Runtime, sqs: SqsService) -> None:
    event = sqs_event({"MessageBody": "no batch message", "MessageGroupId": "g"}, receives=2)
    assert consolidate.invoke(event, seconds=SECONDS) == {"batchItemFailures": [{"itemIdentifier": "message-1"}]}
    (changed,) = sqs.of("ChangeMessageVisibility")
    assert (changed["ReceiptHandle"], changed["VisibilityTimeout"]) == ("receipt-1", 30)


def test_a_queue_that_is_down_fails_the_item_and_the_next_delivery_goes_on(
    world: World, consolidate: Runtime, sqs: SqsService
) -> None:
    world.ingest(*(note(f"n{number}", f"The shed has {number} windows.") for number in range(3)))
    consolidate.invoke({}, seconds=SECONDS)
    event = sqs_event(sqs.of("SendMessage")[-1])
    sqs.refuse = True
    assert consolidate.invoke(event, seconds=SECONDS) == {"batchItemFailures": [{"itemIdentifier": "message-1"}]}
    assert world.counters().consolidated == 2
    sqs.refuse = False
    sqs.requests.clear()
    assert consolidate.invoke(event, seconds=SECONDS) == {"batchItemFailures": []}
    (again,) = sqs.of("SendMessage")
    assert BatchMessage.model_validate_json(again["MessageBody"]).batch == 2
    assert world.counters().consolidated == 2


def test_a_handler_killed_by_its_time_out_is_resumed_by_the_redelivery(
    world: World, consolidate: Runtime, sqs: SqsService, admin: psycopg.Connection[TupleRow]
) -> None:
    world.ingest(note("n", "The shed is green."))
    consolidate.invoke({}, seconds=SECONDS)
    event = sqs_event(sqs.of("SendMessage")[-1])
    with admin.transaction():
        # Whoever applies the batch waits for this lock.
        admin.execute("select from belief_lock where slice_id = %s for update", [world.slice().slice_id])
        with pytest.raises(TimedOut):
            consolidate.invoke(event, seconds=11)
    # Its lease outlives it by some seconds: until then the message fails, and comes again.
    done: dict[str, list[Any]] = {"batchItemFailures": []}
    wait_until(lambda: consolidate.invoke(event, seconds=SECONDS) == done, "the batch is done", within=60)
    assert world.counters().consolidated == 1
    assert world.rows("select batches, notes_retired from dream_runs") == [(1, 0)]
    # What the killed invocation had paid for was not paid for again.
    assert world.rows("select calls from usage") == [(1,)]
    assert world.rows("select * from note_attempts") == []
    assert consolidate.starts == 2
    world.check()


def test_an_error_reaches_lambda_as_an_error(tmp_path: Path, sqs: SqsService) -> None:
    environment = {**sqs.environment, "DATABASE_URL": ""}
    with runtime("consolidate", environment, tmp_path / "log") as started:
        for _ in range(2):
            failure = started.invoke({}, seconds=SECONDS)
            assert isinstance(failure, Failure)
            assert failure.type == "Misconfigured"
            assert "neither DATABASE_URL nor DATABASE_HOST is set" in failure.message
        assert started.starts == 1


def test_the_api_answers_twice_in_one_process_and_after_its_connection_died(
    world: World, database_url: str, tmp_path: Path, admin: psycopg.Connection[TupleRow]
) -> None:
    world.ingest(note("n", "The shed is green."))
    with runtime("api", {"DATABASE_URL": database_url}, tmp_path / "log") as started:
        event = request("/brain/dream/status")
        first = started.invoke(event, seconds=SECONDS)
        assert first["statusCode"] == 200
        assert json.loads(first["body"])["coverage"]["waiting"] == 1
        killed = admin.execute(
            "select pg_terminate_backend(pid, 10000) from pg_stat_activity"
            " where datname = current_database() and pid <> pg_backend_pid() and application_name = 'dreaming'"
        ).fetchall()
        assert killed
        assert started.invoke(event, seconds=SECONDS)["body"] == first["body"]
        assert started.invoke(request("/nowhere"), seconds=SECONDS)["statusCode"] == 404
        assert started.starts == 1


def test_the_migrate_function_answers_and_fails_as_a_deployment_expects(
    empty_database_url: str, tmp_path: Path
) -> None:
    with runtime("migrate", {"DATABASE_URL": empty_database_url}, tmp_path / "log") as started:
        answer = started.invoke({"RequestType": "Create"}, seconds=SECONDS)
        assert answer["applied"] == [migration.name for migration in read_migrations()]
        assert started.invoke({}, seconds=SECONDS) == {"applied": [], "newer": False}
    with runtime("migrate", {"DATABASE_URL": "nonsense"}, tmp_path / "log") as started:
        failure = started.invoke({}, seconds=SECONDS)
        assert isinstance(failure, Failure)
        assert failure.type == "Misconfigured"
