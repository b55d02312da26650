"""The packaged model over real sentences: embedded by the pass, found again from other words."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from dreaming.beliefs.vectors import store
from dreaming.database import Database
from dreaming.local.queue import LocalQueue
from dreaming.models.minilm import OfflineEmbedder
from tests.architecture.modules import ROOT
from tests.embedding_world import EmbeddingWorld
from tests.world import note, open_world

CORPUS = ROOT.parent / "shared" / "corpora" / "qmsum_product.jsonl.gz"
SENTENCE = re.compile(r"[A-Z][^.!?]{40,160}\.")
WANTED = 300


def sentences() -> Iterator[str]:
    with gzip.open(CORPUS, "rt", encoding="utf-8") as lines:
        for line in lines:
            for text in strings(json.loads(line)):
                for found in SENTENCE.findall(text):
                    yield " ".join(found.split())


def strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from strings(item)


@pytest.mark.corpora
@pytest.mark.slow
def test_real_sentences_are_embedded_and_found(database: Database, tmp_path: Path) -> None:
    if not CORPUS.is_file():
        pytest.skip(f"{CORPUS} is not here")
    world = open_world(database, tmp_path)
    embedding = EmbeddingWorld(world, LocalQueue(tmp_path / "queue.sqlite", "embedding", clock=world.clock))
    embedding.embedder = embedder = OfflineEmbedder()
    embedding.consent()
    chosen = list(dict.fromkeys(sentences()))[:WANTED]
    world.ingest(*(note(str(place), text) for place, text in enumerate(chosen)))
    world.drain()
    believed = world.statements()
    assert len(believed) > WANTED // 2
    embedding.drain()
    assert embedding.progress().missing == 0
    assert len(embedding.vectors()) == len(believed)

    shown = believed[:: len(believed) // 25]
    queries = embedder.embed([" ".join(statement.split()[::-1]) for statement in shown], timeout=60)
    with world.transaction() as tx:
        names = dict(tx.execute("select belief_id, statement from beliefs").fetchall())
        firsts = [
            [names[one] for one, _ in store.nearest(tx, embedding.slice_id, query, model=embedder.name, limit=5)]
            for query in queries
        ]
    hits = sum(statement in found for statement, found in zip(shown, firsts, strict=True))
    assert hits / len(shown) >= 0.9
