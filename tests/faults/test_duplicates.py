"""Duplicates and wrong merges, from notes to beliefs."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from dreaming.database import Database
from tests.world import NOON, World, claim, note, open_world

COMPOUND = "Tom plays cello and sails on Sundays."
SAILS, PLAYS = "Tom sails on Sundays.", "Tom plays cello."


def told(world: World, *statements: str, **changes: Any) -> None:
    """Feed each statement as a note of its own, in order."""
    for statement in statements:
        world.ingest(note(statement, statement, origin=statement, **changes))
        world.drain()


def witnesses(world: World) -> dict[str, int]:
    return {statement: sources for statement, _, sources, _ in world.beliefs()}


def conflicts(world: World) -> list[str]:
    return [row[0] for row in world.rows("select reason from conflict_candidates order by 1")]


@pytest.mark.parametrize("part", [SAILS, PLAYS])
def test_a_part_of_a_compound_corroborates_it(database: Database, tmp_path: Path, part: str) -> None:
    world = open_world(database, tmp_path)
    told(world, COMPOUND, part)
    assert witnesses(world) == {COMPOUND: 2}
    ((detail,),) = world.rows("select detail from belief_history where event = 'corroborated'")
    assert detail["method"] == "part"
    world.check()


def test_a_compound_of_what_is_believed_is_split(database: Database, tmp_path: Path) -> None:
    world = open_world(database, tmp_path)
    told(world, SAILS, COMPOUND)
    assert witnesses(world) == {SAILS: 2, PLAYS: 1}
    quotes = world.rows("select quote from sources order by statement, quote")
    assert [quote for (quote,) in quotes] == [COMPOUND, COMPOUND, SAILS]
    told(world, PLAYS, "Tom plays cello and bakes bread at home.")
    assert witnesses(world) == {SAILS: 2, PLAYS: 3, "Tom bakes bread at home.": 1}
    world.check()


def test_all_in_one_batch_come_to_the_same(database: Database, tmp_path: Path) -> None:
    world = open_world(database, tmp_path)
    world.ingest(*(note(text, text, origin=text) for text in (COMPOUND, SAILS, PLAYS)))
    assert world.drain() == 1
    assert witnesses(world) == {COMPOUND: 3}
    world.check()


def test_an_older_part_does_not_take_the_compounds_wording(database: Database, tmp_path: Path) -> None:
    world = open_world(database, tmp_path)
    told(world, COMPOUND)
    told(world, SAILS, occurred_at=NOON - timedelta(days=400))
    assert witnesses(world) == {COMPOUND: 1, SAILS: 1}
    assert conflicts(world) == ["part"]
    world.check()


@pytest.mark.parametrize(
    ("compound", "other"),
    [
        ("Tom likes black and white films.", "Tom likes white films."),
        ("Tom does not play cello and sail on Sundays.", "Tom does not sail on Sundays."),
        ("Tom either plays cello and sails on Sundays.", "Tom sails on Sundays."),
        (COMPOUND, "Tim sails on Sundays."),
        (COMPOUND, "Tom sails on Saturdays."),
        (COMPOUND, "Tom sails on the lake."),
    ],
)
def test_what_a_compound_does_not_say_stays_apart(
    database: Database, tmp_path: Path, compound: str, other: str
) -> None:
    world = open_world(database, tmp_path)
    told(world, compound, other)
    assert witnesses(world) == {compound: 1, other: 1}


def test_an_edit_of_the_compound_leaves_the_part_to_its_own_witness(database: Database, tmp_path: Path) -> None:
    world = open_world(database, tmp_path)
    told(world, COMPOUND, SAILS)
    world.ingest(note(COMPOUND, "Tom plays chess at the club.", origin=COMPOUND))
    world.drain()
    assert witnesses(world) == {SAILS: 1, "Tom plays chess at the club.": 1}
    world.check()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Mara Reed runs the kitchen at Orbit", "Nils Cole runs the bar at Orbit"),
        ("Mara Reed runs the kitchen at Orbit", "Nils Cole runs the kitchen at Orbit"),
        ("Herons were not seen in July at Pond A", "Herons were seen in May at Pond B"),
        ("他每天早上在家里喝一杯绿茶", "他每天早上在家里喝一杯咖啡"),
        ("会议定在三月三日上午在北京办公室举行", "会议定在三月三日上午在上海办公室举行"),
    ],
)
def test_two_facts_of_one_shape_stay_two_beliefs(database: Database, tmp_path: Path, first: str, second: str) -> None:
    world = open_world(database, tmp_path)
    told(world, first, second)
    assert witnesses(world) == {first: 1, second: 1}


def test_a_bare_not_about_something_else_is_no_conflict(database: Database, tmp_path: Path) -> None:
    world = open_world(database, tmp_path)
    told(world, "Herons were not seen in July at Pond A", "Herons were seen in May at Pond B")
    assert conflicts(world) == []
    assert len(world.statements()) == 2


def test_an_update_is_stored_beside_the_old_fact_and_left_to_adjudication(database: Database, tmp_path: Path) -> None:
    def about_work(request: Any) -> list[dict[str, Any]]:
        return [
            claim(passage.text, subject="Lena", attribute="workplace", value=passage.text.rsplit("the ", 1)[-1])
            for passage in request.passages
        ]

    world = open_world(database, tmp_path, about_work)
    told(world, "Lena works at the bakery", "Lena now works at the bike shop")
    assert witnesses(world) == {"Lena works at the bakery": 1, "Lena now works at the bike shop": 1}
    assert conflicts(world) == ["same_attribute"]


def test_one_particle_apart_in_chinese_is_one_belief(database: Database, tmp_path: Path) -> None:
    world = open_world(database, tmp_path)
    told(world, "普里娅确认花园小屋漆成了绿色", "普里娅确认花园小屋漆成绿色")
    assert witnesses(world) == {"普里娅确认花园小屋漆成了绿色": 2}


def test_many_small_rewordings_of_one_event_are_one_belief(database: Database, tmp_path: Path) -> None:
    world = open_world(database, tmp_path)
    told(
        world,
        "Priya confirmed the garden shed is painted green",
        "Priya confirmed that the garden shed is painted green.",
        "Priya has confirmed the garden shed is painted green",
        "Priya said the garden shed is painted green",
        "The garden shed is painted green, Priya confirmed",
        "Priya confirmed the shed in the garden is painted green",
    )
    assert witnesses(world) == {"Priya confirmed the garden shed is painted green": 6}
