"""Autonomy is measured on agents of known quality: the simulation, the figures, logs of one's own."""

from __future__ import annotations

import json
import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from dreaming.autonomy.records import Band, Flags, Outcome
from dreaming.autonomy.rules import Policy
from dreaming.errors import InvalidInput
from dreaming.local.cli import Exit, dream
from dreaming.local.evaluation.agents import (
    KnownAgent,
    LoggedAction,
    _chances,
    deserved_score,
    read_agents,
    simulated,
)
from dreaming.local.evaluation.autonomy import (
    JudgeRow,
    figures,
    follow,
    judged_flags,
    rank_correlation,
)

START = datetime(2026, 1, 5, tzinfo=UTC)
AGENT: dict[str, Any] = {"agent": "a", "deserves": "full"}
APPROVED: dict[str, Any] = {"agent": "a", "acted_at": "2026-01-05T09:00:00+00:00", "outcome": "approved"}
SUCCESS = APPROVED | {"outcome": "success", "flags": {"competence": 1, "commitment": 1, "compatibility": 1}}


def written(folder: Path, *lines: object) -> Path:
    path = folder / "actions.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    return path


def steady(name: str, flags: Flags, outcome: Outcome, *, deserved: float, actions: int = 100) -> KnownAgent:
    """An agent whose every action comes to the same, ten a day."""
    done = tuple(LoggedAction(START + timedelta(days=place / 10), outcome, flags) for place in range(actions))
    return KnownAgent(name, deserved, done)


def test_what_can_come_of_an_action_is_certain_together_and_better_agents_deserve_more() -> None:
    for quality in (0.0, 0.4, 1.0):
        assert sum(one.probability for one in _chances(quality)) == pytest.approx(1)
    scores = [deserved_score(quality / 10) for quality in range(11)]
    assert scores == sorted(scores)
    assert scores[-1] > 95


def test_the_simulation_is_the_same_each_time_and_shows_the_quality() -> None:
    (first,), (again,) = (simulated(400, seeds=1, qualities=[0.9]) for _ in range(2))
    assert first == again
    outcomes = Counter(action.outcome for action in first.actions)
    good = outcomes[Outcome.SUCCESS] + outcomes[Outcome.APPROVED]
    assert 0.8 < good / (400 - outcomes[Outcome.EXPIRED]) < 0.97


def test_a_bad_agent_falls_below_the_floor_and_a_good_one_rises_to_its_band() -> None:
    bad = steady("bad", Flags(0, 1, None), Outcome.REJECTED, deserved=44)
    good = steady("good", Flags(1, 1, 1), Outcome.APPROVED, deserved=100)
    courses = follow([bad, good], JudgeRow.RIGHT, Policy())
    assert courses[0].below_floor == 40  # 30 actions until scores move, 5 points a day from 75
    assert courses[1].scores[-1] == (100, 100)
    found = {name: figure.value for name, figure in figures({JudgeRow.RIGHT: courses}).items()}
    assert found["right.after_100.rank"] == 1
    assert (found["right.bad_above_floor"], found["right.never_below"]) == (40, 0)
    assert found["right.after_100.right_band"] == 100
    assert found["right.false_blocks"] == 0


def test_a_factual_error_that_is_none_refuses_rises_of_a_good_agent() -> None:
    wronged = steady("good", Flags(1, 1, 1, factual_error=True), Outcome.SUCCESS, deserved=100)
    found = figures({JudgeRow.RIGHT: follow([wronged], JudgeRow.RIGHT, Policy())})
    assert found["right.false_blocks"].value == 100
    assert found["right.after_100.right_band"].value == 0
    assert "right.after_100.rank" not in found


def test_without_a_judge_what_only_a_judge_scores_counts_for_nothing() -> None:
    agent = steady("good", Flags(1, 1, 1), Outcome.SUCCESS, deserved=100)
    assert follow([agent], JudgeRow.ABSENT, Policy())[0].scores[-1] == (100, 75)


def test_an_unsure_judge_is_wrong_in_a_tenth_and_never_about_what_a_person_decided() -> None:
    chance = random.Random(1)
    flags = Flags(1, 1, None)
    done = LoggedAction(START, Outcome.SUCCESS, flags)
    told = Counter(judged_flags(done, JudgeRow.UNSURE, chance) for _ in range(2_000))
    assert 0.07 < 1 - told[flags] / 2_000 < 0.13
    assert set(told) == {flags, Flags(0, 0, None), Flags(0, 0, None, factual_error=True)}
    decided = LoggedAction(START, Outcome.APPROVED, flags)
    assert {judged_flags(decided, JudgeRow.UNSURE, chance) for _ in range(100)} == {flags}


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [([1, 2, 3], [10, 20, 30], 1), ([1, 2, 3], [3, 2, 1], -1), ([1, 1, 2], [1, 1, 2], 1), ([1, 1, 1], [1, 2, 3], 0)],
)
def test_ranks_correlate_as_spearman_says(left: list[float], right: list[float], expected: float) -> None:
    assert rank_correlation(left, right) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ([], "no agent"),
        ([AGENT], "line 1: agent: 'a' lacks any action"),
        ([APPROVED], "line 1: agent: 'a' lacks a line that says what it deserves"),
        ([AGENT, AGENT, APPROVED], "line 2: agent: 'a' is named twice"),
        ([AGENT | {"deserves": "superb"}, APPROVED], "line 1: deserves"),
        ([AGENT | {"deserves": 101}, APPROVED], "line 1: deserves"),
        ([AGENT, APPROVED | {"outcome": "pending"}], "line 2: the line: outcome: a pending action"),
        ([AGENT, APPROVED | {"outcome": "success"}], "line 2: the line: flags: the outcome 'success' needs flags"),
        ([AGENT, SUCCESS | {"outcome": "approved"}], "must not have flags"),
        ([AGENT, SUCCESS | {"flags": {"competence": 2}}], "line 2: flags.competence"),
        ([AGENT, APPROVED | {"acted_at": "2026-01-05"}], "line 2: acted_at"),
        ([AGENT, APPROVED | {"stated_confidence": 2}], "line 2: stated_confidence"),
        ([AGENT, APPROVED | {"tool": "mail"}], "line 2: tool"),
        ([AGENT, 5], "line 2: the line"),
    ],
)
def test_a_log_is_refused_with_line_and_field(lines: list[object], problem: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_agents(written(tmp_path, *lines))
    assert problem in str(refused.value)


def test_a_log_is_read_in_order_of_time_with_bands_and_scores(tmp_path: Path) -> None:
    later = SUCCESS | {"acted_at": "2026-01-06T09:00:00+02:00", "stated_confidence": 0.5}
    path = written(tmp_path, later, AGENT, APPROVED, {"agent": "b", "deserves": 66.5}, APPROVED | {"agent": "b"})
    first, second = read_agents(path)
    assert (first.name, first.band, [action.outcome for action in first.actions]) == (
        "a",
        Band.FULL,
        [Outcome.APPROVED, Outcome.SUCCESS],
    )
    assert (second.deserved, second.band) == (66.5, Band.DRAFT_ONLY)


def test_the_command_measures_a_log(tmp_path: Path) -> None:
    actions = [APPROVED | {"acted_at": f"2026-01-{5 + place // 5:02}T09:00:0{place % 5}Z"} for place in range(60)]
    path, page = written(tmp_path, AGENT, *actions), tmp_path / "page.html"
    done = CliRunner().invoke(
        dream, ["evaluate", "autonomy", str(path), "--row", "right", "--json", "--html", str(page)]
    )
    assert done.exit_code == Exit.DONE, done.output
    told = json.loads(done.stdout)
    assert told["environment"]["actions"] == 60
    assert told["figures"]["right.after_60.right_band"]["value"] == 100
    assert page.read_text("utf-8").count("<polyline") == 1
