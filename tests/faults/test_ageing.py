"""Faults of systems whose confidence decays: ages applied again and again, dates lost in merges."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.ageing_world import AgeingWorld
from tests.world import NOON

TEA = "Ines drinks green tea in the morning"
FAST: dict[str, Any] = {"confidence": 1.0, "decay_class": "fast_decay"}


def today(ageing: AgeingWorld) -> float:
    query = "select aged(confidence, confirmed_at, 21 * 86400, %s) from beliefs where statement = %s"
    return float(ageing.rows(query, ageing.now, TEA)[0][0])


def test_corroboration_keeps_the_first_and_the_latest_date(ageing: AgeingWorld) -> None:
    first, latest = datetime(2024, 3, 1, tzinfo=UTC), datetime(2026, 5, 1, tzinfo=UTC)
    for at in (latest, first):
        ageing.say(TEA, decay_class="permanent", at=at)
    assert ageing.rows("select first_seen_at, confirmed_at, sources from beliefs") == [(first, latest, 2)]


@pytest.mark.parametrize("hours", [[24.0] * 21, [0.24] * 100 + [480.0], [504.0]], ids=["daily", "hundred", "once"])
def test_a_pass_never_applies_an_age_twice(ageing: AgeingWorld, hours: list[float]) -> None:
    """Confidence 1.0 with a half-life of 21 days is 0.50 on day 21, however often the pass ran."""
    ageing.say(TEA, **FAST)
    for step in hours:
        ageing.now += timedelta(hours=step)
        ageing.run_pass()
    assert ageing.now == NOON + timedelta(days=21)
    assert today(ageing) == 0.5
    assert ageing.rows("select confidence, confirmed_at from beliefs") == [(1.0, NOON)]


def test_a_clock_that_goes_back_never_raises_confidence(ageing: AgeingWorld) -> None:
    ageing.say(TEA, **FAST)
    ageing.at(21).run_pass()
    ageing.at(-100).run_pass()
    assert today(ageing) == 1.0
    ageing.at(21).run_pass()
    assert today(ageing) == 0.5
