"""How a search of beliefs ranks what it found: no I/O but the list of words behind the terms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np

from dreaming.beliefs.terms.words import terms
from dreaming.beliefs.words import is_unspaced, tokens
from dreaming.recall.rules import scaled


@dataclass(frozen=True, slots=True)
class Place:
    """A found belief's place, and why: the score of both parts together, the BM25 score, the cosine (or None)."""

    belief_id: UUID
    score: float
    lexical: float
    likeness: float | None

    @property
    def order(self) -> tuple[float, float, bytes]:
        """What places are sorted by, the best first; of equals the one that shares more words with the query."""
        return -self.score, -self.lexical, self.belief_id.bytes


def query_terms(query: str) -> list[int]:
    """Return the distinct terms of a query, in its order, as statements are indexed by them."""
    return list(terms(query))


def lone_characters(query: str) -> list[str]:
    """Return the characters of scripts without spaces that stand alone; the index holds pairs of such only."""
    return list(dict.fromkeys(one for one in tokens(query) if len(one) == 1 and is_unspaced(one)))


def ranked(
    lexical: Mapping[UUID, float],
    likeness: Mapping[UUID, float],
    aged: Mapping[UUID, float],
    *,
    lexical_weight: float,
    least_likeness: float,
) -> list[Place]:
    """Return the beliefs of `aged` in order, the best first.

    Both parts are stretched to 0..1 over these beliefs and summed by weight; where one has nothing to say
    the other counts alone. The sum is multiplied by (1 + aged confidence) / 2: of two that fit equally the
    surer comes first, and doubt alone never halves more. A belief that shares no word with the query must
    be as like it as `least_likeness`.
    """
    found = [
        one for one in aged if lexical.get(one, 0.0) > 0 or likeness.get(one, least_likeness - 1) >= least_likeness
    ]
    words = np.array([lexical.get(one, 0.0) for one in found])
    meaning = np.array([likeness.get(one, np.nan) for one in found])
    weight = lexical_weight
    if not words.any():
        weight = 0.0
    elif np.isnan(meaning).all():
        weight = 1.0
    scores = weight * scaled(words) + (1 - weight) * scaled(meaning)
    scores *= [(1 + aged[one]) / 2 for one in found]
    return _sorted(found, scores.tolist(), lexical, likeness)


def _sorted(
    found: Sequence[UUID], scores: Sequence[float], lexical: Mapping[UUID, float], likeness: Mapping[UUID, float]
) -> list[Place]:
    places = [
        Place(one, score, lexical.get(one, 0.0), likeness.get(one)) for one, score in zip(found, scores, strict=True)
    ]
    return sorted(places, key=lambda place: place.order)
