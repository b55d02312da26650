"""Chunks of a conversation for the embedder, cut so that one which grows changes its last chunk only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from dreaming.notes.chunking import split

CHUNK_TOKENS = 256
"""Longest chunk: what the packaged model reads of a text, and as good as the mean over all turns."""

_ASCII_CHARACTERS_PER_TOKEN = 4
_LONGEST_PIECE = CHUNK_TOKENS * _ASCII_CHARACTERS_PER_TOKEN


@dataclass(frozen=True, slots=True)
class TurnChunk:
    """Text for one vector. `turns` is how many turns of the conversation are behind its end.

    A closed chunk stays as it is whatever is added to the conversation.
    """

    text: str
    turns: int
    closed: bool


def token_estimate(text: str) -> int:
    """Return about how many tokens a text has: a quarter of its ASCII characters, and each other one."""
    if text.isascii():
        return -(-len(text) // _ASCII_CHARACTERS_PER_TOKEN)
    others = sum(character > "\x7f" for character in text)
    return others - (others - len(text)) // _ASCII_CHARACTERS_PER_TOKEN


def chunks(turns: Iterable[str], *, first: int = 0) -> Iterator[TurnChunk]:
    """Put whole turns together up to `CHUNK_TOKENS`; a longer turn is split at its sentences and stands alone.

    `first` is how many turns come before the given ones. A chunk is closed by the turn that no longer fits,
    so where it ends depends on nothing later.
    """
    held: list[str] = []
    length = 0
    place = first
    for place, turn in enumerate(turns, start=first + 1):
        size = token_estimate(turn) + 1
        if held and length + size > CHUNK_TOKENS:
            yield TurnChunk("\n".join(held), place - 1, closed=True)
            held, length = [], 0
        if size > CHUNK_TOKENS:
            pieces = list(_pieces(turn))
            yield from (TurnChunk(piece, place, closed=True) for piece in pieces)
        elif turn.strip():
            held.append(turn)
            length += size
    if held:
        yield TurnChunk("\n".join(held), place, closed=False)


def _pieces(turn: str) -> Iterator[str]:
    """Cut a long turn so that each piece is within the bound, whatever its script."""
    size = max(1, _LONGEST_PIECE * len(turn) // max(1, _ASCII_CHARACTERS_PER_TOKEN * token_estimate(turn)))
    for piece in split(turn, size):
        if token_estimate(piece.text) <= CHUNK_TOKENS:
            yield piece.text
        else:
            yield from (part.text for part in split(piece.text, CHUNK_TOKENS))
