"""The types of briefs: what is read, and what is told."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from dreaming.beliefs.records import Importance, Kind
from dreaming.notes.records import Scope, Trust


@dataclass(frozen=True, slots=True)
class BriefLine:
    """One belief of a brief; `aged` is its confidence at the brief's moment.

    `in_review`: what it says contradicts another belief, and a person has not decided yet.
    """

    belief_id: UUID
    statement: str
    kind: Kind
    importance: Importance
    aged: float
    confirmed_at: datetime
    trust: Trust
    in_review: bool
    scope: Scope


@dataclass(frozen=True, slots=True)
class Brief:
    """A brief at a moment: its text, and the beliefs that it tells, in order.

    `complete`: everything that is believed is in it. The text is empty when nothing is believed.
    """

    text: str
    lines: tuple[BriefLine, ...]
    complete: bool
    at: datetime
    characters: int
