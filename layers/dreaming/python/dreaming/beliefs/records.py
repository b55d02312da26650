"""The types of beliefs, of the sources behind them and of their history."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from dreaming.notes.records import Trust


class Kind(StrEnum):
    """What sort of thing a belief says."""

    FACT = "fact"
    PREFERENCE = "preference"
    DECISION = "decision"
    ENTITY = "entity"
    CONSTRAINT = "constraint"
    OBSERVATION = "observation"


class Importance(StrEnum):
    """How much it matters, from the least."""

    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"
    CRITICAL = "critical"


class DecayClass(StrEnum):
    """The stability tier: how fast confidence ages."""

    PERMANENT = "permanent"
    SLOW = "slow_decay"
    FAST = "fast_decay"


class ArchiveReason(StrEnum):
    """Why a belief is out of sight."""

    FADED = "faded"
    PERSON = "person"
    SUPERSEDED = "superseded"
    SOURCELESS = "sourceless"
    MERGED = "merged"
    REJECTED = "rejected"


class Provenance(StrEnum):
    """Who answers for a belief: the model that read its notes, or a person who confirmed it."""

    MODEL = "model_inference"
    PERSON = "person"


class SourceType(StrEnum):
    """What a source is: a claim of a note, or a person's confirmation."""

    NOTE = "note"
    CONFIRMATION = "confirmation"


@dataclass(frozen=True, slots=True)
class Source:
    """One piece of evidence and the claim it made, kept as it was made.

    `occurred_at` is the note's own time. `origin` names the witness: sources of one origin count
    once. `sequence` is the note's ingestion position and orders sources of the same moment.
    """

    source_id: UUID
    source_type: SourceType
    origin: str
    trust: Trust
    occurred_at: datetime
    sequence: int
    statement: str
    confidence: float
    kind: Kind
    importance: Importance
    decay_class: DecayClass
    subject: str | None = None
    attribute: str | None = None
    value: str | None = None
    multi_valued: bool = False
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    note_id: UUID | None = None
    note_version: int | None = None
    quote: str | None = None
    quote_start: int | None = None
    quote_end: int | None = None


@dataclass(frozen=True, slots=True)
class Belief:
    """A belief as its row holds it: the fold of its sources, and whether it is archived.

    `warned_at` is when its fading was announced; new evidence takes that back.
    """

    belief_id: UUID
    kind: Kind
    statement: str
    confidence: float
    confirmed_at: datetime
    first_seen_at: datetime
    importance: Importance
    decay_class: DecayClass
    fades_at: datetime | None
    subject: str | None
    attribute: str | None
    value: str | None
    multi_valued: bool
    valid_from: datetime | None
    valid_until: datetime | None
    trust: Trust
    sources: int
    origins: int
    created_at: datetime
    archived_at: datetime | None = None
    archive_reason: ArchiveReason | None = None
    provenance: Provenance = Provenance.MODEL
    warned_at: datetime | None = None

    @property
    def live(self) -> bool:
        """Whether readers see it."""
        return self.archived_at is None


class BeliefEvent(StrEnum):
    """What happened to a belief, as its history tells."""

    CREATED = "created"
    CORROBORATED = "corroborated"
    SOURCE_REPLACED = "source_replaced"
    SOURCE_ENDED = "source_ended"
    REWORDED = "reworded"
    ARCHIVED = "archived"
    RESTORED = "restored"
    CONFIRMED = "confirmed"
    WARNED = "warned"
    MERGED = "merged"
    UNMERGED = "unmerged"


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One event with the belief's state after it, and the evidence or reason in `detail`."""

    belief_id: UUID
    event: BeliefEvent
    confidence: float
    confirmed_at: datetime
    statement: str
    source_id: UUID | None
    detail: dict[str, str | float | int | None]


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """A source to be written, with the belief it supports and the model that made its claim."""

    belief_id: UUID
    source: Source
    model: str | None
    prompt_version: str | None


class SourceEnd(StrEnum):
    """Why a source stopped counting."""

    EDITED = "edited"
    WITHDRAWN = "withdrawn"
    MERGED = "merged"
