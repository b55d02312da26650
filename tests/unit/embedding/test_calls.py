"""A batch of texts of which some are refused: how many calls that takes, and what stops it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, log2

import numpy as np
import pytest

from dreaming.errors import Misconfigured, RefusedText, Throttled
from dreaming.passes.embedding.calls import HARMLESS, SPARE_SECONDS, embed_texts
from dreaming.passes.embedding.records import Answers, Text
from dreaming.passes.records import Deadline
from tests.embedding_world import FakeEmbedder


def texts(count: int, parts: int = 1) -> list[Text]:
    return [
        Text("beliefs", str(place), place, tuple(f"text {place}.{part}" for part in range(parts)))
        for place in range(count)
    ]


def embed(embedder: FakeEmbedder, batch: Sequence[Text], remaining: Callable[[], float] = lambda: 180.0) -> Answers:
    return embed_texts(embedder, batch, timeout=60.0, deadline=Deadline(remaining))


def ids(answers: Answers) -> tuple[list[str], list[str]]:
    return sorted(one.text.item_id for one in answers.embedded), sorted(one.text.item_id for one in answers.refused)


def refusing(*poison: str) -> FakeEmbedder:
    def before(sent: Sequence[str]) -> None:
        if set(poison) & set(sent):
            raise RefusedText("no")

    return FakeEmbedder(before=before)


def test_a_batch_is_one_call() -> None:
    answers = embed(embedder := FakeEmbedder(), texts(100))
    assert (len(embedder.calls), answers.calls, answers.failed_calls, answers.hold) == (1, 1, 0, None)
    assert len(answers.embedded) == 100


def test_no_texts_cost_no_call() -> None:
    embedder = FakeEmbedder()
    assert embed(embedder, []).calls == len(embedder.calls) == 0


def test_one_refused_text_is_found_by_halving() -> None:
    embedder = refusing("text 77.0")
    answers = embed(embedder, texts(100))
    assert ids(answers) == (sorted(str(place) for place in range(100) if place != 77), ["77"])
    assert answers.calls == len(embedder.calls) <= 2 + 2 * ceil(log2(100))


def test_a_text_of_several_parts_is_refused_as_a_whole() -> None:
    answers = embed(refusing("text 1.2"), texts(3, parts=3))
    assert ids(answers) == (["0", "2"], ["1"])


def test_parts_are_joined_to_one_vector_each() -> None:
    embedder = FakeEmbedder()
    answers = embed(embedder, texts(2, parts=3))
    expected = np.sum([embedder.vector(f"text 1.{part}") for part in range(3)], axis=0)
    found = answers.embedded[1].vector
    assert float(found @ expected) / float((expected @ expected) ** 0.5) == pytest.approx(1)


def test_two_of_three_refused_texts_cost_one_harmless_sentence() -> None:
    embedder = refusing("text 0.0", "text 2.0")
    answers = embed(embedder, texts(3))
    assert ids(answers) == (["1"], ["0", "2"])
    assert embedder.calls.count([HARMLESS]) == 1


def test_an_embedder_that_takes_nothing_is_an_outage() -> None:
    def before(sent: Sequence[str]) -> None:
        raise RefusedText("unknown model")

    answers = embed(FakeEmbedder(before=before), texts(8))
    assert ids(answers) == ([], [])
    assert isinstance(answers.hold, RefusedText)
    assert (answers.calls, answers.failed_calls) == (2, 2)


def test_a_hold_keeps_what_came_before() -> None:
    embedder = refusing("text 7.0")
    refuse = embedder.before

    def before(sent: Sequence[str]) -> None:
        refuse(sent)
        if len(embedder.calls) == 5:
            raise Throttled("slow down")

    embedder.before = before
    answers = embed(embedder, texts(8))
    assert ids(answers) == (["0", "1", "2", "3"], [])
    assert isinstance(answers.hold, Throttled)


def test_the_deadline_stops_halving() -> None:
    left = iter([100.0, 100.0, SPARE_SECONDS])
    answers = embed(refusing("text 7.0"), texts(8), lambda: next(left))
    assert ids(answers) == ([], [])
    assert answers.hold is None


def test_a_wrong_dimension_is_not_halved() -> None:
    def before(sent: Sequence[str]) -> None:
        raise Misconfigured("3 dimensions, but 2")

    embedder = FakeEmbedder(before=before)
    with pytest.raises(Misconfigured):
        embed(embedder, texts(8))
    assert len(embedder.calls) == 1
