"""Faults of the queue and of the database, as the deployed functions meet them: none is charged to a note."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.rows import TupleRow

from dreaming.database import Database
from dreaming.database.migration import migrate
from dreaming.errors import DatabaseUnavailable
from dreaming.identifiers import uuid7
from dreaming.lambdas import wiring
from dreaming.lambdas.wiring import Resources
from dreaming.local.functions import failed_items
from dreaming.local.queue import Received
from dreaming.models.keys import EnvironmentKeys, KeyResolver
from tests.functions.http import call
from tests.functions.sandbox import Sandbox, drain, load_sandbox, sqs_event
from tests.world import World, note

RESUMING = "FATAL:  the database system is starting up"
STATUS = "/brain/dream/status"


class SleepyServer:
    """Stands in for `psycopg.connect`: refuses as often as it is told to, then connects."""

    def __init__(self) -> None:
        self.refusals = 0.0
        self.tries = 0
        self.now = 0.0

    def connect(self, conninfo: str, **options: Any) -> psycopg.Connection[TupleRow]:
        self.tries += 1
        if self.refusals:
            self.refusals -= 1
            raise psycopg.OperationalError(RESUMING)
        return psycopg.connect(conninfo, **options)

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def server() -> SleepyServer:
    return SleepyServer()


@pytest.fixture
def sleepy(
    world: World, server: SleepyServer, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[World]:
    """The world behind a database that can be made to sleep, installed for the handlers."""
    monkeypatch.setattr(wiring, "_installed", [])
    monkeypatch.setenv("POWERTOOLS_METRICS_DISABLED", "false")
    monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", "Dreaming/test")
    script = tmp_path / "script.json"
    script.write_text('{"rules": []}', "utf-8")
    world.environment |= {"DREAMING_CHAT_PROVIDER": "scripted", "DREAMING_CHAT_SCRIPT": str(script)}
    world.environment["DREAMING_BATCH_NOTES"] = "2"
    world.ingest(*(note(f"n{number}", f"The shed has {number} windows.") for number in range(4)))
    database = Database(database_url, wait_seconds=30, connect=server.connect, clock=server.clock, sleep=server.sleep)
    keys = KeyResolver(EnvironmentKeys(world.environment), clock=lambda: 0.0)
    wiring.install(Resources(database, lambda _: world.queue, keys, world.environment, world.clock, uuid7))
    yield world
    database.close()


@pytest.fixture
def consolidate(sleepy: World) -> Sandbox:
    return load_sandbox("consolidate")


def receive(world: World) -> Received:
    received = world.queue.receive(holder="sqs", visibility_timeout=1080)
    assert received is not None
    return received


def fall_asleep(server: SleepyServer, refusals: float) -> None:
    """Every connection is gone, and the next ones are refused."""
    wiring.resources().database.close()
    server.refusals = refusals
    server.tries = 0


def assert_nothing_was_charged(world: World) -> None:
    assert world.rows("select * from note_attempts") == []
    assert world.rows("select * from retired_notes") == []


def test_a_database_that_resumes_twice_and_then_works_is_waited_for(
    sleepy: World, server: SleepyServer, consolidate: Sandbox
) -> None:
    fall_asleep(server, 2)
    assert len(consolidate.invoke({})["started"]) == 1
    assert server.tries == 3
    received = receive(sleepy)
    fall_asleep(server, 2)
    assert failed_items(consolidate.invoke(sqs_event(received))) == []
    sleepy.queue.delete(received.receipt)
    assert sleepy.counters().consolidated == 2
    fall_asleep(server, 2)
    assert call(load_sandbox("api"), STATUS).status == 200
    assert drain(sleepy, consolidate) == 1
    assert sleepy.counters().consolidated == 4
    assert_nothing_was_charged(sleepy)


def test_a_migration_waits_for_a_database_that_resumes(
    server: SleepyServer, empty_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dreaming.database import migration, waiting

    def connect_within(address: Any, **options: Any) -> Any:
        return waiting.connect_within(
            address, **options, connect=server.connect, clock=server.clock, sleep=server.sleep
        )

    monkeypatch.setattr(migration, "connect_within", connect_within)
    server.refusals = 2
    assert migrate(empty_database_url)
    assert server.tries == 3
    server.refusals = float("inf")
    with pytest.raises(DatabaseUnavailable, match="starting up"):
        migrate(empty_database_url, wait_seconds=20)
    assert server.now <= 25


def test_a_batch_without_its_database_fails_twice_and_then_leaves_the_slice_to_a_tick(
    sleepy: World, server: SleepyServer, consolidate: Sandbox
) -> None:
    consolidate.invoke({})
    fall_asleep(server, float("inf"))
    dispositions = []
    while (received := sleepy.queue.receive(holder="sqs", visibility_timeout=1080)) is not None:
        before = server.now
        failed = failed_items(consolidate.invoke(sqs_event(received)))
        assert server.now - before <= 30
        dispositions.append(bool(failed))
        if not failed:
            sleepy.queue.delete(received.receipt)
        sleepy.now += timedelta(minutes=2)
    assert dispositions == [True, True, False]
    assert sleepy.queue.counts().dead == 0
    assert consolidate.metric("batch_held") == 1

    server.refusals = 0
    sleepy.now += timedelta(minutes=20)
    assert len(consolidate.invoke({})["started"]) == 1
    assert drain(sleepy, consolidate) == 2
    assert sleepy.counters().consolidated == 4
    assert_nothing_was_charged(sleepy)


def test_a_database_that_goes_away_during_a_batch_is_not_charged_to_a_note(
    sleepy: World, server: SleepyServer, consolidate: Sandbox, admin: psycopg.Connection[TupleRow],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    from dreaming.models.scripted import ScriptedChatModel

    consolidate.invoke({})
    answer = ScriptedChatModel.answer

    def answer_and_lose_the_database(model: ScriptedChatModel, request: Any) -> Any:
        answered = answer(model, request)
        admin.execute(
            "select pg_terminate_backend(pid, 10000) from pg_stat_activity"
            " where datname = current_database() and pid <> pg_backend_pid()"
        )
        server.refusals = float("inf")
        return answered

    monkeypatch.setattr(ScriptedChatModel, "answer", answer_and_lose_the_database)
    received = receive(sleepy)
    assert failed_items(consolidate.invoke(sqs_event(received))) == [received.message_id]
    monkeypatch.setattr(ScriptedChatModel, "answer", answer)
    server.refusals = 0
    sleepy.now += timedelta(minutes=4)
    assert drain(sleepy, consolidate) >= 2
    assert sleepy.counters().consolidated == 4
    assert sleepy.counters().retired == 0
    sleepy.check()


@pytest.mark.filterwarnings("ignore:No application metrics to publish")
def test_a_tick_without_its_database_is_an_error_that_lambda_repeats(
    sleepy: World, server: SleepyServer, consolidate: Sandbox
) -> None:
    fall_asleep(server, float("inf"))
    with pytest.raises(DatabaseUnavailable):
        consolidate.invoke({})
    assert server.now <= 30
    server.refusals = 0
    assert len(consolidate.invoke({})["started"]) == 1


def test_the_api_answers_503_and_when_to_ask_again(sleepy: World, server: SleepyServer) -> None:
    api = load_sandbox("api")
    assert call(api, STATUS).status == 200
    fall_asleep(server, float("inf"))
    answer = call(api, STATUS)
    assert answer.status == 503
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["retry-after"] == "5"
    assert "secret" not in str(answer.body).lower()
    assert answer.body["detail"] == "database unavailable; try again in 5 seconds"
    assert call(api, "/health", authorizer=None).status == 200
    server.refusals = 0
    assert call(api, STATUS).status == 200


def test_a_connection_that_died_in_a_frozen_sandbox_is_replaced(
    sleepy: World, server: SleepyServer, consolidate: Sandbox, admin: psycopg.Connection[TupleRow]
) -> None:
    consolidate.invoke({})
    api = load_sandbox("api")
    for _ in range(2):
        died = admin.execute(
            "select pg_terminate_backend(pid, 10000) from pg_stat_activity"
            " where datname = current_database() and pid <> pg_backend_pid()"
        ).fetchall()
        assert died
        assert call(api, STATUS).status == 200
    assert drain(sleepy, consolidate) == 2
    assert_nothing_was_charged(sleepy)


def test_the_same_message_twice_at_once_has_one_effect(sleepy: World, consolidate: Sandbox) -> None:
    consolidate.invoke({})
    received = receive(sleepy)
    together = threading.Barrier(2)
    engine = wiring.engine("consolidation")
    from dreaming.passes.records import BatchMessage, Deadline, Disposition
    from dreaming.passes.store import LeaseBusy

    def deliver(number: int) -> str:
        together.wait()
        message = BatchMessage.model_validate_json(received.body)
        try:
            return engine.batch(message, holder=f"sandbox-{number}", deadline=Deadline(lambda: 180.0)).disposition
        except LeaseBusy:
            return "busy"

    with ThreadPoolExecutor(2) as threads:
        outcomes = sorted(threads.map(deliver, range(2)))
    assert Disposition.DONE in outcomes
    assert outcomes[0 if outcomes[1] == Disposition.DONE else 1] in {"busy", Disposition.REPEATED}
    assert sleepy.counters().consolidated == 2
    assert sleepy.rows("select batches, notes_consolidated, model_calls from dream_runs") == [(1, 2, 2)]
    sleepy.queue.delete(received.receipt)
    # The next batch was sent once, whoever sent it.
    assert sleepy.queue.counts().visible == 1
    assert failed_items(consolidate.invoke(sqs_event(received))) == []
    assert drain(sleepy, consolidate) == 1
    assert sleepy.counters().consolidated == 4
    sleepy.check()
