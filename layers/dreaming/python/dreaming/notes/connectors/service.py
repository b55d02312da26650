"""Ingest of what connectors read, with their positions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from dreaming.database import Database
from dreaming.identifiers import NewId
from dreaming.notes import store as notes_store
from dreaming.notes.connectors import store
from dreaming.notes.connectors.marks import Feed, Mark, Marks, OpenMarks
from dreaming.notes.preparation import fold, prepare
from dreaming.notes.records import IncomingNote, IngestCounts, SliceKey
from dreaming.notes.service import ingest_prepared


def marks_opener(database: Database, key: SliceKey, *, incremental: bool) -> OpenMarks:
    """Return what opens the marks of feeds of a slice; not `incremental`, they say only what was there."""

    def open_marks(feed: Feed, options: str) -> Marks:
        with database.transaction(key.tenant) as tx:
            found = notes_store.find_slice(tx, key)
            stored = {} if found is None else store.read_marks(tx, found.slice_id, feed)
        return Marks(feed, options, stored, use=incremental)

    return open_marks


def ingest_marked(
    database: Database,
    key: SliceKey,
    notes: Sequence[IncomingNote],
    feed: Feed | None,
    marks: Mapping[str, Mark],
    *,
    now: datetime,
    new_id: NewId,
    max_note_characters: int,
) -> IngestCounts:
    """Store `notes` as `ingest` does, and in the same transaction the `marks` of `feed` that cover them.

    So a crash leaves the notes without their marks never, and marks without their notes never.

    Raises:
        InvalidInput, DatabaseUnavailable: as `ingest`; nothing was written.
    """
    prepared = fold([prepare(note, max_note_characters=max_note_characters) for note in notes])
    if not prepared and (feed is None or not marks):
        return IngestCounts()
    with database.transaction(key.tenant) as tx:
        counts = IngestCounts()
        if prepared:
            counts = ingest_prepared(tx, key, prepared, now=now, new_id=new_id)
        found = notes_store.find_slice(tx, key)
        if found is not None and feed is not None and marks:
            notes_store.lock_slice(tx, found.slice_id)
            store.save_marks(tx, found.slice_id, feed, marks, now)
    return counts + IngestCounts(unchanged=len(notes) - len(prepared))


def forget_entries(database: Database, key: SliceKey, feed: Feed, entries: Iterable[str]) -> None:
    """Forget the marks of entries that are gone and whose notes were withdrawn."""
    with database.transaction(key.tenant) as tx:
        found = notes_store.find_slice(tx, key)
        if found is not None:
            notes_store.lock_slice(tx, found.slice_id)
            store.remove_marks(tx, found.slice_id, feed, entries)
