"""Beliefs as they are listed and explained."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import Field

from dreaming.api.records import BeliefReading, Explanation
from dreaming.api.schemas.schema import Schema
from dreaming.beliefs.records import ArchiveReason, DecayClass, Importance, Kind, SourceEnd, SourceType
from dreaming.notes.records import NoteState, Scope, Trust


class Quote(Schema):
    """The quote that gives a belief its wording, and where it stands."""

    quote: str
    source: str
    external_id: str
    author: str | None
    occurred_at: datetime


class Belief(Schema):
    """A belief; `aged` is its confidence at the moment of reading."""

    belief_id: UUID
    kind: Kind
    statement: str
    aged: float
    confidence: float
    confirmed_at: datetime
    first_seen_at: datetime
    importance: Importance
    decay_class: DecayClass
    fades_at: datetime | None
    subject: str | None
    attribute: str | None
    value: str | None
    valid_from: datetime | None
    valid_until: datetime | None
    trust: Trust
    sources: int
    origins: int
    archived_at: datetime | None
    archive_reason: ArchiveReason | None
    evidence: Quote | None

    @classmethod
    def of(cls, reading: BeliefReading) -> Belief:
        """Read a belief with its aged confidence."""
        belief = {name: getattr(reading.belief, name) for name in cls.model_fields if hasattr(reading.belief, name)}
        evidence = None if reading.evidence is None else Quote.model_validate(reading.evidence)
        return cls.model_validate({**belief, "aged": reading.aged, "evidence": evidence})


class BeliefPage(Schema):
    """Some beliefs by aged confidence, then importance, then the latest confirmation."""

    beliefs: tuple[Belief, ...]
    next_cursor: str | None


class ConfidenceArithmetic(Schema):
    """How a belief's confidence comes about: `min(1, base + step × corroborations)`, then ageing."""

    base: float
    step: float
    corroborations: int
    confidence: float
    confirmed_at: datetime
    half_life_days: float | None
    age_days: float
    aged: float
    fades_at: datetime | None


class NoteBehind(Schema):
    """The note behind a source, at the version that is quoted; `state` is the note's today."""

    note_id: UUID
    source: str
    external_id: str
    author: str | None
    occurred_at: datetime
    version: int
    current_version: int
    state: NoteState


class SourceBehind(Schema):
    """One piece of evidence, with its quote in context; `exact`: the quote is what stands in the note."""

    source_id: UUID
    source_type: SourceType
    statement: str
    confidence: float
    trust: Trust
    occurred_at: datetime
    quote: str | None
    before: str
    after: str
    exact: bool | None
    note: NoteBehind | None
    model: str | None
    prompt_version: str | None
    recorded_at: datetime
    ended_at: datetime | None
    ended_reason: SourceEnd | None


class HistoryEvent(Schema):
    """What happened to a belief, with its state after it."""

    happened_at: datetime
    event: str
    confidence: float
    confirmed_at: datetime
    statement: str
    source_id: UUID | None
    run_id: UUID | None
    detail: dict[str, Any]


class BeliefWhy(Schema):
    """Why a belief is believed."""

    belief: Belief
    scope: Scope
    arithmetic: ConfidenceArithmetic | None = Field(description="Null when no source counts any more.")
    sources: tuple[SourceBehind, ...]
    history: tuple[HistoryEvent, ...]

    @classmethod
    def of(cls, explained: Explanation) -> BeliefWhy:
        """Read an explanation."""
        return cls(
            belief=Belief.of(explained.reading),
            scope=explained.slice.key.scope,
            arithmetic=explained.arithmetic and ConfidenceArithmetic.model_validate(explained.arithmetic),
            sources=tuple(_source(reading) for reading in explained.sources),
            history=tuple(HistoryEvent.model_validate(entry) for entry in explained.history),
        )


def _source(reading: Any) -> SourceBehind:
    values = {
        name: getattr(reading.source, name) if hasattr(reading.source, name) else getattr(reading, name)
        for name in SourceBehind.model_fields
    }
    return SourceBehind.model_validate(values | {"note": reading.note and NoteBehind.model_validate(reading.note)})
