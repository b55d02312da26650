"""Runs by day, what is held, and how the beliefs are spread."""

from __future__ import annotations

from datetime import date, datetime

from pydantic import Field

from dreaming.api.overview import records
from dreaming.api.remedies import remedy
from dreaming.api.schemas.schema import Schema
from dreaming.beliefs.records import Kind
from dreaming.notes.records import Scope


class PassDay(Schema):
    """What the runs of a pass that started on one UTC day came to."""

    pass_name: str = Field(serialization_alias="pass")
    day: date
    runs: int = Field(description="All of them; the next six say how they stand or ended.")
    running: int
    drained: int
    held: int
    stalled: int
    stopped: int
    replaced: int
    notes_consolidated: int
    notes_retired: int
    beliefs_created: int
    beliefs_archived: int
    model_calls: int


class HeldPass(Schema):
    """A pass that does not go on in a slice; its next tick tries again."""

    pass_name: str = Field(serialization_alias="pass")
    slice_id: int
    scope: Scope
    owner_user_id: str | None
    reason: str
    detail: str | None
    since: datetime | None
    remedy: str = Field(description="What a person does about it.")
    setting: str | None = Field(description="The setting or consent that it is about.")

    @classmethod
    def of(cls, held: records.HeldPass) -> HeldPass:
        """Read a hold."""
        told, setting = remedy(held.reason, held.pass_name)
        values = {name: getattr(held, name) for name in cls.model_fields if hasattr(held, name)}
        return cls(**values, remedy=told, setting=setting)


class Timeline(Schema):
    """The runs of every pass by day, days without one left out, and what is held now."""

    first: date
    last: date
    days: tuple[PassDay, ...]
    held: tuple[HeldPass, ...] = Field(description="The longest held first.")

    @classmethod
    def of(cls, timeline: records.Timeline) -> Timeline:
        """Read a timeline."""
        return cls(
            first=timeline.first,
            last=timeline.last,
            days=tuple(PassDay.model_validate(day) for day in timeline.days),
            held=tuple(map(HeldPass.of, timeline.held)),
        )


class BeliefGroup(Schema):
    """How many live beliefs of a kind share a tenth of aged confidence and a band of ages."""

    kind: Kind
    tenth: int = Field(ge=0, le=9, description="Aged confidence from `tenth / 10` on.")
    age_from_days: int = Field(description="Days since the confirmation, from 0, 7, 30, 90 or 365 on.")
    beliefs: int


class BeliefSummary(Schema):
    """How a slice's live beliefs are spread over kinds, confidence and age; empty groups are left out."""

    at: datetime
    groups: tuple[BeliefGroup, ...]
