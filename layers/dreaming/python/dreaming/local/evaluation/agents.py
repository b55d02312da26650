"""Agents whose quality is known: simulated ones, and those of a log that a person has judged."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from dreaming.autonomy.records import Band, Flag, Flags, Outcome
from dreaming.autonomy.rules import JUDGED, WEIGHTS, band, outcome_flags
from dreaming.errors import InvalidInput
from dreaming.local.evaluation.labelled_notes import json_lines, shortly

QUALITIES = (0.35, 0.50, 0.60, 0.68, 0.75, 0.82, 0.88, 0.93, 0.97)
"""How often a simulated agent does well."""

ACTIONS_A_DAY = 10
_BEGIN = datetime(2026, 1, 5, tzinfo=UTC)
_RATED = 0.6  # how often an agent says how sure it is
_BOASTFUL = 0.70  # agents below it are sure of themselves whatever they do
_MIDDLE = {Band.FULL: 95.0, Band.SPOT_CHECK: 85.0, Band.APPROVAL_REQUIRED: 75.0, Band.DRAFT_ONLY: 65.0}
_LOWEST = 30.0
_REMEDY = "see docs/evaluation.md for the format"


@dataclass(frozen=True, slots=True)
class LoggedAction:
    """An action with its outcome, and the flags that a judge who makes no mistake would give it."""

    acted_at: datetime
    outcome: Outcome
    flags: Flags
    stated_confidence: float | None = None

    @property
    def judged(self) -> bool:
        """Whether its flags are a judge's."""
        return self.outcome in JUDGED


@dataclass(frozen=True, slots=True)
class KnownAgent:
    """An agent with the score that it deserves, 0..100, and its actions in order of time."""

    name: str
    deserved: float
    actions: tuple[LoggedAction, ...]

    @property
    def band(self) -> Band:
        """The band that it deserves."""
        return band(round(self.deserved))


@dataclass(frozen=True, slots=True)
class _Chance:
    """One thing that can come of an action, and how likely it is."""

    probability: float
    outcome: Outcome
    flags: Flags


def _chances(quality: float) -> list[_Chance]:
    """Return what can come of one action of an agent that does well with probability `quality`.

    One of twenty expires whatever it is worth. Nine of twenty are put before a person, who approves what is
    good and denies or rejects the rest. The others are carried out and left to the judge; half of what fails
    there lacks commitment, half compatibility, and a tenth holds a factual error.
    """
    bad = 1 - quality
    decided = [
        (0.05, Outcome.EXPIRED),
        (0.45 * quality, Outcome.APPROVED),
        (0.27 * bad, Outcome.DENIED),
        (0.18 * bad, Outcome.REJECTED),
    ]
    chances = [_Chance(share, outcome, outcome_flags(outcome) or Flags()) for share, outcome in decided]
    chances.append(_Chance(0.5 * quality, Outcome.SUCCESS, Flags(1, 1, 1)))
    halves: tuple[Flag, Flag] = (0, 1)
    for commitment in halves:
        for compatibility in halves:
            for share, error in ((0.1, True), (0.9, False)):
                flags = Flags(0, commitment, compatibility, factual_error=error)
                chances.append(_Chance(0.125 * bad * share, Outcome.FAILURE, flags))
    return chances


def deserved_score(quality: float) -> float:
    """Return the capability, times 100, that infinitely many actions of this quality would show a right judge."""
    total = weights = 0.0
    for name, weight in WEIGHTS.items():
        known = [(one.probability, getattr(one.flags, name)) for one in _chances(quality)]
        seen = sum(probability for probability, flag in known if flag is not None)
        if seen:
            total += weight * sum(probability * flag for probability, flag in known if flag is not None) / seen
            weights += weight
    return 100 * total / weights


def simulated(actions: int, *, seeds: int, qualities: Sequence[float] = QUALITIES) -> list[KnownAgent]:
    """Return agents of every quality, `seeds` of each, with as many actions; the same ones each time."""
    agents = []
    for quality in qualities:
        for seed in range(seeds):
            chance = random.Random(f"{quality}:{seed}")  # noqa: S311 - a simulation, to be repeated
            done = tuple(_act(chance, quality, place) for place in range(actions))
            agents.append(KnownAgent(f"{quality:.2f}-{seed + 1}", deserved_score(quality), done))
    return agents


def _act(chance: random.Random, quality: float, place: int) -> LoggedAction:
    chances = _chances(quality)
    (one,) = chance.choices(chances, [each.probability for each in chances])
    sure = 0.95 if quality < _BOASTFUL else quality
    stated = min(1.0, max(0.0, chance.gauss(sure, 0.05))) if chance.random() < _RATED else None
    acted_at = _BEGIN + timedelta(days=1) * (place / ACTIONS_A_DAY)
    return LoggedAction(acted_at, one.outcome, one.flags, stated)


class _FlagsLine(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    competence: Flag = None
    commitment: Flag = None
    compatibility: Flag = None
    factual_error: bool = False


class _AgentLine(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    agent: str = Field(min_length=1, max_length=200)
    deserves: Band | float

    @field_validator("deserves")
    @classmethod
    def _is_a_score(cls, given: Band | float) -> Band | float:
        if not isinstance(given, Band) and not 0 <= given <= 100:
            raise ValueError("is neither a band nor a score from 0 to 100")
        return given


class _ActionLine(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    agent: str = Field(min_length=1, max_length=200)
    acted_at: AwareDatetime
    outcome: Outcome
    flags: _FlagsLine | None = None
    stated_confidence: float | None = Field(default=None, ge=0, le=1)

    @model_validator(mode="after")
    def _flags_where_a_judge_decides(self) -> Self:
        if self.outcome is Outcome.PENDING:
            raise ValueError("outcome: a pending action says nothing yet; leave it out")
        if (self.flags is not None) != (self.outcome in JUDGED):
            need = "needs" if self.outcome in JUDGED else "decides its flags by itself and must not have"
            raise ValueError(f"flags: the outcome {self.outcome.value!r} {need} flags")
        return self

    def action(self) -> LoggedAction:
        """Return the action, with the flags that its outcome decides or that the file gives."""
        given = Flags(**self.flags.model_dump()) if self.flags else outcome_flags(self.outcome)
        return LoggedAction(self.acted_at, self.outcome, given or Flags(), self.stated_confidence)


def read_agents(path: Path) -> list[KnownAgent]:
    """Read a log: lines with `deserves` name an agent, the others are actions; names the line and the field."""
    deserved: dict[str, float] = {}
    actions: dict[str, list[LoggedAction]] = {}
    first: dict[str, int] = {}
    for number, line in json_lines(path):
        kind: Any = _AgentLine if isinstance(line, dict) and "deserves" in line else _ActionLine
        try:
            read = kind.model_validate(line)
        except ValidationError as error:
            raise InvalidInput(f"{path}, line {number}", shortly(error, "the line"), _REMEDY) from None
        first.setdefault(read.agent, number)
        if isinstance(read, _AgentLine):
            if read.agent in deserved:
                raise InvalidInput(f"{path}, line {number}", f"agent: {read.agent!r} is named twice", "keep one line")
            given = read.deserves
            deserved[read.agent] = _MIDDLE.get(given, _LOWEST) if isinstance(given, Band) else given
        else:
            actions.setdefault(read.agent, []).append(read.action())
    for name, number in first.items():
        if name not in deserved or name not in actions:
            lacks = "a line that says what it deserves" if name not in deserved else "any action"
            raise InvalidInput(f"{path}, line {number}", f"agent: {name!r} lacks {lacks}", _REMEDY)
    if not first:
        raise InvalidInput(str(path), "holds no agent", _REMEDY)
    return [
        KnownAgent(name, deserved[name], tuple(sorted(actions[name], key=lambda action: action.acted_at)))
        for name in deserved
    ]
