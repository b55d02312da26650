"""Splitting of a note that is longer than the model's window."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from dataclasses import dataclass

from dreaming.notes.sentences import sentence_spans

_FURTHEST_STEP_BACK = 64
"""Longest combining sequence, in code points, that a hard cut goes around."""

_JOINERS = frozenset("\u200d\u034f")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A stretch of a note: `text` stands at code point `start` of the note."""

    index: int
    start: int
    text: str


def split(text: str, max_characters: int) -> list[Chunk]:
    """Cut `text` into chunks of at most `max_characters` code points that together are the text.

    Cuts lie where a sentence ends, else after white space, else anywhere but inside a character with
    its combining marks, joiners or modifiers. No chunk is empty; an empty text has none.

    Raises:
        ValueError: `max_characters` is not positive.
    """
    if max_characters < 1:
        raise ValueError("max_characters must be positive")
    if len(text) <= max_characters:
        return [Chunk(0, 0, text)] if text else []
    sentences = sentence_spans(text)
    starts, ends = [start for start, _ in sentences], [end for _, end in sentences]
    chunks: list[Chunk] = []
    position = 0
    while position < len(text):
        end = _cut(text, position, max_characters, starts, ends)
        chunks.append(Chunk(len(chunks), position, text[position:end]))
        position = end
    return chunks


def _cut(text: str, position: int, max_characters: int, starts: list[int], ends: list[int]) -> int:
    """Where the chunk from `position` ends; `starts` and `ends` are those of the text's sentences."""
    limit = position + max_characters
    if limit >= len(text):
        return len(text)
    whole = bisect_right(ends, limit)
    if whole and ends[whole - 1] > position:
        return min(limit, starts[whole]) if whole < len(starts) else limit
    window = text[position:limit]
    words = window.rstrip()
    if not words or (len(words) < len(window) and not text[limit].isspace()):
        return limit
    tail = words.rsplit(None, 1)
    if len(tail) == 2:
        return position + len(words) - len(tail[1])
    return position + len(words) if len(words) < len(window) else _hard_cut(text, position, limit)


def _hard_cut(text: str, position: int, limit: int) -> int:
    for cut in range(limit, max(position, limit - _FURTHEST_STEP_BACK), -1):
        if not _is_joined(text[cut - 1], text[cut]):
            return cut
    return limit


def _is_joined(left: str, right: str) -> bool:
    """Whether the two characters are shown as one."""
    return (
        unicodedata.category(right)[0] == "M"
        or right in _JOINERS
        or left in _JOINERS
        or "\U0001f3fb" <= right <= "\U0001f3ff"
        or ("\U0001f1e6" <= left <= "\U0001f1ff" and "\U0001f1e6" <= right <= "\U0001f1ff")
        or ("\ud800" <= left <= "\udbff" and "\udc00" <= right <= "\udfff")
        or (left == "\r" and right == "\n")
    )
