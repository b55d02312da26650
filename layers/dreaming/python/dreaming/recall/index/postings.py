"""Postings in blocks: which conversations hold a term and how often, packed for those whose ids begin alike.

A posting is two big-endian signed 16-bit numbers: the conversation's place in its block, and how often the
term occurs in it, at most 32,767. A block's postings stand by ascending place, each place once. Pure.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection
from struct import Struct

import numpy as np
from numpy.typing import NDArray

BLOCK = 1_024
"""How many ids a block covers; as the migration has it that packed the first ones."""

_MOST = 32_767
_POSTING = Struct(">hh")
_SIZE = _POSTING.size


def block_of(document: int) -> int:
    """Return the first id of the block that a conversation belongs to."""
    return document - document % BLOCK


def added(postings: bytes, document: int, occurrences: int) -> bytes:
    """Return a block's postings with so many more occurrences of the term in a conversation."""
    place = document % BLOCK
    at = _at(postings, place)
    known = postings[at : at + _SIZE]
    if known and _POSTING.unpack(known)[0] == place:
        occurrences += _POSTING.unpack(known)[1]
        return postings[:at] + _POSTING.pack(place, min(occurrences, _MOST)) + postings[at + _SIZE :]
    return postings[:at] + _POSTING.pack(place, min(occurrences, _MOST)) + postings[at:]


def without(postings: bytes, documents: Collection[int]) -> bytes:
    """Return a block's postings but for those of some conversations."""
    places = {document % BLOCK for document in documents}
    pairs = _pairs(postings)
    return pairs[~np.isin(pairs[:, 0], list(places))].tobytes()


def count(postings: bytes) -> int:
    """Return how many conversations hold the term."""
    return len(postings) // _SIZE


def unpacked(
    blocks: NDArray[np.int64], counts: NDArray[np.int64], postings: bytes
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the ids of conversations and the occurrences in each, of blocks one behind the other.

    `blocks` are their first ids and `counts` the numbers of their postings, shape `(blocks,)` each.
    """
    pairs = _pairs(postings).astype(np.int64)
    return np.repeat(blocks, counts) + pairs[:, 0], pairs[:, 1]


def _pairs(postings: bytes) -> NDArray[np.int16]:
    pairs: NDArray[np.int16] = np.frombuffer(postings, dtype=">i2").reshape(-1, 2)
    return pairs


def _at(postings: bytes, place: int) -> int:
    """Return where a place's posting is or belongs, in bytes; most belong at the end."""
    if not postings or _POSTING.unpack(postings[-_SIZE:])[0] < place:
        return len(postings)
    return _SIZE * bisect_left(range(count(postings)), place, key=lambda number: _place(postings, number))


def _place(postings: bytes, number: int) -> int:
    place: int = _POSTING.unpack_from(postings, _SIZE * number)[0]
    return place
