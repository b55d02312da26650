"""Texts that the embedder does not take: found among the others, tried again, then left out loudly."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import timedelta

import pytest

from dreaming.errors import ProviderUnavailable, RefusedText, UnusableVector
from dreaming.passes.embedding.calls import HARMLESS
from dreaming.passes.records import Disposition
from tests.embedding_world import SENTENCES, EmbeddingWorld

POISON = "The choir rehearses in the town library."


def refuse(*poison: str, error: Exception | None = None) -> Callable[[Sequence[str]], None]:
    def before(texts: Sequence[str]) -> None:
        if set(poison) & set(texts):
            raise error or RefusedText("The embedding server refuses the request: HTTP 400 (no reason given).")

    return before


def embedded(embedding: EmbeddingWorld) -> list[str]:
    return [statement for _, statement in embedding.vectors()]


def attempts(embedding: EmbeddingWorld) -> list[tuple[object, ...]]:
    return embedding.world.rows(
        "select b.statement, a.attempts, a.failure, a.retry_at is null from embedding_attempts a "
        "join beliefs b on b.belief_id::text = a.item_id"
    )


@pytest.mark.parametrize("error", [RefusedText("refused"), UnusableVector("no direction")])
def test_one_text_never_blocks_the_others(embedding: EmbeddingWorld, error: Exception) -> None:
    embedding.embedder.before = refuse(POISON, error=error)
    reports = embedding.drain()
    assert reports[-1].disposition is Disposition.DONE
    assert embedded(embedding) == sorted(set(SENTENCES) - {POISON})
    assert attempts(embedding) == [(POISON, 1, str(error), False)]
    assert len(embedding.embedder.calls) <= 12  # halves, and one harmless sentence
    assert [HARMLESS] in embedding.embedder.calls
    assert (embedding.progress().refused, embedding.progress().missing) == (1, 0)


def test_it_is_tried_three_times_and_then_left_out_loudly(
    embedding: EmbeddingWorld, caplog: pytest.LogCaptureFixture
) -> None:
    embedding.embedder.before = refuse(POISON)
    embedding.drain()
    assert embedding.tick() == 0  # not before its time
    embedding.world.now += timedelta(hours=2)
    embedding.drain()
    assert attempts(embedding)[0][1:2] == (2,)
    embedding.world.now += timedelta(hours=7)
    with caplog.at_level(logging.ERROR, "dreaming"):
        embedding.drain()
    assert attempts(embedding)[0][1::2] == (3, True)
    assert [record.getMessage() for record in caplog.records] == ["text left out of embedding"]
    assert POISON not in caplog.text
    embedding.world.now += timedelta(days=30)
    assert embedding.drain() == []
    assert embedding.progress().left_out == 1
    counts = embedding.world.rows("select sum((pass_counts ->> 'texts_left_out')::int) from dream_runs")
    assert counts == [(1,)]


def test_a_text_that_is_taken_later_is_forgotten_as_refused(embedding: EmbeddingWorld) -> None:
    embedding.embedder.before = refuse(POISON)
    embedding.drain()
    embedding.embedder.before = lambda texts: None
    embedding.world.now += timedelta(hours=2)
    embedding.drain()
    assert embedded(embedding) == sorted(SENTENCES)
    assert attempts(embedding) == []


def test_in_other_words_it_is_tried_at_once(embedding: EmbeddingWorld) -> None:
    embedding.embedder.before = refuse(POISON)
    embedding.drain()
    embedding.reword(POISON, "The choir sings in the old chapel.")
    embedding.drain()
    assert "The choir sings in the old chapel." in embedded(embedding)
    embedding.world.now += timedelta(hours=2)
    embedding.drain()
    assert embedding.tick() == 0
    assert embedding.world.rows("select count(*) from embedding_attempts") == [(0,)]


def test_an_embedder_that_refuses_everything_holds_and_charges_no_text(embedding: EmbeddingWorld) -> None:
    def refuse_all(texts: Sequence[str]) -> None:
        raise RefusedText("The embedding server refuses the request: HTTP 400 (no reason given).")

    embedding.embedder.before = refuse_all
    reports = embedding.drain()
    assert (reports[-1].disposition, reports[-1].reason) == (Disposition.HELD, "provider_misconfigured")
    assert len(embedding.embedder.calls) == 2
    assert attempts(embedding) == []


def test_an_outage_while_halving_keeps_what_was_embedded(embedding: EmbeddingWorld) -> None:
    taken: list[int] = []

    def before(texts: Sequence[str]) -> None:
        if len(taken) > 1:  # the first asks only how long a vector is
            raise ProviderUnavailable("down")
        refuse(POISON)(texts)
        taken.append(len(texts))

    embedding.embedder.before = before
    reports = embedding.drain()
    assert reports[-1].disposition is Disposition.HELD
    assert len(embedded(embedding)) == taken[1] < 11
    embedding.embedder.before = refuse(POISON)
    embedding.drain()
    assert embedded(embedding) == sorted(set(SENTENCES) - {POISON})


def test_after_a_model_change_readers_wait_for_a_refused_text_and_then_do_without_it(
    embedding: EmbeddingWorld,
) -> None:
    embedding.drain()
    old = embedding.embedder
    embedding.embedder = type(old)("fake:two:12", 12, refuse(POISON))
    embedding.drain()
    active = embedding.active()
    assert active is not None
    assert active.model == old.name
    assert embedding.search(POISON, old)[0][0] == POISON
    for hours in (2, 7):
        embedding.world.now += timedelta(hours=hours)
        embedding.drain()
    active = embedding.active()
    assert active is not None
    assert active.model == "fake:two:12"
    assert len(embedded(embedding)) == 11


def test_each_model_has_attempts_of_its_own(embedding: EmbeddingWorld) -> None:
    embedding.embedder.before = refuse(POISON)
    for hours in (0, 2, 7):
        embedding.world.now += timedelta(hours=hours)
        embedding.drain()
    assert embedding.progress().left_out == 1
    embedding.embedder = type(embedding.embedder)("fake:two:12", 12)
    embedding.drain()
    assert embedded(embedding) == sorted(SENTENCES)
    assert embedding.world.rows("select count(*) from embedding_attempts") == [(0,)]
