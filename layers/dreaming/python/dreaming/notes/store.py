"""The SQL of notes and slices.

Every transaction takes its locks in one order: the slice's row, the belief lock, notes in the order of
their ids, attempts and retirements, the slice's counters. So ingest, passes and withdrawal never
deadlock. Functions that change counters take that last lock: call them last.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any
from uuid import UUID

from dreaming.database import Transaction
from dreaming.erasure.tombstones import store as tombstones
from dreaming.notes.records import (
    Note,
    NoteCounters,
    NoteState,
    NoteWrite,
    PreparedNote,
    Slice,
    SliceKey,
    StoredNote,
    Trust,
)

_STATEMENT_CHARACTERS = 16_000_000
"""Text sent in one statement; PostgreSQL refuses an array of more than 1 GB."""


def find_slice(tx: Transaction, key: SliceKey) -> Slice | None:
    """Return the slice of `key`, or None when nothing was ever ingested into it."""
    row = tx.execute(
        "select slice_id from slices where org_id = %s and scope = %s and owner_user_id is not distinct from %s",
        (key.org_id, key.scope.value, key.owner_user_id),
    ).fetchone()
    return None if row is None else Slice(row[0], key)


def create_slice(tx: Transaction, key: SliceKey) -> Slice:
    """Return the slice of `key`, made with lock and counters when missing; `Erased` when its organization was."""
    if (found := find_slice(tx, key)) is not None:
        return found
    tombstones.require_open(tx, key.org_id)
    # Of two transactions that create it at once, the second waits here for the first.
    tx.execute(
        "insert into slices (org_id, scope, owner_user_id) values (%s, %s, %s) on conflict do nothing",
        (key.org_id, key.scope.value, key.owner_user_id),
    )
    found = find_slice(tx, key)
    if found is None:
        raise RuntimeError("the slice is not visible to its own tenant")
    tx.execute("insert into belief_lock (slice_id) values (%s) on conflict do nothing", (found.slice_id,))
    tx.execute("insert into slice_counters (slice_id) values (%s) on conflict do nothing", (found.slice_id,))
    return found


def lock_slice(tx: Transaction, slice_id: int) -> bool:
    """Make this transaction the only one that hands out sequences in the slice; False when it was erased."""
    # Not "for update", which would wait for every transaction that refers to the slice by a foreign key.
    return tx.execute("select from slices where slice_id = %s for no key update", (slice_id,)).rowcount == 1


def hand_out_sequences(tx: Transaction, slice_id: int, count: int) -> range:
    """Return the next `count` sequences; the slice must be locked, so that they commit in order."""
    row = tx.execute(
        "update slices set last_seq = last_seq + %s where slice_id = %s returning last_seq", (count, slice_id)
    ).fetchone()
    if row is None:
        raise RuntimeError(f"slice {slice_id} is not visible")
    return range(row[0] - count + 1, row[0] + 1)


def find_stored(tx: Transaction, slice_id: int, notes: Sequence[PreparedNote]) -> dict[tuple[str, str], StoredNote]:
    """Return what is stored of `notes`, by source and external id."""
    rows = tx.execute(
        """
        select given.source, given.external_id, note.note_id, note.state, note.content_sha256,
               note.metadata is distinct from given.metadata
        from unnest(%s::text[], %s::text[], %s::jsonb[]) as given (source, external_id, metadata)
        -- Each by its key, of a slice hidden from the planner: of a new one it believes that reading it whole is best.
        cross join (select %s::bigint as slice_id offset 0) own cross join lateral (
            select n.note_id, n.state, n.content_sha256, n.metadata from notes n
            where n.slice_id = own.slice_id and n.source = given.source and n.external_id = given.external_id offset 0
        ) note
        """,
        (
            [note.source for note in notes],
            [note.external_id for note in notes],
            [json.dumps(note.metadata) for note in notes],
            slice_id,
        ),
    ).fetchall()
    return {
        (source, external_id): StoredNote(note_id, state == NoteState.WITHDRAWN, content_sha256, metadata_differs)
        for source, external_id, note_id, state, content_sha256, metadata_differs in rows
    }


def find_notes(tx: Transaction, slice_id: int, source: str, external_ids: Sequence[str]) -> dict[str, UUID]:
    """Return the ids of the notes that `source` knows by `external_ids`; unknown ones are left out."""
    query = "select external_id, note_id from notes where slice_id = %s and source = %s and external_id = any(%s)"
    return dict(tx.execute(query, (slice_id, source, list(external_ids))).fetchall())


def lock_notes(tx: Transaction, slice_id: int, note_ids: Iterable[UUID]) -> dict[UUID, tuple[int, NoteState]]:
    """Lock notes of a slice in the order of their ids; return version and state of each that exists."""
    rows = tx.execute(
        # References by foreign key need not wait for us, nor we for them.
        "select note_id, version, state from notes where slice_id = %s and note_id = any(%s)"
        " order by note_id for no key update",
        (slice_id, list(note_ids)),
    ).fetchall()
    return {note_id: (version, NoteState(state)) for note_id, version, state in rows}


def insert_notes(tx: Transaction, slice_id: int, writes: Sequence[NoteWrite], now: datetime) -> None:
    """Store new notes at version 1, in a fixed number of statements for each 16 million characters."""
    for group in _by_size(writes):
        tx.execute(
            # Put together from this module's own constants.
            f"""
            insert into notes (
                note_id, slice_id, sequence, source, external_id, origin, state, trust, occurred_at,
                occurred_offset, author, participants, text, content_sha256, metadata, ingested_at, changed_at
            )
            select given.note_id, %(slice_id)s, given.sequence, given.source, given.external_id, given.origin,
                   given.state, given.trust, given.occurred_at, given.occurred_offset, given.author,
                   {_PARTICIPANTS}, given.text, given.content_sha256, given.metadata, %(now)s, %(now)s
            from {_GIVEN}
            """,
            _given(group) | {"slice_id": slice_id, "now": now},
        )


def replace_notes(tx: Transaction, slice_id: int, writes: Sequence[NoteWrite], now: datetime) -> None:
    """Give locked notes a new version at a new sequence; the old texts go to `note_versions`."""
    for group in _by_size(writes):
        tx.execute(
            """
            insert into note_versions (
                note_id, version, slice_id, sequence, occurred_at, occurred_offset, author, text, replaced_at
            )
            select note_id, version, slice_id, sequence, occurred_at, occurred_offset, author, text, %s
            from notes where slice_id = %s and note_id = any(%s)
            """,
            (now, slice_id, [write.note_id for write in group]),
        )
        tx.execute(
            f"""
            update notes note
            set version = note.version + 1, sequence = given.sequence, origin = given.origin, state = given.state,
                trust = given.trust, occurred_at = given.occurred_at, occurred_offset = given.occurred_offset,
                author = given.author, participants = {_PARTICIPANTS}, text = given.text,
                content_sha256 = given.content_sha256, metadata = given.metadata, changed_at = %(now)s
            from {_GIVEN}
            where note.note_id = given.note_id and note.slice_id = %(slice_id)s
            """,
            _given(group) | {"slice_id": slice_id, "now": now},
        )


def replace_metadata(tx: Transaction, slice_id: int, metadata: Mapping[UUID, Mapping[str, Any]]) -> None:
    """Replace the metadata of locked notes; it never reaches a model, so this is no new version."""
    tx.execute(
        """
        update notes note set metadata = given.metadata
        from unnest(%s::uuid[], %s::jsonb[]) as given (note_id, metadata)
        where note.note_id = given.note_id and note.slice_id = %s
        """,
        (list(metadata), [json.dumps(value) for value in metadata.values()], slice_id),
    )


def forget_failures(tx: Transaction, slice_id: int, note_ids: Iterable[UUID]) -> None:
    """Remove the attempts and retirements of locked notes."""
    if ids := list(note_ids):
        tx.execute("delete from note_attempts where slice_id = %s and note_id = any(%s)", (slice_id, ids))
        tx.execute("delete from retired_notes where slice_id = %s and note_id = any(%s)", (slice_id, ids))


def find_retired(tx: Transaction, slice_id: int, note_ids: Sequence[UUID] | None) -> list[UUID]:
    """Return the retired notes of a slice, all or those among `note_ids`, in the order of their sequences."""
    rows = tx.execute(
        """
        select note.note_id from retired_notes join notes note using (note_id)
        where retired_notes.slice_id = %s and (%s::uuid[] is null or note_id = any(%s::uuid[]))
        order by note.sequence
        """,
        (slice_id, *[None if note_ids is None else list(note_ids)] * 2),
    ).fetchall()
    return [row[0] for row in rows]


def requeue(tx: Transaction, slice_id: int, sequences: Mapping[UUID, int], now: datetime) -> None:
    """Let locked notes wait again, each at its new sequence."""
    tx.execute(
        """
        update notes note set state = 'waiting', sequence = given.sequence, changed_at = %s
        from unnest(%s::uuid[], %s::bigint[]) as given (note_id, sequence)
        where note.note_id = given.note_id and note.slice_id = %s
        """,
        (now, list(sequences), list(sequences.values()), slice_id),
    )


def set_state(tx: Transaction, slice_id: int, note_ids: Iterable[UUID], state: NoteState) -> None:
    """Move live notes to another live state and keep the counters true; withdrawn notes stay so.

    Takes the lock of `slice_counters`. Raises `ValueError` for the state `withdrawn`.
    """
    if state is NoteState.WITHDRAWN:
        raise ValueError("notes are withdrawn by withdraw()")
    before = _states_of(tx, slice_id, note_ids)
    tx.execute(
        "update notes set state = %s where slice_id = %s and note_id = any(%s)", (state.value, slice_id, list(before))
    )
    adjust_counters(tx, slice_id, before=before.values(), after=[state] * len(before))


def withdraw(tx: Transaction, slice_id: int, note_ids: Iterable[UUID], now: datetime) -> list[UUID]:
    """Withdraw live notes and return them; what they said of beliefs is the caller's to end.

    Takes the lock of `slice_counters`.
    """
    before = _states_of(tx, slice_id, note_ids)
    withdrawn = list(before)
    tx.execute(
        "update notes set state = 'withdrawn', changed_at = %s where slice_id = %s and note_id = any(%s)",
        (now, slice_id, withdrawn),
    )
    forget_failures(tx, slice_id, withdrawn)
    adjust_counters(tx, slice_id, before=before.values(), after=[NoteState.WITHDRAWN] * len(withdrawn))
    return withdrawn


def read_waiting(tx: Transaction, slice_id: int, after: int, limit: int) -> list[Note]:
    """Return the next notes after a cursor's position, by sequence, whatever their state.

    Withdrawn, empty and retired ones are among them, so that the cursor can pass over them.
    """
    rows = tx.execute(
        """
        select note_id, slice_id, external_id, source, origin, version, sequence, state, text,
               occurred_at, occurred_offset, author, participants, trust
        from notes where slice_id = %s and sequence > %s order by sequence limit %s
        """,
        (slice_id, after, limit),
    ).fetchall()
    return [_note(row) for row in rows]


def read_counters(tx: Transaction, slice_id: int) -> NoteCounters:
    """Return the maintained counters of a slice; all zero for a slice that does not exist."""
    row = tx.execute(
        """
        select notes_total, notes_waiting, notes_consolidated, notes_empty, notes_retired, notes_withdrawn
        from slice_counters where slice_id = %s
        """,
        (slice_id,),
    ).fetchone()
    return NoteCounters() if row is None else NoteCounters(*row)


def recount(tx: Transaction, slice_id: int) -> NoteCounters:
    """Count the notes of a slice, exactly also beside writers: the counters are locked until the end.

    A later `read_counters` in the same transaction must return the same.
    """
    # Whoever changed a note before this lock was granted has committed; whoever has not waits for us.
    tx.execute("select from slice_counters where slice_id = %s for update", (slice_id,))
    query = "select state, count(*) from notes where slice_id = %s group by state"
    counted = {NoteState(state): int(count) for state, count in tx.execute(query, (slice_id,)).fetchall()}
    by_state = {state: counted.get(state, 0) for state in NoteState}
    withdrawn = by_state[NoteState.WITHDRAWN]
    return NoteCounters(
        total=sum(by_state.values()) - withdrawn,
        waiting=by_state[NoteState.WAITING],
        consolidated=by_state[NoteState.CONSOLIDATED],
        empty=by_state[NoteState.EMPTY],
        retired=by_state[NoteState.RETIRED],
        withdrawn=withdrawn,
    )


def adjust_counters(tx: Transaction, slice_id: int, *, before: Iterable[NoteState], after: Iterable[NoteState]) -> None:
    """Take the states `before` out of the counters and put the states `after` in.

    Takes the lock of `slice_counters`, the last in the order.
    """
    change = Counter(after)
    change.subtract(before)
    if not any(change.values()):
        return
    tx.execute(
        """
        update slice_counters
        set notes_total = notes_total + %(total)s, notes_waiting = notes_waiting + %(waiting)s,
            notes_consolidated = notes_consolidated + %(consolidated)s, notes_empty = notes_empty + %(empty)s,
            notes_retired = notes_retired + %(retired)s, notes_withdrawn = notes_withdrawn + %(withdrawn)s
        where slice_id = %(slice_id)s
        """,
        {state.value: change[state] for state in NoteState}
        | {"total": change.total() - change[NoteState.WITHDRAWN], "slice_id": slice_id},
    )


_GIVEN = """
    unnest(
        %(note_id)s::uuid[], %(sequence)s::bigint[], %(source)s::text[], %(external_id)s::text[],
        %(origin)s::text[], %(state)s::text[], %(trust)s::text[], %(occurred_at)s::timestamptz[],
        %(occurred_offset)s::integer[], %(author)s::text[], %(participants)s::jsonb[], %(text)s::text[],
        %(content_sha256)s::bytea[], %(metadata)s::jsonb[]
    ) as given (
        note_id, sequence, source, external_id, origin, state, trust, occurred_at,
        occurred_offset, author, participants, text, content_sha256, metadata
    )
"""
# An array of arrays would have to be rectangular.
_PARTICIPANTS = """array(
    select name from jsonb_array_elements_text(given.participants) with ordinality as listed (name, place)
    order by place
)"""


def _given(writes: Sequence[NoteWrite]) -> dict[str, Any]:
    notes = [write.note for write in writes]
    return {
        "note_id": [write.note_id for write in writes],
        "sequence": [write.sequence for write in writes],
        "source": [note.source for note in notes],
        "external_id": [note.external_id for note in notes],
        "origin": [note.origin for note in notes],
        "state": [note.state.value for note in notes],
        "trust": [note.trust.value for note in notes],
        "occurred_at": [note.occurred_at for note in notes],
        "occurred_offset": [note.occurred_offset for note in notes],
        "author": [note.author for note in notes],
        "participants": [json.dumps(note.participants) for note in notes],
        "text": [note.text for note in notes],
        "content_sha256": [note.content_sha256 for note in notes],
        "metadata": [json.dumps(note.metadata) for note in notes],
    }


def _by_size(writes: Sequence[NoteWrite]) -> Iterator[list[NoteWrite]]:
    group: list[NoteWrite] = []
    characters = 0
    for write in writes:
        if group and characters + len(write.note.text) > _STATEMENT_CHARACTERS:
            yield group
            group, characters = [], 0
        group.append(write)
        characters += len(write.note.text)
    if group:
        yield group


def _states_of(tx: Transaction, slice_id: int, note_ids: Iterable[UUID]) -> dict[UUID, NoteState]:
    """Lock the live notes among `note_ids` and return the state of each."""
    rows = tx.execute(
        """
        select note_id, state from notes
        where slice_id = %s and note_id = any(%s) and state <> 'withdrawn'
        order by note_id for no key update
        """,
        (slice_id, list(note_ids)),
    ).fetchall()
    return {note_id: NoteState(state) for note_id, state in rows}


def _note(row: Sequence[Any]) -> Note:
    (note_id, slice_id, external_id, source, origin, version, sequence, state, text, *rest) = row
    occurred_at, occurred_offset, author, participants, trust = rest
    return Note(
        note_id=note_id,
        slice_id=slice_id,
        external_id=external_id,
        source=source,
        origin=origin,
        version=version,
        sequence=sequence,
        state=NoteState(state),
        text=text,
        occurred_at=occurred_at.astimezone(timezone(timedelta(seconds=occurred_offset))),
        author=author,
        participants=tuple(participants),
        trust=Trust(trust),
    )
