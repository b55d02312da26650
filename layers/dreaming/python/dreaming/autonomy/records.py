"""The types of autonomy: actions with their outcome, the flags they earn, an agent's score and its changes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, JsonValue, model_validator

from dreaming.notes.cleaning import clean_values

MAX_SUMMARY_CHARACTERS = 4_000

Flag = Literal[0, 1] | None
"""1 for good, 0 for bad, None where an outcome says nothing of the dimension."""


class Outcome(StrEnum):
    """What became of an action."""

    PENDING = "pending"
    APPROVED = "approved"
    DENIED = "denied"
    REJECTED = "rejected"
    EXPIRED = "expired"
    RESOLVED_EXTERNALLY = "resolved_externally"
    SUCCESS = "success"
    FAILURE = "failure"


class Risk(StrEnum):
    """How much harm an action can do."""

    NONE = "none"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


class Band(StrEnum):
    """What a score lets an agent do."""

    FULL = "full"
    SPOT_CHECK = "spot-check"
    APPROVAL_REQUIRED = "approval-required"
    DRAFT_ONLY = "draft-only"
    RESTRICTED = "restricted"


class Scoring(StrEnum):
    """Where an action stands on its way to being evidence."""

    NONE = "none"  # its outcome is pending
    WAITING = "waiting"
    SCORED = "scored"
    DEAD = "dead"  # the judge's answers could not be read


class ChangeKind(StrEnum):
    """What changed a score: evidence, or a person."""

    ADJUSTED = "adjusted"
    SET = "set"


@dataclass(frozen=True, slots=True)
class Flags:
    """What an outcome says of an agent in each dimension."""

    competence: Flag = None
    commitment: Flag = None
    compatibility: Flag = None
    factual_error: bool = False

    @property
    def carries_evidence(self) -> bool:
        """Whether any dimension is known."""
        return (self.competence, self.commitment, self.compatibility) != (None, None, None)


class IncomingAction(BaseModel):
    """An action as an agent's runtime logs it; every string of it is cleaned here, at the door.

    `external_id` names the action among its agent's; logging it again changes nothing, except that
    another outcome is recorded. `stated_confidence` is how sure the agent said it was, 0..1. Times
    must carry an offset; `outcome_at` defaults to the moment of logging. `summary` says what was done
    and what came of it, and is all that the judge sees of the action beside tool, risk and outcome.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, str_strip_whitespace=True)

    agent_id: str = Field(min_length=1, max_length=200)
    external_id: str = Field(min_length=1, max_length=512)
    tool: str = Field(min_length=1, max_length=200)
    summary: str = Field(max_length=MAX_SUMMARY_CHARACTERS)
    risk: Risk
    acted_at: AwareDatetime
    stated_confidence: float | None = Field(default=None, ge=0, le=1, strict=True)
    conversation_id: str | None = Field(default=None, min_length=1, max_length=512)
    approval_requested_at: AwareDatetime | None = None
    outcome: Outcome = Outcome.PENDING
    outcome_at: AwareDatetime | None = None

    @model_validator(mode="before")
    @classmethod
    def _clean(cls, values: Any) -> Any:
        # Before validation, because a string with lone surrogates does not pass it.
        return clean_values(values)


@dataclass(frozen=True, slots=True)
class Action:
    """A logged action with what is known of it; `attempts` counts answers of the judge that could not be read."""

    action_id: UUID
    agent_id: str
    external_id: str
    tool: str
    summary: str
    risk: Risk
    stated_confidence: float | None
    conversation_id: str | None
    acted_at: datetime
    approval_requested_at: datetime | None
    decided_at: datetime | None
    outcome: Outcome
    outcome_at: datetime
    outcome_no: int
    scoring: Scoring
    flags: Flags
    judged_by: str | None
    scored_at: datetime | None
    attempts: int
    first_unreadable_at: datetime | None


@dataclass(frozen=True, slots=True)
class ScoredAction:
    """What a scored action contributes to an agent's evidence."""

    acted_at: datetime
    flags: Flags
    stated_confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """What an agent's score is judged by: its newest scored actions, and when it last made a factual error.

    That error need not be among the actions: a busy agent's window is shorter than an error is remembered.
    """

    actions: tuple[ScoredAction, ...] = ()
    factual_error_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent's score and what decides when it may move.

    `scorings` counts the actions scored so far, `scorings_used` those that the latest adjustment has
    taken into account; `consider_at` is when a pass looks at the evidence next, None until news.
    """

    agent_id: str
    score: int
    changes: int
    scorings: int
    scorings_used: int
    adjusted_run_id: UUID | None
    manual_at: datetime | None
    consider_at: datetime | None
    created_at: datetime

    @property
    def has_news(self) -> bool:
        """Whether an action was scored since the last adjustment."""
        return self.scorings > self.scorings_used


@dataclass(frozen=True, slots=True)
class ScoreChange:
    """An entry of an agent's audit record: what changed its score, by whom, why, and what the decision saw."""

    agent_id: str
    change_no: int
    happened_at: datetime
    action: ChangeKind
    old_score: int
    new_score: int
    reason: str
    actor: str
    evidence: dict[str, JsonValue]


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """An action that the judge could not score, and why."""

    action: Action
    reason: str
    attempts: int
    first_unreadable_at: datetime
    dead_at: datetime


@dataclass(frozen=True, slots=True)
class Permission:
    """Whether an agent may do an action of a risk now; `score` is None when it cannot be read."""

    allowed: bool
    reason: str
    agent_id: str
    risk: Risk
    floor: int
    score: int | None = None
    band: Band | None = None


@dataclass(frozen=True, slots=True)
class LogCounts:
    """What logging came to: actions that are new, that got another outcome, and that were known as they are."""

    logged: int = 0
    changed: int = 0
    unchanged: int = 0
