"""The part of a turn that fits a query best."""

from __future__ import annotations

from collections.abc import Mapping

from dreaming.notes.chunking import split
from dreaming.recall.words import distinct_terms

PASSAGE_CHARACTERS = 300
"""Longest passage."""


def best_part(text: str, weights: Mapping[int, float]) -> str:
    """Return the stretch of whole sentences whose words weigh most, of equals the first."""
    if len(text) <= PASSAGE_CHARACTERS:
        return text
    parts = [part.text.strip() for part in split(text, PASSAGE_CHARACTERS)]
    return max(parts, key=lambda part: sum(weights[term] for term in weights.keys() & distinct_terms(part)), default="")
