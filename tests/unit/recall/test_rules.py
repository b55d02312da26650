"""BM25, its fusion with cosines, and which terms of a long query are looked up."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dreaming.recall.rules import K1, B, Postings, bm25, rank, rarest, scaled

DOCUMENTS = st.lists(st.lists(st.integers(0, 5), max_size=12), min_size=1, max_size=8)


def indexed(documents: list[list[int]], step: int = 10) -> dict[int, Postings]:
    held: dict[int, list[tuple[int, int]]] = {}
    for number, words in enumerate(documents):
        for word in set(words):
            held.setdefault(word, []).append((step * number, words.count(word)))
    return {word: Postings(*np.array(rows[::-1], dtype=np.int64).T) for word, rows in held.items()}


@settings(deadline=None)
@given(DOCUMENTS, st.sets(st.integers(0, 6), max_size=4))
def test_bm25_is_its_definition(documents: list[list[int]], query: set[int]) -> None:
    index = indexed(documents)
    lengths = np.array([len(words) for words in documents], dtype=float)
    scores = bm25({word: index[word] for word in query if word in index}, np.arange(len(documents)) * 10, lengths)
    mean = sum(map(len, documents)) / len(documents) or 1.0
    for words, score in zip(documents, scores, strict=True):
        expected = 0.0
        for word in query:
            holding = sum(word in other for other in documents)
            weight = math.log(1 + (len(documents) - holding + 0.5) / (holding + 0.5))
            frequency = words.count(word)
            if frequency:
                expected += weight * frequency * (K1 + 1) / (frequency + K1 * (1 - B + B * len(words) / mean))
        assert score == pytest.approx(expected)


def test_a_posting_of_an_unknown_document_counts_for_nobody() -> None:
    found = {1: Postings(np.array([5, 99]), np.array([1, 1]))}
    scores = bm25(found, np.array([5, 7]), np.array([3.0, 3.0]))
    assert scores[0] > 0
    assert scores[1] == 0


def test_scaling_leaves_unknown_values_at_zero() -> None:
    assert scaled(np.array([np.nan, 2.0, 4.0, 3.0])).tolist() == [0, 0, 1, 0.5]
    assert scaled(np.array([2.0, 2.0])).tolist() == [1, 1]
    assert scaled(np.array([0.0, 0.0])).tolist() == [0, 0]
    assert scaled(np.array([np.nan])).tolist() == [0]


def test_both_parts_count_by_their_weight() -> None:
    ids, lexical, likeness = np.array([1, 2, 3]), np.array([2.0, 0.0, 1.0]), np.array([0.1, 0.9, 0.5])
    words = rank(ids, lexical, likeness, lexical_weight=0.75, limit=3)
    assert [one.document for one in words] == [1, 3, 2]
    assert [one.score for one in words] == pytest.approx([0.75, 0.5, 0.25])
    meaning = rank(ids, lexical, likeness, lexical_weight=0.25, limit=3)
    assert [one.document for one in meaning] == [2, 3, 1]
    assert (meaning[0].lexical, meaning[0].likeness) == (0.0, 0.9)


def test_without_vectors_or_without_words_the_other_part_counts_alone() -> None:
    ids, none = np.array([1, 2]), np.array([np.nan, np.nan])
    by_words = rank(ids, np.array([0.0, 1.0]), none, lexical_weight=0.5, limit=2)
    assert [(one.document, one.score, one.likeness) for one in by_words] == [(2, 1.0, None)]
    by_meaning = rank(ids, np.zeros(2), np.array([0.2, 0.4]), lexical_weight=0.9, limit=2)
    assert [(one.document, one.score) for one in by_meaning] == [(2, 1.0)]
    assert rank(ids, np.zeros(2), none, lexical_weight=0.5, limit=2) == []


def test_of_equals_the_later_comes_first() -> None:
    ranked = rank(np.array([1, 2]), np.array([1.0, 1.0]), np.array([np.nan] * 2), lexical_weight=1, limit=2)
    assert [one.document for one in ranked] == [2, 1]


def test_the_rarest_terms_are_kept_within_the_bound() -> None:
    counts = {10: 50, 11: 1, 12: 7, 13: 100}
    assert rarest(counts, few=1, most=60) == [11, 12, 10]
    assert rarest(counts, few=1, most=1_000) == [11, 12, 10, 13]
    assert rarest(counts, few=2, most=0) == [11, 12]


@given(DOCUMENTS, st.integers(1, 40))
def test_ids_far_apart_are_scored_as_those_close_together(documents: list[list[int]], step: int) -> None:
    lengths = np.array([len(words) for words in documents], dtype=float)
    numbers = np.arange(len(documents))
    apart = bm25(indexed(documents, 1_000 * step), 1_000 * step * numbers, lengths)
    assert apart.tolist() == bm25(indexed(documents, 1), numbers, lengths).tolist()


def test_an_id_that_is_not_there_counts_nowhere() -> None:
    found = {7: Postings(np.array([4, 5, 900]), np.array([1, 1, 1]))}
    for documents in (np.array([3, 5, 8]), np.array([3, 5, 80_000])):
        assert bm25(found, documents, np.ones(3)).nonzero()[0].tolist() == [1]


@given(st.lists(st.integers(0, 3), min_size=1, max_size=40), st.integers(1, 10))
def test_the_best_are_in_the_order_of_all(scores: list[int], limit: int) -> None:
    lexical = np.array(scores, dtype=float)
    documents = np.arange(len(scores))
    ranked = rank(documents, lexical, np.full(len(scores), np.nan), lexical_weight=1.0, limit=limit)
    everything = sorted(range(len(scores)), key=lambda place: (-scores[place], -place))
    assert [one.document for one in ranked] == [place for place in everything if scores[place]][:limit]
