"""Storing of what connectors read, and telling what came of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from dreaming.errors import Hold, InvalidInput
from dreaming.local.commands.session import Session
from dreaming.local.output import counted, escaped

if TYPE_CHECKING:
    from dreaming.database import Database
    from dreaming.local.output import ShowProgress
    from dreaming.notes.connectors.marks import Mark
    from dreaming.notes.connectors.records import Reading, Skipped, Warned
    from dreaming.notes.records import IncomingNote, IngestCounts

NOTES_PER_TRANSACTION = 500
CHARACTERS_PER_TRANSACTION = 20_000_000
SKIPPED_SHOWN = 20
MISSING_SHOWN = 20

_NOTHING_READ = 2


@dataclass(frozen=True)
class Ingested:
    """What came of some readings: counts, and every place that did not become a note.

    `warnings` tell what could not be read about notes that went in.
    `missing` are ids of notes that are gone upstream, `withdrawn` how many of them were withdrawn.
    `goes_on` tells that notes of earlier readings were left out, so that none may be left to store.
    """

    counts: IngestCounts
    skipped: tuple[Skipped, ...]
    missing: tuple[str, ...] = ()
    withdrawn: int = 0
    goes_on: bool = False
    warnings: tuple[Warned, ...] = ()

    @property
    def notes(self) -> int:
        """How many notes were stored, found unchanged, or kept out because they were erased."""
        counts = self.counts
        return counts.created + counts.edited + counts.reinstated + counts.unchanged + counts.erased


def ingest_readings(
    session: Session, database: Database, title: str, readings: Sequence[Reading], max_note_characters: int
) -> Ingested:
    """Store what the readings yield, 500 notes to a transaction, showing how far they are.

    Each transaction also stores how far its reading had come, so that an interrupted one goes on there.

    Raises:
        Hold: the database went away; the message says how many notes were stored before.
    """
    from dreaming.notes.records import IngestCounts

    total = sum(reading.total for reading in readings)
    units = {reading.unit for reading in readings}
    unit = units.pop() if len(units) == 1 else "items"
    counts = IngestCounts()
    skipped: list[Skipped] = []
    warnings: list[Warned] = []
    with session.output.progress(title, total, unit) as show:
        before = 0
        for reading in readings:
            for batch in _batches(reading, skipped, warnings):
                try:
                    counts += _store(session, database, reading, batch, max_note_characters)
                except Hold as hold:
                    stored = counts.created + counts.edited + counts.reinstated
                    raise type(hold)(f"{hold} ({counted(stored, 'note')} stored before; repeat the command)") from hold
                _show(show, before + reading.done, counts, skipped)
            before += reading.total
        _show(show, total, counts, skipped)
    missing = tuple(entry for reading in readings for entry in reading.missing)
    goes_on = any(reading.marks is not None and reading.marks.goes_on for reading in readings)
    counts = replace(counts, skipped=len(skipped))
    return Ingested(counts, tuple(skipped), missing, goes_on=goes_on, warnings=tuple(warnings))


def withdraw_missing(session: Session, database: Database, reading: Reading, ingested: Ingested) -> Ingested:
    """Withdraw the notes that an earlier reading found and that are gone upstream.

    Raises:
        InvalidInput: nothing at all is left upstream, as in a folder that is not mounted.
    """
    from dreaming.beliefs.service import withdraw_notes
    from dreaming.identifiers import uuid7
    from dreaming.notes.connectors.service import forget_entries

    marks = reading.marks
    if marks is None or not ingested.missing:
        return ingested
    if marks.entries <= set(ingested.missing) and not ingested.notes:
        raise InvalidInput(
            "--withdraw-missing",
            f"would withdraw all {counted(len(ingested.missing), 'note')}: no file is left",
            f"check the folder; to withdraw them after all: {session.invocation} withdraw SOURCE ID...",
        )
    withdrawn = 0
    settings = session.settings(database)
    for start in range(0, len(ingested.missing), NOTES_PER_TRANSACTION):
        entries = ingested.missing[start : start + NOTES_PER_TRANSACTION]
        withdrawn += withdraw_notes(
            database, session.key, marks.feed.source, entries, settings=settings, now=session.now(), new_id=uuid7
        )
        forget_entries(database, session.key, marks.feed, entries)
    return replace(ingested, withdrawn=withdrawn)


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


def _batches(reading: Reading, skipped: list[Skipped], warnings: list[Warned]) -> Iterable[list[IncomingNote]]:
    """The notes for one transaction each; the last may be empty, for the marks that come after the last note."""
    from dreaming.notes.connectors.records import Warned
    from dreaming.notes.records import IncomingNote

    batch: list[IncomingNote] = []
    characters = 0
    for item in reading:
        if isinstance(item, Warned):
            warnings.append(item)
            continue
        if not isinstance(item, IncomingNote):
            skipped.append(item)
            continue
        batch.append(item)
        characters += len(item.text)
        if len(batch) == NOTES_PER_TRANSACTION or characters > CHARACTERS_PER_TRANSACTION:
            yield batch
            batch, characters = [], 0
    yield batch


def _store(
    session: Session, database: Database, reading: Reading, notes: Sequence[IncomingNote], max_note_characters: int
) -> IngestCounts:
    from dreaming.identifiers import uuid7
    from dreaming.notes.connectors.service import ingest_marked

    # Taken here: the reading stands right behind the last of these notes.
    marks: Mapping[str, Mark] = reading.marks.take() if reading.marks else {}
    return ingest_marked(
        database,
        session.key,
        notes,
        reading.marks.feed if reading.marks else None,
        marks,
        now=session.now(),
        new_id=uuid7,
        max_note_characters=max_note_characters,
    )


def _show(show: ShowProgress, done: int, counts: IngestCounts, skipped: Sequence[Skipped]) -> None:
    new = counts.created + counts.edited + counts.reinstated
    show(done, detail=f"{new:,} stored, {counts.unchanged:,} unchanged, {len(skipped):,} skipped")


def finish(session: Session, ingested: Ingested) -> int:
    """Print what was ingested; the exit code says when nothing at all could be read."""
    if session.output.as_json:
        document = {"slice": session.key, "counts": ingested.counts, "skipped": ingested.skipped}
        document |= {"warnings": ingested.warnings}
        session.output.document(document | {"missing": ingested.missing, "withdrawn": ingested.withdrawn})
    else:
        show_ingested(session, ingested)
    return _NOTHING_READ if ingested.skipped and not ingested.notes and not ingested.goes_on else 0


def show_ingested(session: Session, ingested: Ingested) -> None:
    """Print the counts, and the first places that were skipped with the reasons."""
    counts, output = ingested.counts, session.output
    parts = [f"{counts.created:,} created", f"{counts.edited:,} edited"]
    parts += [f"{counts.reinstated:,} reinstated"] if counts.reinstated else []
    parts += [f"{counts.unchanged:,} unchanged", f"{counts.skipped:,} skipped"]
    parts += [f"{counts.erased:,} erased before and kept out"] if counts.erased else []
    output.line(f"{counted(ingested.notes, 'note')}: {', '.join(parts)}")
    for word, places in (("skipped", ingested.skipped), ("warning", ingested.warnings)):
        for place in places[:SKIPPED_SHOWN]:
            output.line(f"  {word} {escaped(place.location)}: {escaped(place.reason)}", "yellow")
        rest = len(places) - SKIPPED_SHOWN
        if rest > 0:
            output.line(f"  and {rest:,} more; --json lists all", "yellow")
    if ingested.withdrawn:
        output.line(f"{counted(ingested.withdrawn, 'note')} withdrawn: their files are gone")
    elif ingested.missing:
        _show_missing(session, ingested.missing)
    if counts.created or counts.edited or counts.reinstated:
        output.line(f"Next: {session.invocation} drain")


def _show_missing(session: Session, missing: Sequence[str]) -> None:
    session.output.line(f"{counted(len(missing), 'file')} gone since an earlier ingest:", "yellow")
    for entry in missing[:MISSING_SHOWN]:
        session.output.line(f"  {escaped(entry)}", "yellow")
    if len(missing) > MISSING_SHOWN:
        session.output.line(f"  and {len(missing) - MISSING_SHOWN:,} more; --json lists all", "yellow")
    session.output.line("To stop counting them, repeat with --withdraw-missing", "yellow")
