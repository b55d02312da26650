"""A page of the surest beliefs is exact although only those are aged that can be on it."""

from pathlib import Path
from typing import Any

import pytest

from dreaming.api.beliefs import store as reading
from dreaming.api.beliefs.store import BeliefFilter, BeliefPlace
from dreaming.beliefs.ageing import store as ageing_store
from dreaming.database import Database
from tests.ageing_world import AgeingWorld, open_ageing_world

NAMES = ("Ines", "Tariq", "Lena", "Noor", "Kai", "Mara", "Omar", "Yuki", "Bela", "Chen")


@pytest.fixture
def ageing(database: Database, tmp_path: Path) -> AgeingWorld:
    world = open_ageing_world(database, tmp_path)
    for number, name in enumerate(NAMES):
        for decay_class, confidence in (("slow_decay", 0.9), ("fast_decay", 1.0), ("permanent", 0.2 + number / 20)):
            line = f"{name} keeps bees of the {decay_class} sort"
            world.at(7 * number).say(line, decay_class=decay_class, confidence=confidence - number / 50)
    return world.at(80)


def pages(ageing: AgeingWorld, size: int) -> list[str]:
    found: list[str] = []
    after: BeliefPlace | None = None
    with ageing.world.transaction() as tx:
        while True:
            rows = reading.list_beliefs(
                tx,
                ageing.world.slice().slice_id,
                BeliefFilter(),
                ageing=ageing.ageing(),
                now=ageing.now,
                limit=size,
                after=after,
            )
            if not rows:
                return found
            found += [row.belief.statement for row in rows]
            after = rows[-1].place


def unbounded(ageing: AgeingWorld, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    with monkeypatch.context() as patch:
        patch.setattr(ageing_store, "page_floor", lambda *_, **__: None)
        return pages(ageing, 1000)


@pytest.mark.parametrize("size", [1, 3, 7, 100])
def test_pages_are_those_of_ageing_everything(ageing: AgeingWorld, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = unbounded(ageing, monkeypatch)
    assert len(expected) == 3 * len(NAMES)
    assert pages(ageing, size) == expected


@pytest.mark.parametrize("day", [-400, 30])
def test_also_with_a_clock_that_went_back(ageing: AgeingWorld, day: int, monkeypatch: pytest.MonkeyPatch) -> None:
    ageing.at(day)
    assert pages(ageing, 4) == unbounded(ageing, monkeypatch)


def test_also_when_the_half_lives_have_changed_and_no_pass_came(
    ageing: AgeingWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = pages(ageing, 4)
    ageing.set("fast_decay_days", 2000.0)
    assert pages(ageing, 4) == unbounded(ageing, monkeypatch) != before
    ageing.run_pass()
    assert pages(ageing, 4) == unbounded(ageing, monkeypatch)


def test_the_floor_is_found_where_there_are_enough(ageing: AgeingWorld) -> None:
    def floor(limit: int, **options: Any) -> Any:
        with ageing.world.transaction() as tx:
            return ageing_store.page_floor(
                tx, ageing.world.slice().slice_id, ageing.ageing(), now=ageing.now, limit=limit, below=None, **options
            )

    assert floor(5).aged > floor(12).aged > 0.05
    assert floor(31) is None
