"""Ingests, passes and drains at once: no note is skipped, none applied twice, the end is the same."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic
from typing import Any

from dreaming.database import Database
from dreaming.identifiers import uuid7
from dreaming.notes.preparation import prepare
from dreaming.notes.service import ingest_prepared
from tests.world import KEY, note, open_world, verbatim

TEA = "Ines drinks green tea in the morning"
BIKE = "Tariq keeps his bicycle in the cellar"


def test_a_note_that_commits_late_is_not_skipped_by_a_pass_meanwhile(database: Database, tmp_path: Path) -> None:
    world = open_world(database, tmp_path)
    world.ingest(note("n0", "The first entry stands in the book"))
    world.drain()
    inserted, commit = threading.Event(), threading.Event()

    def slow_ingest() -> None:
        prepared = [prepare(note("late", TEA), max_note_characters=10_000)]
        with database.transaction(KEY.tenant) as tx:
            ingest_prepared(tx, KEY, prepared, now=world.now, new_id=uuid7)
            inserted.set()
            assert commit.wait(30)

    with ThreadPoolExecutor(2) as pool:
        late = pool.submit(slow_ingest)
        assert inserted.wait(30)
        behind = pool.submit(world.ingest, note("behind", BIKE))
        world.drain()
        commit.set()
        late.result()
        behind.result()
    world.drain()
    assert {TEA, BIKE} <= set(world.statements())
    assert world.counters().waiting == 0
    world.check()


def test_an_edit_during_the_model_call_is_consolidated_as_the_new_text_only(database: Database, tmp_path: Path) -> None:
    edited = threading.Event()

    def script(request: Any) -> Any:
        if not edited.is_set():
            edited.set()
            world.ingest(note("n1", BIKE))
        return verbatim(request)

    world = open_world(database, tmp_path, script)
    world.ingest(note("n1", TEA))
    world.drain()
    assert world.statements() == [BIKE]
    assert world.rows("select count(*) from beliefs") == [(1,)]
    world.check()


def test_two_drains_at_once_end_as_one(database: Database, tmp_path: Path) -> None:
    world = open_world(database, tmp_path)
    world.environment["DREAMING_BATCH_NOTES"] = "2"
    world.ingest(*(note(f"n{number}", [TEA, BIKE][number % 2]) for number in range(12)))

    def drain() -> None:
        world.tick()
        give_up = monotonic() + 60
        while world.counters().waiting and monotonic() < give_up:
            world.process()

    with ThreadPoolExecutor(2) as pool:
        for future in [pool.submit(drain) for _ in range(2)]:
            future.result()
    assert [(row[0], row[2]) for row in world.beliefs()] == [(TEA, 6), (BIKE, 6)]
    assert world.rows("select count(*), min(status) from dream_runs") == [(1, "drained")]
    assert world.rows("select sum(model_calls)::int from dream_runs") == [(12,)]
    world.check()


def test_ingest_does_not_wait_for_a_pass(database: Database, tmp_path: Path) -> None:
    world = open_world(database, tmp_path)
    world.ingest(note("n1", TEA))
    slice_id = world.slice().slice_id
    with database.transaction(KEY.tenant) as tx:
        tx.execute("select from belief_lock where slice_id = %s for update", (slice_id,))
        tx.execute("insert into dream_cursor (slice_id, pass) values (%s, 'consolidation')", (slice_id,))
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(world.ingest, note("n2", BIKE)).result(timeout=30).created == 1
