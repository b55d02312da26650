"""Turns of a conversation, and the windows of turns that become notes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta

DEFAULT_WINDOW_CHARACTERS = 3_000
"""About 750 tokens: enough context for "it" and "that", and small enough to keep a quote near its claim."""

_SPEAKER = re.compile(r"([^\W\d_][^:\n]{0,59}?)[ \t]*:(?:[ \t]+|$)(?P<said>.*)", re.DOTALL)
_MOST_WORDS_IN_NAME = 5
_NOT_IN_NAME = re.compile(r"[!?;,\"<>=/\\]|[^\W\d_]{4,}\.\s|https?$", re.IGNORECASE)
_PARTICLES = frozenset({"and", "da", "de", "del", "der", "di", "du", "la", "le", "of", "the", "van", "von"})


@dataclass(frozen=True, slots=True)
class Turn:
    """What one speaker said in one go; `offset` is the time since the conversation's start."""

    speaker: str | None
    text: str
    offset: timedelta | None = None

    @property
    def written(self) -> str:
        """The turn as it stands in a note."""
        return f"{self.speaker}: {self.text}" if self.speaker else self.text


@dataclass(frozen=True, slots=True)
class Window:
    """Turns that become one note; `participants` are the speakers of the conversation so far."""

    index: int
    turns: tuple[Turn, ...]
    participants: tuple[str, ...]

    @property
    def text(self) -> str:
        """One line for each turn."""
        return "\n".join(turn.written for turn in self.turns)


def parse_turn(line: str) -> Turn:
    """Read `Speaker: text`; a line without a speaker's name before a colon is a turn of nobody."""
    match = _SPEAKER.match(line)
    if match is None or not _is_name(match[1]):
        return Turn(None, line.strip())
    return Turn(match[1].strip(), match["said"].strip())


def _is_name(label: str) -> bool:
    """Whether a label may be a name: one word, or a few that are no small ones."""
    words = label.split()
    if len(words) > _MOST_WORDS_IN_NAME or _NOT_IN_NAME.search(label):
        return False
    return len(words) == 1 or not any(word[0].islower() and word not in _PARTICLES for word in words)


def join_turns(parts: Iterable[Turn], characters: int) -> Iterator[Turn]:
    """Join subtitles of one speaker into turns of at most `characters`; a part without one goes on."""
    current: Turn | None = None
    for part in parts:
        speaker = part.speaker or (current.speaker if current else None)
        if current and speaker == current.speaker and len(current.text) + len(part.text) < characters:
            current = replace(current, text=f"{current.text} {part.text}".strip())
            continue
        if current:
            yield current
        current = replace(part, speaker=speaker)
    if current:
        yield current


def windows(turns: Iterable[Turn], characters: int) -> Iterator[Window]:
    """Put whole turns together until `characters` are reached; a turn as long as that stands alone.

    A window's end depends on nothing that comes after it, so a conversation that grows changes its
    last window only. Turns that say nothing are left out.
    """
    held: list[Turn] = []
    length = 0
    index = 0
    participants: dict[str, None] = {}
    for turn in turns:
        if not turn.text.strip():
            continue
        is_long = len(turn.written) >= characters
        if held and (is_long or length >= characters):
            yield Window(index, tuple(held), tuple(participants))
            held, length, index = [], 0, index + 1
        held.append(turn)
        length += len(turn.written) + 1
        if turn.speaker:
            participants.setdefault(turn.speaker)
    if held:
        yield Window(index, tuple(held), tuple(participants))
