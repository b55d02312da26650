"""A real deadlock, a real lost race, a real server without writes, and one that stalls: none is charged to a note."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from psycopg.rows import TupleRow

from dreaming.database import Database, Role
from dreaming.database import waiting as waiting_module
from dreaming.errors import DatabaseConflict, DatabaseUnavailable
from dreaming.models.protocols import ChatRequest
from dreaming.models.scripted import ScriptedChatModel
from dreaming.notes.records import Tenant
from tests.slow_server import slow_server
from tests.waiting import wait_until
from tests.world import World, note, verbatim

Admin = psycopg.Connection[TupleRow]
ACME = Tenant("acme")
LINES = ("The shed has two windows.", "The mill opens at dawn.", "Tom sails on Sundays.")


STOP_AT_SOURCES = """
    create function stop() returns trigger language plpgsql as $$
    begin perform pg_advisory_xact_lock(1); return new; end $$;
    create trigger stop before insert on sources for each statement execute function stop();
"""


@pytest.fixture
def loaded(world: World) -> World:
    world.ingest(*(note(f"n{place}", line) for place, line in enumerate(LINES)))
    world.tick()
    return world


def assert_done_and_nothing_charged(world: World) -> None:
    """A queue that brings messages back, and ticks, bring the work to its end."""
    while world.counters().waiting:
        world.process()
        world.now += timedelta(minutes=21)
        world.tick()
    world.process()
    assert world.statements() == sorted(LINES)
    assert world.rows("select 1 from note_attempts") == []
    assert world.rows("select 1 from retired_notes") == []
    assert world.rows("select 1 from dream_cursor where lease_holder is not null") == []
    world.check()


@contextmanager
def at_server(admin: Admin, name: str, value: str) -> Iterator[None]:
    """Let a setting hold for every connection that is opened in the block; those that are open are closed."""
    database = admin.info.dbname
    admin.execute(f'alter database "{database}" set {name} = {value}'.encode())
    _close_others(admin)
    try:
        yield
    finally:
        admin.execute(f'alter database "{database}" reset {name}'.encode())
        _close_others(admin)


def _close_others(admin: Admin) -> None:
    admin.execute(
        "select pg_terminate_backend(pid, 10000) from pg_stat_activity"
        " where datname = current_database() and pid <> pg_backend_pid()"
    )


def _waits_for(admin: Admin, table: str) -> Callable[[], bool]:
    query = """
        select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
        and query ilike %s
    """
    return lambda: bool(admin.execute(query, [f"%{table}%"]).fetchall())


def test_a_batch_that_loses_a_deadlock_comes_again_and_the_slice_does_not_hold(
    loaded: World, admin: Admin, database_url: str
) -> None:
    received = loaded.receive()
    assert received is not None
    message, receipt = received
    admin.execute(STOP_AT_SOURCES)
    admin.execute("select pg_advisory_lock(1)")
    with (
        ThreadPoolExecutor(2) as pool,
        at_server(admin, "deadlock_timeout", "20"),
        psycopg.connect(database_url, options="-c search_path=dreaming -c deadlock_timeout=1min") as other,
    ):
        other.execute("select 1 from slice_counters for update")
        batch = pool.submit(loaded.batch, message, receipt)
        wait_until(_waits_for(admin, "sources"), "the batch holds the beliefs and stops", within=60)
        locking = pool.submit(other.execute, "select 1 from belief_lock for update")
        wait_until(_waits_for(admin, "belief_lock"), "the other waits for the batch", within=60)
        admin.execute("select pg_advisory_unlock(1)")  # now the batch comes to wait for the other, and loses
        with pytest.raises(DatabaseConflict):
            batch.result(timeout=60)
        locking.result(timeout=60)
        other.rollback()
    admin.execute("drop trigger stop on sources")
    assert loaded.rows("select held_reason, run_id is null from dream_cursor") == [(None, False)]
    loaded.queue.change_visibility(receipt, 0)
    assert_done_and_nothing_charged(loaded)
    assert loaded.rows("select status from dream_runs") == [("drained",)]


def test_a_transaction_that_comes_too_late_to_be_serialized_is_a_conflict(
    database: Database, admin: Admin, loaded: World
) -> None:
    with at_server(admin, "default_transaction_isolation", "'repeatable read'"):
        with pytest.raises(DatabaseConflict, match="40001"), database.transaction(ACME) as tx:
            tx.execute("select last_seq from slices")
            admin.execute("update slices set last_seq = last_seq + 1")
            tx.execute("update slices set last_seq = last_seq + 1")
        with database.transaction(ACME) as tx:  # the connection serves on
            assert tx.execute("select 1").fetchone() == (1,)
    assert_done_and_nothing_charged(loaded)


def test_a_server_that_takes_no_writes_any_more_is_an_outage(loaded: World, admin: Admin) -> None:
    received = loaded.receive()
    assert received is not None
    message, receipt = received

    with at_server(admin, "default_transaction_read_only", "on"):
        for _ in range(2):
            with pytest.raises(DatabaseUnavailable, match="takes no writes"):
                loaded.batch(message, holder=receipt)
        with pytest.raises(DatabaseUnavailable, match="takes no writes"), loaded.database.transaction(ACME):
            pytest.fail("the block ran")
    loaded.queue.change_visibility(receipt, 0)
    assert_done_and_nothing_charged(loaded)


def test_a_server_that_loses_its_writes_during_the_model_calls_is_an_outage(loaded: World, admin: Admin) -> None:
    entered = at_server(admin, "default_transaction_read_only", "on")

    def fail_over(request: ChatRequest) -> Any:
        if not failed.is_set():
            failed.set()
            entered.__enter__()
        return verbatim(request)

    failed = threading.Event()
    loaded.model = ScriptedChatModel(fail_over)
    received = loaded.receive()
    assert received is not None
    with pytest.raises(DatabaseUnavailable):
        loaded.batch(received[0], holder=received[1])
    entered.__exit__(None, None, None)
    loaded.queue.change_visibility(received[1], 0)
    loaded.now += timedelta(minutes=4)  # the lease of the batch that could not give it back
    assert_done_and_nothing_charged(loaded)


def test_a_full_disk_holds_the_slice(loaded: World, admin: Admin) -> None:
    admin.execute(
        """
        create function no_room() returns trigger language plpgsql as $$
        begin raise exception 'could not extend file' using errcode = 'disk_full'; end $$;
        create trigger no_room before insert on sources for each row execute function no_room();
        """
    )
    loaded.process()
    held = loaded.rows("select held_reason, held_detail from dream_cursor")
    assert held[0][0] == "database_unavailable"
    assert "has no room left" in held[0][1]
    assert loaded.statements() == []
    admin.execute("drop trigger no_room on sources")
    loaded.tick()
    assert_done_and_nothing_charged(loaded)


def test_a_statement_that_waits_too_long_for_a_lock_ends(loaded: World, admin: Admin, database_url: str) -> None:
    patient, loaded.database = loaded.database, Database(database_url, statement_milliseconds=100)
    received = loaded.receive()
    assert received is not None
    with psycopg.connect(database_url, options="-c search_path=dreaming") as other:
        other.execute("insert into belief_lock (slice_id) select slice_id from slices on conflict do nothing")
        other.execute("select 1 from belief_lock for update")
        report = loaded.batch(received[0], holder=received[1])
    assert report.reason == "database_unavailable"
    loaded.queue.delete(received[1])
    loaded.database.close()
    loaded.database = patient
    loaded.tick()
    assert_done_and_nothing_charged(loaded)


def test_an_eraser_may_take_its_time(database_url: str) -> None:
    database = Database(database_url, statement_milliseconds=1)
    with database.transaction(ACME, role=Role.ERASER) as tx:
        assert tx.execute("show statement_timeout").fetchone() == ("0",)
    database.close()


def test_a_server_that_stalls_within_a_transaction_and_goes_on_changes_nothing(
    loaded: World, database_url: str
) -> None:
    patient = loaded.database
    with slow_server(database_url) as slow, ThreadPoolExecutor(1) as pool:

        def stall(request: ChatRequest) -> Any:
            slow.stall()
            stalled.set()
            return verbatim(request)

        stalled = threading.Event()
        loaded.model = ScriptedChatModel(stall)
        loaded.database = Database(slow.url)
        draining = pool.submit(loaded.process)
        assert stalled.wait(60)
        assert not draining.done()
        loaded.model = ScriptedChatModel(verbatim)
        slow.resume()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(slow, "stall", lambda: None)
            assert draining.result(timeout=60) >= 1
        loaded.database.close()
    loaded.database = patient
    assert_done_and_nothing_charged(loaded)


def test_a_server_that_takes_connections_and_says_nothing_is_given_up_within_the_bound(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting_module, "_CONNECT_TIMEOUT", 2)
    with slow_server(database_url) as slow:
        slow.stall()
        silent = Database(slow.url, wait_seconds=0.1)
        with pytest.raises(DatabaseUnavailable, match="did not answer within"), silent.transaction(ACME):
            pytest.fail("the block ran")
        assert slow.accepted == 1
