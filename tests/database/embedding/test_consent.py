"""Consent to embedding and excluded sources, whenever they change."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from dreaming.passes.records import Disposition
from dreaming.settings.service import change_consent
from tests.embedding_world import SENTENCES, EmbeddingWorld, FakeEmbedder
from tests.world import KEY, note

SECRET = "Olga counts the votes of the board."


def embedded(embedding: EmbeddingWorld) -> list[str]:
    return [statement for _, statement in embedding.vectors()]


def test_without_consent_nothing_is_embedded_or_lost(embedding: EmbeddingWorld) -> None:
    embedding.consent(given=False)
    assert embedding.drain() == []
    assert embedding.tick(embedding.slice_id) == 0
    assert embedding.embedder.calls == []
    assert embedding.active() is None
    embedding.consent()
    embedding.drain()
    assert embedded(embedding) == sorted(SENTENCES)


def test_withdrawn_consent_deletes_what_was_embedded(embedding: EmbeddingWorld) -> None:
    embedding.drain()
    embedding.consent(given=False)
    assert embedding.active() is None  # at once, before any pass ran
    calls = len(embedding.embedder.calls)
    assert [report.disposition for report in embedding.drain()] == [Disposition.DONE]
    assert embedding.vectors() == []
    assert embedding.spaces() is None
    assert len(embedding.embedder.calls) == calls
    assert embedding.drain() == []
    counts = embedding.world.rows("select pass_counts ->> 'vectors_removed' from dream_runs order by started_at desc")
    assert ("12",) in counts


def test_withdrawn_and_no_longer_enrolled_it_is_deleted_all_the_same(embedding: EmbeddingWorld) -> None:
    embedding.drain()
    embedding.consent(given=False)
    with embedding.world.transaction() as tx:
        change_consent(tx, KEY.org_id, "enrolled", False, actor="test", now=embedding.world.now)
    embedding.drain()
    assert embedding.vectors() == []


def test_with_embedding_off_withdrawn_consent_is_still_obeyed(embedding: EmbeddingWorld) -> None:
    embedding.drain()
    embedding.consent(given=False)
    embedding.embedder = None
    embedding.drain()
    assert embedding.vectors() == []


def test_not_enrolled_nothing_is_embedded_and_what_there_is_stays(embedding: EmbeddingWorld) -> None:
    embedding.drain()
    embedding.believe(SECRET)
    with embedding.world.transaction() as tx:
        change_consent(tx, KEY.org_id, "enrolled", False, actor="test", now=embedding.world.now)
    assert embedding.drain() == []
    assert embedded(embedding) == sorted(SENTENCES)


def test_consent_withdrawn_during_the_call_stores_nothing(embedding: EmbeddingWorld) -> None:
    def meanwhile(texts: Sequence[str]) -> None:
        embedding.consent(given=False)

    embedding.embedder.before = meanwhile
    embedding.drain()
    assert embedding.vectors() == []
    assert embedding.spaces() is None
    assert len(embedding.embedder.calls) == 1


def test_consent_withdrawn_between_batches_stops_and_deletes(embedding: EmbeddingWorld) -> None:
    embedding.world.environment["DREAMING_EMBEDDING_BATCH"] = "5"
    embedding.tick()
    embedding.step()
    assert len(embedded(embedding)) == 5
    embedding.consent(given=False)
    embedding.step()
    assert embedding.vectors() == []
    assert embedding.step() is None
    assert len(embedding.embedder.calls) == 1


def test_consent_that_cannot_be_read_is_no_and_deletes_nothing(embedding: EmbeddingWorld) -> None:
    embedding.world.environment["DREAMING_EMBEDDING_BATCH"] = "5"
    embedding.tick()
    embedding.step()
    with embedding.world.transaction() as tx:
        tx.execute(
            "insert into settings (org_id, name, value, updated_at, updated_by) "
            "values ('acme', 'no_such', '1', now(), 'mia')"
        )
    report = embedding.step()
    assert report is not None
    assert (report.disposition, report.reason) == (Disposition.STOPPED, "settings_unreadable")
    assert len(embedded(embedding)) == 5
    assert len(embedding.embedder.calls) == 1


def test_an_excluded_source_is_never_embedded(embedding: EmbeddingWorld) -> None:
    embedding.exclude("board")
    embedding.believe(SECRET, source="board")
    embedding.drain()
    assert SECRET in embedding.world.statements()
    assert embedded(embedding) == sorted(SENTENCES)
    assert SECRET not in embedding.embedder.embedded
    assert embedding.progress().excluded == 1
    assert embedding.progress().missing == 0
    assert embedding.active() is not None


def test_a_source_excluded_later_is_removed_and_until_then_nothing_is_searched(embedding: EmbeddingWorld) -> None:
    embedding.believe(SECRET, source="board")
    embedding.drain()
    assert SECRET in embedded(embedding)
    embedding.exclude("board")
    assert embedding.active() is None
    embedding.drain()
    assert SECRET not in embedded(embedding)
    assert embedding.active() is not None
    embedding.exclude()
    assert embedding.active() is not None  # what is allowed again cannot hurt
    embedding.drain()
    assert SECRET in embedded(embedding)


def test_a_source_excluded_during_the_call_is_not_stored(embedding: EmbeddingWorld) -> None:
    embedding.believe(SECRET, source="board")

    def meanwhile(texts: Sequence[str]) -> None:
        embedding.exclude("board")

    embedding.embedder.before = meanwhile
    embedding.drain()
    assert SECRET in embedding.embedder.calls[0]
    assert embedded(embedding) == sorted(SENTENCES)
    assert embedding.active() is not None


def test_a_belief_that_gains_an_excluded_source_loses_its_vector(embedding: EmbeddingWorld) -> None:
    embedding.exclude("board")
    embedding.drain()
    assert SENTENCES[0] in embedded(embedding)
    embedding.world.ingest(note("minutes", SENTENCES[0], source="board"))
    embedding.world.drain()
    embedding.drain()
    assert SENTENCES[0] not in embedded(embedding)


def test_when_the_excluded_note_is_withdrawn_the_belief_may_be_embedded(embedding: EmbeddingWorld) -> None:
    embedding.exclude("board")
    embedding.world.ingest(note("minutes", SENTENCES[0], source="board"))
    embedding.world.drain()
    embedding.drain()
    assert SENTENCES[0] not in embedded(embedding)
    with embedding.world.transaction() as tx:
        tx.execute(
            "update sources set ended_at = now(), ended_reason = 'withdrawn' where note_id in "
            "(select note_id from notes where source = 'board')"
        )
    embedding.tick(embedding.slice_id)
    embedding.step()
    assert SENTENCES[0] in embedded(embedding)


@pytest.mark.parametrize("change", ["consent", "exclude"])
def test_a_change_of_consent_makes_every_slice_of_the_organization_due(embedding: EmbeddingWorld, change: str) -> None:
    embedding.drain()
    assert embedding.tick() == 0
    if change == "exclude":
        embedding.exclude("anything")
    else:
        embedding.consent(given=False)
    assert embedding.tick() == 1


def test_two_models_are_both_deleted(embedding: EmbeddingWorld) -> None:
    embedding.world.environment["DREAMING_EMBEDDING_BATCH"] = "5"
    embedding.drain()
    embedding.embedder = FakeEmbedder("fake:two:12", 12)
    embedding.tick()
    embedding.step()
    assert len({model for model, _ in embedding.vectors()}) == 2
    embedding.consent(given=False)
    while embedding.step() is not None:
        pass
    assert embedding.vectors() == []
