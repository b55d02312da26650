"""When a slice is due for a pass that does not follow the notes, and what such a pass counts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from dreaming.database import Database
from dreaming.notes.records import SliceKey
from dreaming.passes import store
from dreaming.passes.records import Lease
from dreaming.settings.service import change_consent
from tests.world import KEY, NOON, World, note, open_world

MINUTE = timedelta(minutes=1)
STALLED = timedelta(minutes=20)


@pytest.fixture
def world(database: Database, tmp_path: Path) -> World:
    opened = open_world(database, tmp_path)
    opened.ingest(note("a", "The mill opens at dawn."))
    return opened


def due(world: World, now: Any = NOON, **options: Any) -> list[int]:
    with world.database.planner() as planner:
        found = store.slices_due(planner, "decay", now=now, stalled_after=STALLED, **options)
    return [one.slice_id for one in found]


def test_the_earliest_of_several_due_times_counts(world: World) -> None:
    slice_id = world.slice().slice_id
    with world.transaction() as tx:
        for minutes in (5, 1, 9):
            store.make_due(tx, slice_id, "decay", NOON + minutes * MINUTE)
    assert due(world, NOON) == []
    assert due(world, NOON + MINUTE) == [slice_id]


def test_a_pass_sets_its_next_due_time_or_none(world: World) -> None:
    slice_id = world.slice().slice_id
    with world.transaction() as tx:
        store.make_due(tx, slice_id, "decay", NOON)
        store.set_due(tx, slice_id, "decay", NOON + MINUTE)
    assert due(world, NOON) == []
    assert due(world, NOON + MINUTE) == [slice_id]
    with world.transaction() as tx:
        store.set_due(tx, slice_id, "decay", None)
    assert due(world, NOON + MINUTE) == []


def test_a_slice_can_be_asked_for_before_it_is_due(world: World) -> None:
    slice_id = world.slice().slice_id
    assert due(world, only=slice_id) == [slice_id]


def test_a_slice_with_a_run_under_way_is_passed_over_until_it_stalls(world: World) -> None:
    slice_id = world.slice().slice_id
    with world.transaction() as tx:
        store.make_due(tx, slice_id, "decay", NOON)
        store.start_run(tx, slice_id, "decay", run_id=world_id(), now=NOON, stalled_after=STALLED)
    assert due(world, NOON + MINUTE) == []
    assert due(world, NOON + STALLED) == [slice_id]


@pytest.mark.parametrize("consent", ["model_consent", "embedding_consent"])
def test_only_organizations_that_agreed_are_due(world: World, consent: Any) -> None:
    slice_id = world.slice().slice_id
    with world.transaction() as tx:
        store.make_due(tx, slice_id, "decay", NOON)
        change_consent(tx, KEY.org_id, consent, False, actor="test", now=NOON)
    assert due(world, consent=consent) == []
    with world.transaction() as tx:
        change_consent(tx, KEY.org_id, consent, True, actor="test", now=NOON)
    assert due(world, consent=consent) == [slice_id]
    with world.transaction() as tx:
        change_consent(tx, KEY.org_id, "enrolled", False, actor="test", now=NOON)
    assert due(world, consent=consent) == []


def test_the_longest_due_comes_first(world: World) -> None:
    other = SliceKey("bakery")
    world.enrol("bakery")
    world.ingest(note("b", "The oven is hot at four."), key=other)
    ids: Sequence[int] = [world.slice(other).slice_id, world.slice().slice_id]
    for key, minutes in ((KEY, 2), (other, 1)):
        with world.transaction(key) as tx:
            store.make_due(tx, world.slice(key).slice_id, "decay", NOON + minutes * MINUTE)
    assert due(world, NOON + 2 * MINUTE) == ids


def test_counts_beyond_consolidation_add_up_in_the_run(world: World) -> None:
    slice_id = world.slice().slice_id
    with world.transaction() as tx:
        message = store.start_run(tx, slice_id, "decay", run_id=world_id(), now=NOON, stalled_after=STALLED)
        assert message is not None
        lease = Lease(world.slice(), "decay", message.run_id, 1, 1, "holder")
        store.add_to_run(tx, lease, {"warned": 2, "model_calls": 1}, now=NOON)
        store.add_to_run(tx, lease, {"warned": 3, "archived": 4}, batches=1, now=NOON)
    counts = {"warned": 5, "archived": 4}
    assert world.rows("select pass_counts, model_calls, batches from dream_runs") == [(counts, 1, 1)]


def world_id() -> Any:
    from dreaming.identifiers import uuid7

    return uuid7()
