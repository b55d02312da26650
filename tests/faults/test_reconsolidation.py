"""Reading notes again: beliefs keep their ids where a claim still matches, and nothing is lost in between."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from dreaming.api.records import Rereading
from dreaming.api.service import Reader
from dreaming.database import Database
from dreaming.models.scripted import ScriptedChatModel
from dreaming.passes.consolidation.prompt import PROMPT_VERSION
from dreaming.passes.consolidation.reconsolidation import is_current, notes_by_reader, reconsolidate
from dreaming.passes.records import BatchReport, Disposition
from tests.faults.test_consolidation import SHED, Killed
from tests.faults.test_packing import facts
from tests.world import KEY, NOON, World, claim, note, open_world, verbatim

BELIEFS = "select * from beliefs order by belief_id"
SOURCES = "select * from sources order by source_id"
HISTORY = "select count(*) from belief_history"


class NamedModel(ScriptedChatModel):
    """A scripted model that stands for another version of itself."""

    def __init__(self, script: Any, name: str) -> None:
        super().__init__(script)
        self.name = name


def filled(world: World) -> World:
    """Facts, an event told six times, near-duplicates of several beliefs, an edit, a withdrawn note, an empty one."""
    texts = [*facts(12), *SHED, *(f"{fact} today" for fact in facts(6)), "\n".join(facts(3)), ""]
    world.environment["DREAMING_BATCH_NOTES"] = "7"
    world.ingest(*(note(f"n{at}", text, source=("a", "b")[at % 2]) for at, text in enumerate(texts)))
    world.drain()
    world.ingest(note("n2", facts(14)[13], source="a"))
    world.drain()
    return world


def again(world: World, **options: Any) -> int:
    return reconsolidate(world.database, KEY, now=world.now, **options)


def test_the_same_model_finds_the_same_beliefs_with_the_same_ids(database: Database, tmp_path: Path) -> None:
    model = ScriptedChatModel(verbatim)
    world = filled(open_world(database, tmp_path, model))
    before = [world.rows(query) for query in (BELIEFS, SOURCES, HISTORY)]
    calls, counters = model.calls, world.counters()
    for round_ in range(2):
        assert again(world) == counters.consolidated
        assert world.counters().waiting == counters.consolidated
        world.check()
        world.drain()
        assert model.calls == calls + (round_ + 1) * counters.consolidated
        assert [world.rows(query) for query in (BELIEFS, SOURCES, HISTORY)] == before
        assert world.counters() == counters
        world.check()


def test_another_model_replaces_note_by_note_and_keeps_what_still_matches(database: Database, tmp_path: Path) -> None:
    kept, lost, found = facts(3)
    text = f"{kept}\n{lost}\n{found}"
    world = open_world(database, tmp_path, NamedModel(lambda request: [claim(kept), claim(lost)], "scripted:old"))
    world.ingest(note("n1", text))
    world.drain()
    ids = dict(world.rows("select statement, belief_id from beliefs"))
    world.model = NamedModel(lambda request: [claim(kept, confidence=0.6), claim(found)], "scripted:new")
    assert notes_by_reader(database, KEY.tenant) == {("scripted:old", PROMPT_VERSION): 1}
    assert again(world) == 1
    world.drain()
    rows = world.rows(
        "select statement, belief_id, confidence, archive_reason from beliefs order by created_at, statement"
    )
    assert {row[0]: (row[2], row[3]) for row in rows} == {
        kept: (0.6, None),
        lost: (0.8, "sourceless"),
        found: (0.8, None),
    }
    assert {row[0]: row[1] for row in rows if row[0] != found} == ids
    [reader] = notes_by_reader(database, KEY.tenant)
    assert is_current(reader, "scripted:new")
    assert not is_current(reader, "scripted:old")
    world.check()


def test_a_claim_that_comes_out_the_same_tells_who_read_it_last(database: Database, tmp_path: Path) -> None:
    world = open_world(database, tmp_path, NamedModel(verbatim, "scripted:old"))
    world.ingest(note("n1", SHED[0]))
    world.drain()
    world.model = NamedModel(verbatim, "scripted:new")
    again(world)
    world.drain()
    assert list(notes_by_reader(database, KEY.tenant)) == [("scripted:new", PROMPT_VERSION)]
    assert world.rows("select count(*) from sources") == [(1,)]


def test_killed_in_between_it_goes_on_and_pays_no_saved_answer_twice(database: Database, tmp_path: Path) -> None:
    lives = [3]

    def script(request: Any) -> Any:
        if lives[0] == 0:
            lives[0] = 3
            raise Killed
        lives[0] -= 1
        return verbatim(request)

    world = filled(open_world(database, tmp_path))
    before = [world.rows(query) for query in (BELIEFS, SOURCES)]
    world.model = ScriptedChatModel(script)
    world.environment["DREAMING_MODEL_CONCURRENCY"] = "1"
    world.environment["DREAMING_BATCH_NOTES"] = "2"
    again(world)
    world.tick()
    kills = 0
    while (received := world.receive()) is not None:
        message, receipt = received
        try:
            world.batch(message, holder=receipt)
        except Killed:
            kills += 1
            assert kills < 100
            world.queue.release("test")
        else:
            world.queue.delete(receipt)
    assert kills > 3
    assert [world.rows(query) for query in (BELIEFS, SOURCES)] == before
    assert world.counters().waiting == 0
    world.check()


def test_asked_for_while_a_batch_is_at_work_it_replaces_that_run(database: Database, tmp_path: Path) -> None:
    world = open_world(database, tmp_path)
    world.ingest(note("n1", facts(1)[0]))
    world.drain()

    def script(request: Any) -> Any:
        if facts(2)[1] in request.content and not replaced:
            replaced.append(again(world))
        return verbatim(request)

    replaced: list[int] = []
    world.model = ScriptedChatModel(script)
    world.ingest(note("n2", facts(2)[1]))
    reports: list[BatchReport] = []
    world.tick()
    world.process(reports.append)
    assert replaced == [1]
    assert [report.disposition for report in reports] == [Disposition.STALE]
    assert world.rows("select status from dream_runs order by started_at, run_id") == [("drained",), ("replaced",)]
    assert world.counters().waiting == 2
    world.drain()
    assert world.statements() == sorted(facts(2))
    world.check()


@pytest.mark.parametrize(
    ("options", "count"),
    [
        ({"source": "a"}, 2),
        ({"source": "nothing"}, 0),
        ({"since": NOON - timedelta(days=2)}, 2),
        ({"source": "a", "since": NOON - timedelta(days=2)}, 1),
    ],
    ids=["source", "unknown source", "since", "both"],
)
def test_only_the_notes_that_are_meant_are_read_again(
    database: Database, tmp_path: Path, options: dict[str, Any], count: int
) -> None:
    model = ScriptedChatModel(verbatim)
    world = open_world(database, tmp_path, model)
    for at, text in enumerate(facts(4)):
        days = timedelta(days=1 if at >= 2 else 10)
        world.ingest(note(f"n{at}", text, source=("a", "b")[at % 2], occurred_at=NOON - days))
    world.drain()
    before = world.rows(BELIEFS)
    assert again(world, **options) == count
    world.drain()
    assert model.calls == 4 + count
    assert world.rows(BELIEFS) == before
    world.check()


def rereading(world: World) -> Rereading | None:
    (one,) = Reader(world.database, KEY.tenant, world.environment, world.now).status("consolidation", runs=0)
    return one.rereading


def test_how_far_it_is_can_be_seen_until_it_is_done(database: Database, tmp_path: Path) -> None:
    world = open_world(database, tmp_path)
    world.environment["DREAMING_BATCH_NOTES"] = "2"
    world.ingest(*(note(f"n{at}", text) for at, text in enumerate(facts(5))))
    world.drain()
    assert rereading(world) is None
    again(world)
    seen: list[tuple[int, int]] = []

    def look(report: BatchReport) -> None:
        progress = rereading(world)
        seen.append((progress.position, progress.goal) if progress else (5, 5))

    world.tick()
    world.process(look)
    assert seen == [(2, 5), (4, 5), (5, 5)]
    assert again(world) == 5
    begun = rereading(world)
    assert begun is not None
    assert begun.position == 0


def test_a_superseded_belief_is_kept_by_its_own_note_when_that_is_read_again(
    database: Database, tmp_path: Path
) -> None:
    world = open_world(database, tmp_path)
    world.ingest(note("a1", "The service must run on port 8443."))
    world.drain()
    ((before,),) = world.rows("select belief_id from beliefs")
    # What the contradictions pass does to a belief whose place another one took.
    with world.transaction() as tx:
        tx.execute("update beliefs set archived_at = %s, archive_reason = 'superseded'", (world.now,))
        tx.execute("update slice_counters set beliefs_fact = 0, beliefs_archived = 1")
    for text in ("The service must run on port 8443.\nHello there.", "The service must run on port 8443."):
        world.ingest(note("a1", text))
        world.drain()
        kept = world.rows("select belief_id, archive_reason, sources from beliefs where statement like '%%8443.'")
        assert kept == [(before, "superseded", 1)]
