"""Notes from transcripts: WebVTT, SubRip, and plain text with `Speaker: text` lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from time import time_ns

from dreaming.errors import InvalidInput
from dreaming.notes.connectors.decoding import decode
from dreaming.notes.connectors.files import file_mark, is_same, is_untouched
from dreaming.notes.connectors.marks import Feed, Marks, OpenMarks
from dreaming.notes.connectors.records import Item, Reading, Skipped, note_or_skipped, short_id
from dreaming.notes.connectors.spoken import parse_spoken
from dreaming.notes.connectors.subtitles import parse_subtitles
from dreaming.notes.connectors.times import moment_in_name
from dreaming.notes.connectors.turns import DEFAULT_WINDOW_CHARACTERS, Turn, join_turns, windows
from dreaming.notes.records import Trust

_SUBTITLES = frozenset({".vtt", ".srt"})
_SPOKEN = frozenset({".txt", ".text", ".transcript"})


@dataclass(frozen=True, slots=True)
class TranscriptOptions:
    """How transcripts become notes.

    `date` is the start of every conversation; without it the date in a file's name counts, and last
    the file's modification time. `timezone` holds for dates in names.
    """

    max_note_characters: int
    source: str = "transcript"
    date: datetime | None = None
    timezone: tzinfo = UTC
    window_characters: int = DEFAULT_WINDOW_CHARACTERS
    trust: Trust = Trust.TRUSTED


def read_transcripts(path: Path, options: TranscriptOptions, open_marks: OpenMarks = Marks) -> Reading:
    """Read a transcript, or all within a folder and its subfolders but hidden ones; progress in bytes.

    A file is one conversation (origin), and each window of turns one note, named by the path below the
    folder (or the file's name) and the window's number. Windows are fixed from the start, so a file
    read again changes nothing, and one with turns added changes its last note and adds others, unless
    its time is the modification time: then all of its notes are edited.

    Remembered are size, time and hash of each file of which nothing was skipped. A known file whose
    content is the same is not read again, even when its time has changed.

    Raises:
        InvalidInput: there is no such file or folder, or an option cannot hold.
    """
    if options.window_characters < 1:
        raise InvalidInput("window_characters", "is not positive", "use a number such as 3000")
    if options.date is not None and options.date.utcoffset() is None:
        raise InvalidInput("date", "has no offset from UTC", "write one, such as 2024-03-05T14:00+01:00")
    if not path.exists():
        raise InvalidInput("path", f"{str(path)!r} does not exist", "name a transcript or a folder of transcripts")
    folder = path if path.is_dir() else path.parent
    files = sorted(_visible_files(path)) if path.is_dir() else [path]
    total = sum(_size(file) for file in files)
    marks = open_marks(Feed.of("transcript", options.source, str(path.resolve())), repr(options))
    return Reading(_items(folder, files, options, marks), total=total, unit="bytes", marks=marks)


def _visible_files(folder: Path) -> Iterator[Path]:
    for file in folder.rglob("*"):
        if file.is_file() and not any(part.startswith(".") for part in file.relative_to(folder).parts):
            yield file


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0


def _items(folder: Path, files: Iterable[Path], options: TranscriptOptions, marks: Marks) -> Iterator[tuple[int, Item]]:
    done = 0
    for file in files:
        name = file.relative_to(folder).as_posix()
        for item in _read_file(file, name, options, marks):
            yield done, item
        done += _size(file)


def _read_file(file: Path, name: str, options: TranscriptOptions, marks: Marks) -> Iterator[Item]:
    if file.suffix.lower() not in _SUBTITLES | _SPOKEN:
        hint = "; lines of JSON are read by `dream ingest jsonl`" if file.suffix.lower() == ".jsonl" else ""
        yield Skipped(name, f"unknown file type {file.suffix or 'without a suffix'}; known: .vtt, .srt, .txt{hint}")
        return
    entry = short_id(name.encode(errors="surrogateescape").decode(errors="replace"))
    known = marks.known(entry)
    try:
        status, read_ns = file.stat(), time_ns()
        if is_untouched(known, status):
            return
        data = file.read_bytes()
    except OSError as error:
        yield Skipped(name, f"cannot be read: {error.strerror}")
        return
    whole = True
    if not is_same(known, data):
        for item in _parse(file, data, datetime.fromtimestamp(status.st_mtime, UTC), name, options):
            whole = whole and not isinstance(item, Skipped)
            yield item
    if whole:
        marks.put(entry, file_mark(status, data, read_ns))


def _parse(file: Path, data: bytes, modified: datetime, name: str, options: TranscriptOptions) -> Iterator[Item]:
    text = decode(data)
    if text is None:
        yield Skipped(name, "is not text in UTF-8, UTF-16 or Latin-1")
        return
    if file.suffix.lower() in _SUBTITLES or text.startswith("WEBVTT"):
        parts = list(parse_subtitles(text))
        yield from (Skipped(f"{name}, {part.location}", part.reason) for part in parts if isinstance(part, Skipped))
        turns = list(join_turns((part for part in parts if isinstance(part, Turn)), options.window_characters))
        missing = "no block with a timing line"
    else:
        turns = list(parse_spoken(text))
        missing = "no line of the form `Speaker: text`"
        if not any(turn.speaker for turn in turns):
            turns = []
    if not turns:
        yield Skipped(name, missing)
        return
    start = options.date or moment_in_name(file.name, options.timezone) or modified
    yield from _notes(turns, name, start, options)


_ORIGIN = "transcript"
_LAST_MOMENT = datetime(9999, 12, 30, tzinfo=UTC)


def _notes(turns: Iterable[Turn], name: str, start: datetime, options: TranscriptOptions) -> Iterator[Item]:
    # Of every source: a capture of the transcript has this origin too, and the two are one witness.
    origin = short_id(f"{_ORIGIN}:{name}")
    for window in windows(turns, options.window_characters):
        offset = next((turn.offset for turn in window.turns if turn.offset is not None), timedelta())
        if start > _LAST_MOMENT - offset:
            yield Skipped(f"{name}, window {window.index}", "lies beyond the year 9999")
            continue
        yield note_or_skipped(
            f"{name}, window {window.index}",
            max_note_characters=options.max_note_characters,
            external_id=short_id(f"{name}#{window.index}"),
            source=options.source,
            origin=origin,
            text=window.text,
            occurred_at=start + offset,
            participants=window.participants[:200],
            trust=options.trust,
        )
