"""When a pass may archive, the weeks of the forecast, and the bars that show them."""

from datetime import UTC, datetime, timedelta

import pytest

from dreaming.local.commands.fading import bar
from dreaming.passes.decay.rules import WEEKS, archived_from, weeks

NOW = datetime(2026, 6, 1, tzinfo=UTC)
WEEK = timedelta(days=7)


@pytest.mark.parametrize(
    ("fades", "warned", "warns", "expected"),
    [
        (20, None, False, 20),  # nobody is told
        (20, None, True, 20),  # will be announced a week before
        (3, None, True, 7),  # announced now, it stays a week
        (-3, None, True, 7),
        (20, 5, True, 20),  # announced in time
        (6, 5, True, 12),  # announced late
        (6, 5, False, 12),  # announced, and matters no longer
    ],
)
def test_a_belief_is_archived_when_it_has_faded_and_its_announcement_is_a_week_old(
    fades: int, warned: int | None, warns: bool, expected: int
) -> None:
    def moment(day: int) -> datetime:
        return NOW + timedelta(days=day)

    told = None if warned is None else moment(warned)
    assert archived_from(moment(fades), told, WEEK, warns=warns, now=NOW) == moment(expected)


def test_the_forecast_has_twelve_weeks_also_where_nothing_fades() -> None:
    found = weeks({0: 3, 11: 1}, now=NOW)
    assert [week.beliefs for week in found] == [3, *[0] * 10, 1]
    assert (len(found), found[0].start, found[-1].start) == (WEEKS, NOW, NOW + 11 * WEEK)


@pytest.mark.parametrize(
    ("number", "most", "expected"),
    [(0, 9, ""), (9, 9, "████"), (1, 2, "██"), (1, 1000, "▏"), (5, 16, "█▎"), (0, 0, "")],
)
def test_a_bar_is_as_long_as_its_number(number: int, most: int, expected: str) -> None:
    assert bar(number, most, 4) == expected
