"""The types of conversations: what is captured, what is answered, what is recalled."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, model_validator

from dreaming.notes.cleaning import clean_values
from dreaming.notes.records import Scope

SOURCE = "conversation"
"""How conversations are called among the sources that an organization may exclude from embedding."""

NO_TURNS = bytes(32)
"""The hash of a conversation before its first turn."""

_RESPONDERS = frozenset({"assistant", "agent", "ai", "bot", "model"})


class IncomingTurn(BaseModel):
    """What one speaker said in one go, as a client hands it in; `said_at` carries an offset."""

    model_config = ConfigDict(frozen=True, extra="forbid", str_max_length=1_000_000)

    text: str
    speaker: str | None = Field(default=None, max_length=200)
    said_at: AwareDatetime | None = None


class IncomingConversation(BaseModel):
    """The whole of a conversation so far; every string of it is cleaned here, at the door.

    `conversation_id` is the client's own name for it within the organization. `agent` names who answers;
    its turns, and those of speakers called assistant, agent, ai, bot or model, are responses.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    conversation_id: str = Field(min_length=1, max_length=512)
    turns: tuple[IncomingTurn, ...] = Field(max_length=20_000)
    agent: str | None = Field(default=None, max_length=200)

    @model_validator(mode="before")
    @classmethod
    def _clean(cls, values: Any) -> Any:
        return clean_values(values)


@dataclass(frozen=True, slots=True)
class StoredTurn:
    """A turn as it is kept: without secrets and without text that was recalled from here.

    `sha256` covers it and all turns before it, so equal hashes mean equal beginnings.
    """

    speaker: str | None
    text: str
    said_at: datetime | None
    sha256: bytes

    @property
    def written(self) -> str:
        """The turn with its speaker, as it is shown and embedded."""
        return f"{self.speaker}: {self.text}" if self.speaker else self.text

    def is_response(self, agent: str | None) -> bool:
        """Whether the agent said it."""
        speaker = (self.speaker or "").casefold()
        return speaker in _RESPONDERS or (agent is not None and speaker == agent.casefold())


@dataclass(frozen=True, slots=True)
class ChunkState:
    """The vectors of the closed chunks of a conversation's first `turns` turns: their sum and number.

    `sha256` is that of the last of these turns. `total` is None before the first closed chunk.
    """

    model: str
    turns: int
    sha256: bytes
    chunks: int
    total: NDArray[np.float32] | None


@dataclass(frozen=True, slots=True)
class ConversationVector:
    """The mean over all chunks of the turns up to the one with `sha256`, and what a longer one starts from."""

    model: str
    vector: NDArray[np.float32]
    sha256: bytes
    state: ChunkState


@dataclass(frozen=True, slots=True)
class ConversationRow:
    """What capture compares a conversation with."""

    document_id: int
    slice_id: int
    user_id: str | None
    agent: str | None
    turns: int
    turns_sha256: bytes
    length: int
    changed_at: datetime
    captured_at: datetime | None
    vector_stale: bool
    state: ChunkState | None


@dataclass(frozen=True, slots=True)
class CaptureAnswer:
    """What became of a capture. It is an answer in every case: the chat goes on.

    `captured` says that all of it can be found again, by words and, where the organization consents to
    embedding, by meaning. `pending` says that words find it and its vector follows later. `reason` says
    why not, or why by words only.
    """

    captured: bool
    reason: str | None = None
    pending: bool = False


@dataclass(frozen=True, slots=True)
class RecalledPassage:
    """The turn, or the part of a long one, that fits the query best; without secrets."""

    speaker: str | None
    text: str
    said_at: datetime | None
    position: int


@dataclass(frozen=True, slots=True)
class RecalledConversation:
    """One hit, and why: the fused score from 0 to 1, the BM25 score, the cosine (None without a vector)."""

    conversation_id: str
    scope: Scope
    user_id: str | None
    agent: str | None
    turns: int
    started_at: datetime
    last_at: datetime
    score: float
    lexical: float
    likeness: float | None
    passage: RecalledPassage | None
    summary: str


@dataclass(frozen=True, slots=True)
class RecallAnswer:
    """The hits, best first. `reason` says why nothing was asked, or why only words were compared.

    `terms_left_out` counts the commonest words of a long query, which were not looked up.
    """

    conversations: tuple[RecalledConversation, ...]
    reason: str | None = None
    terms_left_out: int = 0


def conversation_key(org_id: str, conversation_id: str) -> bytes:
    """Return the id under which a conversation is stored: SHA-256 of both, each after its length in bytes."""
    digest = sha256()
    for part in (org_id, conversation_id):
        _add(digest, part)
    return digest.digest()


def chained(before: bytes, speaker: str | None, text: str) -> bytes:
    """Return the hash of a turn and all before it, given that of the one before."""
    digest = sha256(before)
    digest.update(b"\x00" if speaker is None else b"\x01")
    _add(digest, speaker or "")
    _add(digest, text)
    return digest.digest()


def chain(turns: Iterable[StoredTurn], before: bytes = NO_TURNS) -> list[StoredTurn]:
    """Return turns, each with its hash; `before` is that of the turn before the first."""
    found = []
    for turn in turns:
        before = chained(before, turn.speaker, turn.text)
        found.append(replace(turn, sha256=before))
    return found


def _add(digest: Any, part: str) -> None:
    data = part.encode()
    digest.update(len(data).to_bytes(8, "big"))
    digest.update(data)
