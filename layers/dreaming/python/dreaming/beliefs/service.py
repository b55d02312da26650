"""What happens to beliefs outside of a pass: withdrawal of notes, and how all changes are written."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from dreaming.beliefs import store
from dreaming.beliefs.records import BeliefEvent, SourceEnd
from dreaming.beliefs.relationships import service as relationships
from dreaming.beliefs.rules import Ageing
from dreaming.beliefs.similarity import hash_of, stored_tokens
from dreaming.beliefs.workspace import BeliefChanges, Workspace
from dreaming.database import Database, Transaction
from dreaming.identifiers import NewId
from dreaming.notes import store as notes_store
from dreaming.notes.records import SliceKey
from dreaming.passes.outbox import store as outbox
from dreaming.passes.outbox.records import Announcement
from dreaming.settings.resolution import Settings


def ageing(settings: Settings) -> Ageing:
    """Return the half-lives and the threshold that an organization has set."""
    return Ageing(
        slow_half_life=timedelta(days=settings.number("slow_decay_days")),
        fast_half_life=timedelta(days=settings.number("fast_decay_days")),
        archive_threshold=settings.number("archive_threshold"),
        warn_ahead=timedelta(days=settings.number("warn_days")),
    )


def write_changes(
    tx: Transaction, slice_id: int, changes: BeliefChanges, *, run_id: UUID | None, now: datetime
) -> None:
    """Write what a workspace changed, with all that hangs on it.

    The indexes of every new or reworded statement; the relationships that lose a source, or an end, or
    get one back; and the events that announce what was archived or restored. What was born faded is not
    announced. The slice's belief lock is held.
    """
    indexed = {belief.belief_id: belief.statement for belief in (*changes.created, *changes.reworded)}
    store.write(
        tx,
        slice_id,
        changes,
        hashes={belief_id: hash_of(statement) for belief_id, statement in indexed.items()},
        tokens={belief_id: stored_tokens(statement) for belief_id, statement in indexed.items()},
        run_id=run_id,
        now=now,
    )
    relationships.settle(tx, slice_id, changes, now=now)
    outbox.announce(tx, slice_id, _announcements(changes, run_id), now=now)


_ANNOUNCED = {BeliefEvent.ARCHIVED: "belief.archived", BeliefEvent.RESTORED: "belief.restored"}


def _announcements(changes: BeliefChanges, run_id: UUID | None) -> list[Announcement]:
    born = {belief.belief_id for belief in changes.created}
    run = {} if run_id is None else {"run_id": str(run_id)}
    return [
        Announcement(
            _ANNOUNCED[entry.event],
            {"belief_id": str(entry.belief_id), **run}
            | ({"reason": entry.detail["reason"]} if "reason" in entry.detail else {}),
        )
        for entry in changes.history
        if entry.event in _ANNOUNCED and entry.belief_id not in born
    ]


def withdraw_notes(
    database: Database,
    key: SliceKey,
    source: str,
    external_ids: Sequence[str],
    *,
    settings: Settings,
    now: datetime,
    new_id: NewId,
) -> int:
    """Withdraw notes that are gone upstream and return how many were live.

    What they said stops counting at once: their sources end and every belief they supported is
    folded anew, all in one transaction. A belief left without a source is archived as `sourceless`.
    Unknown and already withdrawn notes are left alone.
    """
    with database.transaction(key.tenant) as tx:
        found = notes_store.find_slice(tx, key)
        if found is None:
            return 0
        return withdraw(tx, found.slice_id, source, external_ids, settings=settings, now=now, new_id=new_id)


def withdraw(
    tx: Transaction,
    slice_id: int,
    source: str,
    external_ids: Sequence[str],
    *,
    settings: Settings,
    now: datetime,
    new_id: NewId,
) -> int:
    """Withdraw notes within the caller's transaction; see `withdraw_notes`."""
    store.lock(tx, slice_id)
    note_ids = sorted(notes_store.find_notes(tx, slice_id, source, external_ids).values())
    notes_store.lock_notes(tx, slice_id, note_ids)
    supported = store.supported_by(tx, slice_id, note_ids)
    workspace = Workspace(store.load(tx, slice_id, supported), ageing=ageing(settings), now=now, new_id=new_id)
    for note_id in note_ids:
        workspace.end_note(note_id, SourceEnd.WITHDRAWN)
    withdrawn = notes_store.withdraw(tx, slice_id, note_ids, now)
    write_changes(tx, slice_id, workspace.changes(), run_id=None, now=now)
    return len(withdrawn)
