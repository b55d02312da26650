"""The types of raw notes and of the slices that hold them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, JsonValue, model_validator

from dreaming.notes.cleaning import clean_values

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class Scope(StrEnum):
    """Who a slice belongs to: the organization, one owner, or a shared space."""

    ORG = "org"
    PRIVATE = "private"
    SHARED = "shared"


class Trust(StrEnum):
    """Whether a note comes from the owner's own systems or from outside."""

    TRUSTED = "trusted"
    UNTRUSTED = "untrusted"


class NoteState(StrEnum):
    """Where a note stands; every live note is in exactly one of the first four."""

    WAITING = "waiting"
    CONSOLIDATED = "consolidated"
    EMPTY = "empty"
    RETIRED = "retired"
    WITHDRAWN = "withdrawn"


@dataclass(frozen=True, slots=True)
class Tenant:
    """Whose rows a transaction may touch: an organization, and a user for private slices."""

    org_id: str
    user_id: str | None = None


@dataclass(frozen=True, slots=True)
class SliceKey:
    """The tenant triple: (org_id, scope, owner_user_id); the owner only for `private`."""

    org_id: str
    scope: Scope = Scope.ORG
    owner_user_id: str | None = None

    def __post_init__(self) -> None:
        """Refuse a private slice without an owner, an owner anywhere else, and ids that cannot be stored."""
        for name, value in (("org_id", self.org_id), ("owner_user_id", self.owner_user_id)):
            if value is not None and (not value or _UNSTORABLE.search(value)):
                raise ValueError(f"{name} must not be empty and must not contain a NUL character or a lone surrogate")
        if (self.scope is Scope.PRIVATE) != (self.owner_user_id is not None):
            raise ValueError("owner_user_id is required for scope 'private' and forbidden for any other")

    @property
    def tenant(self) -> Tenant:
        """The tenant under which this slice is visible."""
        return Tenant(self.org_id, self.owner_user_id)


@dataclass(frozen=True, slots=True)
class Slice:
    """A slice with its opaque id, as messages name it."""

    slice_id: int
    key: SliceKey


class IncomingNote(BaseModel):
    """A note as a connector or a client hands it in; every string of it is cleaned here, at the door.

    `external_id` names the note within its `source`; posting it again with other text is an edit.
    `origin` names the conversation or document the note comes from: notes of one origin are one
    witness. It defaults to `source` and `external_id`. `occurred_at` must carry an offset.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", str_max_length=20_000_000)

    external_id: str = Field(min_length=1, max_length=512)
    source: str = Field(min_length=1, max_length=200)
    text: str
    occurred_at: AwareDatetime
    author: str | None = Field(default=None, max_length=200)
    participants: tuple[str, ...] = Field(default=(), max_length=200)
    origin: str | None = Field(default=None, max_length=512)
    trust: Trust = Trust.TRUSTED
    metadata: dict[str, JsonValue] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _clean(cls, values: Any) -> Any:
        # Before validation, because a string with lone surrogates does not pass it.
        return clean_values(values)


@dataclass(frozen=True, slots=True)
class Note:
    """A stored note at its current version; `text` is cleaned, `occurred_at` has the note's offset."""

    note_id: UUID
    slice_id: int
    external_id: str
    source: str
    origin: str
    version: int
    sequence: int
    state: NoteState
    text: str
    occurred_at: datetime
    author: str | None
    participants: tuple[str, ...]
    trust: Trust


@dataclass(frozen=True, slots=True)
class IngestCounts:
    """What became of the notes of one ingest; the fields add up to the notes handed in.

    `skipped`: what a connector found and could make no note of. `erased`: erased before, and kept out
    until somebody lifts that.
    """

    created: int = 0
    edited: int = 0
    reinstated: int = 0
    unchanged: int = 0
    skipped: int = 0
    erased: int = 0

    def __add__(self, other: IngestCounts) -> IngestCounts:
        """Add up two ingests."""
        return IngestCounts(
            self.created + other.created,
            self.edited + other.edited,
            self.reinstated + other.reinstated,
            self.unchanged + other.unchanged,
            self.skipped + other.skipped,
            self.erased + other.erased,
        )


@dataclass(frozen=True, slots=True)
class NoteCounters:
    """How many notes of a slice stand where; `total` is the sum of the first four states."""

    total: int = 0
    waiting: int = 0
    consolidated: int = 0
    empty: int = 0
    retired: int = 0
    withdrawn: int = 0


@dataclass(frozen=True, slots=True)
class PreparedNote:
    """A note ready to be stored: without recalled text, with its defaults filled in and its content hashed.

    `occurred_offset` is in seconds east of UTC.
    """

    source: str
    external_id: str
    origin: str
    text: str
    empty: bool
    occurred_at: datetime
    occurred_offset: int
    author: str | None
    participants: tuple[str, ...]
    trust: Trust
    metadata: dict[str, JsonValue]
    content_sha256: bytes

    @property
    def state(self) -> NoteState:
        """Where the note stands when it is stored: a note that shows nothing is never read."""
        return NoteState.EMPTY if self.empty else NoteState.WAITING


@dataclass(frozen=True, slots=True)
class StoredNote:
    """What ingest compares a note with. `metadata_differs` tells from the metadata it was asked about."""

    note_id: UUID
    withdrawn: bool
    content_sha256: bytes
    metadata_differs: bool


@dataclass(frozen=True, slots=True)
class NoteWrite:
    """A note to be written at a sequence, as a new row or as a new version of its row."""

    note_id: UUID
    sequence: int
    note: PreparedNote
