"""`dream ingest`: notes from a git history, transcripts and JSON lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import click

from dreaming.errors import Hold, InvalidInput
from dreaming.local.commands.command import DreamFamily, with_session
from dreaming.local.commands.session import Session
from dreaming.local.output import counted

if TYPE_CHECKING:
    from dreaming.database import Database
    from dreaming.local.output import ShowProgress
    from dreaming.notes.connectors.records import Reading, Skipped
    from dreaming.notes.records import IncomingNote, IngestCounts

NOTES_PER_TRANSACTION = 500
CHARACTERS_PER_TRANSACTION = 20_000_000
SKIPPED_SHOWN = 20

_NOTHING_READ = 2

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Ingested:
    """What came of some readings: counts, and every place that did not become a note."""

    counts: IngestCounts
    skipped: tuple[Skipped, ...]

    @property
    def notes(self) -> int:
        """How many notes were stored or found unchanged."""
        counts = self.counts
        return counts.created + counts.edited + counts.reinstated + counts.unchanged


@click.group(
    cls=DreamFamily,
    examples="""
    dream ingest git ~/code/shop                  # one note for each commit
    dream ingest transcript meetings/             # .vtt, .srt and `Speaker: text` files
    dream ingest jsonl chats.jsonl.gz --id-field id --text-field messages --time-field date
    """,
)
def ingest() -> None:
    """Bring in notes. Repeating an ingest changes nothing; changed text becomes a new version.

    What cannot be read is skipped and listed; the rest goes in. Notes are stored in transactions of
    500, so an interrupted ingest is repeated, not mended.
    """


def _trust_option(command: F) -> F:
    return click.option(
        "--trust",
        type=click.Choice(["trusted", "untrusted"]),
        default="trusted",
        show_default=True,
        help="Whether the notes come from your own systems, or from outside.",
    )(command)


@ingest.command(
    examples="""
    dream ingest git .                            # the history of this repository
    dream ingest git ~/code/shop --since 2025-01-01 --name shop
    """,
)
@click.argument("repository", metavar="PATH", type=click.Path(path_type=Path))
@click.option("--since", metavar="DATE", help="Only commits after this date or time.")
@click.option("--name", metavar="NAME", help="Name of the source, git:NAME; else the folder's name.")
@click.option("--merges", is_flag=True, help="Merge commits too.")
@_trust_option
@with_session
def git(session: Session, repository: Path, since: str | None, name: str | None, merges: bool, trust: str) -> int:
    """Bring in the commits reachable from HEAD of the repository at PATH, one note each."""
    from dreaming.notes.connectors.git import read_git
    from dreaming.notes.records import Trust

    with session.database() as database:
        limit = session.longest_note(database)
        reading = read_git(
            repository.expanduser(),
            max_note_characters=limit,
            name=name,
            since=moment("--since", since, UTC),
            merges=merges,
            trust=Trust(trust),
        )
        return _finish(session, ingest_readings(session, database, "ingest git", [reading], limit))


@ingest.command(
    examples="""
    dream ingest transcript standup.vtt --date 2026-03-05T09:30+01:00
    dream ingest transcript meetings/ --timezone Europe/Brussels
    """,
)
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--date", metavar="TIME", help="When the conversation began; else the date in its name.")
@click.option("--timezone", metavar="ZONE", default="UTC", show_default=True, help="Of times without an offset.")
@click.option("--source", metavar="NAME", default="transcript", show_default=True, help="Name of the source.")
@click.option("--window-characters", type=click.IntRange(1), help="How much of a conversation is one note.")
@_trust_option
@with_session
def transcript(
    session: Session,
    paths: Sequence[Path],
    date: str | None,
    timezone: str,
    source: str,
    window_characters: int | None,
    trust: str,
) -> int:
    """Bring in transcripts: WebVTT, SubRip, or text with `Speaker: text` lines, and folders of them."""
    from dreaming.notes.connectors.transcript import TranscriptOptions, read_transcripts
    from dreaming.notes.records import Trust

    _check_names(paths)
    zone = zone_of(timezone)
    with session.database() as database:
        limit = session.longest_note(database)
        options = TranscriptOptions(
            max_note_characters=limit,
            source=source,
            date=moment("--date", date, zone),
            timezone=zone,
            trust=Trust(trust),
        )
        if window_characters is not None:
            options = replace(options, window_characters=window_characters)
        readings = [read_transcripts(path.expanduser(), options) for path in paths]
        return _finish(session, ingest_readings(session, database, "ingest transcript", readings, limit))


@ingest.command(
    examples="""
    dream ingest jsonl mails.jsonl --id-field message_id --text-field subject --text-field body \\
        --time-field date --author-field from --trust untrusted
    dream ingest jsonl chats.jsonl.gz --text-field turns --window-characters 3000 --default-time 2024-01-01
    """,
)
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--text-field", "text_fields", metavar="FIELD", multiple=True, help="Repeatable; else `text`.")
@click.option("--id-field", "id_fields", metavar="FIELD", multiple=True, help="Repeatable; else a hash of the line.")
@click.option("--time-field", metavar="FIELD", help="When it was said or written.")
@click.option("--default-time", metavar="TIME", help="For lines without a time.")
@click.option("--timezone", metavar="ZONE", default="UTC", show_default=True, help="Of times without an offset.")
@click.option("--author-field", metavar="FIELD", help="Who said or wrote it.")
@click.option("--participants-field", metavar="FIELD", help="Who took part: a name or a list of names.")
@click.option("--origin-field", metavar="FIELD", help="The conversation or document that lines share.")
@click.option("--role-field", metavar="FIELD", help="Skips lines whose role is system or developer.")
@click.option("--metadata-field", "metadata_fields", metavar="FIELD", multiple=True, help="Repeatable; kept beside.")
@click.option("--source", metavar="NAME", help="Name of the source; else jsonl: and the file's name.")
@click.option("--window-characters", type=click.IntRange(1), help="Splits a list of turns into notes of this size.")
@_trust_option
@with_session
def jsonl(session: Session, /, file: Path, **given: Any) -> int:
    """Bring in a file of JSON lines, plain or gzip, one note for each line.

    FIELD names a field of the object on each line; a.b is field b of the object in a.
    """
    from dreaming.notes.connectors.jsonl import JsonlOptions, read_jsonl
    from dreaming.notes.records import Trust

    if not given["time_field"] and not given["default_time"]:
        raise InvalidInput("--time-field", "is missing", "name the field that holds the time, or give --default-time")
    zone = zone_of(given.pop("timezone"))
    with session.database() as database:
        limit = session.longest_note(database)
        options = JsonlOptions(
            **given
            | {
                "text_fields": given["text_fields"] or ("text",),
                "source": given["source"] or f"jsonl:{file.name.removesuffix('.gz').removesuffix('.jsonl')}",
                "default_time": moment("--default-time", given["default_time"], zone),
                "timezone": zone,
                "trust": Trust(given["trust"]),
                "max_note_characters": limit,
            }
        )
        reading = read_jsonl(file.expanduser(), options)
        return _finish(session, ingest_readings(session, database, "ingest jsonl", [reading], limit))


def ingest_readings(
    session: Session, database: Database, title: str, readings: Sequence[Reading], max_note_characters: int
) -> Ingested:
    """Store what the readings yield, 500 notes to a transaction, showing how far they are.

    Raises:
        Hold: the database went away; the message says how many notes were stored before.
    """
    from dreaming.notes.records import IngestCounts

    total = sum(reading.total for reading in readings)
    units = {reading.unit for reading in readings}
    unit = units.pop() if len(units) == 1 else "items"
    counts = IngestCounts()
    skipped: list[Skipped] = []
    with session.output.progress(title, total, unit) as show:
        before = 0
        for reading in readings:
            for batch in _batches(reading, skipped):
                try:
                    counts += _store(session, database, batch, max_note_characters)
                except Hold as hold:
                    stored = counts.created + counts.edited + counts.reinstated
                    raise type(hold)(f"{hold} ({counted(stored, 'note')} stored before; repeat the command)") from hold
                _show(show, before + reading.done, counts, skipped)
            before += reading.total
        _show(show, total, counts, skipped)
    return Ingested(replace(counts, skipped=len(skipped)), tuple(skipped))


def moment(option: str, written: str | None, zone: tzinfo) -> datetime | None:
    """Read a date or time of the command line; one without an offset is of `zone`."""
    from dreaming.notes.connectors.times import parse_moment

    if written is None:
        return None
    read = parse_moment(written, zone)
    if read is None:
        raise InvalidInput(option, f"is {written[:60]!r}", "write it as 2026-03-05 or 2026-03-05T14:00+01:00")
    return read


def zone_of(name: str) -> tzinfo:
    """Return the time zone of a name such as `Europe/Brussels`."""
    if name.upper() == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise InvalidInput("--timezone", f"is {name[:60]!r}", "use a name such as Europe/Brussels") from error


def _batches(reading: Reading, skipped: list[Skipped]) -> Iterable[list[IncomingNote]]:
    from dreaming.notes.records import IncomingNote

    batch: list[IncomingNote] = []
    characters = 0
    for item in reading:
        if not isinstance(item, IncomingNote):
            skipped.append(item)
            continue
        batch.append(item)
        characters += len(item.text)
        if len(batch) == NOTES_PER_TRANSACTION or characters > CHARACTERS_PER_TRANSACTION:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


def _store(
    session: Session, database: Database, notes: Sequence[IncomingNote], max_note_characters: int
) -> IngestCounts:
    from dreaming.identifiers import uuid7
    from dreaming.notes.service import ingest as ingest_notes

    return ingest_notes(
        database,
        session.key,
        notes,
        now=session.now(),
        new_id=uuid7,
        max_note_characters=max_note_characters,
    )


def _show(show: ShowProgress, done: int, counts: IngestCounts, skipped: Sequence[Skipped]) -> None:
    new = counts.created + counts.edited + counts.reinstated
    show(done, detail=f"{new:,} stored, {counts.unchanged:,} unchanged, {len(skipped):,} skipped")


def _check_names(paths: Sequence[Path]) -> None:
    """A note is named by its file, so two files of one name would edit each other."""
    seen: dict[str, Path] = {}
    for path in paths:
        if path.is_file() and path.name in seen:
            raise InvalidInput(
                "PATH",
                f"{str(seen[path.name])!r} and {str(path)!r} have the same name",
                "ingest their common folder, or each with a --source of its own",
            )
        seen[path.name] = path


def _finish(session: Session, ingested: Ingested) -> int:
    """Print what was ingested; the exit code says when nothing at all could be read."""
    if session.output.as_json:
        session.output.document({"slice": session.key, "counts": ingested.counts, "skipped": ingested.skipped})
    else:
        show_ingested(session, ingested)
    return _NOTHING_READ if ingested.skipped and not ingested.notes else 0


def show_ingested(session: Session, ingested: Ingested) -> None:
    """Print the counts, and the first places that were skipped with the reasons."""
    counts, output = ingested.counts, session.output
    parts = [f"{counts.created:,} created", f"{counts.edited:,} edited"]
    parts += [f"{counts.reinstated:,} reinstated"] if counts.reinstated else []
    parts += [f"{counts.unchanged:,} unchanged", f"{counts.skipped:,} skipped"]
    output.line(f"{counted(ingested.notes, 'note')}: {', '.join(parts)}")
    for place in ingested.skipped[:SKIPPED_SHOWN]:
        output.line(f"  skipped {place.location}: {place.reason}", "yellow")
    rest = len(ingested.skipped) - SKIPPED_SHOWN
    if rest > 0:
        output.line(f"  and {rest:,} more; --json lists all", "yellow")
    if counts.created or counts.edited or counts.reinstated:
        output.line(f"Next: {session.invocation} drain")
