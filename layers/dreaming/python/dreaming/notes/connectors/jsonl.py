"""Notes from JSON lines, plain or compressed with gzip, by a mapping of fields."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from hashlib import sha256
from pathlib import Path
from typing import Any

from dreaming.errors import InvalidInput
from dreaming.notes.connectors.fields import field_of
from dreaming.notes.connectors.lines import Line, check_packing, read_lines
from dreaming.notes.connectors.marks import Feed, Marks, OpenMarks
from dreaming.notes.connectors.records import Item, Reading, Skipped, note_or_skipped, short_id
from dreaming.notes.connectors.times import parse_moment
from dreaming.notes.connectors.turns import Turn, Window, parse_turn, windows
from dreaming.notes.records import Trust

_SYSTEM_ROLES = frozenset({"system", "developer"})
_SPEAKER_KEYS = ("speaker", "role", "author", "name")
_SAID_KEYS = ("text", "content", "message")
_MOST_PARTICIPANTS = 200
_LINES = "lines"


@dataclass(frozen=True, slots=True)
class JsonlOptions:
    """Which fields of a line make a note; `a.b` is field `b` of the object in `a`.

    `text_fields`: joined by a blank line; one that is a list gives a line for each item, and an item
    that is an object is written `speaker: text`.
    `id_fields`: joined by `:`, a colon within one doubled; an id that comes again in the file with other
    content is skipped; without them, or where one is missing, the id is a hash of the line's
    content, so that an edited line is a new note.
    `default_time`: for lines without a time; None skips them. `timezone`: of times without an offset.
    `participants_field`: a name or a list of names; without it those before a colon in a list of turns.
    `origin_field`: names the conversation or document that several lines come from.
    `role_field`: lines whose role is `system` or `developer` are instructions, not notes.
    `window_characters`: makes one note of each window of a list of turns, instead of one of the line;
    recommended for meetings, with 3,000: a failure then costs a window, not the meeting.
    """

    text_fields: tuple[str, ...]
    source: str
    max_note_characters: int
    id_fields: tuple[str, ...] = ()
    time_field: str | None = None
    default_time: datetime | None = None
    timezone: tzinfo = UTC
    author_field: str | None = None
    participants_field: str | None = None
    origin_field: str | None = None
    role_field: str | None = None
    metadata_fields: tuple[str, ...] = ()
    window_characters: int | None = None
    trust: Trust = Trust.TRUSTED


class _NoNoteError(Exception):
    """A line that is no note; the message says why, without its text."""


def read_jsonl(path: Path, options: JsonlOptions, open_marks: OpenMarks = Marks) -> Reading:
    """Read the notes of a file; progress in bytes of the file.

    A line that is no note is skipped by its number and the others are read. A compressed file that
    breaks off gives the lines before the break and one skipped place.

    Remembered is the end of the last whole line, with a hash of all before it, uncompressed: what was
    appended since is read alone, and a file that begins otherwise is read from the start. Lines that
    were skipped count as read.

    Raises:
        InvalidInput: the file cannot be opened, or an option cannot hold.
    """
    if not options.text_fields:
        raise InvalidInput("text_fields", "is empty", "name the field that holds the text")
    if options.time_field is None and options.default_time is None:
        raise InvalidInput("time_field", "is missing, and so is a default time", "name one of the two")
    if options.default_time is not None and options.default_time.utcoffset() is None:
        raise InvalidInput("default_time", "has no offset from UTC", "write one, such as 2024-03-05T14:00+01:00")
    if options.window_characters is not None and options.window_characters < 1:
        raise InvalidInput("window_characters", "is not positive", "use a number such as 3000")
    if not path.is_file():
        raise InvalidInput("path", f"{str(path)!r} is not a file", "name a file of JSON lines, plain or gzip")
    check_packing(path)
    marks = open_marks(Feed.of("jsonl", options.source, str(path.resolve())), repr(options))
    return Reading(_items(path, options, marks), total=path.stat().st_size, unit="bytes", marks=marks)


def _items(path: Path, options: JsonlOptions, marks: Marks) -> Iterator[tuple[int, Item]]:
    seen: dict[str, tuple[int, bytes]] = {}
    for line in read_lines(path, marks.known(_LINES)):
        for item in _line_items(line, options):
            yield line.done, _once(item, line.number, seen)
        if line.end is not None:
            marks.put(_LINES, line.end)


def _once(item: Item, line: int, seen: dict[str, tuple[int, bytes]]) -> Item:
    """Skip a note whose id an earlier line of the file has with other content.

    Stored, the two would edit each other at every reading.
    """
    if isinstance(item, Skipped):
        return item
    content = sha256(item.model_dump_json().encode()).digest()
    first, known = seen.setdefault(item.external_id, (line, content))
    return item if known == content else Skipped(f"line {line}", f"has the id of line {first} with other content")


def _line_items(line: Line, options: JsonlOptions) -> Iterator[Item]:
    if isinstance(line.content, Skipped):
        yield line.content
        return
    location = f"line {line.number}"
    try:
        yield from _notes(_parse(line), location, options)
    except _NoNoteError as error:
        yield Skipped(location, str(error))


def _parse(line: Line) -> dict[str, Any]:
    try:
        row = json.loads(str(line.content), parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise _NoNoteError(f"is not JSON: {error.msg} at character {error.pos + 1}") from error
    except (ValueError, RecursionError) as error:
        raise _NoNoteError("is JSON that cannot be read: nested too deeply, or a number out of bounds") from error
    if not isinstance(row, dict):
        raise _NoNoteError("is JSON, but not an object")
    return row


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


def _notes(row: dict[str, Any], location: str, options: JsonlOptions) -> Iterator[Item]:
    if options.role_field and str(field_of(row, options.role_field)).lower() in _SYSTEM_ROLES:
        raise _NoNoteError("is a system turn, an instruction and not a note")
    texts = [field_of(row, field) for field in options.text_fields]
    if all(text is None for text in texts):
        raise _NoNoteError(f"has no field {' or '.join(map(repr, options.text_fields))}")
    turns = [turn for text in texts if isinstance(text, list) for item in text if (turn := _turn(item))]
    name = short_id(_external_id(row, options))
    fields: dict[str, Any] = {
        "max_note_characters": options.max_note_characters,
        "external_id": name,
        "source": options.source,
        "occurred_at": _occurred_at(row, options),
        "author": _name(row, options.author_field),
        "participants": _participants(row, turns, options),
        "origin": _name(row, options.origin_field),
        "trust": options.trust,
        "metadata": {field: field_of(row, field) for field in options.metadata_fields},
    }
    if fields["origin"]:
        fields["origin"] = short_id(fields["origin"])
    if turns and options.window_characters and len(texts) == 1:
        yield from (_window_note(window, location, fields) for window in windows(turns, options.window_characters))
        return
    written = [_written(text, field) for text, field in zip(texts, options.text_fields, strict=True)]
    yield note_or_skipped(location, text="\n\n".join(filter(None, written)), **fields)


def _window_note(window: Window, location: str, fields: dict[str, Any]) -> Item:
    name = fields["external_id"]
    changed = {
        "external_id": short_id(f"{name}#{window.index}"),
        "origin": fields["origin"] or short_id(f"{fields['source']}:{name}"),
        "participants": fields["participants"] or window.participants[:_MOST_PARTICIPANTS],
    }
    return note_or_skipped(f"{location}, window {window.index}", text=window.text, **(fields | changed))


def _written(value: Any, field: str) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(item if isinstance(item, str) else turn.written for item in value if (turn := _turn(item)))
    raise _NoNoteError(f"field {field!r} holds neither text nor a list of texts")


def _turn(item: Any) -> Turn | None:
    """One item of a list of turns; None for nothing and for an instruction."""
    if isinstance(item, str):
        return parse_turn(item)
    if isinstance(item, dict):
        if str(item.get("role")).lower() in _SYSTEM_ROLES:
            return None
        speaker = next((str(item[key]) for key in _SPEAKER_KEYS if item.get(key)), None)
        return Turn(speaker, next((item[key] for key in _SAID_KEYS if isinstance(item.get(key), str)), ""))
    if item is None:
        return None
    raise _NoNoteError("a list of turns holds something that is neither text nor an object")


def _external_id(row: dict[str, Any], options: JsonlOptions) -> str:
    parts = [field_of(row, field) for field in options.id_fields]
    usable = [str(part) for part in parts if isinstance(part, str | int) and str(part).strip()]
    if parts and len(usable) == len(parts):
        return ":".join(usable) if len(usable) == 1 else ":".join(map(_escaped, usable))
    return f"sha256:{sha256(json.dumps(row, sort_keys=True).encode()).hexdigest()}"


def _escaped(part: str) -> str:
    """A part of a joined id: its own colons are doubled, or two pairs could make one id."""
    return part.replace(":", "::")


def _occurred_at(row: dict[str, Any], options: JsonlOptions) -> datetime:
    value = field_of(row, options.time_field) if options.time_field else None
    if value is None or value == "":
        if options.default_time is None:
            raise _NoNoteError(f"has no time in field {options.time_field!r}")
        return options.default_time
    moment = parse_moment(value, options.timezone)
    if moment is None:
        raise _NoNoteError(f"has a time in field {options.time_field!r} that cannot be read")
    return moment


def _name(row: dict[str, Any], field: str | None) -> str | None:
    value = field_of(row, field) if field else None
    if value is None or isinstance(value, dict | list):
        return None
    return str(value) or None


def _participants(row: dict[str, Any], turns: list[Turn], options: JsonlOptions) -> tuple[str, ...]:
    if options.participants_field is None:
        if options.window_characters:
            return ()  # each window names its own
        names = [turn.speaker for turn in turns if turn.speaker]
    else:
        value = field_of(row, options.participants_field)
        names = [str(name) for name in (value if isinstance(value, list) else [value]) if name]
    return tuple(dict.fromkeys(names))[:_MOST_PARTICIPANTS]
