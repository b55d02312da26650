"""Conversations of an organization that consents to embedding, with an embedder that counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dreaming.database import Database
from dreaming.notes.records import Scope, Tenant
from dreaming.recall.capture import Capturing
from dreaming.recall.index.postings import block_of, unpacked
from dreaming.recall.records import CaptureAnswer, IncomingConversation, IncomingTurn, RecallAnswer
from dreaming.recall.service import Recalling
from dreaming.recall.store import forget_words, lock_conversations
from dreaming.recall.words import terms
from dreaming.settings.service import change_consent, change_excluded_sources

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
ANA, BEN, ACME = Tenant("acme", "ana"), Tenant("acme", "ben"), Tenant("acme")


class WordVectors:
    """Texts that share words have like vectors; `failure` is raised instead of an answer."""

    name = "words"

    def __init__(self, dimension: int = 64) -> None:
        self.dimension = dimension
        self.texts: list[str] = []
        self.failure: Exception | None = None
        self.answer: NDArray[np.float32] | None = None

    def embed(self, texts: Sequence[str], *, timeout: float) -> NDArray[np.float32]:
        if self.failure is not None:
            raise self.failure
        self.texts += texts
        if self.answer is not None:
            return np.tile(self.answer, (len(texts), 1))
        rows = np.full((len(texts), self.dimension), 0.01, dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for term in terms(text):
                row[term % self.dimension] += 1
        unit: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit


def conversation(name: str, *texts: str, agent: str | None = "helper") -> IncomingConversation:
    """A conversation in which ana and the helper take turns."""
    turns = (IncomingTurn(speaker=("ana", "helper")[place % 2], text=text) for place, text in enumerate(texts))
    return IncomingConversation(conversation_id=name, turns=tuple(turns), agent=agent)


@dataclass
class Memory:
    """Capture and recall over one database; time stands still unless the test moves it."""

    database: Database
    embedder: Any = field(default_factory=WordVectors)
    now: datetime = NOON
    environment: dict[str, str] = field(default_factory=lambda: {"DREAMING_CONVERSATION_MEMORY": "true"})
    counted: list[str] = field(default_factory=list)

    @property
    def capturing(self) -> Capturing:
        return Capturing(
            self.database,
            self.environment,
            lambda settings, org_id: self.embedder,
            lambda: self.now,
            self.counted.append,
        )

    def capture(
        self, name: str, *texts: str, by: Tenant = ANA, scope: Scope | str = Scope.ORG, agent: str | None = "helper"
    ) -> CaptureAnswer:
        return self.capturing.capture(by, conversation(name, *texts, agent=agent), scope=scope)

    def recall(self, query: str, by: Tenant = ANA, **options: Any) -> RecallAnswer:
        recalling = Recalling(self.database, self.environment, lambda settings, org_id: self.embedder, lambda: self.now)
        return recalling.recall(by, query, **options)

    def names(self, query: str, by: Tenant = ANA, **options: Any) -> list[str]:
        return [one.conversation_id for one in self.recall(query, by, **options).conversations]

    def later(self, **time: float) -> None:
        self.now += timedelta(**time)

    def consent(self, org_id: str = "acme", *, given: bool = True) -> None:
        with self.database.transaction(Tenant(org_id)) as tx:
            for name in ("embedding_consent", "enrolled"):
                change_consent(tx, org_id, name, given, actor="test", now=self.now)

    def exclude(self, *sources: str, org_id: str = "acme") -> None:
        with self.database.transaction(Tenant(org_id)) as tx:
            change_excluded_sources(tx, org_id, sources, actor="test", now=self.now)

    def delete(self, name: str, by: Tenant = ANA) -> None:
        """Delete a conversation, its words first, as erasure does."""
        with self.database.transaction(by) as tx:
            query = "select slice_id, document_id from conversations where external_id = %s"
            [(slice_id, document)] = tx.execute(query, (name,)).fetchall()
            assert len(lock_conversations(tx, slice_id, [document])) == 1
            assert forget_words(tx, slice_id, [document]) > 0
            tx.execute("delete from conversations where document_id = %s", (document,))

    def rows(self, query: str, by: Tenant = ANA) -> list[tuple[Any, ...]]:
        with self.database.transaction(by) as tx:
            return list(tx.execute(query).fetchall())

    def check(self, by: Tenant = ANA) -> None:
        """The index holds the words of the stored turns, neither more nor fewer, and the row says how many."""
        held: dict[tuple[int, int], int] = {}
        lengths: dict[int, int] = {}
        for document, speaker, text in self.rows("select document_id, speaker, text from conversation_turns", by):
            found = terms(f"{speaker}: {text}" if speaker else text)
            lengths[document] = lengths.get(document, 0) + found.total()
            for term, count in found.items():
                held[document, term] = held.get((document, term), 0) + count
        rows = self.rows("select document_id, term, frequency, postings from conversation_terms", by)
        found_in: dict[tuple[int, int], int] = {}
        for block, term, count, packed in rows:
            documents, frequencies = unpacked(np.array([block]), np.array([count]), packed)
            assert documents.tolist() == sorted(set(documents.tolist()))
            assert all(block_of(document) == block for document in documents.tolist())
            pairs = zip(documents.tolist(), frequencies.tolist(), strict=True)
            found_in |= {(document, term): frequency for document, frequency in pairs}
        assert found_in == held
        assert dict(self.rows("select document_id, length from conversations", by)) == lengths


@pytest.fixture
def memory(database: Database) -> Memory:
    made = Memory(database)
    made.consent()
    return made
