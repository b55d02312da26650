"""Whole conversations from transcripts, for capture: the same files and the same turns as for notes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dreaming.notes.connectors.decoding import decode
from dreaming.notes.connectors.records import Skipped
from dreaming.notes.connectors.spoken import parse_spoken
from dreaming.notes.connectors.subtitles import parse_subtitles
from dreaming.notes.connectors.times import moment_in_name
from dreaming.notes.connectors.turns import DEFAULT_WINDOW_CHARACTERS, Turn, join_turns, parse_turn

_SUBTITLES = frozenset({".vtt", ".srt"})
_SPOKEN = frozenset({".txt", ".text", ".transcript"})
_LISTS = ("turns", "messages", "conversation")
_SPEAKERS = ("speaker", "role", "author", "name")
_SAID = ("text", "content", "message")


@dataclass(frozen=True, slots=True)
class Talk:
    """One conversation of a file; `start` is when it began, as far as that is known."""

    name: str
    turns: tuple[Turn, ...]
    start: datetime


def read_talks(file: Path) -> Iterator[Talk | Skipped]:
    """Yield the conversations of a file: one of a transcript, one of each line of JSON lines.

    A line holds its turns in `turns`, `messages` or `conversation`, and its name in `conversation_id` or
    `id`. What is no conversation is skipped with its place.
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
    return Talk(file.name, tuple(turns), start) if turns else Skipped(file.name, missing)


def _lines(name: str, text: str, start: datetime) -> Iterator[Talk | Skipped]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        place = f"{name}, line {number}"
        try:
            row = json.loads(line)
            held = next(row[key] for key in _LISTS if isinstance(row.get(key), list))
            turns = tuple(turn for one in held if (turn := _turn(one)) is not None)
        except (ValueError, RecursionError):
            yield Skipped(place, "is not JSON")
        except (AttributeError, StopIteration):
            yield Skipped(place, f"is no object with a list in {', '.join(_LISTS)}")
        else:
            called = str(row.get("conversation_id") or row.get("id") or f"{name}#{number}")
            yield Talk(called, turns, start) if turns else Skipped(place, "holds no turn")


def _turn(one: Any) -> Turn | None:
    if isinstance(one, str):
        return parse_turn(one) if one.strip() else None
    if not isinstance(one, dict) or str(one.get("role")).lower() in {"system", "developer"}:
        return None
    said = next((one[key] for key in _SAID if isinstance(one.get(key), str)), "")
    speaker = next((str(one[key]) for key in _SPEAKERS if one.get(key)), None)
    return Turn(speaker, said) if said.strip() else None
