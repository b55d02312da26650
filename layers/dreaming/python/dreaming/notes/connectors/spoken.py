"""Reading of plain-text transcripts: lines of `Speaker: text`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dreaming.notes.connectors.turns import Turn, parse_turn

_STAMP = re.compile(r"\s*[\[(]?(?:\d{1,3}:)?\d{1,3}:\d{2}(?:[.,]\d{1,3})?[\])]?\s+(?=\S)")


def parse_spoken(text: str) -> Iterator[Turn]:
    """Yield the turns of `text`; a line without a speaker belongs to the turn before it.

    A time stamp at the start of a speaker's line is left out: whether it is a time of day or a time
    since the start cannot be told.
    """
    speaker: str | None = None
    lines: list[str] = []
    for line in text.splitlines():
        turn = parse_turn(_STAMP.sub("", line, count=1) if _STAMP.match(line) else line)
        if turn.speaker is None:
            lines.append(line.rstrip())
            continue
        yield Turn(speaker, "\n".join(lines).strip())
        speaker, lines = turn.speaker, [turn.text]
    yield Turn(speaker, "\n".join(lines).strip())
