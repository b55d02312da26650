"""Another embedding model: readers stay in the old space until the new one is complete, and never in both."""

from __future__ import annotations

import pytest

from dreaming.beliefs.vectors import store as vectors_store
from dreaming.beliefs.vectors.records import Space
from dreaming.errors import Misconfigured, ProviderUnavailable
from dreaming.passes.records import Disposition
from tests.embedding_world import SENTENCES, EmbeddingWorld, FakeEmbedder

OLD, NEW, THIRD = FakeEmbedder(), FakeEmbedder("fake:two:12", 12), FakeEmbedder("fake:three:8", 8)


@pytest.fixture
def changed(embedding: EmbeddingWorld) -> EmbeddingWorld:
    """Everything is embedded by the old model, and the new one is configured."""
    embedding.drain()
    embedding.embedder = FakeEmbedder(NEW.name, NEW.dimension)
    embedding.world.environment["DREAMING_EMBEDDING_BATCH"] = "5"
    return embedding


def models(embedding: EmbeddingWorld) -> dict[str, int]:
    stored = [model for model, _ in embedding.vectors()]
    return {model: stored.count(model) for model in sorted(set(stored))}


def exact(embedding: EmbeddingWorld, embedder: FakeEmbedder) -> None:
    """Every statement is found by itself in the space, and by nothing of another."""
    for sentence in SENTENCES:
        found = embedding.search(sentence, embedder, limit=len(SENTENCES))
        assert found[0][0] == sentence
        assert len(found) == len(SENTENCES)
        for statement, cosine in found:
            expected = float(embedder.vector(sentence) @ embedder.vector(statement))
            assert cosine == pytest.approx(expected, abs=2e-3)


def test_at_each_stage_readers_search_one_complete_space(changed: EmbeddingWorld) -> None:
    assert changed.tick() == 1
    stages = []
    while True:
        active = changed.active()
        progress = changed.progress()
        stages.append((active.model if active else None, progress.embedded, progress.missing))
        exact(changed, OLD if active == Space(OLD.name, 8) else NEW)
        if changed.step() is None:
            break
    assert stages == [
        (OLD.name, 0, 12),
        (OLD.name, 5, 7),
        (OLD.name, 10, 2),
        (NEW.name, 12, 0),
    ]
    assert models(changed) == {NEW.name: 12}
    assert changed.tick() == 0
    switched = changed.world.rows("select sum((pass_counts ->> 'spaces_switched')::int) from dream_runs")
    assert switched == [(1,)]


def test_half_way_both_are_stored_and_a_search_sees_one(changed: EmbeddingWorld) -> None:
    changed.tick()
    changed.step()
    assert models(changed) == {OLD.name: 12, NEW.name: 5}
    assert len(changed.search("anything", OLD, limit=50)) == 12
    assert len(changed.search("anything", NEW, limit=50)) == 5
    with changed.world.transaction() as tx:
        ids = [row[0] for row in tx.execute("select belief_id from beliefs").fetchall()]
        of_old = vectors_store.read_vectors(tx, changed.slice_id, ids, OLD.name)
        of_new = vectors_store.read_vectors(tx, changed.slice_id, ids, NEW.name)
    assert {vector.shape for vector in of_old.values()} == {(8,)}
    assert {vector.shape for vector in of_new.values()} == {(12,)}
    assert (len(of_old), len(of_new)) == (12, 5)


def test_an_outage_half_way_leaves_readers_where_they_are(changed: EmbeddingWorld) -> None:
    def fail_later(texts: object) -> None:
        if len(changed.embedder.calls) > 1:
            raise ProviderUnavailable("down")

    changed.embedder.before = fail_later
    reports = changed.drain()
    assert reports[-1].disposition is Disposition.HELD
    assert changed.active() == Space(OLD.name, 8)
    exact(changed, OLD)
    changed.embedder.before = lambda texts: None
    changed.drain()
    assert changed.active() == Space(NEW.name, 12)
    exact(changed, NEW)


def test_back_to_the_old_model_half_way_costs_no_call(changed: EmbeddingWorld) -> None:
    changed.tick()
    changed.step()
    changed.embedder = FakeEmbedder()
    while changed.step() is not None:
        pass
    assert changed.embedder.calls == []
    assert models(changed) == {OLD.name: 12}
    assert changed.active() == Space(OLD.name, 8)


def test_a_third_model_half_way_leaves_nothing_of_the_second(changed: EmbeddingWorld) -> None:
    changed.tick()
    changed.step()
    changed.embedder = FakeEmbedder(THIRD.name, THIRD.dimension)
    while changed.step() is not None:
        exact(changed, OLD if changed.active() == Space(OLD.name, 8) else THIRD)
    assert models(changed) == {THIRD.name: 12}
    assert changed.active() == Space(THIRD.name, 8)


def test_a_belief_made_meanwhile_is_in_the_new_space_at_its_switch_over(changed: EmbeddingWorld) -> None:
    changed.tick()
    changed.step()
    changed.believe("The orchard was sold to the parish.")
    while changed.step() is not None:
        pass
    assert changed.active() == Space(NEW.name, 12)
    assert changed.search("The orchard was sold to the parish.", NEW)[0][0] == "The orchard was sold to the parish."
    assert models(changed) == {NEW.name: 13}


def test_switched_off_half_way_the_old_space_stays(changed: EmbeddingWorld) -> None:
    changed.tick()
    changed.step()
    changed.embedder = None
    while changed.step() is not None:
        pass
    assert changed.active() == Space(OLD.name, 8)
    exact(changed, OLD)


def test_one_name_with_another_dimension_is_refused_with_both_numbers(embedding: EmbeddingWorld) -> None:
    embedding.drain()
    embedding.embedder = FakeEmbedder(OLD.name, 12)
    embedding.believe("The orchard was sold to the parish.")
    report = embedding.drain()[-1]
    assert (report.disposition, report.reason) == (Disposition.HELD, "misconfigured")
    detail = embedding.world.rows("select held_detail from dream_cursor where pass = 'embedding'")[0][0]
    assert "12 dimensions" in detail
    assert "have 8" in detail
    assert models(embedding) == {OLD.name: 12}


def test_an_embedder_that_answers_another_dimension_stores_nothing(embedding: EmbeddingWorld) -> None:
    class Wrong(FakeEmbedder):
        def embed(self, texts: object, *, timeout: float) -> object:  # type: ignore[override]
            return FakeEmbedder(self.name, 12).embed(texts, timeout=timeout)  # type: ignore[arg-type]

    embedding.embedder = Wrong()
    report = embedding.drain()[-1]
    assert (report.disposition, report.reason) == (Disposition.HELD, "misconfigured")
    assert embedding.vectors() == []
    with embedding.world.transaction() as tx, pytest.raises(Misconfigured, match=r"12 dimensions.* have 8"):
        vectors_store.nearest(tx, embedding.slice_id, NEW.vector("x"), model=OLD.name, limit=1)
