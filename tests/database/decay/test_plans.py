"""The pass finds what is due by an index, as the worker under row-level security."""

from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.rows import TupleRow

from dreaming.beliefs.rules import Ageing
from dreaming.database import Database
from dreaming.passes.decay import store
from tests.ageing_world import AgeingWorld, open_ageing_world
from tests.benchmarks.decay import PLANT, RELATE
from tests.world import NOON

ROWS = 20_000


@pytest.fixture
def ageing(database: Database, tmp_path: Path, admin: psycopg.Connection[TupleRow]) -> AgeingWorld:
    world = open_ageing_world(database, tmp_path)
    world.say("Ines works at Orbit", decay_class="permanent")
    for statement in (PLANT, RELATE):
        admin.execute(statement, {"slice": world.world.slice().slice_id, "rows": ROWS, "now": NOON})
    admin.execute("vacuum analyze beliefs, relationships")
    return world


def plan(ageing: AgeingWorld, call: Any) -> str:
    """The plans of every statement that the call runs."""
    plans: list[str] = []
    with ageing.world.transaction() as tx:
        original = tx.execute

        def explained(query: Any, parameters: Any = None) -> Any:
            plans.extend(row[0] for row in original("explain " + query, parameters).fetchall())
            return original(query, parameters)

        tx.execute = explained
        try:
            call(tx, ageing.world.slice().slice_id)
        finally:
            del tx.execute
    return "\n".join(plans)


def scans(shown: str) -> set[str]:
    return {table for table in ("beliefs", "relationships") if f"Seq Scan on {table}" in shown}


def test_what_is_due_is_found_by_an_index(ageing: AgeingWorld) -> None:
    given: dict[str, Any] = {"relationships": 5, "now": NOON, "limit": 100}
    for select in (store.faded_beliefs, store.fading_soon):
        shown = plan(ageing, lambda tx, slice_id, select=select: select(tx, slice_id, Ageing(), **given))
        assert scans(shown) == set(), shown
    shown = plan(ageing, lambda tx, slice_id: store.next_due(tx, slice_id, Ageing(), now=NOON))
    assert scans(shown) == set(), shown


def test_a_beliefs_relationships_are_found_by_an_index(ageing: AgeingWorld) -> None:
    ids = [ageing.rows("select belief_id from beliefs limit 1 offset 77")[0][0]]
    shown = plan(ageing, lambda tx, slice_id: store.archive_ends(tx, slice_id, ids, now=NOON))
    assert scans(shown) == set(), shown
    shown = plan(ageing, lambda tx, slice_id: store.archive_relationships(tx, slice_id, now=NOON, limit=100))
    assert scans(shown) == set(), shown
