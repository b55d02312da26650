"""The plot of a score over time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from dreaming.autonomy.records import ChangeKind, ScoreChange
from dreaming.local.commands.autonomy_view import bar, plot

START = datetime(2026, 6, 1, tzinfo=UTC)
DAY = timedelta(days=1)


def change(number: int, day: int, score: int, kind: ChangeKind = ChangeKind.ADJUSTED) -> ScoreChange:
    return ScoreChange("bot", number, START + day * DAY, kind, 0, score, "r", "a", {})


def cells(lines: list[str]) -> list[str]:
    return [line.split("┤")[1] for line in lines if "┤" in line]


def test_a_score_that_never_changed_is_flat_where_all_start() -> None:
    lines = plot([], since=START, now=START + 10 * DAY, width=10)
    assert cells(lines) == [" " * 10, " " * 10, "▄" * 10, "█" * 10]
    assert lines[0].split() == ["90", "full", "┤"]
    assert "2026-06-01" in lines[-1]
    assert "2026-06-11" in lines[-1]


def test_a_column_shows_the_score_at_its_end() -> None:
    changes = [change(1, 2, 80), change(2, 5, 100), change(3, 8, 35, ChangeKind.SET)]
    lines = plot(changes, since=START, now=START + 10 * DAY, width=10)
    assert cells(lines) == [
        "    ███   ",
        "    ███   ",
        "▄██████   ",
        "███████   ",
        "███████   ",
        "███████   ",
        "███████▄▄▄",
        "██████████",
    ]
    assert [line for line in lines if "^" in line] == [" " * 30 + "^    ^ set by a person"]


def test_a_new_agent_and_changes_before_its_time_are_drawn() -> None:
    assert cells(plot([], since=START, now=START, width=5))[2] == "▄" * 5
    assert cells(plot([change(1, -1, 90)], since=START, now=START, width=5))[1] == "█" * 5


def test_a_bar_fills_its_share() -> None:
    assert [bar(share, 4) for share in (0.0, 0.5, 1.0)] == ["░░░░", "██░░", "████"]
