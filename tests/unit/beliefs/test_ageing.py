"""Confidence ages by half-life from one anchor, and fading is a moment, not a habit of the pass."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreaming.beliefs.records import DecayClass
from dreaming.beliefs.rules import Ageing, aged, fades_at

CONFIRMED = datetime(2026, 1, 1, tzinfo=UTC)
FAST = timedelta(days=21)
SLOW = timedelta(days=180)


def test_one_half_life_halves() -> None:
    assert aged(1.0, CONFIRMED, FAST, CONFIRMED + FAST) == pytest.approx(0.5, abs=1e-12)


@pytest.mark.parametrize(("half_life", "days"), [(FAST, 90.8), (SLOW, 777.9)])
def test_full_confidence_fades_after_four_and_a_third_half_lives(half_life: timedelta, days: float) -> None:
    moment = fades_at(1.0, CONFIRMED, half_life, 0.05)
    assert moment is not None
    assert (moment - CONFIRMED) / timedelta(days=1) == pytest.approx(days, abs=0.05)


def test_permanent_never_ages_and_never_fades() -> None:
    assert aged(0.7, CONFIRMED, None, CONFIRMED + timedelta(days=100_000)) == 0.7
    assert fades_at(0.7, CONFIRMED, None, 0.05) is None
    assert Ageing().half_life(DecayClass.PERMANENT) is None


def test_a_clock_that_goes_back_never_raises_confidence() -> None:
    assert aged(0.7, CONFIRMED, FAST, CONFIRMED - timedelta(days=50)) == 0.7


def test_at_or_below_the_threshold_it_has_faded_at_once() -> None:
    assert fades_at(0.05, CONFIRMED, FAST, 0.05) == CONFIRMED
    assert fades_at(0.0, CONFIRMED, FAST, 0.05) == CONFIRMED


def test_a_note_of_year_one_ages_to_nothing_without_an_error() -> None:
    ancient = datetime(1, 1, 1, tzinfo=UTC)
    assert aged(1.0, ancient, FAST, CONFIRMED) < 1e-300
    moment = fades_at(1.0, ancient, SLOW, 0.05)
    assert moment is not None
    assert moment < CONFIRMED


def test_a_fading_beyond_the_calendar_is_the_last_moment_of_it() -> None:
    assert fades_at(1.0, datetime(9998, 12, 1, tzinfo=UTC), SLOW, 0.05) == datetime(9999, 1, 1, tzinfo=UTC)


@given(st.floats(0.06, 1), st.floats(0.01, 0.05), st.integers(1, 2000))
def test_the_moment_of_fading_is_where_the_curve_meets_the_threshold(
    confidence: float, threshold: float, days: int
) -> None:
    half_life = timedelta(days=days)
    moment = fades_at(confidence, CONFIRMED, half_life, threshold)
    assert moment is not None
    assert aged(confidence, CONFIRMED, half_life, moment) == pytest.approx(threshold, rel=1e-6)


@given(st.floats(0, 1), st.lists(st.integers(0, 3000), min_size=1, max_size=20))
def test_looking_often_changes_nothing(confidence: float, days: list[int]) -> None:
    now = CONFIRMED + timedelta(days=max(days))
    once = aged(confidence, CONFIRMED, SLOW, now)
    for day in sorted(days):
        aged(confidence, CONFIRMED, SLOW, CONFIRMED + timedelta(days=day))
    assert aged(confidence, CONFIRMED, SLOW, now) == once
