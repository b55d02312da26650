"""Conversations as they are captured and recalled."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from dreaming.api.schemas.schema import Moment, Name, Schema
from dreaming.notes.records import Scope


class Turn(Schema):
    """What one speaker said in one go."""

    text: str = Field(max_length=1_000_000)
    speaker: Name | None = Field(default=None, max_length=200)
    said_at: Moment | None = None


class Conversation(Schema):
    """The whole of a conversation so far; a later capture takes the place of an earlier one."""

    conversation_id: Name = Field(min_length=1, max_length=512, description="The client's own name for it.")
    turns: tuple[Turn, ...] = Field(max_length=20_000)
    agent: Name | None = Field(default=None, max_length=200, description="Who answers in it.")


class Captured(Schema):
    """What became of a capture; it is an answer in every case, so that a chat goes on."""

    captured: bool
    reason: str | None = Field(description="Why not, or why by words only.")
    pending: bool = Field(description="Words find it now, and its vector follows later.")


class Passage(Schema):
    """The turn, or the part of a long one, that fits the query best; without secrets."""

    speaker: str | None
    text: str
    said_at: datetime | None
    position: int


class Hit(Schema):
    """A conversation that fits, and why: the fused score (0 to 1), its BM25 score, its cosine."""

    conversation_id: str
    scope: Scope
    agent: str | None
    turns: int
    started_at: datetime
    last_at: datetime
    score: float
    lexical: float
    likeness: float | None
    passage: Passage | None
    summary: str


class Recalled(Schema):
    """The conversations that fit the query best, the best first."""

    conversations: tuple[Hit, ...]
    reason: str | None = Field(description="Why nothing was asked, or why only words were compared.")
    terms_left_out: int = Field(description="How many of the commonest words of a long query were not looked up.")
    marked: str = Field(
        description="The hits as text for an agent's prompt, in marks that say that it is data, and that ingest strips."
    )
