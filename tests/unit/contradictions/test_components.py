"""Lines are found by comparing what shares a key, and come out as if all had been compared with all."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import combinations
from types import ModuleType
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dreaming.beliefs.records import Belief, DecayClass, Importance, Kind, Provenance
from dreaming.beliefs.rules import Ageing
from dreaming.notes.records import Trust
from dreaming.passes.contradictions import components
from dreaming.passes.contradictions.belief_readings import Examined, fingerprint, read_belief
from dreaming.passes.contradictions.lines import Group, Neighbourhood, number_values
from dreaming.passes.contradictions.records import DecidedBy, Judgement, Relation
from dreaming.passes.contradictions.relations import rule
from dreaming.passes.contradictions.values import keys_of, likeness_keys, read_value, same_value

NOW = datetime(2026, 6, 1, tzinfo=UTC)
VALUES = [
    "tea", "coffee", "green tea", "25 euros", "€25", "30 euros", "3 March", "March 3", "March", "4 March 2025", "7:30",
    "half past seven", "19:30", "Monday", "Tuesday", "room 4", "room 5", "room 4 upstairs", "the left wing", "wing",
    "the right wing", "open doors", "closed doors", "Oslo", "Oslo and Bergen", "Oslo centre", "twelve", "12 m", "12",
]  # fmt: skip
SENTENCES = ["Ana drinks {}", "Ana now drinks {}", "Ana also drinks {}", "Ana no longer drinks {}", "Ana has {}",
             "Ana works with {}", "Ana now works with {}", "Ana dropped {} for {}", "Ana used to drink {}"]  # fmt: skip


def examined(
    number: int, statement: str, attribute: str | None = None, value: str | None = None, *, several: bool = False
) -> Examined:
    belief = Belief(
        belief_id=UUID(int=number), kind=Kind.FACT, statement=statement, confidence=0.8, confirmed_at=NOW,
        first_seen_at=NOW - timedelta(days=number), importance=Importance.NORMAL, decay_class=DecayClass.SLOW,
        fades_at=None, subject="Ana" if attribute else None, attribute=attribute, value=value, multi_valued=several,
        valid_from=None, valid_until=None, trust=Trust.TRUSTED, provenance=Provenance.MODEL, sources=1, origins=1,
        created_at=NOW, archived_at=None, archive_reason=None,
    )  # fmt: skip
    return Examined(belief, (), read_belief(belief), fingerprint(belief), {})


def _counted(monkeypatch: pytest.MonkeyPatch, module: ModuleType, name: str) -> list[int]:
    """Count the calls of a function."""
    calls: list[int] = []
    original = getattr(module, name)

    def counting(*given: Any) -> Any:
        calls.append(1)
        return original(*given)

    monkeypatch.setattr(module, name, counting)
    return calls


def around(members: list[Examined], judged: dict[tuple[UUID, UUID], Judgement]) -> Neighbourhood:
    return Neighbourhood({one.belief.belief_id: one for one in members}, {}, judged, {}, Ageing(), NOW)


@given(st.lists(st.tuples(st.sampled_from(SENTENCES), st.sampled_from(VALUES), st.sampled_from(VALUES)), max_size=9),
       st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9), st.sampled_from(list(Relation))), max_size=3),
       st.sampled_from([None, "favourite", "drink", "language"]))  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_comparing_what_shares_a_key_finds_the_same_lines_as_comparing_all(
    told: list[tuple[str, str, str]], verdicts: list[tuple[int, int, Relation]], attribute: str | None
) -> None:
    members = [
        examined(number, sentence.format(value, other), attribute, value if attribute else None)
        for number, (sentence, value, other) in enumerate(told, 1)
    ]
    judged = {
        (UUID(int=one), UUID(int=other)): Judgement(UUID(int=one), UUID(int=other), relation, DecidedBy.MODEL, "told")
        for one, other, relation in verdicts
        if one < other <= len(members)
    }
    neighbourhood = around(members, judged)
    group = Group("ana", "drink", [one for one in members if one.reading])
    found = components.components(group, neighbourhood)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(components, "_comparable", lambda members, *_, **__: combinations(members, 2))
        wanted = components.components(group, neighbourhood)
    assert {(frozenset(one.belief.belief_id for one in line), alone) for line, alone in found} == {
        (frozenset(one.belief.belief_id for one in line), alone) for line, alone in wanted
    }


@given(st.sampled_from(VALUES), st.sampled_from(VALUES))
@settings(max_examples=150, deadline=None)
def test_equal_values_are_found_under_a_key(one: str, other: str) -> None:
    left, right = read_value(one), read_value(other)
    if same_value(left, right, {}):
        assert set(keys_of(left, {})[0]) & set(keys_of(right, {})[1])
        assert set(keys_of(right, {})[0]) & set(keys_of(left, {})[1])


def test_the_pairs_compared_grow_with_what_is_new(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = {}
    for size in (100, 400):
        members = [
            examined(n, f"Ana keeps the parcel {n} in bay {n * 7}", f"bay of {n % 50}", f"bay {n}")
            for n in range(1, size)
        ]
        new = members[-1].belief.belief_id
        looked = _counted(monkeypatch, components, "_bond")
        similar = {(one.belief.belief_id, new): "alike in words" for one in members[:25]}
        neighbourhood = Neighbourhood(
            {one.belief.belief_id: one for one in members}, {}, {}, similar, Ageing(), NOW, frozenset({new}),
            frozenset({("ana", members[-1].reading.attribute)} if members[-1].reading else ()),
        )  # fmt: skip
        compared[size] = len(looked), len(rule(neighbourhood).open_pairs)
        monkeypatch.undo()
    assert compared[400][0] <= 2 * max(1, compared[100][0])
    assert max(pairs for _, pairs in compared.values()) <= 25


def test_a_thousand_values_get_their_numbers_without_comparing_all(monkeypatch: pytest.MonkeyPatch) -> None:
    from dreaming.passes.contradictions import lines

    members = [
        examined(n, f"The budget of Ana is {1_000 + n} euros", "budget", f"{1_000 + n} euros") for n in range(1, 1_001)
    ]
    looked = _counted(monkeypatch, lines, "same_value")
    numbers = number_values(members, around(members, {}))
    assert len({place for place, _ in numbers.values()}) == 1_000
    assert len(looked) < 2_000


@pytest.mark.parametrize(
    ("one", "other"), [("dark mode", "light mode"), ("25 euros", "30 euros"), ("open doors", "closed doors")]
)
def test_alternatives_share_a_key(one: str, other: str) -> None:
    assert set(likeness_keys(read_value(one))) & set(likeness_keys(read_value(other)))


@pytest.mark.parametrize(("second", "asked"), [("Ana speaks Basque", 0), ("Ana now speaks Basque", 1)])
def test_values_that_may_hold_at_once_are_asked_about_only_when_one_tells_a_change(second: str, asked: int) -> None:
    members = [
        examined(1, "Ana speaks Catalan", "language", "Catalan", several=True),
        examined(2, second, "language", "Basque", several=True),
    ]
    pair = members[0].belief.belief_id, members[1].belief.belief_id
    neighbourhood = replace(
        around(members, {}),
        similar={pair: "alike in words"},
        focus=frozenset(pair),
        complete=frozenset({("ana", None)}),
    )
    ruling = rule(neighbourhood)
    assert len(ruling.open_pairs) == asked
    assert (pair in ruling.relations) is not bool(asked)
