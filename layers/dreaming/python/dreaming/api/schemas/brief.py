"""The brief: what is believed now, bounded."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from pydantic import Field

from dreaming.api.schemas.schema import Schema
from dreaming.beliefs.records import Importance, Kind
from dreaming.notes.records import Scope, Trust


class BriefLine(Schema):
    """One belief of a brief, with its confidence at the brief's moment."""

    belief_id: UUID
    statement: str
    kind: Kind
    importance: Importance
    aged: float
    confirmed_at: datetime
    trust: Trust
    in_review: bool = Field(description="It contradicts another belief, and no person has decided yet.")
    scope: Scope


class Brief(Schema):
    """A brief; its text is empty when nothing is believed."""

    text: str
    marked: str = Field(description="The text in marks that say that it is data, and that ingest strips.")
    lines: tuple[BriefLine, ...]
    complete: bool = Field(description="Everything that is believed is in it.")
    at: datetime
    characters: int = Field(description="How many characters either form of the text may have.")
