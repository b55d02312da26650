"""From what a client hands in to the turns that are kept."""

from __future__ import annotations

from collections.abc import Iterable

from dreaming.notes.cleaning import is_empty
from dreaming.notes.echo import strip
from dreaming.notes.secrets import mask, shortened
from dreaming.recall.records import NO_TURNS, IncomingTurn, StoredTurn, chained


def prepare(turns: Iterable[IncomingTurn]) -> list[StoredTurn]:
    """Return the turns without secrets, without what was recalled from here, and without those that say nothing."""
    kept: list[StoredTurn] = []
    sha256 = NO_TURNS
    for turn in turns:
        text = without_secrets(strip(turn.text)).strip()
        if is_empty(text):
            continue
        speaker = without_secrets(turn.speaker).strip() or None if turn.speaker else None
        sha256 = chained(sha256, speaker, text)
        kept.append(StoredTurn(speaker, text, turn.said_at, sha256))
    return kept


def without_secrets(text: str) -> str:
    """Return a text with its secrets masked; how long they were does not show."""
    return shortened(mask(text).text)
