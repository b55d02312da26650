"""Beliefs as texts to embed: the statement of each live one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from dreaming.beliefs.vectors import store
from dreaming.database import Transaction
from dreaming.passes.embedding.records import Embedded, SourceCounts, Text
from dreaming.passes.embedding.rules import MOST_ATTEMPTS


class Beliefs:
    """The `EmbeddingSource` of live beliefs."""

    name = "beliefs"

    def missing(
        self, tx: Transaction, slice_id: int, model: str, *, now: datetime, limit: int, after: str | None = None
    ) -> list[Text]:
        """Return statements without a vector; ids are ordered by time, so the oldest belief comes first."""
        found = store.unembedded(tx, slice_id, model, now=now, limit=limit, after=UUID(after) if after else None)
        return [Text(self.name, str(one.belief_id), one.statement_hash, (one.statement,)) for one in found]

    def came_meanwhile(self, tx: Transaction, slice_id: int, model: str, *, now: datetime) -> bool:  # noqa: ARG002
        """Return false: whoever writes a statement holds the belief lock, as the pass does."""
        return False

    def store(self, tx: Transaction, slice_id: int, embedded: Sequence[Embedded], *, model: str, now: datetime) -> int:
        """Store the vectors of statements that are worded as they were."""
        return store.write_vectors(
            tx,
            slice_id,
            {UUID(one.text.item_id): one.vector for one in embedded},
            model=model,
            statement_hashes={UUID(one.text.item_id): one.text.text_hash for one in embedded},
            now=now,
        )

    def remove(self, tx: Transaction, slice_id: int, *, keep: str | None = None) -> int:
        """Delete the vectors of other models than `keep`."""
        return store.remove_all(tx, slice_id, keep=keep)

    def remove_excluded(self, tx: Transaction, slice_id: int) -> int:
        """Delete the vectors of beliefs with a live source that is excluded."""
        return store.remove_excluded(tx, slice_id)

    def counts(self, tx: Transaction, slice_id: int, model: str) -> SourceCounts:
        """Count the live beliefs."""
        return SourceCounts(**store.count_vectors(tx, slice_id, model, most_attempts=MOST_ATTEMPTS))
