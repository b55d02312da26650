"""How soon scores say what agents are worth: the pass's own arithmetic over agents whose quality is known."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from itertools import groupby

from dreaming.autonomy.records import Agent, Band, Evidence, Flag, Flags, Outcome, Risk, ScoredAction
from dreaming.autonomy.rules import FLOORS, START_SCORE, Assessment, BlockKind, Policy, assess, band
from dreaming.local.evaluation.agents import KnownAgent, LoggedAction
from dreaming.local.evaluation.records import Figure

VERSION = 1
"""Changes with the simulation or the meaning of a figure."""

AFTER = (50, 100, 200, 300)
"""After how many actions scores are held against what is deserved."""

FLOOR = FLOORS[Risk.MEDIUM]
"""The floor that a bad agent should fall below: from here on actions of medium risk are allowed."""

ERROR_RATE = 0.1
_FALSE_CLAIM = 0.1  # how often a wrong judgement of a success also finds a factual error
_RISE_BLOCKS = frozenset({BlockKind.ERROR_RATE, BlockKind.FACTUAL_ERROR, BlockKind.OVERCONFIDENCE})
_BANDS = tuple(Band)

GOALS: Mapping[str, tuple[str, float]] = {
    "right.after_300.rank": (">=", 0.9),
    "right.after_300.right_band": (">=", 60.0),
    "right.never_below": ("<=", 0.0),
    "unsure.after_300.rank": (">=", 0.85),
}


class JudgeRow(StrEnum):
    """Who judges successes and failures."""

    RIGHT = "right"
    UNSURE = "unsure"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Course:
    """How an agent's score went: the score after each run with the actions done by then.

    `due_rises` counts the runs in which evidence asked for a rise of a score below what is deserved,
    `refused_rises` those of them in which a block of rises stood against it.
    """

    agent: KnownAgent
    scores: tuple[tuple[int, int], ...]
    due_rises: int
    refused_rises: int

    def score_after(self, actions: int) -> int:
        """Return the score at the last run with at most so many actions."""
        return next((score for done, score in reversed(self.scores) if done <= actions), START_SCORE)

    @property
    def below_floor(self) -> int | None:
        """After how many actions the score first was below the floor; None where it never was."""
        return next((done for done, score in self.scores if score < FLOOR), None)


def follow(
    agents: Sequence[KnownAgent],
    row: JudgeRow,
    policy: Policy,
    *,
    on_agent: Callable[[int], object] = lambda _: None,
) -> list[Course]:
    """Score every agent's actions as the pass would, with one run at the end of each day with actions."""
    courses = []
    for done, agent in enumerate(agents, 1):
        courses.append(_follow(agent, row, policy))
        on_agent(done)
    return courses


def _follow(known: KnownAgent, row: JudgeRow, policy: Policy) -> Course:
    chance = random.Random(f"judge:{row.value}:{known.name}")  # noqa: S311 - a simulation, to be repeated
    agent = Agent(known.name, START_SCORE, 0, 0, 0, None, None, None, known.actions[0].acted_at)
    scored: list[ScoredAction] = []
    error_at: datetime | None = None
    scores: list[tuple[int, int]] = []
    due = refused = done = 0
    for day, actions in groupby(known.actions, key=lambda action: action.acted_at.astimezone(UTC).date()):
        for action in actions:
            done += 1
            flags = judged_flags(action, row, chance)
            if flags is None or not flags.carries_evidence:
                continue
            scored.append(ScoredAction(action.acted_at, flags, action.stated_confidence))
            error_at = action.acted_at if flags.factual_error else error_at
            agent = replace(agent, scorings=agent.scorings + 1)
        now = datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(days=1)
        found = assess(agent, Evidence(tuple(scored), error_at), policy, now=now)
        is_due = found.wanted > 0 and len(scored) >= policy.min_actions and agent.score < round(known.deserved)
        due += is_due
        refused += is_due and any(block.kind in _RISE_BLOCKS for block in found.blocks)
        agent = after(agent, found)
        scores.append((done, agent.score))
    return Course(known, tuple(scores), due, refused)


def after(agent: Agent, found: Assessment) -> Agent:
    """Return the agent as a run leaves it: news is used up by an adjustment, and where none is asked for."""
    if found.blocks:
        return agent
    return replace(agent, score=agent.score + found.adjustment, scorings_used=agent.scorings)


def judged_flags(action: LoggedAction, row: JudgeRow, chance: random.Random) -> Flags | None:
    """Return the flags that an action gets in a row; None where nobody judges it."""
    if not action.judged:
        return action.flags
    if row is JudgeRow.ABSENT:
        return None
    if row is JudgeRow.RIGHT or chance.random() >= ERROR_RATE:
        return action.flags
    claims_error = action.outcome is Outcome.SUCCESS and chance.random() < _FALSE_CLAIM
    flags = action.flags
    return Flags(
        _turned(flags.competence), _turned(flags.commitment), _turned(flags.compatibility), factual_error=claims_error
    )


def _turned(flag: Flag) -> Flag:
    return None if flag is None else (0 if flag else 1)


def figures(courses: Mapping[JudgeRow, Sequence[Course]]) -> dict[str, Figure]:
    """Return the figures of each row, and of each row after some numbers of actions; shares of nothing are left out."""
    found: dict[str, Figure] = {}
    for row, held in courses.items():
        for name, value, unit in _of_row(held):
            key = f"{row.value}.{name}"
            found[key] = Figure.of(value, unit, GOALS.get(key))
    return found


def _of_row(courses: Sequence[Course]) -> Iterator[tuple[str, float, str]]:
    bad = [course for course in courses if course.agent.deserved < FLOOR]
    if bad:
        last = [course.scores[-1][0] for course in bad]
        fell = [course.below_floor for course in bad]
        yield "bad_above_floor", _mean(at or end for at, end in zip(fell, last, strict=True)), "actions"
        yield "never_below", 100 * sum(at is None for at in fell) / len(bad), "%"
    good = [course for course in courses if course.agent.band is Band.FULL and course.due_rises]
    if good:
        rises = sum(course.due_rises for course in good)
        yield "false_blocks", 100 * sum(course.refused_rises for course in good) / rises, "%"
    longest = max(len(course.agent.actions) for course in courses)
    for number in [each for each in AFTER if each < longest] + [min(longest, AFTER[-1])]:
        scores = [course.score_after(number) for course in courses]
        apart = [abs(_BANDS.index(band(s)) - _BANDS.index(c.agent.band)) for s, c in zip(scores, courses, strict=True)]
        if len(courses) > 1:
            yield f"after_{number}.rank", rank_correlation(scores, [c.agent.deserved for c in courses]), "correlation"
        yield f"after_{number}.right_band", 100 * apart.count(0) / len(apart), "%"
        yield f"after_{number}.band_distance", _mean(apart), "bands"


def _mean(values: Iterable[float]) -> float:
    every = list(values)
    return sum(every) / len(every)


def rank_correlation(left: Sequence[float], right: Sequence[float]) -> float:
    """Return Spearman's rank correlation, ties at their mean rank; 0 where one side is all the same."""
    one, other = _ranks(left), _ranks(right)
    middle = (len(one) + 1) / 2
    covariance = sum((a - middle) * (b - middle) for a, b in zip(one, other, strict=True))
    spread = sum((a - middle) ** 2 for a in one) * sum((b - middle) ** 2 for b in other)
    return float(covariance / spread**0.5) if spread else 0.0


def _ranks(values: Sequence[float]) -> list[float]:
    ordered = sorted(values)
    return [ordered.index(value) + (ordered.count(value) + 1) / 2 for value in values]
