"""The one vector of a conversation: the mean over its chunks, carried on as the conversation grows.

Only the sum over closed chunks is kept. What is appended is embedded with the open end before it, and
nothing else; the result is the same as that of the whole at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dreaming.recall.chunks import TurnChunk, chunks
from dreaming.recall.records import NO_TURNS, ChunkState, ConversationVector, StoredTurn


def resumed(state: ChunkState | None, model: str, turns: Sequence[StoredTurn]) -> ChunkState:
    """Return the state from which the vector of `turns` is carried on: the given one, or that of no turns.

    The given one serves when the same model made it and the conversation still begins as it did.
    """
    if state is not None and state.model == model and state.turns <= len(turns):
        at = turns[state.turns - 1].sha256 if state.turns else NO_TURNS
        if at == state.sha256:
            return state
    return ChunkState(model, 0, NO_TURNS, 0, None)


def pending_chunks(state: ChunkState, turns: Iterable[StoredTurn], *, most: int) -> list[TurnChunk]:
    """Return what is to be embedded of the `turns` that follow those of the state, at most about `most` chunks.

    The end never lies within a turn, so a turn of more chunks is taken whole.
    """
    found = list(chunks((turn.written for turn in turns), first=state.turns))
    return (
        found if len(found) <= most else found[: whole_turns(found, most) or whole_turns(found, len(found), first=True)]
    )


def whole_turns(found: Sequence[TurnChunk], most: int, *, first: bool = False) -> int:
    """Return how many leading chunks, at most `most`, end with the end of a turn; `first`: the fewest that do."""
    ends = [place for place, (one, following) in enumerate(pairwise(found), start=1) if one.turns != following.turns]
    ends = [end for end in (*ends, len(found)) if 0 < end <= most]
    return (min if first else max)(ends, default=0)


def carried_on(
    state: ChunkState, pending: Sequence[TurnChunk], vectors: NDArray[np.float32], hashes: Sequence[bytes]
) -> ConversationVector:
    """Return the vector up to the end of `pending`, given the unit vectors of these chunks, one row each.

    `hashes` are those of the turns that follow the state's. Raises `ValueError` when there is no chunk at all.
    """
    closed = [place for place, chunk in enumerate(pending) if chunk.closed]
    total, turns, sha256 = state.total, state.turns, state.sha256
    if closed:
        added = vectors[closed].sum(axis=0, dtype=np.float64)
        total = (added if total is None else added + total).astype(np.float32)
        turns = pending[closed[-1]].turns
        sha256 = hashes[turns - state.turns - 1]
    kept = ChunkState(state.model, turns, sha256, state.chunks + len(closed), total)
    opened = [place for place, chunk in enumerate(pending) if not chunk.closed]
    count = kept.chunks + len(opened)
    if not count:
        raise ValueError("a conversation without any text has no vector")
    whole = vectors[opened].sum(axis=0, dtype=np.float64) + (0.0 if total is None else total)
    covered = hashes[pending[-1].turns - state.turns - 1] if pending else state.sha256
    return ConversationVector(state.model, (whole / count).astype(np.float32), covered, kept)
