"""The exact set-similarity index over statements: what is stored for one, and what finds its likes.

Under one fixed order of words, two sets with Jaccard ≥ t share one of the first n - ⌈t·n⌉ + 1 words
of each, and their sizes lie within ⌈t·n⌉..⌊n/t⌋ of each other (prefix filter). The first word that
they share leaves each no more words to share than stand behind it, so it cannot stand too far back in
either (positional filter; Xiao et al., "Efficient Similarity Joins for Near Duplicate Detection").
Nothing that can reach the threshold is ever missed.

The parts of a statement that joins two by "and" stand in the same index, each by its hash at size 0,
which no set of words has.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from dreaming.beliefs.compounds import parts
from dreaming.beliefs.words import (
    STORED_THRESHOLD,
    fold,
    least_overlap,
    prefix_length,
    rare_first,
    size_bounds,
    statement_hash,
    token,
    word_set,
)

MOST_ALIKE = 64
"""How many beliefs the words of one claim find at most: those that share most of its rarest words."""

SAME_ATTRIBUTE = 25
"""With how many beliefs about the same attribute a claim is compared at most: the latest."""


@dataclass(frozen=True, slots=True)
class StoredTokens:
    """What the index holds of a statement: its prefix at the lowest threshold, and its set's size.

    A token's place in `tokens` is its place in the set's order. `parts` are the hashes of what a compound
    says in its parts.
    """

    tokens: tuple[int, ...]
    size: int
    parts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Lookup:
    """One look into the index: a token among the first `last_position + 1` of sets of one size."""

    token: int
    size: int
    last_position: int


@dataclass(frozen=True, slots=True)
class Probe:
    """What finds every stored statement that is exactly this one, or at least `threshold` similar.

    `statement_hash` also finds the compounds that it is a part of, and `parts` what a compound says in its
    parts, each as a statement of its own.
    """

    statement_hash: int
    lookups: tuple[Lookup, ...]
    parts: tuple[int, ...] = ()


@lru_cache(maxsize=1024)  # a new belief is indexed in memory, and then in the database
def stored_tokens(statement: str) -> StoredTokens:
    """Return what the index holds of a statement."""
    words = _ordered(statement)
    tokens = tuple(map(token, words[: prefix_length(len(words), STORED_THRESHOLD)]))
    return StoredTokens(tokens, len(words), _parts(statement))


@lru_cache(maxsize=1024)  # a claim is looked up among the stored beliefs, and among those of its batch
def probe(statement: str, threshold: float) -> Probe:
    """Return what to look up for a statement; `threshold` is at least the stored one."""
    return Probe(hash_of(statement), tuple(_lookups(_ordered(statement), threshold)), _parts(statement))


@lru_cache(maxsize=1024)  # a claim that becomes a belief is looked up first and stored then
def _ordered(statement: str) -> tuple[str, ...]:
    return tuple(rare_first(word_set(statement)))


def _parts(statement: str) -> tuple[int, ...]:
    return tuple(sorted(statement_hash(" ".join(part)) for part in parts(statement)))


def _lookups(words: Sequence[str], threshold: float) -> Iterator[Lookup]:
    """Yield the look-ups of a set of words, which are in the frozen order."""
    smallest, largest = size_bounds(len(words), threshold)
    overlaps = [(size, least_overlap(len(words), size, threshold)) for size in range(smallest, largest + 1)]
    for position, word in enumerate(words[: prefix_length(len(words), threshold)]):
        hashed = token(word)
        for size, overlap in overlaps:
            if position <= len(words) - overlap:
                yield Lookup(hashed, size, size - overlap)


def hash_of(statement: str) -> int:
    """Return the hash by which the exact match is found."""
    return statement_hash(fold(statement))
