"""Agents of known quality, simulated: scores end in their order and in their bands."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import cycle, islice
from typing import Literal

import pytest

from dreaming.autonomy.records import Agent, Band, Evidence, Flags, ScoredAction
from dreaming.autonomy.rules import Policy, assess, band

START = datetime(2026, 1, 1, tzinfo=UTC)

QUALITIES = {
    0.97: Band.FULL,
    0.85: Band.SPOT_CHECK,
    0.75: Band.APPROVAL_REQUIRED,
    0.65: Band.DRAFT_ONLY,
    0.40: Band.RESTRICTED,
}


def live(flags: Iterator[Literal[0, 1]], *, stated: float | None = None) -> int:
    """A thousand actions in a hundred days, good or bad as `flags` say, and a run each day."""
    agent = Agent("bot", 75, 0, 0, 0, None, None, None, START)
    actions: list[ScoredAction] = []
    for day in range(100):
        now = START + timedelta(days=day)
        actions += [ScoredAction(now, Flags(flag, flag, flag), stated) for flag in islice(flags, 10)]
        found = assess(replace(agent, scorings=agent.scorings + 1), Evidence(tuple(actions)), Policy(), now=now)
        agent = replace(agent, score=agent.score + found.adjustment)
    return agent.score


def by_chance(quality: float, seed: int) -> Iterator[Literal[0, 1]]:
    """Good with this chance, each by itself."""
    chance = random.Random(seed)
    while True:
        yield 1 if chance.random() < quality else 0


@pytest.mark.parametrize("seed", range(3))
def test_a_thousand_actions_order_agents_and_bring_each_to_its_band(seed: int) -> None:
    scores = {quality: live(by_chance(quality, seed)) for quality in QUALITIES}
    assert sorted(scores, key=lambda quality: scores[quality], reverse=True) == list(QUALITIES)
    assert len(set(scores.values())) == len(QUALITIES)
    assert {quality: band(score) for quality, score in scores.items()} == QUALITIES
    # Rises of those that err more than one time in five are blocked, so they end at their worst evidence.
    assert all(score - 100 * quality <= 7 for quality, score in scores.items())
    assert all(abs(scores[quality] - 100 * quality) <= 7 for quality in (0.97, 0.85))


def test_an_agent_that_overrates_itself_does_not_rise() -> None:
    four_of_five: tuple[Literal[0, 1], ...] = (1, 1, 1, 1, 0)
    assert live(cycle(four_of_five), stated=0.9) == 80
    assert live(cycle(four_of_five), stated=1.0) == 75
