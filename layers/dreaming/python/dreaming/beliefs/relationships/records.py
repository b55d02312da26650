"""The types of relationships between beliefs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from dreaming.beliefs.records import DecayClass


class Ending(StrEnum):
    """Why a relationship is out of sight."""

    FADED = "faded"
    ENDPOINT = "endpoint"  # one of its beliefs is archived
    SOURCELESS = "sourceless"


@dataclass(frozen=True, slots=True)
class Relationship:
    """An edge as its row holds it: the fold of the sources that assert it, and whether it is archived."""

    relationship_id: UUID
    from_belief_id: UUID
    type: str
    to_belief_id: UUID
    confidence: float
    confirmed_at: datetime
    first_seen_at: datetime
    decay_class: DecayClass
    fades_at: datetime | None
    sources: int
    origins: int
    created_at: datetime
    archived_at: datetime | None
    archive_reason: Ending | None

    @property
    def live(self) -> bool:
        """Whether readers see it."""
        return self.archived_at is None


@dataclass(frozen=True, slots=True)
class Assertion:
    """What a note's claim says: a belief that the note supports is in this relation to another."""

    from_belief_id: UUID
    type: str
    to_belief_id: UUID
    note_id: UUID


@dataclass(frozen=True, slots=True)
class RelationshipChanges:
    """What folding anew came to: rows to write, and differences of `slice_counters` columns."""

    updated: tuple[Relationship, ...]
    counters: Mapping[str, int]
    archived: int = 0
    restored: int = 0


@dataclass(frozen=True, slots=True)
class RelationshipReading:
    """A relationship as one of its beliefs sees it, with the belief at the other end.

    `outgoing`: it leads from the belief to the other one. `aged` is its confidence at the moment of
    reading.
    """

    relationship: Relationship
    outgoing: bool
    other_id: UUID
    other_statement: str
    aged: float
