"""The arithmetic of autonomy, as the design's section 9 gives it: flags, capability, adjustment, bands, floors.

Pure functions of what they are given. Scores are whole numbers from 0 to 100, capabilities from 0 to 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from fractions import Fraction

from dreaming.autonomy.records import Agent, Band, Evidence, Flag, Flags, Outcome, Risk, ScoreChange, ScoredAction

START_SCORE = 75

WINDOW_ACTIONS = 500
"""The newest scored actions that count."""

WEIGHTS: Mapping[str, float] = {"competence": 0.45, "commitment": 0.35, "compatibility": 0.20}

ERROR_WINDOW_ACTIONS = 30
MAX_ERROR_RATE = Fraction(1, 5)
FACTUAL_ERROR_AGE = timedelta(days=30)
MIN_RATED_ACTIONS = 10
MAX_OVERCONFIDENCE = 0.15

_DECIMALS = 9
"""To how many decimals a weighted mean is taken before it is compared: floating point must decide nothing."""

_MAX_HALVINGS = 1_000.0

_FLAGS: Mapping[Outcome, Flags] = {
    Outcome.APPROVED: Flags(1, 1, 1),
    Outcome.DENIED: Flags(0, None, 0),
    Outcome.REJECTED: Flags(0, 1, None),
    Outcome.EXPIRED: Flags(None, 1, 0),
    Outcome.RESOLVED_EXTERNALLY: Flags(1, 1, None),
}

JUDGED = frozenset({Outcome.SUCCESS, Outcome.FAILURE})
"""Outcomes whose flags a model decides."""

_BANDS = ((90, Band.FULL), (80, Band.SPOT_CHECK), (70, Band.APPROVAL_REQUIRED), (60, Band.DRAFT_ONLY))

FLOORS: Mapping[Risk, int] = {Risk.NONE: 0, Risk.LOW: 60, Risk.MEDIUM: 70, Risk.HIGH: 80, Risk.CRITICAL: 90}

_NEXT: Mapping[Outcome, frozenset[Outcome]] = {
    Outcome.PENDING: frozenset(Outcome) - {Outcome.PENDING},
    # What was approved is then done; an approval may be taken back, and a refusal thought over.
    Outcome.APPROVED: JUDGED | {Outcome.DENIED, Outcome.REJECTED, Outcome.RESOLVED_EXTERNALLY},
    Outcome.DENIED: frozenset({Outcome.APPROVED, Outcome.REJECTED}),
    Outcome.REJECTED: frozenset({Outcome.APPROVED, Outcome.DENIED}),
    Outcome.EXPIRED: frozenset(
        {Outcome.APPROVED, Outcome.DENIED, Outcome.REJECTED, Outcome.RESOLVED_EXTERNALLY, *JUDGED}
    ),
    Outcome.RESOLVED_EXTERNALLY: frozenset({Outcome.DENIED, Outcome.REJECTED, *JUDGED}),
    Outcome.SUCCESS: frozenset({Outcome.FAILURE}),
    Outcome.FAILURE: frozenset({Outcome.SUCCESS}),
}


def outcome_flags(outcome: Outcome) -> Flags | None:
    """Return the flags that an outcome decides by itself; None for a pending one and for those a model judges."""
    return _FLAGS.get(outcome)


def next_outcomes(outcome: Outcome) -> frozenset[Outcome]:
    """Return what an outcome may become later."""
    return _NEXT[outcome]


def band(score: int) -> Band:
    """Return the band of a score."""
    return next((name for floor, name in _BANDS if score >= floor), Band.RESTRICTED)


@dataclass(frozen=True, slots=True)
class Policy:
    """What an organization may set: how fast evidence ages and scores move."""

    half_life: timedelta = timedelta(days=30)
    min_actions: int = 30
    max_step: int = 5
    cool_down: timedelta = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Dimension:
    """A dimension's part in the capability.

    `value` is the weighted mean of its flags, None without data; `weight` its share after the
    dimensions without data dropped out; `good` of `actions` flags are 1.
    """

    name: str
    weight: float
    value: float | None
    actions: int
    good: int


@dataclass(frozen=True, slots=True)
class Capability:
    """What the evidence says an agent can do, 0..1; None without any evidence."""

    value: float | None
    dimensions: tuple[Dimension, ...]
    actions: int


class BlockKind(StrEnum):
    """What keeps a score where it is."""

    TOO_FEW_ACTIONS = "too_few_actions"
    NO_NEWS = "no_news"
    COOL_DOWN = "cool_down"
    ERROR_RATE = "error_rate"
    FACTUAL_ERROR = "factual_error"
    OVERCONFIDENCE = "overconfidence"


@dataclass(frozen=True, slots=True)
class Block:
    """Something that keeps a score where it is; `until` is when it ends by itself, None when only news ends it."""

    kind: BlockKind
    sentence: str
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class ErrorRate:
    """How many of the newest actions whose competence is known were not competent."""

    errors: int
    actions: int

    @property
    def blocks(self) -> bool:
        """Whether the rate exceeds what a rise allows."""
        return self.actions > 0 and Fraction(self.errors, self.actions) > MAX_ERROR_RATE


@dataclass(frozen=True, slots=True)
class Calibration:
    """What an agent said of its own actions beside what came of them, over those where both are known."""

    rated: int
    stated: float
    succeeded: float

    @property
    def gap(self) -> float:
        """Mean stated confidence minus success rate; positive is overconfident."""
        return round(self.stated - self.succeeded, _DECIMALS)

    @property
    def blocks(self) -> bool:
        """Whether the overconfidence penalty is active."""
        return self.rated >= MIN_RATED_ACTIONS and self.gap > MAX_OVERCONFIDENCE


@dataclass(frozen=True, slots=True)
class Assessment:
    """What the evidence asks of a score, what of it is granted now, and why not more.

    `wanted` is the step that the evidence asks for, `adjustment` the one that nothing blocks. `blocks`
    are those in force; of those of a rise only when a rise is wanted.
    """

    capability: Capability
    error_rate: ErrorRate
    calibration: Calibration
    factual_error_at: datetime | None
    wanted: int
    adjustment: int
    blocks: tuple[Block, ...]

    @property
    def look_again_at(self) -> datetime | None:
        """When the last block that ends by itself has ended; None when only news can change anything."""
        if not self.blocks or any(block.until is None for block in self.blocks):
            return None
        return max(block.until for block in self.blocks if block.until is not None)


def capability(actions: Iterable[ScoredAction], half_life: timedelta) -> Capability:
    """Return the weighted mean of the dimensions over the newest actions with evidence.

    An action weighs 0.5^(age / half life). Ages are taken from the newest action, which leaves every
    ratio of weights as it is, so that the passing of time alone changes nothing.
    """
    window = newest(actions)
    values: dict[str, tuple[float, float, int, int]] = {}
    for name in WEIGHTS:
        total = sum_ = 0.0
        count = good = 0
        for action in window:
            flag: Flag = getattr(action.flags, name)
            if flag is not None:
                weight = _weight(window[0].acted_at - action.acted_at, half_life)
                total += weight
                sum_ += weight * flag
                count += 1
                good += flag
        values[name] = (total, sum_, count, good)
    present = sum(WEIGHTS[name] for name, (_, _, count, _) in values.items() if count)
    dimensions = tuple(
        Dimension(
            name,
            WEIGHTS[name] / present if count else 0.0,
            round(sum_ / total, _DECIMALS) if count else None,
            count,
            good,
        )
        for name, (total, sum_, count, good) in values.items()
    )
    value = sum(one.weight * one.value for one in dimensions if one.value is not None)
    return Capability(round(value, _DECIMALS) if window else None, dimensions, len(window))


def newest(actions: Iterable[ScoredAction]) -> list[ScoredAction]:
    """Return the newest actions that carry evidence, the newest first; of equal times in the order given."""
    carrying = [action for action in actions if action.flags.carries_evidence]
    return sorted(carrying, key=lambda action: action.acted_at, reverse=True)[:WINDOW_ACTIONS]


def step_towards(capability_value: float, score: int, max_step: int) -> int:
    """Return floor(100 × capability - score + 0.5), limited to ± `max_step`."""
    wanted = math.floor(round(100 * capability_value, _DECIMALS - 2) - score + 0.5)
    return max(-max_step, min(max_step, wanted))


def rounded_score(found: Capability) -> int | None:
    """Return the score that a capability asks for, were there no limit to a step; None without evidence."""
    return None if found.value is None else step_towards(found.value, 0, 100)


def assess(agent: Agent, evidence: Evidence, policy: Policy, *, now: datetime) -> Assessment:
    """Return what an agent's evidence asks of its score at `now`, and what blocks it."""
    window = newest(evidence.actions)
    found = capability(window, policy.half_life)
    wanted = 0 if found.value is None else step_towards(found.value, agent.score, policy.max_step)
    assessment = Assessment(
        capability=found,
        error_rate=_error_rate(window),
        calibration=_calibration(window),
        factual_error_at=evidence.factual_error_at,
        wanted=wanted,
        adjustment=0,
        blocks=(),
    )
    blocks = [*_blocks(agent, found.actions, policy, now)]
    if wanted > 0:
        blocks += rise_blocks(assessment, now)
    return replace(assessment, adjustment=0 if blocks else wanted, blocks=tuple(blocks))


def rise_blocks(assessment: Assessment, now: datetime) -> list[Block]:
    """Return what blocks a rise at `now`, whether one is wanted or not; falls are never blocked by it."""
    blocks = []
    rate = assessment.error_rate
    if rate.blocks:
        sentence = f"{rate.errors} of the last {rate.actions} actions were errors, more than {float(MAX_ERROR_RATE):g}"
        blocks.append(Block(BlockKind.ERROR_RATE, sentence))
    at = assessment.factual_error_at
    if at is not None and now - at < FACTUAL_ERROR_AGE:
        sentence = f"a factual error is younger than {FACTUAL_ERROR_AGE.days} days"
        blocks.append(Block(BlockKind.FACTUAL_ERROR, sentence, at + FACTUAL_ERROR_AGE))
    calibration = assessment.calibration
    if calibration.blocks:
        sentence = (
            f"overconfident by {calibration.gap:.2f} over {calibration.rated} rated actions: "
            f"said {calibration.stated:.2f}, succeeded {calibration.succeeded:.2f}"
        )
        blocks.append(Block(BlockKind.OVERCONFIDENCE, sentence))
    return blocks


def good_actions_to_unblock(rate: ErrorRate, actions: Sequence[ScoredAction]) -> int:
    """Return how many further competent actions in a row end the block by the error rate; 0 when there is none."""
    flags = [action.flags.competence for action in newest(actions) if action.flags.competence is not None]
    count = 0
    while rate.blocks:
        count += 1
        kept = flags[: max(ERROR_WINDOW_ACTIONS - count, 0)]
        rate = ErrorRate(kept.count(0), len(kept) + min(count, ERROR_WINDOW_ACTIONS))
    return count


def replay(changes: Iterable[ScoreChange]) -> int:
    """Return the score that an agent's audit record leads to, its entries in order.

    Raises:
        ValueError: an entry is missing, or does not begin where the one before it ended.
    """
    score = START_SCORE
    for number, change in enumerate(changes, start=1):
        if change.change_no != number or change.old_score != score:
            raise ValueError(f"entry {change.change_no} of the audit record does not follow entry {number - 1}")
        score = change.new_score
    return score


def _blocks(agent: Agent, scored: int, policy: Policy, now: datetime) -> Iterable[Block]:
    if scored < policy.min_actions:
        sentence = f"{scored} of the {policy.min_actions} scored actions that it takes"
        yield Block(BlockKind.TOO_FEW_ACTIONS, sentence)
    if not agent.has_news:
        yield Block(BlockKind.NO_NEWS, "no action was scored since the last adjustment")
    if agent.manual_at is not None and now - agent.manual_at < policy.cool_down:
        until = agent.manual_at + policy.cool_down
        yield Block(BlockKind.COOL_DOWN, "a person set the score, and evidence waits until the cool-down ends", until)


def _error_rate(window: Sequence[ScoredAction]) -> ErrorRate:
    known = [action.flags.competence for action in window if action.flags.competence is not None]
    latest = known[:ERROR_WINDOW_ACTIONS]
    return ErrorRate(latest.count(0), len(latest))


def _calibration(window: Sequence[ScoredAction]) -> Calibration:
    rated = [
        (action.stated_confidence, action.flags.competence)
        for action in window
        if action.stated_confidence is not None and action.flags.competence is not None
    ]
    if not rated:
        return Calibration(0, 0.0, 0.0)
    stated = math.fsum(confidence for confidence, _ in rated) / len(rated)
    return Calibration(len(rated), stated, sum(flag for _, flag in rated) / len(rated))


def _weight(age: timedelta, half_life: timedelta) -> float:
    return float(0.5 ** min(age / half_life, _MAX_HALVINGS))
