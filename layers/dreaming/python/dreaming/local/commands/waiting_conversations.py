"""Conversations that wait to become notes: how many, and when the next one is due."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dreaming.local.commands.session import Session
from dreaming.local.output import counted, minute
from dreaming.passes.records import SYNTHESIS

if TYPE_CHECKING:
    from dreaming.database import Database
    from dreaming.passes.synthesis.records import Waiting


def waiting_conversations(session: Session, database: Database) -> Waiting | None:
    """Count those that the caller sees; None where conversations are not remembered here."""
    from dreaming.passes.synthesis.store import count_waiting
    from dreaming.recall.switch import is_on

    if not is_on(session.variables):
        return None
    slices = [one.slice.slice_id for one in session.reader(database).status(SYNTHESIS, runs=0)]
    with database.transaction(session.tenant) as tx:
        return count_waiting(tx, slices, now=session.now())


def told(waiting: Waiting | None) -> str | None:
    """Return what people read of them; None where none waits."""
    if waiting is None or waiting.next_due_at is None:
        return None
    number = counted(waiting.conversations, "conversation")
    verb = "waits" if waiting.conversations == 1 else "wait"
    if waiting.due:
        return f"{number} {verb} to become notes; {waiting.due:,} due now"
    return f"{number} {verb} to become notes; the next is due {minute(waiting.next_due_at)}"
