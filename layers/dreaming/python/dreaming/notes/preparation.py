"""What happens to a note at the door, before anything is written."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256

from pydantic import JsonValue

from dreaming.errors import InvalidInput
from dreaming.notes.cleaning import is_empty
from dreaming.notes.echo import strip
from dreaming.notes.records import IncomingNote, PreparedNote

_LONGEST_KEY_BYTES = 2_500
"""`source` and `external_id` share an index row, of which PostgreSQL takes at most 2,704 bytes."""


def prepare(note: IncomingNote, *, max_note_characters: int) -> PreparedNote:
    """Strip recalled text from a note, fill in its defaults and hash its content.

    The hash covers all that reaches a model: text, time and offset, author, participants, trust, origin.

    Raises:
        InvalidInput: the text is longer than `max_note_characters` code points, the ids are too long
            together, or the time or the metadata cannot be stored. Names the note.
    """
    name = f"{note.source}:{note.external_id}"
    _check_key(note)
    text = strip(note.text)
    if len(text) > max_note_characters:
        raise InvalidInput(
            "text",
            f"note {name!r} has {len(text):,} characters, more than the {max_note_characters:,} allowed",
            "split it into several notes, or raise the setting max_note_characters",
        )
    _check_metadata(note.metadata, name)
    occurred_at, occurred_offset = _moment(note.occurred_at, name)
    origin = note.origin or name
    author = note.author or None
    participants = tuple(filter(None, note.participants))
    content = [text, occurred_at.isoformat(), occurred_offset, author, participants, note.trust.value, origin]
    return PreparedNote(
        source=note.source,
        external_id=note.external_id,
        origin=origin,
        text=text,
        empty=is_empty(text),
        occurred_at=occurred_at,
        occurred_offset=occurred_offset,
        author=author,
        participants=participants,
        trust=note.trust,
        metadata=note.metadata,
        content_sha256=sha256(json.dumps(content, ensure_ascii=False).encode()).digest(),
    )


def fold(notes: Sequence[PreparedNote]) -> list[PreparedNote]:
    """Keep the last of several posts of one note, at the place of that last post."""
    last = {(note.source, note.external_id): position for position, note in enumerate(notes)}
    return [note for position, note in enumerate(notes) if last[note.source, note.external_id] == position]


def _check_key(note: IncomingNote) -> None:
    length = len(note.source.encode()) + len(note.external_id.encode())
    if length > _LONGEST_KEY_BYTES:
        raise InvalidInput(
            "external_id",
            f"{note.external_id[:40]!r}… takes {length:,} bytes with its source, more than {_LONGEST_KEY_BYTES:,}",
            "use a shorter one, such as a hash",
        )


def _check_metadata(metadata: JsonValue, name: str) -> None:
    if isinstance(metadata, float) and not math.isfinite(metadata):
        raise InvalidInput("metadata", f"note {name!r} has a number that JSON cannot hold", "leave it out")
    if isinstance(metadata, dict):
        for value in metadata.values():
            _check_metadata(value, name)
    if isinstance(metadata, list):
        for value in metadata:
            _check_metadata(value, name)


def _moment(occurred_at: datetime, name: str) -> tuple[datetime, int]:
    """The moment in UTC, and the offset as written in whole seconds."""
    offset = (occurred_at.utcoffset() or timedelta()) // timedelta(seconds=1)
    try:
        return occurred_at.astimezone(UTC), offset
    except OverflowError as error:
        raise InvalidInput(
            "occurred_at", f"note {name!r} lies outside the years 1 to 9999 in UTC", "correct its time"
        ) from error
