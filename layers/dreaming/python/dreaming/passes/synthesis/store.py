"""The SQL of synthesis: which conversations are due, and which notes were made of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime

from psycopg.rows import class_row

from dreaming.database import Transaction
from dreaming.passes.records import SYNTHESIS
from dreaming.passes.store import make_due, set_due
from dreaming.passes.synthesis.records import Idle, MadeNote, Waiting


def lock_due(tx: Transaction, slice_id: int, *, now: datetime, limit: int) -> list[Idle]:
    """Return conversations that have been idle long enough, the longest first, and lock them.

    Locked in the order of their ids, as everybody does; one that a capture has changed meanwhile is not
    due any more.
    """
    due = tx.execute(
        "select document_id from conversations where slice_id = %s and synthesis_due_at <= %s"
        " order by synthesis_due_at, document_id limit %s",
        (slice_id, now, limit),
    ).fetchall()
    query = """
        select document_id, encode(conversation_id, 'hex') as key, external_id, agent, changed_at
        from conversations
        where slice_id = %s and document_id = any(%s) and synthesis_due_at <= %s
        order by document_id for no key update
    """
    with tx.cursor(row_factory=class_row(Idle)) as cursor:
        return cursor.execute(query, (slice_id, [row[0] for row in due], now)).fetchall()


def read_made(tx: Transaction, slice_id: int, document_ids: Sequence[int]) -> dict[int, list[MadeNote]]:
    """Return the notes that were made of conversations, in order."""
    rows = tx.execute(
        """
        select document_id, first_turn, part, end_turn, external_id, turns_sha256, occurred_at
        from conversation_notes where slice_id = %s and document_id = any(%s)
        order by document_id, first_turn, part
        """,
        (slice_id, list(document_ids)),
    ).fetchall()
    made: dict[int, list[MadeNote]] = {document_id: [] for document_id in document_ids}
    for document_id, first, part, end, external_id, sha256, occurred_at in rows:
        made[document_id].append(MadeNote(first, part, end, external_id, bytes(sha256), occurred_at))
    return made


def replace_made(
    tx: Transaction, slice_id: int, made: Mapping[int, Sequence[MadeNote]], forgotten: Sequence[str]
) -> None:
    """Keep which notes were made of which conversations, whose turns are then all in notes.

    `forgotten` are the external ids of notes that are no more.
    """
    tx.execute(
        "delete from conversation_notes where slice_id = %s and external_id = any(%s)", (slice_id, list(forgotten))
    )
    rows = [
        {
            "document_id": document_id,
            "first_turn": note.first_turn,
            "part": note.part,
            "end_turn": note.end_turn,
            "slice_id": slice_id,
            "external_id": note.external_id,
            "turns_sha256": f"\\x{note.turns_sha256.hex()}",
            "occurred_at": note.occurred_at.isoformat(),
        }
        for document_id, notes in made.items()
        for note in notes
    ]
    tx.execute(
        """
        insert into conversation_notes
        select * from json_populate_recordset(null::conversation_notes, %s)
        on conflict (document_id, first_turn, part) do update
        set end_turn = excluded.end_turn, turns_sha256 = excluded.turns_sha256, occurred_at = excluded.occurred_at
        """,
        (json.dumps(rows),),
    )
    tx.execute(
        "update conversations set synthesis_due_at = null where slice_id = %s and document_id = any(%s)",
        (slice_id, list(made)),
    )


def count_waiting(tx: Transaction, slice_ids: Sequence[int], *, now: datetime) -> Waiting:
    """Count the slices' conversations that are not all in notes, those that are due, and say when the next one is."""
    row = tx.execute(
        """
        select count(*), count(*) filter (where synthesis_due_at <= %(now)s), min(synthesis_due_at)
        from conversations where slice_id = any(%(slices)s) and synthesis_due_at is not null
        """,
        {"now": now, "slices": list(slice_ids)},
    ).fetchone()
    return Waiting(*row) if row else Waiting(0, 0, None)


def settle_due(tx: Transaction, slice_id: int) -> datetime | None:
    """Set when the next conversation of the slice is due, and return it; call it last.

    A capture sets its conversation's time before the slice's. So whoever holds the slice's row here sees
    all conversations; without a row one may just be coming, and a time is only ever lowered.
    """
    held = tx.execute(
        "select from due_times where slice_id = %s and pass = %s for update", (slice_id, SYNTHESIS)
    ).fetchone()
    row = tx.execute(
        "select min(synthesis_due_at) from conversations where slice_id = %s and synthesis_due_at is not null",
        (slice_id,),
    ).fetchone()
    at: datetime | None = row[0] if row else None
    if held is not None:
        set_due(tx, slice_id, SYNTHESIS, at)
    elif at is not None:
        make_due(tx, slice_id, SYNTHESIS, at)
    return at
