"""The timeline depends on the set of claims alone, and ends what it must."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreaming.errors import MalformedAnswer
from dreaming.passes.contradictions.parsing import parse_verdicts
from dreaming.passes.contradictions.records import Standing, TimedClaim
from dreaming.passes.contradictions.timeline import derive, overall

DAY0 = datetime(2025, 1, 1, tzinfo=UTC)
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def claim(number: int, value: int, day: float, **changes: Any) -> TimedClaim:
    start = DAY0 + timedelta(days=day)
    values = {"end": None, "noted_at": start, "trusted": True, "confidence": 0.6, **changes}
    return TimedClaim(UUID(int=number), value, start, statement=f"claim {number}", **values)


def standings(*claims: TimedClaim, **options: Any) -> dict[int, str]:
    chosen = {"exclusive": True, "fixed": False, "now": NOW, "kept_over": {}, **options}
    return {one.int: standing.value for one, standing in overall(derive(claims, **chosen)).items()}


def of_one_trust(number: int, value: int, day: float, **changes: Any) -> TimedClaim:
    """A claim of a belief whose sources are all trusted, or none."""
    return claim(number, value, day, trusted=number % 2 == 0, **changes)


CLAIMS = st.lists(
    st.builds(
        of_one_trust,
        st.integers(1, 6),
        st.integers(0, 2),
        st.sampled_from([0, 0.5, 10, 20, 30, 400]),
        confidence=st.sampled_from([0.3, 0.6, 0.62, 0.9]),
        negative=st.booleans(),
        changes=st.booleans(),
    ),
    max_size=7,
)


@given(CLAIMS, st.randoms(), st.booleans(), st.booleans())
def test_the_order_of_arrival_plays_no_part(
    claims: list[TimedClaim], chance: Any, exclusive: bool, fixed: bool
) -> None:
    options: dict[str, Any] = {"exclusive": exclusive, "fixed": fixed, "now": NOW, "kept_over": {}}
    shuffled = list(claims)
    chance.shuffle(shuffled)
    assert derive(claims, **options) == derive(shuffled, **options)


@given(CLAIMS)
def test_every_interval_runs_forward_and_an_untrusted_claim_supersedes_nothing(claims: list[TimedClaim]) -> None:
    trusted = {one.belief_id for one in claims if one.trusted}
    for one in derive(claims, exclusive=True, fixed=False, now=NOW, kept_over={}):
        assert one.holds_until is None or one.holds_until >= one.holds_from
        if one.belief_id in trusted and one.standing is Standing.PAST and one.successor is not None:
            assert one.successor in trusted


def test_the_later_claim_holds_and_the_earlier_one_ends_with_it() -> None:
    assert standings(claim(1, 0, 0), claim(2, 1, 30)) == {1: "past", 2: "current"}


def test_of_one_time_the_surer_wins_by_more_than_the_margin_only() -> None:
    assert standings(claim(1, 0, 0, confidence=0.9), claim(2, 1, 0, confidence=0.84)) == {1: "current", 2: "rejected"}
    assert standings(claim(1, 0, 0, confidence=0.9), claim(2, 1, 0, confidence=0.85)) == {1: "review", 2: "review"}


def test_a_correction_of_the_same_day_is_a_change() -> None:
    assert standings(claim(1, 0, 0), claim(2, 1, 0.2, changes=True)) == {1: "past", 2: "current"}


def test_what_never_changes_conflicts_at_any_distance() -> None:
    assert standings(claim(1, 0, 0), claim(2, 1, 300), fixed=True) == {1: "review", 2: "review"}


def test_a_persons_word_stands_over_time_and_confidence() -> None:
    kept = {UUID(int=2): UUID(int=1)}
    assert standings(claim(1, 0, 0), claim(2, 1, 30, confidence=0.9), kept_over=kept) == {1: "current", 2: "rejected"}


def test_a_bounded_past_gives_the_time_around_it_back() -> None:
    looking_back = claim(2, 1, 10, end=DAY0 + timedelta(days=20), bounded=True, noted_at=DAY0 + timedelta(days=90))
    stretches = derive(
        [claim(1, 0, 0), looking_back],
        exclusive=True, fixed=False, now=NOW, kept_over={},
    )  # fmt: skip
    days = [
        (one.belief_id.int, (one.holds_from - DAY0).days, one.holds_until and (one.holds_until - DAY0).days)
        for one in stretches
    ]
    assert days == [(1, 0, 10), (2, 10, 20), (1, 20, None)]


@pytest.mark.parametrize(
    "answer",
    [
        '{"relations": [{"candidate": "c1", "relation": "duplicate"}]}',
        'Sure:\n```json\n[{"candidate": "c1", "relation": "duplicate"}]\n```',
        '<think>hm {"relations": []}</think>{"candidate": "c1", "relation": " Duplicate "}',
        "{'relations': [{'candidate': 'c1', 'relation': 'duplicate'},]}",
    ],
)
def test_verdicts_are_read_in_the_forms_that_models_use(answer: str) -> None:
    assert parse_verdicts(answer, ["c1"]).relations == {"c1": "duplicate"}


def test_a_judge_that_contradicts_itself_has_said_nothing() -> None:
    answer = '[{"candidate": "c1", "relation": "duplicate"}, {"candidate": "c1", "relation": "unrelated"}]'
    found = parse_verdicts(answer, ["c1"])
    assert (found.relations, found.ignored) == ({}, {"contradicts_itself": 1})


@pytest.mark.parametrize("answer", ["", "no", "null", '{"relations": null}', "[1, 2]", "{" * 3000])
def test_what_holds_no_relations_is_malformed(answer: str) -> None:
    with pytest.raises(MalformedAnswer):
        parse_verdicts(answer, ["c1"])
