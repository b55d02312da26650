"""The consolidation function: ticks, batches, failures of one record, and what a warm sandbox keeps."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import psycopg
import pytest
from psycopg.rows import TupleRow

from dreaming.errors import Misconfigured
from dreaming.local.functions import failed_items as failed
from dreaming.local.functions import schedule_event
from dreaming.local.queue import Received
from dreaming.notes.records import SliceKey
from dreaming.passes.records import BatchMessage
from infra.config import DISPOSITIONS, PASSES, RUNS_STARTED
from tests.functions.sandbox import Sandbox, drain, load_sandbox, sqs_event
from tests.world import KEY, World, note

OTHER = SliceKey("birch")


def receive(world: World) -> Received:
    received = world.queue.receive(holder="sqs", visibility_timeout=1080)
    assert received is not None
    return received


def notes(count: int) -> list[Any]:
    return [note(f"n{number}", f"The shed has {number} windows.") for number in range(count)]


def hold_lease(admin: psycopg.Connection[TupleRow], world: World, slice_id: int) -> None:
    """Another invocation is at work on the slice."""
    admin.execute(
        "update dream_cursor set lease_holder = 'another', lease_expires_at = %s where slice_id = %s",
        [world.now + timedelta(minutes=3), slice_id],
    )


def test_a_schedule_event_starts_runs_and_says_so(installed: World, consolidate: Sandbox) -> None:
    installed.ingest(*notes(1))
    answer = consolidate.invoke(dict(schedule_event(None)))
    (message,) = answer["started"]
    assert BatchMessage.model_validate(message) == BatchMessage.model_validate_json(receive(installed).body)
    assert answer["refused"] == []
    assert consolidate.metric("runs_started") == 1


def test_a_tick_without_anything_to_do_is_still_counted(installed: World, consolidate: Sandbox) -> None:
    assert consolidate.invoke({})["started"] == []
    assert [document["runs_started"] for document in consolidate.metrics] == [[0.0]]


def test_a_tick_of_one_slice_leaves_the_others(installed: World, consolidate: Sandbox) -> None:
    installed.enrol(OTHER.org_id)
    installed.ingest(*notes(1))
    installed.ingest(*notes(1), key=OTHER)
    answer = consolidate.invoke(dict(schedule_event(installed.slice(OTHER).slice_id)))
    assert [message["slice_id"] for message in answer["started"]] == [installed.slice(OTHER).slice_id]


def test_queue_events_drain_a_slice(installed: World, consolidate: Sandbox) -> None:
    installed.ingest(*notes(5))
    consolidate.invoke({})
    assert drain(installed, consolidate) == 3
    assert installed.counters().consolidated == 5
    assert consolidate.metric("notes_consolidated") == 5
    assert consolidate.metric("batch_done") == 3
    installed.check()


def test_a_malformed_body_fails_its_item_and_nothing_else_happens(installed: World, consolidate: Sandbox) -> None:
    installed.ingest(*notes(1))
    before = installed.rows("select * from dream_cursor")
    installed.queue.send('{"slice_id": 1, "secret": "rosebud"}', group_id="g", deduplication_id="d")
    received = receive(installed)
    assert failed(consolidate.invoke(sqs_event(received))) == [received.message_id]
    assert installed.rows("select * from dream_cursor") == before
    assert installed.counters().waiting == 1
    assert "rosebud" not in str(consolidate.lines)
    assert [line["exception_name"] for line in consolidate.lines if line["level"] == "ERROR"] == ["ValueError"]


def test_a_failed_message_comes_again_soon_and_later_each_time(installed: World, consolidate: Sandbox) -> None:
    installed.queue.send("no message", group_id="g", deduplication_id="d")
    for seconds in (15, 30, 60):
        consolidate.invoke(sqs_event(receive(installed)))
        installed.now += timedelta(seconds=seconds - 1)
        assert installed.queue.receive(holder="sqs", visibility_timeout=1080) is None
        installed.now += timedelta(seconds=1)


def test_a_failing_group_fails_alone_and_is_retried_in_the_same_sandbox(
    installed: World, consolidate: Sandbox, admin: psycopg.Connection[TupleRow]
) -> None:
    installed.enrol(OTHER.org_id)
    installed.ingest(*notes(2))
    installed.ingest(*notes(2), key=OTHER)
    consolidate.invoke({})
    by_slice = {
        BatchMessage.model_validate_json(one.body).slice_id: one for one in (receive(installed), receive(installed))
    }
    ours, theirs = (by_slice[installed.slice(key).slice_id] for key in (KEY, OTHER))
    hold_lease(admin, installed, installed.slice().slice_id)

    assert failed(consolidate.invoke(sqs_event(ours, theirs))) == [ours.message_id]
    assert installed.counters(OTHER).consolidated == 2
    assert installed.counters().waiting == 2

    installed.now += timedelta(minutes=4)
    again = receive(installed)
    assert again.message_id == ours.message_id
    assert failed(consolidate.invoke(sqs_event(again))) == []
    assert installed.counters().consolidated == 2
    for key in (KEY, OTHER):
        installed.check(key)


def test_whoever_comes_second_is_no_error(
    installed: World, consolidate: Sandbox, admin: psycopg.Connection[TupleRow]
) -> None:
    installed.ingest(*notes(2))
    consolidate.invoke({})
    received = receive(installed)
    hold_lease(admin, installed, installed.slice().slice_id)
    assert failed(consolidate.invoke(sqs_event(received))) == [received.message_id]
    assert [line["message"] for line in consolidate.lines if line["level"] != "INFO"] == []
    (line,) = [line for line in consolidate.lines if line["message"] == "batch busy"]
    assert line["correlation_id"] == str(BatchMessage.model_validate_json(received.body).run_id)
    assert (consolidate.metric("batch_busy"), consolidate.metric("batch_failed")) == (1, 0)


def test_everything_that_is_counted_has_its_place_on_a_dashboard(installed: World, consolidate: Sandbox) -> None:
    installed.ingest(*notes(3))
    consolidate.invoke({})
    drain(installed, consolidate)
    written = {
        metric["Name"]
        for document in consolidate.metrics
        for directive in document["_aws"]["CloudWatchMetrics"]
        for metric in directive["Metrics"]
    }
    (definition,) = [definition for definition in PASSES if definition.function == "consolidate"]
    assert written >= {RUNS_STARTED, "batch_done", "notes_consolidated", "model_calls"}
    assert written <= {RUNS_STARTED, *(f"batch_{one}" for one in DISPOSITIONS), *definition.counts}


def test_a_failure_in_a_group_skips_the_rest_of_that_group_only(
    installed: World, consolidate: Sandbox, admin: psycopg.Connection[TupleRow]
) -> None:
    installed.enrol(OTHER.org_id)
    installed.ingest(*notes(4))
    installed.ingest(*notes(2), key=OTHER)
    consolidate.invoke({})
    by_slice = {
        BatchMessage.model_validate_json(one.body).slice_id: one for one in (receive(installed), receive(installed))
    }
    ours, theirs = (by_slice[installed.slice(key).slice_id] for key in (KEY, OTHER))
    hold_lease(admin, installed, installed.slice().slice_id)
    event = sqs_event(ours, ours, theirs)
    event["Records"][1]["messageId"] = "the next of the same group"
    assert failed(consolidate.invoke(event)) == [ours.message_id, "the next of the same group"]
    assert installed.counters(OTHER).consolidated == 2


def test_nothing_of_an_invocation_is_left_to_the_next(installed: World, consolidate: Sandbox) -> None:
    installed.enrol(OTHER.org_id)
    installed.ingest(*notes(1))
    installed.ingest(*notes(1), key=OTHER)
    started = consolidate.invoke({}, request_id="first")["started"]
    first, second = receive(installed), receive(installed)
    installed.queue.send("no message", group_id="g", deduplication_id="d")
    consolidate.lines.clear()
    consolidate.metrics.clear()
    consolidate.invoke(sqs_event(first, second, receive(installed)), request_id="second")
    consolidate.invoke({}, request_id="third")

    runs = {message["run_id"] for message in started}
    batches = [line for line in consolidate.lines if line["message"] == "batch"]
    assert {line["correlation_id"] for line in batches} == runs
    assert {line["slice_id"]: line["correlation_id"] for line in batches} == {
        message["slice_id"]: message["run_id"] for message in started
    }
    others = [line for line in consolidate.lines if line["message"] != "batch"]
    assert {line["message"] for line in others} == {"batch failed", "tick"}
    assert [line for line in others if "correlation_id" in line] == []
    assert {line["function_request_id"] for line in others} == {"second", "third"}
    assert [document.get("batch_done") for document in consolidate.metrics] == [[1.0, 1.0], None]


def test_log_lines_of_the_package_carry_the_run(installed: World, consolidate: Sandbox, script: Any) -> None:
    script.write_text('{"default": {"fail": "malformed"}}', "utf-8")
    installed.ingest(*notes(1))
    (started,) = consolidate.invoke({})["started"]
    drain(installed, consolidate)
    (line,) = [line for line in consolidate.lines if line["message"] == "note retired"]
    assert line["level"] == "ERROR"
    assert line["run_id"] == started["run_id"]
    assert "windows" not in str(consolidate.lines)
    assert consolidate.metric("notes_retired") == 1


@pytest.mark.filterwarnings("ignore:No application metrics to publish")
def test_a_function_without_its_queue_says_what_to_set(
    database_url: str, monkeypatch: pytest.MonkeyPatch, fresh_process: None
) -> None:
    monkeypatch.setenv("DATABASE_URL", database_url)
    with pytest.raises(Misconfigured, match="DREAMING_QUEUE_URL is not set"):
        load_sandbox("consolidate").invoke({})


@pytest.mark.filterwarnings("ignore:No application metrics to publish")
def test_a_function_without_a_database_says_what_to_set(fresh_process: None) -> None:
    with pytest.raises(Misconfigured, match="neither DATABASE_URL nor DATABASE_HOST is set"):
        load_sandbox("consolidate").invoke({})
