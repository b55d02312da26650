"""What a batch asks of the database: no more statements for many notes, and nothing while the model works."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from dreaming.database import Database
from dreaming.models.protocols import ChatRequest
from dreaming.models.scripted import ScriptedChatModel
from dreaming.notes.records import SliceKey
from dreaming.passes.consolidation.extraction import WAVES
from tests.faults.test_packing import facts
from tests.statements import Statements
from tests.world import World, note, open_world, verbatim

PER_WAVE = 10
"""What booking a wave of calls and saving its answers takes, transactions opened included."""


@pytest.fixture
def statements() -> Statements:
    return Statements()


@pytest.fixture
def counted(database_url: str, statements: Statements) -> Iterator[Database]:
    counted = Database(database_url, connect=statements.connect)
    yield counted
    counted.close()


def statements_of_a_batch(world: World, statements: Statements, notes: int) -> int:
    """Drain that many notes, as new beliefs and as corroborations, in one batch; return what the batch executed."""
    key = SliceKey(f"org-of-{notes}")
    world.enrol(key.org_id)
    texts = [*facts(notes - notes // 3), *facts(notes // 3)]
    world.ingest(*(note(f"n{at}", text, origin=f"o{at}") for at, text in enumerate(texts)), key=key)
    world.tick()
    received = world.receive()
    assert received is not None
    message, receipt = received
    statements.texts.clear()
    report = world.batch(message, holder=receipt)
    world.queue.delete(receipt)
    assert report.outcome is not None
    assert report.outcome.counts["notes_consolidated"] == notes
    assert report.outcome.counts["beliefs_created"] == notes - notes // 3
    return len(statements.texts)


@pytest.mark.parametrize("packing", ["true", "false"], ids=["together", "alone"])
def test_statements_do_not_grow_with_the_notes_of_a_batch(
    counted: Database, statements: Statements, tmp_path: Path, packing: str
) -> None:
    world = open_world(counted, tmp_path)
    world.environment |= {"DREAMING_BATCH_NOTES": "200", "DREAMING_PACKING": packing}
    few, some, many, most = (statements_of_a_batch(world, statements, notes) for notes in (5, 20, 80, 190))
    assert few < 80
    # Calls are booked in waves, so that a crash makes few notes suspect: at most so many in a batch.
    assert max(some, many, most) <= few + WAVES * PER_WAVE


def test_no_connection_is_held_while_twenty_calls_are_slow_and_the_pool_has_two(
    database_url: str, tmp_path: Path
) -> None:
    """All twenty are on their way, and both connections can be had at once, without waiting."""
    pool = Database(database_url, pool_size=2, wait_seconds=0.0)
    underway, measured = threading.Barrier(20), threading.Barrier(20)
    free: list[int] = []

    one_at_a_time = threading.Lock()

    def script(request: ChatRequest) -> Any:
        underway.wait(30)
        with one_at_a_time, pool.planner() as first, pool.planner() as second:
            free.append(len({first, second}))
        measured.wait(30)
        return verbatim(request)

    world = open_world(pool, tmp_path, ScriptedChatModel(script))
    world.environment |= {"DREAMING_MODEL_CONCURRENCY": "20", "DREAMING_BATCH_NOTES": "20"}
    world.ingest(*(note(f"n{at}", text) for at, text in enumerate(facts(20))))
    world.drain()
    assert free == [2] * 20
    assert world.counters().consolidated == 20
    pool.close()


def test_eight_parallel_posts_to_different_documents_are_all_stored(database: Database, tmp_path: Path) -> None:
    world = open_world(database, tmp_path)
    together = threading.Barrier(8)
    texts = facts(8)

    def post(at: int) -> int:
        together.wait(30)
        return world.ingest(note(f"n{at}", texts[at])).created

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(post, range(8))) == 8
    assert sorted(row[0] for row in world.rows("select text from notes")) == sorted(texts)
    assert sorted(row[0] for row in world.rows("select sequence from notes")) == list(range(1, 9))
    world.drain()
    assert world.statements() == sorted(texts)
    world.check()
