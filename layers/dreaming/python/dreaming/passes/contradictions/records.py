"""The types of the contradictions pass: relations, claims in time, stretches."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

MAX_ATTEMPTS = 5
"""Calls without a usable word on a pair, after which it is left to a person."""


class Relation(StrEnum):
    """How two beliefs relate."""

    DUPLICATE = "duplicate"
    UNRELATED = "unrelated"
    SUCCESSIVE = "successive"
    COEXISTING = "coexisting"
    INCOMPATIBLE = "incompatible"


class DecidedBy(StrEnum):
    """Who decided it."""

    RULE = "rule"
    MODEL = "model"
    PERSON = "person"


class Standing(StrEnum):
    """What a belief is to its timeline, the strongest first."""

    CURRENT = "current"
    REVIEW = "review"
    UPCOMING = "upcoming"
    PAST = "past"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class Judgement:
    """A pair's relation, as decided once; None is open. The lower id is the left one."""

    left: UUID
    right: UUID
    relation: Relation | None
    decided_by: DecidedBy | None
    reason: str
    kept: UUID | None = None
    left_fingerprint: str = ""
    right_fingerprint: str = ""
    model: str | None = None
    attempts: int = 0
    last_failure: str | None = None
    run_id: UUID | None = None

    @property
    def pair(self) -> tuple[UUID, UUID]:
        """The two ids in order."""
        return self.left, self.right


@dataclass(frozen=True, slots=True)
class TimedClaim:
    """One claim of a line of beliefs: from when it holds by its own words, else by its note's time.

    `value` numbers the value that it is about. `confidence` is the belief's at the time of the claim.
    `changes`: it says itself that something changed, so that it follows a claim of the same day.
    `bounded`: it says itself that it is over.
    """

    belief_id: UUID
    value: int
    start: datetime
    end: datetime | None
    noted_at: datetime
    trusted: bool
    confidence: float
    statement: str
    negative: bool = False
    past: bool = False
    changes: bool = False
    bounded: bool = False
    ended: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Stretch:
    """A time in which a belief held, or was said to; `successor` holds after it, or instead of it."""

    belief_id: UUID
    holds_from: datetime
    holds_until: datetime | None
    standing: Standing
    successor: UUID | None


@dataclass(frozen=True, slots=True)
class Line:
    """The beliefs about one subject and attribute, and the stretches in which they held."""

    subject: str
    attribute: str
    beliefs: tuple[UUID, ...]
    stretches: tuple[Stretch, ...]
