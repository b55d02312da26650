"""Whole conversations from transcripts, for capture: the same files and the same turns as for notes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from dreaming.notes.connectors.decoding import decode
from dreaming.notes.connectors.records import Skipped
from dreaming.notes.connectors.spoken import parse_spoken
from dreaming.notes.connectors.subtitles import parse_subtitles
from dreaming.notes.connectors.times import moment_in_name, parse_moment
from dreaming.notes.connectors.turns import DEFAULT_WINDOW_CHARACTERS, Turn, join_turns, parse_turn

_SUBTITLES = frozenset({".vtt", ".srt"})
_SPOKEN = frozenset({".txt", ".text", ".transcript"})
_LISTS = ("turns", "messages", "conversation")
_SPEAKERS = ("speaker", "role", "author", "name")
_SAID = ("text", "content", "message")
_TIMES = ("said_at", "at", "timestamp", "time", "created_at", "date")
_BEGAN = ("started_at", "start_time", "create_time", *_TIMES)
_COUNTED = re.compile(r"\s*\d+(?:\.\d+)?\s*")
_FIRST_COUNTED = datetime.fromtimestamp(10**8, UTC)
_LONGEST_OFFSET = timedelta(seconds=10**8)


class _UnreadTimeError(Exception):
    """A time that cannot be read; the message says where it stands."""


@dataclass(frozen=True, slots=True)
class Talk:
    """One conversation of a file, `place` in it, and when each of its turns was said, as far as that is known."""

    name: str
    turns: tuple[Turn, ...]
    said: tuple[datetime, ...]
    place: str


def read_talks(file: Path) -> Iterator[Talk | Skipped]:
    """Yield the conversations of a file: one of a transcript, one of each line of JSON lines.

    A line holds its turns in `turns`, `messages` or `conversation`, and its name in `conversation_id` or
    `id`. A turn without a time has that of the turn before it, the first ones that of the conversation,
    else the first time of any turn, else the date in the file's name, else the file's. Times without an
    offset are in UTC. What is no conversation, or has a time that cannot be read, is skipped with its place.
    """
    try:
        data, modified = file.read_bytes(), datetime.fromtimestamp(file.stat().st_mtime, UTC)
    except OSError as error:
        yield Skipped(file.name, f"cannot be read: {error.strerror}")
        return
    text = decode(data)
    start = moment_in_name(file.name, UTC) or modified
    if text is None:
        yield Skipped(file.name, "is not text in UTF-8, UTF-16 or Latin-1")
    elif file.suffix.lower() == ".jsonl":
        yield from _lines(file.name, text, start)
    elif file.suffix.lower() in _SUBTITLES | _SPOKEN:
        yield _transcript(file, text, start)
    else:
        yield Skipped(
            file.name, f"unknown file type {file.suffix or 'without a suffix'}; known: .vtt, .srt, .txt, .jsonl"
        )


def _transcript(file: Path, text: str, start: datetime) -> Talk | Skipped:
    if file.suffix.lower() in _SUBTITLES:
        parts = (part for part in parse_subtitles(text) if isinstance(part, Turn))
        turns = list(join_turns(parts, DEFAULT_WINDOW_CHARACTERS))
        missing = "no block with a timing line"
    else:
        turns = [turn for turn in parse_spoken(text) if turn.text]
        missing = "no line of the form `Speaker: text`"
        turns = turns if any(turn.speaker for turn in turns) else []
    said = tuple(start + min(turn.offset or timedelta(), _LONGEST_OFFSET) for turn in turns)
    return Talk(file.name, tuple(turns), said, file.name) if turns else Skipped(file.name, missing)


def _lines(name: str, text: str, start: datetime) -> Iterator[Talk | Skipped]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        place = f"{name}, line {number}"
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            yield Skipped(place, "is not JSON")
        else:
            yield _talk(row, f"{name}#{number}", place, start)


def _talk(row: Any, unnamed: str, place: str, start: datetime) -> Talk | Skipped:
    lists = [row[key] for key in _LISTS if isinstance(row.get(key), list)] if isinstance(row, dict) else []
    if not lists:
        return Skipped(place, f"is no object with a list in {', '.join(_LISTS)}")
    read = [(number, one, turn) for number, one in enumerate(lists[0], start=1) if (turn := _turn(one)) is not None]
    if not read:
        return Skipped(place, "holds no turn")
    try:
        began = _moment(row, _BEGAN, "")
        known = [_moment(one, _TIMES, f" of turn {number}") for number, one, _ in read]
    except _UnreadTimeError as error:
        return Skipped(place, str(error))
    first = began or next((moment for moment in known if moment is not None), start)
    called = str(row.get("conversation_id") or row.get("id") or unnamed)
    return Talk(called, tuple(turn for _, _, turn in read), tuple(_filled(known, first)), place)


def _filled(known: Sequence[datetime | None], start: datetime) -> Iterator[datetime]:
    last = start
    for moment in known:
        last = moment or last
        yield last


def _moment(held: Any, keys: Sequence[str], whose: str) -> datetime | None:
    """Return the first time that can be read in one of the fields; None where all are absent or empty."""
    given = {key: held[key] for key in keys if held.get(key) not in (None, "")} if isinstance(held, Mapping) else {}
    for value in given.values():
        moment = parse_moment(value, UTC)
        if moment is not None and _is_possible(moment, value):
            return moment.astimezone(UTC)
    if given:
        problem = f"has a time in field {next(iter(given))!r}{whose} that cannot be read"
        raise _UnreadTimeError(f"{problem}; write it as 2026-03-05T14:00+01:00, or in seconds since 1970")
    return None


def _is_possible(moment: datetime, value: object) -> bool:
    """Whether a moment can be meant: few seconds since 1970 are those since the conversation began."""
    is_counted = not isinstance(value, str) or _COUNTED.fullmatch(value) is not None
    return 1 < moment.year < 9999 and not (is_counted and moment < _FIRST_COUNTED)


def _turn(one: Any) -> Turn | None:
    if isinstance(one, str):
        return parse_turn(one) if one.strip() else None
    if not isinstance(one, dict) or str(one.get("role")).lower() in {"system", "developer"}:
        return None
    said = next((one[key] for key in _SAID if isinstance(one.get(key), str)), "")
    speaker = next((str(one[key]) for key in _SPEAKERS if one.get(key)), None)
    return Turn(speaker, said) if said.strip() else None
