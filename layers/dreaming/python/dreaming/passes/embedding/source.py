"""What the embedding pass asks of each sort of text that it embeds."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from dreaming.database import Transaction
from dreaming.passes.embedding.records import Embedded, SourceCounts, Text


class EmbeddingSource(Protocol):
    """One sort of text that is embedded, such as beliefs; each call is one transaction's part.

    The pass holds the slice's belief lock throughout.
    """

    @property
    def name(self) -> str:
        """The sort's name, as attempts and progress hold it."""
        ...

    def missing(
        self, tx: Transaction, slice_id: int, model: str, *, now: datetime, limit: int, after: str | None = None
    ) -> Sequence[Text]:
        """Return texts that lack the model's vector and may be embedded, by item id from behind `after`.

        The pass goes on from the last one that it took up, so that a batch does not look through what is
        embedded already, and looks through all of them once in the end.

        Not those of excluded sources, nor those in `embedding_attempts` under this source's name, for
        this wording, whose `retry_at` is null or after `now`.
        """
        ...

    def came_meanwhile(self, tx: Transaction, slice_id: int, model: str, *, now: datetime) -> bool:
        """Tell whether a text went missing after `missing` found none: asked under the lock of the due time.

        So no writer's `make_due` is lost. It takes no lock; never true where writers hold the belief lock.
        """
        ...

    def store(self, tx: Transaction, slice_id: int, embedded: Sequence[Embedded], *, model: str, now: datetime) -> int:
        """Store the vectors of texts that still stand and may still be embedded; return how many."""
        ...

    def remove(self, tx: Transaction, slice_id: int, *, keep: str | None = None) -> int:
        """Delete the slice's vectors but for those of the model `keep`; return how many."""
        ...

    def remove_excluded(self, tx: Transaction, slice_id: int) -> int:
        """Delete the vectors of what rests on a source now excluded; return how many."""
        ...

    def counts(self, tx: Transaction, slice_id: int, model: str) -> SourceCounts:
        """Count the slice's items by whether they have the model's vector."""
        ...
