"""An organization whose beliefs are embedded by a model that needs no network."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from dreaming.beliefs.vectors import store as vectors_store
from dreaming.beliefs.vectors.records import Space
from dreaming.database import Database
from dreaming.identifiers import uuid7
from dreaming.local.queue import LocalQueue
from dreaming.notes.records import SliceKey
from dreaming.passes.embedding.records import SliceSpaces, SourceCounts
from dreaming.passes.embedding.run import Embedding, read_progress
from dreaming.passes.embedding.store import read_spaces
from dreaming.passes.engine import Engine
from dreaming.passes.records import BatchReport, Deadline
from dreaming.settings.service import change_consent, change_excluded_sources
from tests.world import KEY, World, note, open_world

SENTENCES = (
    "Priya keeps bees behind the old mill.",
    "The harbour office moved its archive to Postgres.",
    "Tom sails on Sundays with the youth club.",
    "Deployments to production happen on Tuesdays.",
    "Mara Reed runs the kitchen at Orbit.",
    "The greenhouse needs a new irrigation pump.",
    "Nils prefers tea over coffee in meetings.",
    "All invoices must carry a purchase number.",
    "The choir rehearses in the town library.",
    "Lena works at the bicycle workshop.",
    "Backups are written to a second region.",
    "The museum lends its telescope to schools.",
)


@dataclass
class FakeEmbedder:
    """An `Embedder`: the same text always gets the same direction, another model another one.

    `before` sees the texts of each call first and may raise.
    """

    name: str = "fake:one:8"
    dimension: int = 8
    before: Callable[[Sequence[str]], None] = lambda texts: None
    calls: list[list[str]] = field(default_factory=list)

    def embed(self, texts: Sequence[str], *, timeout: float) -> NDArray[np.float32]:
        assert timeout > 0
        self.calls.append(list(texts))
        self.before(texts)
        return np.array([self.vector(text) for text in texts], dtype=np.float32).reshape(-1, self.dimension)

    def vector(self, text: str) -> NDArray[np.float64]:
        seed = int.from_bytes(sha256(f"{self.name}\0{text}".encode()).digest()[:8], "big")
        row = np.random.default_rng(seed).standard_normal(self.dimension)
        return row / np.linalg.norm(row)

    @property
    def embedded(self) -> list[str]:
        return [text for call in self.calls for text in call]


@dataclass
class EmbeddingWorld:
    """A `World` whose beliefs come from notes, and the embedding pass over them."""

    world: World
    queue: LocalQueue
    embedder: Any = field(default_factory=FakeEmbedder)

    @property
    def engine(self) -> Engine:
        work = Embedding(
            self.world.database,
            lambda settings, org_id: self.embedder,
            self.world.clock,
            space=lambda settings: (self.embedder.name, self.embedder.dimension) if self.embedder else None,
        )
        return Engine(work, self.world.database, self.queue, self.world.environment, self.world.clock, uuid7)

    @property
    def slice_id(self) -> int:
        return self.world.slice().slice_id

    def consent(self, given: bool = True, key: SliceKey = KEY) -> None:
        self.world.now += timedelta(seconds=1)
        with self.world.transaction(SliceKey(key.org_id)) as tx:
            change_consent(tx, key.org_id, "embedding_consent", given, actor="test", now=self.world.now)

    def exclude(self, *sources: str) -> None:
        self.world.now += timedelta(seconds=1)
        with self.world.transaction() as tx:
            change_excluded_sources(tx, KEY.org_id, sources, actor="test", now=self.world.now)

    def believe(self, *statements: str, key: SliceKey = KEY, **changes: Any) -> None:
        """Let each statement become a belief, by a note of its own with the statement's hash as id."""
        notes = [note(sha256(text.encode()).hexdigest()[:12], text, **changes) for text in statements]
        self.world.ingest(*notes, key=key)
        self.world.drain()

    def reword(self, old: str, new: str) -> None:
        self.world.ingest(note(sha256(old.encode()).hexdigest()[:12], new))
        self.world.drain()

    def tick(self, only: int | None = None) -> int:
        return len(self.engine.tick(only).started)

    def step(self) -> BatchReport | None:
        """Process one message of the queue, if there is any."""
        received = self.queue.receive(holder="test", visibility_timeout=1080)
        if received is None:
            return None
        report = self.deliver(received.body, received.receipt)
        self.queue.delete(received.receipt)
        return report

    def deliver(self, body: str, holder: str) -> BatchReport:
        from dreaming.passes.records import BatchMessage

        message = BatchMessage.model_validate_json(body)
        return self.engine.batch(message, holder=holder, deadline=Deadline(self.world.remaining))

    def drain(self) -> list[BatchReport]:
        """A tick and all that follows from it."""
        self.tick()
        reports: list[BatchReport] = []
        while (report := self.step()) is not None:
            reports.append(report)
            assert len(reports) < 1_000
        return reports

    def vectors(self, key: SliceKey = KEY) -> list[tuple[str, str]]:
        """Model and statement of every stored vector, stale ones too."""
        return self.world.rows(
            "select v.model, b.statement from belief_vectors v join beliefs b using (belief_id) order by 1, 2", key=key
        )

    def spaces(self) -> SliceSpaces | None:
        with self.world.transaction() as tx:
            return read_spaces(tx, self.slice_id)

    def active(self) -> Space | None:
        with self.world.transaction() as tx:
            return vectors_store.active_space(tx, self.slice_id)

    def progress(self) -> SourceCounts:
        space = Space(self.embedder.name, self.embedder.dimension) if self.embedder else None
        with self.world.transaction() as tx:
            return read_progress(tx, self.slice_id, space).by_source["beliefs"]

    def search(self, text: str, embedder: FakeEmbedder, limit: int = 3) -> list[tuple[str, float]]:
        """Statements nearest to a text in the embedder's space, with cosines."""
        with self.world.transaction() as tx:
            found = vectors_store.nearest(tx, self.slice_id, embedder.vector(text), model=embedder.name, limit=limit)
            names: dict[UUID, str] = dict(tx.execute("select belief_id, statement from beliefs").fetchall())
        return [(names[belief_id], cosine) for belief_id, cosine in found]


def open_embedding_world(database: Database, folder: Path, **changes: Any) -> EmbeddingWorld:
    """A world whose organization consents to embedding and has one belief for each of `SENTENCES`."""
    world = open_world(database, folder, **changes)
    opened = EmbeddingWorld(world, LocalQueue(folder / "queue.sqlite", "embedding", clock=world.clock))
    opened.consent()
    opened.believe(*SENTENCES)
    return opened
