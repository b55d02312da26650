"""Packed postings are what a table of them would be."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dreaming.recall.index.postings import BLOCK, added, block_of, count, unpacked, without

BLOCKS = st.integers(0, 2**40).map(lambda number: number * BLOCK)
STEPS = st.lists(st.tuples(st.integers(0, BLOCK - 1), st.integers(1, 40_000), st.booleans()), max_size=30)


@settings(deadline=None)
@given(BLOCKS, STEPS)
def test_what_is_added_and_taken_out_is_kept_in_order(block: int, steps: list[tuple[int, int, bool]]) -> None:
    packed, held = b"", dict[int, int]()
    for place, occurrences, stays in steps:
        document = block + place
        assert block_of(document) == block
        if stays:
            packed = added(packed, document, occurrences)
            held[document] = min(held.get(document, 0) + occurrences, 32_767)
        else:
            packed = without(packed, [document])
            held.pop(document, None)
        assert count(packed) == len(held)
        documents, frequencies = unpacked(np.array([block]), np.array([count(packed)]), packed)
        assert documents.tolist() == sorted(held)
        assert frequencies.tolist() == [held[one] for one in sorted(held)]


def test_blocks_one_behind_the_other_are_read_as_one() -> None:
    first = added(added(b"", 5, 2), 1_023, 1)
    second = added(b"", 2_048, 7)
    documents, frequencies = unpacked(np.array([0, 2_048]), np.array([2, 1]), first + second)
    assert documents.tolist() == [5, 1_023, 2_048]
    assert frequencies.tolist() == [2, 1, 7]


def test_several_are_taken_out_at_once() -> None:
    packed = b""
    for document in (7, 3, 9):
        packed = added(packed, document, 1)
    assert without(packed, [3, 9, 4]) == added(b"", 7, 1)
