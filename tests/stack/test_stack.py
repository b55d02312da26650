"""The deployed stack: what holds on a laptop holds behind EventBridge, SQS, Lambda and API Gateway.

All of it in one file: `make test` gives a file to one worker, so the stack is deployed once.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from tests.stack.deployment import NEXT_MIGRATION, NEXT_VERSION, STACK, deploy, destroy, next_version, synthesize
from tests.stack.system import BATCH_NOTES, System, jetties
from tests.waiting import wait_until

pytestmark = pytest.mark.stack

PATIENCE = 300.0


@dataclass(frozen=True)
class Drain:
    """Three slices that one tick of the schedule started, drained; and a message that nobody understands."""

    long: int
    poisoned: int
    beside: int


@pytest.fixture(scope="module")
def drain(system: System) -> Drain:
    slices = Drain(
        long=system.ingest("acme", jetties(400)),
        poisoned=system.ingest("birch", jetties(60, poison=0)),
        beside=system.ingest("cedar", jetties(20)),
    )
    system.send("not a batch message", group="stranger", deduplication="stranger")
    system.enrol("acme", "birch", "cedar")
    wait_until(lambda: system.first_message(slices.long), "the schedule has started a run", within=PATIENCE)
    first = system.first_message(slices.long)
    assert first is not None
    for copy in range(3):
        # In groups of their own, so that they come beside the slice's own messages.
        system.send(first.model_dump_json(), group=f"copy-{copy}", deduplication=f"copy-{copy}")
    everything = (slices.long, slices.poisoned, slices.beside)
    wait_until(lambda: system.drained(*everything), "all slices are drained", within=PATIENCE)
    wait_until(lambda: system.messages("ConsolidateQueueUrl") == 0, "the queue is empty", within=PATIENCE)
    return slices


LAMBDAS_STOP = 16
"""After about so many hops Lambda ends a chain that invokes itself, unless it is allowed."""


def test_the_migrate_function_has_migrated_and_does_nothing_more(system: System) -> None:
    assert system.migrate() == {"applied": [], "newer": False}


def test_four_hundred_notes_drain_over_forty_hops(system: System, drain: Drain) -> None:
    query = """
        select sum(batches), max(batches), sum(notes_consolidated), sum(beliefs_created)
        from consolidations where slice_id = %s
    """
    ((batches, longest, consolidated, beliefs),) = system.rows(query, drain.long)
    assert (consolidated, beliefs) == (400, 400)
    # A slow machine may leave a batch without time for its calls; the next tick's run goes on.
    assert batches >= 400 // BATCH_NOTES
    assert longest > LAMBDAS_STOP
    assert system.value("select count(*) from beliefs where slice_id = %s", drain.long) == 400
    assert system.value("select notes_waiting from slice_counters where slice_id = %s", drain.long) == 0


def test_a_message_delivered_again_has_no_second_effect(system: System, drain: Drain) -> None:
    query = "select sum(model_calls), sum(notes_consolidated) from consolidations where slice_id = %s"
    # Short notes share a call: one for each batch.
    assert system.rows(query, drain.long) == [(400 // BATCH_NOTES, 400)]
    status = "select status from consolidations where slice_id = %s order by started_at desc limit 1"
    assert system.value(status, drain.long) == "drained"
    sources = "select count(*), count(distinct note_id) from sources where slice_id = %s"
    assert system.rows(sources, drain.long) == [(400, 400)]


def test_a_poisoned_note_is_retired_after_three_attempts(system: System, drain: Drain) -> None:
    retired = system.rows(
        "select n.external_id, r.reason, r.attempts from retired_notes r join notes n using (note_id)"
        " where r.slice_id = %s",
        drain.poisoned,
    )
    assert retired == [("note-0", "malformed", 3)]
    assert system.value("select notes_consolidated from slice_counters where slice_id = %s", drain.poisoned) == 59


def test_a_slice_beside_the_poisoned_one_is_not_delayed(system: System, drain: Drain) -> None:
    retired_at = system.value("select retired_at from retired_notes where slice_id = %s", drain.poisoned)
    status, finished_at = system.rows(
        "select status, finished_at from consolidations where slice_id = %s", drain.beside
    )[0]
    assert status == "drained"
    assert finished_at < retired_at


def test_the_dead_letters_hold_what_nobody_understands_and_nothing_else(system: System, drain: Drain) -> None:
    dead = "ConsolidateDeadLettersUrl"
    wait_until(lambda: system.messages(dead) == 1, "the message is among the dead letters", within=PATIENCE)
    found = system.sqs.receive_message(QueueUrl=system.queue_url(dead), VisibilityTimeout=0, MaxNumberOfMessages=10)
    assert [message["Body"] for message in found["Messages"]] == ["not a batch message"]


def test_status_is_read_through_api_gateway(system: System, drain: Drain) -> None:
    answer = system.get("/brain/dream/status")
    assert answer.status_code == 200, answer.text
    body = answer.json()
    assert body["coverage"]["consolidated"] == body["coverage"]["total"] == 400
    assert (body["last_run"]["status"], body["last_run"]["batches"]) == ("drained", 40)
    assert [one["scope"] for one in body["slices"]] == ["org"]


def test_only_the_health_check_answers_strangers(system: System) -> None:
    assert system.get("/health", signed=False).json()["status"] == "ok"
    assert system.get("/brain/dream/status", signed=False).status_code == 403
    assert system.get("/openapi.json", signed=False).status_code == 403
    assert "/brain/dream/status" in system.get("/openapi.json").json()["paths"]


def test_a_handler_killed_by_its_time_out_is_resumed(system: System, drain: Drain) -> None:
    slice_id = system.ingest("dune", jetties(20))

    def holder() -> str | None:
        held = (
            "select lease_holder from dream_cursor"
            " where slice_id = %s and pass = 'consolidation' and lease_holder is not null"
        )
        found: str | None = system.value(held, slice_id)
        return found

    with psycopg.connect(system.database_url) as other:
        # Whoever applies a batch waits for this lock until the time-out kills it.
        locked = other.execute("select from dreaming.belief_lock where slice_id = %s for update", [slice_id])
        assert locked.rowcount == 1
        system.enrol("dune")
        system.invoke(system.output("ConsolidateFunction"), {"slice_id": slice_id})
        wait_until(holder, "an invocation is at work", within=PATIENCE)
        killed = holder()
        wait_until(lambda: holder() not in {killed, None}, "another invocation has taken over", within=PATIENCE)
    wait_until(lambda: system.drained(slice_id), "the slice is drained", within=PATIENCE)
    runs = "select notes_consolidated, notes_retired, batches from consolidations where slice_id = %s"
    assert system.rows(runs, slice_id) == [(20, 0, 2)]
    # What the killed invocation had paid for was not paid for again.
    assert system.value("select sum(calls) from usage where org_id = 'dune'") == 20 // BATCH_NOTES
    wait_until(lambda: system.messages("ConsolidateQueueUrl") == 0, "the queue is empty", within=PATIENCE)
    assert system.messages("ConsolidateDeadLettersUrl") == 1


def test_an_upgrade_over_a_drain_keeps_the_data_and_the_drain_goes_on(
    system: System, drain: Drain, tmp_path: Path
) -> None:
    beliefs = "select belief_id from beliefs where slice_id = %s order by belief_id"
    before = system.rows(beliefs, drain.long)
    assembly = synthesize(system.emulator, system.folder, system.context, source=next_version(tmp_path / "next"))

    slice_id = system.ingest("elm", jetties(400))
    system.enrol("elm")
    system.invoke(system.output("ConsolidateFunction"), {"slice_id": slice_id})
    begun = "select batches from consolidations where slice_id = %s"
    wait_until(lambda: system.value(begun, slice_id), "the drain has begun", within=PATIENCE)
    deploy(system.emulator, system.folder, assembly)
    # The emulator may fail some invocations while it replaces a function: the drain outlives them.
    wait_until(lambda: system.version() == NEXT_VERSION, "the next version answers", within=PATIENCE)
    assert system.migrate() == {"applied": [NEXT_MIGRATION], "newer": False}
    wait_until(lambda: system.drained(slice_id), "the slice is drained", within=PATIENCE)

    counts = "select batches, notes_consolidated, model_calls from consolidations where slice_id = %s"
    assert system.rows(counts, slice_id) == [(400 // BATCH_NOTES, 400, 400 // BATCH_NOTES)]
    assert system.rows(beliefs, drain.long) == before
    assert system.get("/brain/dream/status").json()["coverage"]["consolidated"] == 400
    wait_until(lambda: system.messages("ConsolidateQueueUrl") == 0, "the queue is empty", within=PATIENCE)
    assert system.messages("ConsolidateDeadLettersUrl") == 1


def test_taking_it_down_leaves_nothing_but_the_database(system: System, drain: Drain) -> None:
    assert STACK in system.names_left()
    assembly = synthesize(system.emulator, system.folder, system.context)
    destroy(system.emulator, system.folder, assembly)
    assert system.names_left() == []
    assert system.value("select count(*) from beliefs where slice_id = %s", drain.long) == 400
