"""Erasure, and the export of what is held."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from pydantic import Field, JsonValue

from dreaming.api.schemas.schema import Name, Schema

MAX_ERASED = 200


class NotesToErase(Schema):
    """Notes to be erased, by their ids."""

    note_ids: tuple[UUID, ...] = Field(min_length=1, max_length=MAX_ERASED)


class Confirmation(Schema):
    """A word that this cannot be undone."""

    confirm: str = Field(
        min_length=1, max_length=200, description="The id of whose data goes: the user's, or the organization's."
    )


class NotesToLift(Schema):
    """Erased notes that may come in again, as their connector names them."""

    source: Name = Field(min_length=1, max_length=200)
    external_ids: tuple[Name, ...] = Field(min_length=1, max_length=500)


class ErasedRows(Schema):
    """What was erased. Safe to repeat: what is gone is counted once."""

    deleted: dict[str, int] = Field(description="Rows deleted, by table.")
    rewritten: dict[str, int] = Field(description="Rows that stay without the erased wording, by table.")
    tombstones: int = Field(description="How many names are newly kept out, so that nobody brings them back.")
    complete: bool = Field(description="False when the time was up: post again, with another Idempotency-Key.")


class Lifted(Schema):
    """How many erased notes may come in again."""

    lifted: int


class ExportHead(Schema):
    """Whose export it is, of what shape and moment."""

    format: int
    org_id: str
    scope: str | None = Field(description="The slice; null: everything on the user.")
    user_id: str | None
    exported_at: datetime


class ExportRecord(Schema):
    """One row as it is stored, and the table it is of."""

    record: str
    row: dict[str, JsonValue]


class ExportPage(Schema):
    """Some of what is held."""

    export: ExportHead
    records: tuple[ExportRecord, ...]
    next_cursor: str | None
