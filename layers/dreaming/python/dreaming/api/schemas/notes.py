"""Notes as they are brought in and read."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from pydantic import Field, JsonValue

from dreaming.api.schemas.schema import Moment, Name, Schema
from dreaming.notes.records import NoteState, Trust

MAX_NOTES = 500


class NewNote(Schema):
    """A note to bring in; see the design's words: an edit is a new version of the same note."""

    text: str = Field(description="The raw text. Secrets in it never reach a model.")
    source: Name = Field(default="api", min_length=1, max_length=200, description="What it comes from.")
    external_id: Name | None = Field(
        default=None,
        min_length=1,
        max_length=512,
        description="Its name within the source: the same name again is an edit. By default made from its text.",
    )
    occurred_at: Moment | None = Field(default=None, description="When it was written; now by default.")
    author: Name | None = Field(default=None, max_length=200)
    participants: tuple[Name, ...] = Field(default=(), max_length=200)
    origin: Name | None = Field(
        default=None, max_length=512, description="The conversation or document: notes of one origin are one witness."
    )
    trust: Trust = Field(default=Trust.TRUSTED, description="`untrusted` for inbound mail and scraped documents.")
    metadata: dict[str, JsonValue] = Field(default_factory=dict)


class NewNotes(Schema):
    """Notes to bring in, all or none."""

    notes: tuple[NewNote, ...] = Field(min_length=1, max_length=MAX_NOTES)


class Ingested(Schema):
    """What became of the notes of a post; the fields add up to the notes sent."""

    created: int
    edited: int
    reinstated: int
    unchanged: int
    erased: int = Field(description="Erased before, and kept out until that is lifted.")


class NoteHeading(Schema):
    """A note without its text."""

    note_id: UUID
    source: str
    external_id: str
    origin: str
    version: int
    sequence: int
    state: NoteState
    trust: Trust
    occurred_at: datetime
    author: str | None
    participants: tuple[str, ...]


class NotePage(Schema):
    """Some notes, the latest brought in first."""

    notes: tuple[NoteHeading, ...]
    next_cursor: str | None


class NoteText(NoteHeading):
    """A note with its text, as it was brought in."""

    text: str


class NotesGone(Schema):
    """Notes that are gone upstream."""

    source: Name = Field(min_length=1, max_length=200)
    external_ids: tuple[Name, ...] = Field(min_length=1, max_length=MAX_NOTES)


class Withdrawn(Schema):
    """How many notes stopped counting; those unknown or withdrawn before are left alone."""

    withdrawn: int


class RetiredNote(Schema):
    """A note that was given up after its attempts."""

    note_id: UUID
    source: str
    external_id: str
    occurred_at: datetime
    version: int
    reason: str
    attempts: int
    run_id: UUID
    retired_at: datetime


class RetiredNotes(Schema):
    """Some retired notes, the latest first."""

    notes: tuple[RetiredNote, ...]
    next_cursor: str | None


class Retry(Schema):
    """Which retired notes are to be read again; null: all of the slice."""

    note_ids: tuple[UUID, ...] | None = Field(default=None, max_length=MAX_NOTES)


class Retried(Schema):
    """How many notes wait again; those that are not retired are left alone."""

    retried: int
