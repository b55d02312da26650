"""The one vector of a conversation, carried on as it grows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dreaming.recall.chunks import CHUNK_TOKENS, chunks, token_estimate
from dreaming.recall.preparation import prepare
from dreaming.recall.records import ChunkState, ConversationVector, IncomingTurn, StoredTurn
from dreaming.recall.vectors import carried_on, pending_chunks, resumed

TURNS = st.lists(st.text("ab 漢。.\n", min_size=1, max_size=1500).filter(str.strip), min_size=1, max_size=12)


def vector(text: str) -> NDArray[np.float32]:
    made = np.random.default_rng(abs(hash(text))).standard_normal(8)
    return (made / np.linalg.norm(made)).astype(np.float32)


def turns(texts: list[str]) -> list[StoredTurn]:
    return prepare(IncomingTurn(text=text) for text in texts)


class Counting:
    """Makes vectors of chunks and remembers which."""

    def __init__(self) -> None:
        self.embedded: list[str] = []

    def carry(self, state: ChunkState | None, said: list[StoredTurn], most: int = 10_000) -> ConversationVector:
        start = resumed(state, "m", said)
        new = said[start.turns :]
        pending = pending_chunks(start, new, most=most)
        self.embedded += [chunk.text for chunk in pending]
        rows = np.stack([vector(chunk.text) for chunk in pending])
        return carried_on(start, pending, rows, [turn.sha256 for turn in new])


@settings(deadline=None)
@given(TURNS)
def test_chunks_are_within_the_bound_and_lose_nothing(texts: list[str]) -> None:
    made = list(chunks(texts))
    assert all(token_estimate(chunk.text) <= CHUNK_TOKENS for chunk in made)
    assert "".join("".join(chunk.text.split()) for chunk in made) == "".join("".join(text.split()) for text in texts)
    assert [chunk.closed for chunk in made].count(False) <= 1
    assert made[-1].turns == len(texts)


@settings(deadline=None)
@given(TURNS, st.integers(1, 12))
def test_growing_in_steps_gives_the_vector_of_the_whole(texts: list[str], step: int) -> None:
    said = turns(texts)
    whole = Counting().carry(None, said)
    state: ChunkState | None = None
    made = whole
    for end in sorted({*range(step, len(said), step), len(said)}):
        made = Counting().carry(state, said[:end])
        state = made.state
    assert np.allclose(made.vector, whole.vector, atol=1e-5)
    assert made.sha256 == whole.sha256 == said[-1].sha256
    assert (made.state.turns, made.state.chunks, made.state.sha256) == (
        *(whole.state.turns, whole.state.chunks, whole.state.sha256),
    )


@settings(deadline=None)
@given(TURNS, st.integers(1, 3))
def test_embedding_a_few_chunks_at_a_time_ends_at_the_same_vector(texts: list[str], most: int) -> None:
    said = turns(texts)
    whole = Counting().carry(None, said)
    state: ChunkState | None = None
    for _ in range(200):
        made = Counting().carry(state, said, most)
        if made.sha256 == said[-1].sha256:
            assert np.allclose(made.vector, whole.vector, atol=1e-5)
            return
        assert made.state.turns > (state.turns if state else 0)
        state = made.state
    raise AssertionError("it never ended")


def test_an_append_embeds_the_open_end_and_what_is_new() -> None:
    texts = [f"turn {number} " + "word " * 100 for number in range(40)]
    first, counting = Counting().carry(None, turns(texts)), Counting()
    counting.carry(first.state, turns([*texts, "one more"]))
    assert "\n".join(counting.embedded).splitlines() == [turn.strip() for turn in texts[first.state.turns :]] + [
        "one more"
    ]
    assert len(texts) - first.state.turns <= 2


def test_a_changed_beginning_or_another_model_starts_anew() -> None:
    texts = [f"turn {number} " + "word " * 100 for number in range(40)]
    state = Counting().carry(None, turns(texts)).state
    assert state.turns > 0
    assert resumed(state, "m", turns(["changed", *texts[1:]])).turns == 0
    assert resumed(state, "other", turns(texts)).turns == 0
    assert resumed(state, "m", turns(texts[: state.turns - 1])).turns == 0
    assert resumed(state, "m", turns(texts)) is state


def test_nothing_has_no_vector() -> None:
    with pytest.raises(ValueError, match="no vector"):
        carried_on(resumed(None, "m", []), [], np.zeros((0, 8), dtype=np.float32), [])
