"""A second sort of text beside beliefs, with several parts each: one space, one switch-over for both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np

from dreaming.database import Transaction
from dreaming.identifiers import uuid7
from dreaming.passes.embedding.beliefs import Beliefs
from dreaming.passes.embedding.records import Embedded, SourceCounts, Text
from dreaming.passes.embedding.run import Embedding, read_progress
from dreaming.passes.engine import Engine
from tests.embedding_world import EmbeddingWorld, FakeEmbedder


@dataclass
class Chats:
    """Two conversations of two chunks each, with vectors in memory."""

    name: str = "chats"
    texts: dict[str, tuple[str, ...]] = field(
        default_factory=lambda: {"c1": ("first half", "second half"), "c2": ("hello", "goodbye")}
    )
    came: bool = False
    vectors: dict[tuple[str, str], np.ndarray] = field(default_factory=dict)

    def missing(
        self, tx: Transaction, slice_id: int, model: str, *, now: datetime, limit: int, after: str | None = None
    ) -> list[Text]:
        ids = [one for one in sorted(self.texts) if (one, model) not in self.vectors and one > (after or "")]
        return [Text(self.name, one, hash(self.texts[one]), self.texts[one]) for one in ids[:limit]]

    def came_meanwhile(self, tx: Transaction, slice_id: int, model: str, *, now: datetime) -> bool:
        came, self.came = self.came, False
        return came

    def store(self, tx: Transaction, slice_id: int, embedded: Sequence[Embedded], *, model: str, now: datetime) -> int:
        self.vectors |= {(one.text.item_id, model): one.vector for one in embedded}
        return len(embedded)

    def remove(self, tx: Transaction, slice_id: int, *, keep: str | None = None) -> int:
        gone = [key for key in self.vectors if key[1] != keep]
        for key in gone:
            del self.vectors[key]
        return len(gone)

    def remove_excluded(self, tx: Transaction, slice_id: int) -> int:
        return 0

    def counts(self, tx: Transaction, slice_id: int, model: str) -> SourceCounts:
        return SourceCounts(len(self.texts), sum(key[1] == model for key in self.vectors), 0, 0, 0)


@dataclass
class TwoSources(EmbeddingWorld):
    """The world with beliefs and chats."""

    chats: Chats = field(default_factory=Chats)

    @property
    def engine(self) -> Engine:
        work = Embedding(
            self.world.database,
            lambda settings, org_id: self.embedder,
            self.world.clock,
            space=lambda settings: (self.embedder.name, self.embedder.dimension),
            sources=(Beliefs(), self.chats),
        )
        return Engine(work, self.world.database, self.queue, self.world.environment, self.world.clock, uuid7)


def test_both_sorts_share_batches_and_the_switch_over(embedding: EmbeddingWorld) -> None:
    both = TwoSources(embedding.world, embedding.queue)
    both.world.environment["DREAMING_EMBEDDING_BATCH"] = "13"
    both.drain()
    assert [len(call) for call in both.embedder.calls] == [12 + 2, 2]  # thirteen texts, one of two parts
    expected = both.embedder.vector("hello") + both.embedder.vector("goodbye")
    found = both.chats.vectors["c2", "fake:one:8"]
    assert np.allclose(found, expected / np.linalg.norm(expected), atol=1e-6)

    both.embedder = FakeEmbedder("fake:two:12", 12)
    both.tick()
    both.step()
    active = both.active()
    assert active is not None
    assert active.model == "fake:one:8"  # the beliefs are complete, a chat is not
    both.step()
    active = both.active()
    assert active is not None
    assert active.model == "fake:two:12"
    assert {model for _, model in both.chats.vectors} == {"fake:two:12"}
    with both.world.transaction() as tx:
        progress = read_progress(tx, both.slice_id, None, sources=(Beliefs(), both.chats))
    assert {name: counts.missing for name, counts in progress.by_source.items()} == {"beliefs": 0, "chats": 0}

    both.chats.came = True
    both.believe("The orchard was sold to the parish.")
    both.drain()
    assert both.tick() == 1  # for what came while the run finished
    both.step()
    assert both.tick() == 0

    both.consent(given=False)
    both.drain()
    assert both.chats.vectors == {}
