"""Ingest of notes into a slice, and the retry of retired ones."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from dreaming.database import Database, Transaction
from dreaming.erasure.tombstones.service import erased_notes
from dreaming.errors import Erased
from dreaming.identifiers import NewId
from dreaming.notes import store
from dreaming.notes.preparation import fold, prepare
from dreaming.notes.records import IncomingNote, IngestCounts, NoteState, NoteWrite, PreparedNote, SliceKey
from dreaming.settings.resolution import Settings


def longest_note(settings: Settings) -> int:
    """Return how many code points a note of the organization may have."""
    return settings.integer("max_note_characters")


def ingest(
    database: Database,
    key: SliceKey,
    notes: Sequence[IncomingNote],
    *,
    now: datetime,
    new_id: NewId,
    max_note_characters: int,
) -> IngestCounts:
    """Store `notes` in the slice of `key`, all in one transaction, and say what became of them.

    A note posted again with the same content is left alone; with other content it becomes a new
    version at a new sequence and waits again, its failures forgotten; a withdrawn one is reinstated
    that way even with the same content. Of several posts of one note in `notes` the last is stored
    and the others count as unchanged. Changed metadata alone is stored without a new version. A time
    in the future is kept. A note that was erased is not stored, nor is any of an organization that was.

    Raises:
        InvalidInput: a note cannot be stored; nothing was written.
        DatabaseUnavailable: nothing was written, unless the connection was lost at the commit;
            repeating is safe either way.
    """
    prepared = fold([prepare(note, max_note_characters=max_note_characters) for note in notes])
    if not prepared:
        return IngestCounts()
    with database.transaction(key.tenant) as tx:
        counts = ingest_prepared(tx, key, prepared, now=now, new_id=new_id)
    return counts + IngestCounts(unchanged=len(notes) - len(prepared))


def ingest_prepared(
    tx: Transaction, key: SliceKey, notes: Sequence[PreparedNote], *, now: datetime, new_id: NewId
) -> IngestCounts:
    """Store folded notes within the caller's transaction; see `ingest`.

    The slice stays locked until that transaction ends, so the sequences of a slice are committed in
    their order and a cursor never steps over one that commits late.
    """
    handed_in = len(notes)
    try:
        slice_id = _locked_slice(tx, key)
    except Erased:
        return IngestCounts(erased=handed_in)
    erased = erased_notes(tx, key, [(note.source, note.external_id) for note in notes])
    notes = [note for note in notes if (note.source, note.external_id) not in erased]
    stored = store.find_stored(tx, slice_id, notes)
    known = [(note, stored.get((note.source, note.external_id))) for note in notes]
    replaced = {
        found.note_id
        for note, found in known
        if found and (found.withdrawn or found.content_sha256 != note.content_sha256)
    }
    retouched = {
        found.note_id: note.metadata
        for note, found in known
        if found and found.metadata_differs and found.note_id not in replaced
    }
    states = store.lock_notes(tx, slice_id, [*replaced, *retouched]) if replaced or retouched else {}
    before = [states[note_id][1] for note_id in replaced]
    if retouched:
        store.replace_metadata(tx, slice_id, retouched)
    written = [(note, found) for note, found in known if found is None or found.note_id in replaced]
    if written:
        sequences = store.hand_out_sequences(tx, slice_id, len(written))
        created, edited = [], []
        for sequence, (note, found) in zip(sequences, written, strict=True):
            if found is None:
                created.append(NoteWrite(new_id(), sequence, note))
            else:
                edited.append(NoteWrite(found.note_id, sequence, note))
        store.insert_notes(tx, slice_id, created, now)
        store.replace_notes(tx, slice_id, edited, now)
        store.forget_failures(tx, slice_id, replaced)
        store.adjust_counters(tx, slice_id, before=before, after=[note.state for note, _ in written])
    reinstated = before.count(NoteState.WITHDRAWN)
    return IngestCounts(
        created=len(written) - len(replaced),
        edited=len(replaced) - reinstated,
        reinstated=reinstated,
        unchanged=len(notes) - len(written),
        erased=handed_in - len(notes),
    )


def _locked_slice(tx: Transaction, key: SliceKey) -> int:
    """Return the slice, locked; one that was erased while we waited for it is made anew."""
    while True:
        slice_id = store.create_slice(tx, key).slice_id
        if store.lock_slice(tx, slice_id):
            return slice_id


def retry_retired(database: Database, key: SliceKey, note_ids: Sequence[UUID] | None, *, now: datetime) -> int:
    """Let retired notes wait again at new sequences, with no attempts counted; return how many.

    `note_ids` None means all of the slice. Notes that are not retired are left alone.
    """
    with database.transaction(key.tenant) as tx:
        found = store.find_slice(tx, key)
        if found is None:
            return 0
        store.lock_slice(tx, found.slice_id)
        candidates = store.find_retired(tx, found.slice_id, note_ids)
        states = store.lock_notes(tx, found.slice_id, candidates)
        retried = [note_id for note_id in candidates if states[note_id][1] is NoteState.RETIRED]
        if not retried:
            return 0
        sequences = store.hand_out_sequences(tx, found.slice_id, len(retried))
        store.requeue(tx, found.slice_id, dict(zip(retried, sequences, strict=True)), now)
        store.forget_failures(tx, found.slice_id, retried)
        store.adjust_counters(
            tx,
            found.slice_id,
            before=[NoteState.RETIRED] * len(retried),
            after=[NoteState.WAITING] * len(retried),
        )
    return len(retried)
