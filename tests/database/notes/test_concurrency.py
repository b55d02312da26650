"""Ingests beside each other and beside a pass: nobody deadlocks, nothing is lost, counters stay exact."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from psycopg.rows import TupleRow

from dreaming.database import Database, Transaction
from dreaming.identifiers import uuid7
from dreaming.notes import store
from dreaming.notes.preparation import prepare
from dreaming.notes.records import IncomingNote, IngestCounts, NoteState, SliceKey
from dreaming.notes.service import ingest, ingest_prepared

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
KEY = SliceKey("acme")
PATIENCE = 30.0  # seconds

Admin = psycopg.Connection[TupleRow]


def incoming(external_id: str, text: str) -> IncomingNote:
    return IncomingNote(external_id=external_id, source="test", text=text, occurred_at=NOW - timedelta(days=1))


def post(database: Database, *notes: IncomingNote) -> IngestCounts:
    return ingest(database, KEY, notes, now=NOW, new_id=uuid7, max_note_characters=1_000)


def post_within(tx: Transaction, *notes: IncomingNote) -> None:
    prepared = [prepare(note, max_note_characters=1_000) for note in notes]
    ingest_prepared(tx, KEY, prepared, now=NOW, new_id=uuid7)


def stored(database: Database) -> list[tuple[int, str, str]]:
    with database.transaction(KEY.tenant) as tx:
        found = store.find_slice(tx, KEY)
        assert found is not None
        assert store.recount(tx, found.slice_id) == store.read_counters(tx, found.slice_id)
        notes = store.read_waiting(tx, found.slice_id, 0, 10_000)
    return [(note.sequence, note.external_id, note.text) for note in notes]


def slice_id_of(database: Database) -> int:
    with database.transaction(KEY.tenant) as tx:
        found = store.find_slice(tx, KEY)
    assert found is not None
    return found.slice_id


@pytest.fixture
def second(database_url: str) -> Iterator[Database]:
    """The same database through connections of its own."""
    other = Database(database_url)
    yield other
    other.close()


@contextmanager
def at_once(workers: int = 4) -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(workers) as pool:
        yield pool


def wait_until(condition: Callable[[], bool]) -> None:
    pause = threading.Event()
    for _ in range(int(PATIENCE / 0.01)):
        if condition():
            return
        pause.wait(0.01)
    pytest.fail(f"not so within {PATIENCE} seconds")


def is_waiting_for_a_lock(admin: Admin) -> bool:
    row = admin.execute(
        "select exists (select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock')"
    ).fetchone()
    return row == (True,)


def test_the_second_ingest_waits_for_the_first_and_comes_after_it(
    database: Database, second: Database, admin: Admin
) -> None:
    post(database, incoming("0", "base"))
    with at_once() as pool:
        with database.transaction(KEY.tenant) as tx:
            post_within(tx, incoming("1", "first"), incoming("2", "first"))
            behind: Future[IngestCounts] = pool.submit(post, second, incoming("3", "second"), incoming("1", "edited"))
            wait_until(lambda: is_waiting_for_a_lock(admin))
            assert not behind.done()
        assert behind.result(PATIENCE) == IngestCounts(created=1, edited=1)
    assert stored(database) == [(1, "0", "base"), (3, "2", "first"), (4, "3", "second"), (5, "1", "edited")]


def test_a_rollback_of_the_first_loses_nothing_of_the_second(
    database: Database, second: Database, admin: Admin
) -> None:
    post(database, incoming("0", "base"))
    with at_once() as pool:
        with pytest.raises(ConnectionAbortedError), database.transaction(KEY.tenant) as tx:
            post_within(tx, incoming("1", "first"), incoming("0", "edited"))
            behind: Future[IngestCounts] = pool.submit(post, second, incoming("1", "second"))
            wait_until(lambda: is_waiting_for_a_lock(admin))
            raise ConnectionAbortedError
        assert behind.result(PATIENCE) == IngestCounts(created=1)
    assert stored(database) == [(1, "0", "base"), (2, "1", "second")]


def test_two_ingests_that_both_make_the_slice_share_one(database: Database, second: Database, admin: Admin) -> None:
    with at_once() as pool:
        with database.transaction(KEY.tenant) as tx:
            post_within(tx, incoming("1", "first"))
            behind = pool.submit(post, second, incoming("2", "second"))
            wait_until(lambda: is_waiting_for_a_lock(admin))
        assert behind.result(PATIENCE) == IngestCounts(created=1)
    assert stored(database) == [(1, "1", "first"), (2, "2", "second")]


def test_two_first_ingests_of_which_one_rolls_back_still_make_one_slice(
    database: Database, second: Database, admin: Admin
) -> None:
    with at_once() as pool:
        with pytest.raises(ConnectionAbortedError), database.transaction(KEY.tenant) as tx:
            post_within(tx, incoming("1", "first"))
            behind = pool.submit(post, second, incoming("2", "second"))
            wait_until(lambda: is_waiting_for_a_lock(admin))
            raise ConnectionAbortedError
        assert behind.result(PATIENCE) == IngestCounts(created=1)
    assert stored(database) == [(1, "2", "second")]


def test_ingest_does_not_wait_for_a_pass_that_refers_to_the_slice_and_its_notes(
    database: Database, second: Database
) -> None:
    post(database, incoming("1", "old"))
    slice_id = slice_id_of(database)
    with at_once() as pool, database.transaction(KEY.tenant) as tx:
        note_id = store.read_waiting(tx, slice_id, 0, 1)[0].note_id
        tx.execute("insert into dream_cursor (slice_id, pass) values (%s, 'consolidation')", (slice_id,))
        tx.execute("select from belief_lock where slice_id = %s for update", (slice_id,))
        tx.execute(
            "insert into extractions"
            " (note_id, version, chunk, prompt_version, model, slice_id, answer, partial, saved_at)"
            " values (%s, 1, 0, 'p', 'm', %s, '[]', false, now())",
            (note_id, slice_id),
        )
        ingested = pool.submit(post, second, incoming("1", "new"), incoming("2", "other"))
        assert ingested.result(PATIENCE) == IngestCounts(created=1, edited=1)


def test_an_edit_waits_for_the_pass_that_applies_the_note(database: Database, second: Database, admin: Admin) -> None:
    post(database, incoming("1", "old"))
    slice_id = slice_id_of(database)
    with at_once() as pool:
        with database.transaction(KEY.tenant) as tx:
            note_id = store.read_waiting(tx, slice_id, 0, 1)[0].note_id
            assert store.lock_notes(tx, slice_id, [note_id]) == {note_id: (1, NoteState.WAITING)}
            edit = pool.submit(post, second, incoming("1", "new"))
            wait_until(lambda: is_waiting_for_a_lock(admin))
            store.set_state(tx, slice_id, [note_id], NoteState.CONSOLIDATED)
        assert edit.result(PATIENCE) == IngestCounts(edited=1)
    assert stored(database) == [(2, "1", "new")]


def test_edits_retries_and_a_pass_over_the_same_notes_never_deadlock(database: Database, database_url: str) -> None:
    names = [str(number) for number in range(12)]
    post(database, *(incoming(name, "0") for name in names))
    slice_id = slice_id_of(database)
    shared = Database(database_url, pool_size=6)

    def edit(round_: int) -> None:
        order = names if round_ % 2 else names[::-1]
        post(shared, *(incoming(name, str(round_)) for name in order))

    def consolidate(round_: int) -> None:
        with shared.transaction(KEY.tenant) as tx:
            notes = store.read_waiting(tx, slice_id, 0, 100)[:: 1 if round_ % 2 else -1]
            held = store.lock_notes(tx, slice_id, [note.note_id for note in notes])
            current = [note.note_id for note in notes if held[note.note_id] == (note.version, NoteState.WAITING)]
            store.set_state(tx, slice_id, current[::2], NoteState.CONSOLIDATED)
            store.set_state(tx, slice_id, current[1::2], NoteState.EMPTY)

    def withdraw(round_: int) -> None:
        with shared.transaction(KEY.tenant) as tx:
            notes = store.read_waiting(tx, slice_id, 0, 100)
            store.withdraw(tx, slice_id, [note.note_id for note in notes[round_ % 3 :: 3]], NOW)

    with at_once(6) as pool:
        futures = [pool.submit(act, round_) for round_ in range(20) for act in (edit, consolidate, withdraw)]
        for future in futures:
            future.result(PATIENCE * 4)
    shared.close()
    assert len(stored(database)) == len(names)


def test_a_cursor_that_follows_writers_meets_every_note(database: Database, database_url: str) -> None:
    """Every other writer rolls back; a reader that only moves forward must still meet all that was committed."""
    post(database, incoming("base", "x"))
    slice_id = slice_id_of(database)
    shared = Database(database_url, pool_size=6)
    writing = threading.Event()
    met: list[str] = []

    def write(worker: int) -> list[str]:
        committed = []
        for round_ in range(15):
            name = f"{worker}-{round_}"
            if round_ % 3 == 2:
                with pytest.raises(ConnectionAbortedError), shared.transaction(KEY.tenant) as tx:
                    post_within(tx, incoming(name, "rolled back"))
                    raise ConnectionAbortedError
            else:
                post(shared, incoming(name, "committed"))
                committed.append(name)
        return committed

    def follow() -> None:
        position = 0
        while True:
            is_last_look = writing.is_set()
            with shared.transaction(KEY.tenant) as tx:
                notes = store.read_waiting(tx, slice_id, position, 3)
            met.extend(note.external_id for note in notes)
            position = notes[-1].sequence if notes else position
            if is_last_look and not notes:
                return

    with at_once(6) as pool:
        reader = pool.submit(follow)
        writers = [pool.submit(write, worker) for worker in range(4)]
        committed = [name for writer in writers for name in writer.result(PATIENCE * 4)]
        writing.set()
        reader.result(PATIENCE)
    shared.close()
    assert sorted(met) == sorted(["base", *committed])
