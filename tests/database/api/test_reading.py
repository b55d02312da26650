"""What people read agrees with the arithmetic, stays within the tenant and costs what it should."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.rows import TupleRow

from dreaming.api.beliefs.store import BeliefFilter
from dreaming.api.service import Reader, recount
from dreaming.beliefs.records import DecayClass, Kind
from dreaming.beliefs.rules import Ageing, aged
from dreaming.database import Database
from dreaming.errors import InvalidInput
from dreaming.models.scripted import ScriptedChatModel
from dreaming.notes.records import NoteState, Scope, SliceKey, Tenant
from tests.world import KEY, NOON, World, claim, note, open_world

PASS = "consolidation"
EVERYTHING = BeliefFilter()


@pytest.fixture
def world(database: Database, tmp_path: Path) -> World:
    return open_world(database, tmp_path)


def reader(world: World, tenant: Tenant = KEY.tenant, *, now: datetime = NOON) -> Reader:
    return Reader(world.database, tenant, world.environment, now)


def pages(world: World, limit: int, *, later: timedelta) -> Iterator[list[Any]]:
    """All pages of beliefs, each asked for `later` than the one before."""
    cursor, now = None, NOON
    while True:
        page = reader(world, now=now).beliefs(KEY, EVERYTHING, limit=limit, cursor=cursor)
        yield [one.belief.belief_id for one in page.beliefs]
        if page.next_cursor is None:
            return
        cursor, now = page.next_cursor, now + later


def aging_world(world: World) -> World:
    """Beliefs of all decay classes and of very different ages, some confirmed in the future."""
    moments = [NOON + timedelta(days=days) for days in (-1, -20, -180, -3000, 400)]
    moments.append(datetime(1, 1, 2, tzinfo=UTC))

    def script(request: Any) -> list[dict[str, Any]]:
        return [
            claim(line, decay_class=line.split()[1], confidence=0.5, note=passage.label)
            for passage in request.passages
            for line in passage.text.splitlines()
        ]

    world.model = ScriptedChatModel(script)
    names = ("alpha", "bravo", "charlie", "delta", "echo", "foxtrot")
    world.ingest(
        *(
            note(
                name,
                "\n".join(f"{name.title()} {decay.value} holds in the {name} register." for decay in DecayClass),
                occurred_at=moment,
            )
            for name, moment in zip(names, moments, strict=True)
        )
    )
    world.drain()
    return world


def test_the_database_ages_as_the_rules_do(world: World) -> None:
    aging_world(world)
    reads = reader(world, now=NOON + timedelta(hours=7))
    found = [
        one
        for archived in (False, True)
        for one in reads.beliefs(KEY, BeliefFilter(archived=archived), limit=100).beliefs
    ]
    assert {one.belief.decay_class for one in found} == set(DecayClass)
    assert len(found) == 18
    for one in found:
        belief = one.belief
        half_life = Ageing().half_life(belief.decay_class)
        assert one.aged == pytest.approx(aged(belief.confidence, belief.confirmed_at, half_life, reads.now), abs=1e-12)


def test_pages_fit_together_however_long_the_reader_takes(world: World) -> None:
    aging_world(world)
    whole = reader(world).beliefs(KEY, EVERYTHING, limit=100)
    assert whole.next_cursor is None
    expected = [one.belief.belief_id for one in whole.beliefs]
    for limit in (1, 4):
        found = list(pages(world, limit, later=timedelta(days=100)))
        assert [one for page in found for one in page] == expected
        assert {len(page) for page in found[:-1]} <= {limit}


@pytest.mark.parametrize(
    "wanted",
    [BeliefFilter(("",)), BeliefFilter(("a\0b",)), BeliefFilter(("a",) * 21), BeliefFilter(min_confidence=1.5)],
    ids=str,
)
def test_filters_that_cannot_be_are_refused(world: World, wanted: BeliefFilter) -> None:
    with pytest.raises(InvalidInput):
        reader(world).beliefs(KEY, wanted, limit=10)


@pytest.mark.parametrize("limit", [0, 1001])
def test_limits_that_cannot_be_are_refused(world: World, limit: int) -> None:
    with pytest.raises(InvalidInput, match="limit"):
        reader(world).retired(KEY, limit=limit)


@pytest.mark.parametrize("cursor", ["", "nonsense", "W10", "WzEsMiwzLDQsNV0", "é"])
def test_a_cursor_of_something_else_is_refused(world: World, cursor: str) -> None:
    with pytest.raises(InvalidInput, match="cursor"):
        reader(world).beliefs(KEY, EVERYTHING, limit=10, cursor=cursor)


def test_words_are_found_in_any_case_and_are_no_patterns(world: World) -> None:
    world.ingest(note("1", "Über 100% of the Rent_money is due on Monday."))
    world.drain()
    for words in (("RENT", "monday"), ("über",), ("100%",), ("t_m",)):
        assert len(reader(world).beliefs(KEY, BeliefFilter(words), limit=10).beliefs) == 1
    for words in (("rent", "tuesday"), ("r%t",), ("rent.money",)):
        assert reader(world).beliefs(KEY, BeliefFilter(words), limit=10).beliefs == ()


def test_nobody_reads_across_the_tenant(world: World) -> None:
    mine = SliceKey(KEY.org_id, Scope.PRIVATE, "ana")
    world.ingest(note("1", "The rent is due on Monday."), key=mine)
    world.ingest(note("1", "The office is in Ghent."))
    world.drain()
    belief = reader(world, mine.tenant).beliefs(mine, EVERYTHING, limit=10).beliefs[0].belief
    assert reader(world, mine.tenant).explain(str(belief.belief_id)).reading.belief == belief
    for tenant in (KEY.tenant, Tenant(KEY.org_id, "bo"), Tenant("other", "ana")):
        other = reader(world, tenant)
        assert other.beliefs(mine, EVERYTHING, limit=10).beliefs == ()
        with pytest.raises(InvalidInput, match="no belief"):
            other.explain(str(belief.belief_id))
        assert all(status.slice.key.scope is not Scope.PRIVATE for status in other.status(PASS))
        assert other.notes_by_source(mine) == {}
    assert len(reader(world, mine.tenant).status(PASS)) == 2


def test_status_never_touches_notes_or_beliefs(world: World, admin: psycopg.Connection[TupleRow]) -> None:
    world.ingest(note("1", "The rent is due on Monday."), note("2", " "))
    world.drain()
    admin.execute("revoke select on notes, note_versions, beliefs, sources, belief_history from dreaming_api")
    found = reader(world).status(PASS)[0]
    assert (found.notes.total, found.notes.consolidated, found.notes.empty) == (2, 1, 1)
    assert found.beliefs.by_kind[Kind.FACT] == 1
    assert found.cursor.position == found.last_sequence == 2
    assert len(found.runs) == 1


def test_the_witnesses_decide_what_is_most_corroborated(world: World) -> None:
    world.ingest(note("1", "The rent is due on Monday."), note("2", "The office is in Ghent."))
    world.ingest(note("3", "The office is in Ghent."), note("4", "The office is in Ghent.", origin="test:2"))
    world.drain()
    found = reader(world).corroborated(KEY, limit=5)
    assert [(one.belief.statement, one.belief.origins) for one in found] == [("The office is in Ghent.", 2)]


def test_notes_are_counted_by_source_and_state(world: World) -> None:
    world.ingest(note("1", "The rent is due on Monday."), note("2", " "), note("3", "Hello there.", source="mail"))
    assert reader(world).notes_by_source(KEY) == {
        "mail": {NoteState.WAITING: 1},
        "test": {NoteState.WAITING: 1, NoteState.EMPTY: 1},
    }


def test_a_recount_finds_what_the_counters_say_and_what_they_do_not(
    world: World, admin: psycopg.Connection[TupleRow]
) -> None:
    world.ingest(note("1", "The rent is due on Monday."))
    world.ingest(note("1", "The shop is closed on Sunday."), key=SliceKey("other"))
    world.drain()
    assert [one.differences for one in recount(world.database)] == [(), ()]
    admin.execute("update slice_counters set notes_waiting = 3, notes_total = notes_total + 3 - notes_waiting")
    found = {
        one.slice.key.org_id: {name: (kept, real) for name, kept, real in one.differences}
        for one in recount(world.database)
    }
    assert found["acme"] == {"notes total": (4, 1), "notes waiting": (3, 0)}
    assert found["other"]["notes waiting"] == (3, 1)


def test_every_quote_is_compared_with_its_place(world: World, admin: psycopg.Connection[TupleRow]) -> None:
    world.ingest(note("1", "The rent is due on Monday."), note("2", "The office is in Ghent."))
    world.drain()
    assert [(one.quotes, one.wrong_quotes) for one in recount(world.database)] == [(2, 0)]
    admin.execute("update notes set text = 'x' || text where external_id = '1'")
    assert [(one.quotes, one.wrong_quotes) for one in recount(world.database)] == [(2, 1)]
