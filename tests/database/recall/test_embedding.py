"""The embedding pass finishes what captures leave without a vector."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest

from dreaming.database import Transaction
from dreaming.models.protocols import Embedder
from dreaming.passes.embedding.conversations import Conversations
from dreaming.passes.embedding.records import Embedded
from tests.database.recall.conftest import ANA, Memory, WordVectors

SOURCE = Conversations()


def slice_of(tx: Transaction) -> int:
    row = tx.execute("select slice_id from slices").fetchone()
    assert row is not None
    return int(row[0])


def embed(memory: Memory, embedder: Embedder, *, limit: int = 100) -> int:
    """What a batch of the pass does with this source; returns how many texts it stored."""
    with memory.database.transaction(ANA) as tx:
        texts = SOURCE.missing(tx, slice_of(tx), embedder.name, now=memory.now, limit=limit)
    if not texts:
        return 0
    vectors = embedder.embed([text.parts[0] for text in texts], timeout=1)
    made = [Embedded(text, vector) for text, vector in zip(texts, vectors, strict=True)]
    with memory.database.transaction(ANA) as tx:
        return SOURCE.store(tx, slice_of(tx), made, model=embedder.name, now=memory.now)


@pytest.fixture
def texts() -> list[str]:
    return [f"turn {number} " + f"boat{number} " * 100 for number in range(12)]


@pytest.mark.parametrize("limit", [1, 2, 100])
def test_a_throttled_capture_gets_the_vector_that_it_would_have_had(
    memory: Memory, texts: list[str], limit: int
) -> None:
    memory.capture("c", *texts[:7])
    memory.later(seconds=1)
    memory.capture("c", *texts)
    memory.embedder.texts.clear()
    while embed(memory, memory.embedder, limit=limit):
        pass
    assert all("turn 0 " not in text for text in memory.embedder.texts)
    assert memory.rows("select vector_stale from conversations") == [(False,)]
    memory.capture("whole", *texts)
    vectors = [np.array(row[0]) for row in memory.rows("select vector::real[] from conversations order by document_id")]
    assert np.allclose(vectors[0], vectors[1], atol=1e-3)


def test_another_model_replaces_every_vector(memory: Memory, texts: list[str]) -> None:
    memory.capture("c", *texts)
    other = WordVectors(16)
    other.name = "other"
    assert embed(memory, other) > 1
    assert memory.rows("select vector_model, vector_dims(vector) from conversations") == [("other", 16)]
    assert embed(memory, other) == 0


def test_text_that_grew_meanwhile_keeps_what_still_stands(memory: Memory, texts: list[str]) -> None:
    memory.consent(given=False)
    memory.capture("c", *texts[:7], "a short end")
    memory.consent()
    with memory.database.transaction(ANA) as tx:
        found = SOURCE.missing(tx, slice_of(tx), memory.embedder.name, now=memory.now, limit=100)
    vectors = memory.embedder.embed([text.parts[0] for text in found], timeout=1)
    memory.consent(given=False)
    memory.capture("c", *texts[:7], "a short end", "that grew")
    memory.consent()
    made = [Embedded(text, vector) for text, vector in zip(found, vectors, strict=True)]
    with memory.database.transaction(ANA) as tx:
        assert SOURCE.store(tx, slice_of(tx), made, model=memory.embedder.name, now=memory.now) == len(made) - 1
    assert memory.rows("select vector is not null, vector_stale from conversations") == [(True, True)]


def test_without_consent_nothing_is_missing_or_stored_and_vectors_go(memory: Memory, texts: list[str]) -> None:
    memory.capture("c", *texts)
    memory.capture("d", "a plane")
    memory.exclude("conversation")
    with memory.database.transaction(ANA) as tx:
        slice_id = slice_of(tx)
        assert SOURCE.missing(tx, slice_id, "other", now=memory.now, limit=10) == []
        counts = SOURCE.counts(tx, slice_id, "words")
        assert (counts.live, counts.embedded) == (2, 2)
        assert SOURCE.remove_excluded(tx, slice_id) == 2
        assert SOURCE.counts(tx, slice_id, "words").excluded == 2
    assert memory.rows("select distinct vector is null, vector_stale from conversations") == [(True, True)]
    memory.check()


def test_a_refused_chunk_leaves_its_conversation_alone_until_it_is_due(memory: Memory, admin: object) -> None:
    memory.consent(given=False)
    memory.capture("c", "a boat")
    memory.consent()
    with memory.database.transaction(ANA) as tx:
        slice_id = slice_of(tx)
        [text] = SOURCE.missing(tx, slice_id, "words", now=memory.now, limit=10)
        tx.execute(
            "insert into embedding_attempts values (%s, 'conversations', %s, 'words', %s, 1, 'refused', %s, %s)",
            (slice_id, text.item_id, text.text_hash, memory.now, memory.now + timedelta(hours=1)),
        )
        assert SOURCE.missing(tx, slice_id, "words", now=memory.now, limit=10) == []
        assert SOURCE.counts(tx, slice_id, "words").refused == 1
        assert len(SOURCE.missing(tx, slice_id, "words", now=memory.now + timedelta(hours=2), limit=10)) == 1


def test_before_any_vector_the_answer_says_that_words_were_compared_alone(memory: Memory) -> None:
    embedder, memory.embedder = memory.embedder, None
    memory.capture("boat", "the boat needs sails")
    memory.capture("roof", "the roof leaks")
    memory.embedder = embedder
    found = memory.recall("sails")
    assert ([one.likeness for one in found.conversations], found.reason) == ([None], "not_embedded_yet")
    assert memory.recall("sails", scope="private").reason is None
    embed(memory, embedder, limit=1)
    assert memory.recall("sails").reason is None
