"""Pairs of notes in many forms: a judge who is right is heard, and one who is wrong retires nothing plainly else.

The table's outcomes: `successive` and `ended`: a judge says that the new one follows the old one, which ends then (or
on the day named), and in the first case the new one is believed. `duplicate`: they become one. `several`: a judge who
calls them coexisting or unrelated leaves both. `apart`: so does a judge who says anything at all.
"""

from __future__ import annotations

import csv
from collections import Counter
from datetime import date
from pathlib import Path

import pytest

from dreaming.passes.contradictions.records import Relation
from tests.unit.contradictions.judged import AFTER, BEFORE, ending

_TABLE = Path(__file__).with_name("judged-pairs.tsv")
with _TABLE.open(encoding="utf-8", newline="") as _file:
    ROWS = list(csv.DictReader(_file, delimiter="\t", quoting=csv.QUOTE_NONE))


def _of(*outcomes: str) -> list[dict[str, str]]:
    return [row for row in ROWS if row["outcome"] in outcomes]


def _pairs(*outcomes: str) -> pytest.MarkDecorator:
    rows = _of(*outcomes)
    return pytest.mark.parametrize("row", rows, ids=[f"{row['old']} / {row['new']}" for row in rows])


def test_the_table_holds_enough_of_each_sort() -> None:
    counts = Counter(row["outcome"] for row in ROWS)
    assert counts["successive"] + counts["ended"] >= 250
    assert counts["apart"] >= 70
    assert counts["several"] >= 30
    assert counts["duplicate"] >= 20


@_pairs("successive", "ended")
def test_a_judge_who_sees_a_change_is_heard(row: dict[str, str]) -> None:
    found = ending(row["old"], row["new"], Relation.SUCCESSIVE, row["author"] or None)
    until = date.fromisoformat(row["until"]) if row["until"] else AFTER.date()
    assert found.believed == (False, row["outcome"] == "successive"), found
    assert found.held[0] == (BEFORE.date(), until), found
    assert not found.one
    assert not found.questioned


@_pairs("duplicate")
def test_a_judge_who_sees_one_thing_said_twice_is_heard(row: dict[str, str]) -> None:
    assert ending(row["old"], row["new"], Relation.DUPLICATE, row["author"] or None).one


@pytest.mark.parametrize("relation", [Relation.UNRELATED, Relation.COEXISTING])
@_pairs("several", "apart")
def test_what_a_judge_lets_stand_together_stands(row: dict[str, str], relation: Relation) -> None:
    found = ending(row["old"], row["new"], relation, row["author"] or None)
    assert (found.believed, found.one, found.questioned) == ((True, True), False, False), found


@pytest.mark.parametrize("relation", [Relation.SUCCESSIVE, Relation.INCOMPATIBLE, Relation.DUPLICATE])
@_pairs("apart")
def test_a_judge_who_is_wrong_retires_nothing_that_is_plainly_something_else(
    row: dict[str, str], relation: Relation
) -> None:
    found = ending(row["old"], row["new"], relation, row["author"] or None)
    assert (found.believed, found.one) == ((True, True), False), found
