"""Conversations as texts to embed: the chunks that are new since each one's vector was made.

Each chunk is a text of its own, so that only new ones are embedded and the sum over the others is kept.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from dreaming.beliefs.words import statement_hash
from dreaming.database import Transaction
from dreaming.passes.embedding.records import Embedded, SourceCounts, Text
from dreaming.passes.embedding.rules import MOST_ATTEMPTS
from dreaming.recall import store
from dreaming.recall.chunks import TurnChunk
from dreaming.recall.records import NO_TURNS, ChunkState, ConversationRow, chain
from dreaming.recall.vectors import carried_on, pending_chunks, whole_turns


@dataclass(frozen=True, slots=True)
class _Pending:
    """What a conversation has yet to embed, and what it starts from; `hashes` are those of its further turns."""

    state: ChunkState
    chunks: Sequence[TurnChunk]
    hashes: Sequence[bytes]


class Conversations:
    """The `EmbeddingSource` of captured conversations. An item is a chunk: its conversation, and its place."""

    name = "conversations"

    def missing(
        self, tx: Transaction, slice_id: int, model: str, *, now: datetime, limit: int, after: str | None = None
    ) -> list[Text]:
        """Return the next chunks of conversations without a vector of their latest text, the oldest first."""
        last = int(after.partition(":")[0]) if after else 0
        waiting = store.waiting_for_vectors(tx, slice_id, model, source=self.name, now=now, limit=limit, after=last)
        texts: list[Text] = []
        for row in store.lock_conversations(tx, slice_id, waiting):
            texts += self._texts(row, _pending(tx, row, model, most=limit - len(texts)))
            if len(texts) >= limit:
                break
        return texts

    def came_meanwhile(self, tx: Transaction, slice_id: int, model: str, *, now: datetime) -> bool:
        """Tell whether a capture, which holds no belief lock, left text since the pass last looked."""
        return bool(store.waiting_for_vectors(tx, slice_id, model, source=self.name, now=now, limit=1, after=0))

    def store(
        self,
        tx: Transaction,
        slice_id: int,
        embedded: Sequence[Embedded],
        *,
        model: str,
        now: datetime,  # noqa: ARG002 - a conversation's vector has no time of its own
    ) -> int:
        """Carry on vectors by the leading chunks that are here and still as they were; return how many."""
        if not embedded or not store.may_be_embedded(tx):
            return 0
        vectors: defaultdict[int, dict[Text, Embedded]] = defaultdict(dict)
        for one in embedded:
            vectors[int(one.text.item_id.partition(":")[0])][one.text] = one
        stored = 0
        for row in store.lock_conversations(tx, slice_id, sorted(vectors)):
            held = vectors[row.document_id]
            pending = _pending(tx, row, model, most=len(held))
            texts = self._texts(row, pending)
            same = next((place for place, text in enumerate(texts) if text not in held), len(texts))
            count = whole_turns(pending.chunks, same)
            if count:
                rows = np.stack([held[text].vector for text in texts[:count]])
                made = carried_on(pending.state, pending.chunks[:count], rows, pending.hashes)
                store.write_vector(tx, slice_id, row.document_id, made)
                stored += count
        return stored

    def remove(self, tx: Transaction, slice_id: int, *, keep: str | None = None) -> int:
        """Take away the vectors of other models than `keep`."""
        return store.forget_vectors(tx, slice_id, keep=keep)

    def remove_excluded(self, tx: Transaction, slice_id: int) -> int:
        """Take away all vectors when conversations are excluded from embedding."""
        return 0 if store.may_be_embedded(tx) else store.forget_vectors(tx, slice_id)

    def counts(self, tx: Transaction, slice_id: int, model: str) -> SourceCounts:
        """Count the conversations."""
        return SourceCounts(**store.count_vectors(tx, slice_id, model, source=self.name, most_attempts=MOST_ATTEMPTS))

    def _texts(self, row: ConversationRow, pending: _Pending) -> list[Text]:
        return [
            Text(self.name, f"{row.document_id}:{place}", statement_hash(chunk.text), (chunk.text,))
            for place, chunk in enumerate(pending.chunks)
        ]


def _pending(tx: Transaction, row: ConversationRow, model: str, *, most: int) -> _Pending:
    state = row.state
    if state is None or state.model != model:
        state = ChunkState(model, 0, NO_TURNS, 0, None)
    turns = chain(store.read_turns(tx, row.slice_id, row.document_id, state.turns), state.sha256)
    return _Pending(state, pending_chunks(state, turns, most=max(1, most)), [turn.sha256 for turn in turns])
