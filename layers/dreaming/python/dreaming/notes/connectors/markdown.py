"""Notes from a folder of Markdown: one for each file."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from functools import cache
from pathlib import Path
from time import time_ns

from dreaming.errors import InvalidInput
from dreaming.notes.cleaning import clean, is_empty
from dreaming.notes.connectors.decoding import decode
from dreaming.notes.connectors.files import file_mark, is_same, is_untouched
from dreaming.notes.connectors.front_matter import FrontMatter, split_front_matter
from dreaming.notes.connectors.git import last_changes
from dreaming.notes.connectors.marks import Feed, Marks, OpenMarks
from dreaming.notes.connectors.records import Item, Reading, Skipped, Warned, note_or_skipped, short_id
from dreaming.notes.connectors.times import moment_in_name
from dreaming.notes.records import IncomingNote, Trust

SUFFIXES = frozenset({".md", ".markdown", ".mdown", ".mkd", ".mkdn"})

_IGNORED_FOLDERS = frozenset({"node_modules", "__pycache__"})
_MOST_BYTES_PER_CHARACTER = 4
_HEADING = re.compile(r"#{1,6}[ \t]+(?P<title>.*?)[ \t#]*")
_UNDERLINE = re.compile(r"=+[ \t]*")
_FENCE = re.compile(r"[ ]{0,3}(```|~~~)")


@dataclass(frozen=True, slots=True)
class MarkdownOptions:
    """How files become notes; `timezone` holds for times without an offset."""

    max_note_characters: int
    source: str | None = None
    timezone: tzinfo = UTC
    trust: Trust = Trust.TRUSTED


@dataclass(frozen=True, slots=True)
class _Found:
    """A file below the folder: by its name, which is its path with `/`, and its size in bytes."""

    path: Path
    name: str
    size: int


@dataclass
class _Listing:
    """What stands in a folder. Below an `unreadable` folder nothing can be told to be gone."""

    files: list[_Found]
    skipped: list[Skipped]
    unreadable: list[str]


def read_markdown(folder: Path, options: MarkdownOptions, open_marks: OpenMarks = Marks) -> Reading:
    """Read the Markdown files in a folder and its subfolders, in the order of their names; progress in bytes.

    A note's id is the file's path below the folder, its source `markdown:<folder>` by default, its origin
    the file itself, its text what is written below the front matter, links and all. The title leads the
    text where no heading does: the front matter's, or the file's name. The time is the front matter's, or
    the date in the file's name, or that of the last commit when git has the file as it is, or else the
    modification time. Tags and title are kept as metadata.

    Hidden folders and files, `node_modules` and `__pycache__` are left out. Links to files and folders are
    not followed: they lead to what is read elsewhere, or in circles.

    Remembered are size, time and hash of each file of which nothing was skipped. A known file with the
    same content is not read again. The reading's `missing` are ids of notes whose files are gone.

    Raises:
        InvalidInput: there is no such folder.
    """
    if not folder.is_dir():
        raise InvalidInput("path", f"{str(folder)!r} is not a folder", "name a folder of Markdown files")
    folder = folder.resolve()
    source = options.source or f"markdown:{folder.name or 'root'}"
    listing = _listing(folder)
    marks = open_marks(Feed.of("markdown", source, str(folder)), repr(options))
    return Reading(
        _items(folder, source, listing, options, marks),
        total=sum(file.size for file in listing.files),
        unit="bytes",
        marks=marks,
        missing=_missing(listing, marks),
    )


def _listing(folder: Path) -> _Listing:
    found = _Listing([], [], [])

    def fail(error: OSError) -> None:
        name = _name(folder, Path(error.filename))
        found.unreadable.append(name)
        found.skipped.append(Skipped(name, f"the folder cannot be read: {error.strerror}"))

    for place, folders, files in os.walk(folder, onerror=fail):
        visible = sorted(name for name in folders if not name.startswith(".") and name not in _IGNORED_FOLDERS)
        for name in visible:
            if Path(place, name).is_symlink():
                found.skipped.append(Skipped(_name(folder, Path(place, name)), "is a link, which is not followed"))
        folders[:] = [name for name in visible if not Path(place, name).is_symlink()]
        for name in sorted(files):
            if not name.startswith("."):
                _list_file(Path(place, name), folder, found)
    return found


def _name(folder: Path, path: Path) -> str:
    return path.relative_to(folder).as_posix()


def _list_file(path: Path, folder: Path, found: _Listing) -> None:
    name = _name(folder, path)
    try:
        status = path.lstat()
        name.encode()
    except UnicodeEncodeError:
        found.skipped.append(Skipped(name.encode(errors="replace").decode(), "its name is not UTF-8"))
        return
    except OSError as error:
        found.unreadable.append(name)
        found.skipped.append(Skipped(name, f"cannot be read: {error.strerror}"))
        return
    if path.suffix.lower() not in SUFFIXES:
        found.skipped.append(Skipped(name, f"is not Markdown: {path.suffix or 'no suffix'}"))
    elif stat.S_ISLNK(status.st_mode):
        found.skipped.append(Skipped(name, "is a link, which is not followed"))
    elif not stat.S_ISREG(status.st_mode):
        found.skipped.append(Skipped(name, "is not a regular file"))
    else:
        found.files.append(_Found(path, name, status.st_size))


def _entry(name: str) -> str:
    """The id of a note; cleaned as ingest will clean it, so that both are the same."""
    return short_id(clean(name))


def _missing(listing: _Listing, marks: Marks) -> tuple[str, ...]:
    if "." in listing.unreadable:
        return ()
    present = {_entry(file.name) for file in listing.files}
    below = tuple(f"{name}/" for name in listing.unreadable)
    gone = marks.entries - present - set(map(_entry, listing.unreadable))
    return tuple(sorted(entry for entry in gone if not entry.startswith(below)))


def _items(
    folder: Path, source: str, listing: _Listing, options: MarkdownOptions, marks: Marks
) -> Iterator[tuple[int, Item]]:
    for skipped in listing.skipped:
        yield 0, skipped
    commits = cache(lambda: last_changes(folder))
    names: dict[str, str] = {}
    done = 0
    for file in listing.files:
        first = names.setdefault(_entry(file.name), file.name)
        if first != file.name:
            yield done, Skipped(file.name, "its name differs from another's in nothing but the form of its characters")
            continue
        for item in _read_file(file, source, options, marks, commits):
            yield done, item
        done += file.size


def _read_file(
    file: _Found, source: str, options: MarkdownOptions, marks: Marks, commits: Callable[[], dict[str, datetime]]
) -> Iterator[Item]:
    entry = _entry(file.name)
    known = marks.known(entry)
    if file.size > options.max_note_characters * _MOST_BYTES_PER_CHARACTER + _MOST_BYTES_PER_CHARACTER:
        yield Skipped(file.name, f"has {file.size:,} bytes, more than a note may have")
        return
    try:
        status, read_ns = file.path.stat(), time_ns()
        if is_untouched(known, status):
            return
        data = file.path.read_bytes()
    except OSError as error:
        yield Skipped(file.name, f"cannot be read: {error.strerror}")
        return
    items: list[Item] = []
    if not is_same(known, data):
        modified = datetime.fromtimestamp(status.st_mtime, UTC)
        items = _parse(file, data, lambda: commits().get(file.name) or modified, source, options)
        yield from items
    if not any(isinstance(item, Skipped) for item in items):
        marks.put(entry, file_mark(status, data, read_ns))
    elif any(isinstance(item, IncomingNote) for item in items):
        marks.put(entry, {})  # read again next time, and missed when it is gone


def _parse(
    file: _Found, data: bytes, changed_at: Callable[[], datetime], source: str, options: MarkdownOptions
) -> list[Item]:
    text = decode(data)
    if text is None:
        return [Skipped(file.name, "is not text in UTF-8, UTF-16 or Latin-1")]
    known, body = split_front_matter(text, options.timezone)
    place = f"{file.name}, front matter"
    problems = [Warned(place, f"{problem}; the note goes in without it") for problem in known.problems]
    heading = first_heading(body)
    title = known.title or heading or file.path.stem
    note = note_or_skipped(
        file.name,
        max_note_characters=options.max_note_characters,
        external_id=_entry(file.name),
        source=source,
        origin=short_id(clean(f"{source}:{file.name}")),
        text=_titled(known, heading, file.path.stem, body),
        occurred_at=known.written_at or moment_in_name(file.path.name, options.timezone) or changed_at(),
        author=known.authors[0] if known.authors else None,
        participants=known.authors,
        trust=options.trust,
        metadata={"title": title} | ({"tags": list(known.tags)} if known.tags else {}),
    )
    return [note] if isinstance(note, Skipped) else [*problems, note]


def _titled(known: FrontMatter, heading: str | None, stem: str, body: str) -> str:
    """The text with its title, without which "it is due on Monday" says little; nothing stays nothing."""
    title = known.title or (None if heading else stem)
    has_words = title is not None and any(map(str.isalpha, title))
    if not has_words or title == heading or is_empty(body):
        return body
    return f"# {title}\n\n{body.lstrip()}"


def first_heading(text: str) -> str | None:
    """Return the first heading of a Markdown text, outside of fenced code, or None."""
    fence: str | None = None
    before = ""
    for line in text.splitlines():
        fenced = _FENCE.match(line)
        if fenced and fence in {None, fenced[1]}:
            fence = None if fence else fenced[1]
        elif fence is None:
            heading = _HEADING.fullmatch(line)
            if heading and heading["title"]:
                return heading["title"].strip()
            if before.strip() and before[0] not in "#>-*|" and _UNDERLINE.fullmatch(line):
                return before.strip()
        before = line
    return None
