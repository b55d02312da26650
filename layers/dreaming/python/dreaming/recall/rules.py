"""The arithmetic of recall: BM25 over a scan of postings, and its fusion with the likeness of vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]

K1 = 2.0
"""How soon more occurrences of a word stop to count; chosen on QMSum's product meetings."""

B = 0.9
"""How much a long conversation is discounted; chosen on the same."""

FEW_TERMS = 8
"""A query of so few terms is looked up whole."""

MOST_POSTINGS = 2_000_000
"""How many postings a longer query reads at most, those of its rarest terms; few tenants ever meet it."""

_SPARSE = 16
"""Numbers to an id from which no table of them is made."""

MOST_HITS = 10
"""How many conversations one recall returns."""


@dataclass(frozen=True, slots=True)
class Postings:
    """Where one term occurs: the documents' ids in any order, and how often in each."""

    documents: Integers
    frequencies: Integers


@dataclass(frozen=True, slots=True)
class Ranked:
    """One document's place: its fused score from 0 to 1, and the two parts as they were before the fusion.

    `lexical` is the BM25 score; `likeness` the cosine, None without a vector.
    """

    document: int
    score: float
    lexical: float
    likeness: float | None


def bm25(
    postings: Mapping[int, Postings], documents: Integers, lengths: Floats, *, k1: float = K1, b: float = B
) -> Floats:
    """Return each document's score, shape `(len(documents),)`; `documents` are ids in ascending order.

    Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with the
    inverse document frequency ln(1 + (N - n + 0.5) / (n + 0.5)), which is never negative. A document's
    length is its number of terms, repetitions included.
    """
    scores = np.zeros(len(documents))
    if not len(documents):
        return scores
    mean = lengths.mean() or 1.0
    norm = k1 * (1 - b + b * lengths / mean)
    place_of = _place_of(documents)
    for found in postings.values():
        count = len(found.documents)
        if not count:
            continue
        places = place_of(found.documents)
        known = documents[places] == found.documents  # not one that came between the two readings
        places, frequencies = places[known], found.frequencies[known].astype(np.float64)
        weight = idf(count, len(documents))
        scores[places] += weight * frequencies * (k1 + 1) / (frequencies + norm[places])
    return scores


def _place_of(documents: Integers) -> Callable[[Integers], Integers]:
    """Return what finds the places of ids among `documents`; the place of an id that is not there is any.

    Ids that lie close together are looked up in a table, which a search among many takes ten times as long as.
    """
    first, last = int(documents[0]), int(documents[-1])
    if last - first >= _SPARSE * len(documents):
        return lambda ids: np.minimum(np.searchsorted(documents, ids), len(documents) - 1)
    table = np.zeros(last - first + 1, dtype=np.int64)
    table[documents - first] = np.arange(len(documents))
    return lambda ids: table[np.clip(ids - first, 0, last - first)]


def idf(count: int, documents: int) -> float:
    """Return how much a term says that is in `count` of so many documents."""
    return float(np.log1p((documents - count + 0.5) / (count + 0.5)))


def scaled(values: Floats) -> Floats:
    """Return values stretched to 0..1; all 1 when they are equal and positive, NaN stays 0.

    NaN stands for a document that has no value.
    """
    known = ~np.isnan(values)
    result = np.zeros(len(values))
    if not known.any():
        return result
    low, high = values[known].min(), values[known].max()
    if high > low:
        result[known] = (values[known] - low) / (high - low)
    elif high > 0:
        result[known] = 1.0
    return result


def rank(documents: Integers, lexical: Floats, likeness: Floats, *, lexical_weight: float, limit: int) -> list[Ranked]:
    """Return the best documents by the weighted sum of both parts, each stretched to 0..1, best first.

    `likeness` is NaN for a document without a vector. Where no document has one, or none of the words is
    found anywhere, the other part counts alone. Of equals the later document comes first.
    """
    has_vectors = bool((~np.isnan(likeness)).any())
    weight = lexical_weight if has_vectors else 1.0
    if not lexical.any():
        weight = 0.0
    scores = weight * scaled(lexical) + (1 - weight) * scaled(likeness)
    best = _first(scores, documents, max(0, limit))
    return [
        Ranked(
            int(documents[place]),
            float(scores[place]),
            float(lexical[place]),
            None if np.isnan(likeness[place]) else float(likeness[place]),
        )
        for place in best
        if scores[place] > 0 or lexical[place] > 0
    ]


def _first(scores: Floats, documents: Integers, limit: int) -> Integers:
    """Return the places of the `limit` highest scores in order, of equals the later document first."""
    places = np.arange(len(scores))
    if 0 < limit < len(scores):
        places = np.flatnonzero(scores >= np.partition(scores, -limit)[-limit])
    order: Integers = places[np.lexsort((-documents[places], -scores[places]))][:limit]
    return order


def rarest(counts: Mapping[int, int], *, few: int = FEW_TERMS, most: int = MOST_POSTINGS) -> list[int]:
    """Return the rarest terms of a query, as many as together have at most `most` postings, but at least `few`.

    `counts` says how many documents hold each term; of equals the first named comes first.
    """
    chosen: list[int] = []
    total = 0
    for term in sorted(counts, key=lambda term: counts[term]):
        total += counts[term]
        if total > most and len(chosen) >= few:
            break
        chosen.append(term)
    return chosen
