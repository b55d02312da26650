"""The exact set-similarity index over statements: what is stored for one, and what finds its likes.

Prefix filter: under one fixed order of words, two sets with Jaccard ≥ t share one of the first
n - ⌈t·n⌉ + 1 words of each, and their sizes lie within ⌈t·n⌉..⌊n/t⌋ of each other.
"""

from __future__ import annotations

from dataclasses import dataclass

from dreaming.beliefs.words import STORED_THRESHOLD, fold, prefix, size_bounds, statement_hash, token, word_set


@dataclass(frozen=True, slots=True)
class StoredTokens:
    """What the index holds of a statement: its prefix at the lowest threshold, and its set's size."""

    tokens: tuple[int, ...]
    size: int


@dataclass(frozen=True, slots=True)
class Probe:
    """What finds every stored statement that is exactly this one, or at least `threshold` similar."""

    statement_hash: int
    tokens: tuple[int, ...]
    smallest: int
    largest: int


def stored_tokens(statement: str) -> StoredTokens:
    """Return what the index holds of a statement."""
    words = word_set(statement)
    return StoredTokens(tuple(token(word) for word in prefix(words, STORED_THRESHOLD)), len(words))


def probe(statement: str, threshold: float) -> Probe:
    """Return what to look up for a statement; `threshold` is at least the stored one."""
    words = word_set(statement)
    smallest, largest = size_bounds(len(words), threshold)
    tokens = tuple(token(word) for word in prefix(words, threshold))
    return Probe(hash_of(statement), tokens, smallest, largest)


def hash_of(statement: str) -> int:
    """Return the hash by which the exact match is found."""
    return statement_hash(fold(statement))
