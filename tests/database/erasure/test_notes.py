"""Erasure of a note: no word of it is left anywhere, and what others said is as if it had never been."""

from __future__ import annotations

import pytest

from dreaming.notes.records import SliceKey, Tenant
from tests.erasure_world import Admin, Erasing, found, fingerprint
from tests.world import KEY, World, claim, note, open_world

PLANTED = "zanzibar"


def id_of(world: World, external_id: str, key: SliceKey = KEY):  # type: ignore[no-untyped-def]
    return world.rows("select note_id from notes where external_id = %s", [external_id], key)[0][0]


@pytest.fixture
def erasing(world: World) -> Erasing:
    return Erasing(world)


def test_a_note_alone_behind_its_belief_takes_it_along(world: World, erasing: Erasing, admin: Admin) -> None:
    world.ingest(note("a", "The zanzibar depot opens in May."), note("b", "Tom sails on Sundays."))
    world.drain()
    assert set(found(admin, [PLANTED])[PLANTED]) >= {"notes", "beliefs", "sources", "belief_history"}
    erased = erasing.eraser().notes(Tenant("acme"), [id_of(world, "a")])
    assert found(admin, [PLANTED]) == {}
    assert erased.counts["notes"] == erased.counts["beliefs"] == erased.counts["sources"] == 1
    assert world.statements() == ["Tom sails on Sundays."]
    world.check()
    assert world.counters().total == 1
