"""Beliefs as they are listed and explained."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import Field

from dreaming.api.records import BeliefReading, Explanation
from dreaming.api.schemas.schema import Schema
from dreaming.api.timelines.store import SuccessionRow
from dreaming.beliefs.records import ArchiveReason, DecayClass, Importance, Kind, SourceEnd, SourceType
from dreaming.beliefs.relationships.records import RelationshipReading
from dreaming.notes.records import NoteState, Scope, Trust


class Quote(Schema):
    """The quote that gives a belief its wording, and where it stands."""

    quote: str
    source: str
    external_id: str
    author: str | None
    occurred_at: datetime


class Match(Schema):
    """Why a search found a belief: the score of both parts together, the BM25 score, the cosine."""

    score: float
    lexical: float
    likeness: float | None = Field(description="Null where no vectors were compared.")


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
    match: Match | None = Field(default=None, description="Null where nothing was searched for.")

    @classmethod
    def of(cls, reading: BeliefReading, match: Match | None = None) -> Belief:
        """Read a belief with its aged confidence."""
        belief = {name: getattr(reading.belief, name) for name in cls.model_fields if hasattr(reading.belief, name)}
        evidence = None if reading.evidence is None else Quote.model_validate(reading.evidence)
        return cls.model_validate({**belief, "aged": reading.aged, "evidence": evidence, "match": match})


class BeliefPage(Schema):
    """Some beliefs: what a search found, the best match first, else by aged confidence and importance."""

    beliefs: tuple[Belief, ...]
    next_cursor: str | None
    reason: str | None = Field(default=None, description="Why a search compared words only.")


class BeliefChanged(Schema):
    """A belief after what a person did; `changed` is false when it was so before."""

    belief_id: UUID
    changed: bool
    confidence: float
    confirmed_at: datetime
    archived_at: datetime | None
    archive_reason: ArchiveReason | None


class ConfidenceArithmetic(Schema):
    """How a belief's confidence comes about: `min(most, base + step × corroborations)`, then ageing."""

    base: float
    step: float
    corroborations: int
    most: float
    confidence: float
    confirmed_at: datetime
    half_life_days: float | None
    age_days: float
    aged: float
    fades_at: datetime | None


class NoteBehind(Schema):
    """The note behind a source, at the version that is quoted, and the conversation that the note was made of."""

    note_id: UUID
    source: str
    external_id: str
    author: str | None
    occurred_at: datetime
    version: int
    current_version: int
    state: NoteState
    conversation_id: str | None


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


class RelatedBelief(Schema):
    """A relationship as the belief sees it; `outgoing`: it leads from the belief to the other one."""

    relationship_id: UUID
    type: str
    outgoing: bool
    other_id: UUID
    other_statement: str
    aged: float
    confidence: float
    confirmed_at: datetime
    sources: int


class OpenConflict(Schema):
    """Another belief that may contradict this one, left for adjudication."""

    other_id: UUID
    other_statement: str
    reason: str
    found_at: datetime


class Stretch(Schema):
    """One stretch in the line of what held one after the other; `standing` says whether it holds now."""

    belief_id: UUID
    statement: str
    subject: str
    attribute: str
    holds_from: datetime
    holds_until: datetime | None
    standing: str
    successor_id: UUID | None


class BeliefWhy(Schema):
    """Why a belief is believed."""

    belief: Belief
    scope: Scope
    arithmetic: ConfidenceArithmetic | None = Field(description="Null when no source counts any more.")
    sources: tuple[SourceBehind, ...]
    history: tuple[HistoryEvent, ...]
    relationships: tuple[RelatedBelief, ...]
    conflicts: tuple[OpenConflict, ...]
    succession: tuple[Stretch, ...] = Field(description="In order of time; empty when nothing bears upon it.")

    @classmethod
    def of(cls, explained: Explanation, succession: Sequence[SuccessionRow] = ()) -> BeliefWhy:
        """Read an explanation."""
        return cls(
            belief=Belief.of(explained.reading),
            scope=explained.slice.key.scope,
            arithmetic=explained.arithmetic and ConfidenceArithmetic.model_validate(explained.arithmetic),
            sources=tuple(_source(reading) for reading in explained.sources),
            history=tuple(HistoryEvent.model_validate(entry) for entry in explained.history),
            relationships=tuple(_related(one) for one in explained.relationships),
            conflicts=tuple(OpenConflict.model_validate(one) for one in explained.conflicts),
            succession=tuple(Stretch.model_validate(one) for one in succession),
        )


def _related(reading: RelationshipReading) -> RelatedBelief:
    values = {
        name: getattr(reading, name) if hasattr(reading, name) else getattr(reading.relationship, name)
        for name in RelatedBelief.model_fields
    }
    return RelatedBelief.model_validate(values)


def _source(reading: Any) -> SourceBehind:
    values = {
        name: getattr(reading.source, name) if hasattr(reading.source, name) else getattr(reading, name)
        for name in SourceBehind.model_fields
    }
    return SourceBehind.model_validate(values | {"note": reading.note and NoteBehind.model_validate(reading.note)})
