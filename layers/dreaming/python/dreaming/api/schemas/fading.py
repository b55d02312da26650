"""What fades when nothing confirms it."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from pydantic import Field

from dreaming.api.schemas.schema import Schema
from dreaming.beliefs.records import Importance, Kind


class FadingWeek(Schema):
    """How many beliefs fade from `start` on, for seven days."""

    start: datetime
    beliefs: int


class FadingBelief(Schema):
    """A belief that will fade."""

    belief_id: UUID
    kind: Kind
    statement: str
    importance: Importance
    confidence: float
    aged: float
    fades_at: datetime
    archived_from: datetime = Field(description="The earliest moment at which a pass may archive it.")
    warned_at: datetime | None = Field(description="When its fading was announced.")
    warns: bool = Field(description="Its fading will be announced before.")


class Fading(Schema):
    """What fades in each of the next 12 weeks; `faded` wait for the next pass already."""

    at: datetime
    ageing: int = Field(description="How many beliefs age at all.")
    faded: int
    weeks: tuple[FadingWeek, ...]
    next_ones: tuple[FadingBelief, ...] = Field(description="The first to fade.")
    next_cursor: str | None
