"""`dream status`: how far consolidation has come."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from dreaming.local.commands.command import DreamCommand, with_session
from dreaming.local.commands.remedies import remedy
from dreaming.local.commands.session import Session
from dreaming.local.commands.waiting_conversations import told, waiting_conversations
from dreaming.local.output import escaped, minute, short_id, table
from dreaming.passes.records import CONSOLIDATION

if TYPE_CHECKING:
    from dreaming.api.records import RunReading, SliceStatus
    from dreaming.notes.records import SliceKey


@click.command(
    cls=DreamCommand,
    examples="""
    dream status                       # all slices of the organization that you see
    dream status --user ana            # and ana's private one
    dream status --json
    """,
)
@click.option("--runs", type=click.IntRange(0, 100), default=5, show_default=True, help="How many recent runs.")
@with_session
def status(session: Session, runs: int) -> None:
    """Show what was read and what waits, the cursor, the latest runs, and why a slice holds.

    Total is the sum of consolidated, waiting, retired and empty. The numbers are kept counters, so
    this costs the same with a million notes.
    """
    with session.database() as database:
        progress = session.reader(database).progress(CONSOLIDATION, runs=runs)
        conversations = waiting_conversations(session, database)
    statuses = progress.slices
    stopped = [{"reason": reason, "remedy": remedy(session, reason)} for reason in progress.stopped]
    if session.output.as_json:
        slices = [{**status_document(one), "reconsolidation": one.rereading} for one in statuses]
        document = {"org": session.org, "stopped": stopped, "slices": slices}
        session.output.document(document | ({"waiting_conversations": conversations} if conversations else {}))
        return
    for one in stopped:
        session.output.line(f"Stopped: {one['reason']}", "yellow")
        session.output.line(f"  {one['remedy']}")
    if not statuses:
        session.output.line(f"The organization {session.org!r} has no notes yet.")
        session.output.line(f"Next: {session.invocation} ingest --help, or see it work: dream demo")
    for status in statuses:
        show_status(session, status)
    if (waiting := told(conversations)) is not None:
        session.output.line(waiting)


def status_document(status: SliceStatus) -> dict[str, Any]:
    """Return a slice's status as JSON has it."""
    return {
        "slice_id": status.slice.slice_id,
        "scope": status.slice.key.scope,
        "owner_user_id": status.slice.key.owner_user_id,
        "notes": status.notes,
        "beliefs": {
            "live": status.beliefs.live,
            "by_kind": status.beliefs.by_kind,
            "archived": status.beliefs.archived,
        },
        "cursor": status.cursor,
        "last_sequence": status.last_sequence,
        "runs": status.runs,
    }


def show_status(session: Session, status: SliceStatus) -> None:
    """Print a slice's status."""
    output, notes, beliefs, cursor = session.output, status.notes, status.beliefs, status.cursor
    output.line(slice_name(status.slice.key), "bold")
    output.line(
        f"  notes    {notes.total:,} = {notes.consolidated:,} consolidated + {notes.waiting:,} waiting"
        f" + {notes.retired:,} retired + {notes.empty:,} empty"
        + (f"; {notes.withdrawn:,} withdrawn" if notes.withdrawn else "")
    )
    kinds = ", ".join(f"{count:,} {kind.value}" for kind, count in beliefs.by_kind.items() if count)
    output.line(f"  beliefs  {beliefs.live:,} live; {beliefs.archived:,} archived")
    if kinds:
        output.line(f"           {kinds}", "dim")
    reached = f", up to notes of {minute(cursor.last_occurred_at)}" if cursor.last_occurred_at else ""
    output.line(f"  cursor   {cursor.position:,} of {status.last_sequence:,}{reached}")
    if (again := status.rereading) is not None:
        output.line(f"  again    notes up to {again.goal:,} are being read again, since {minute(again.since)}")
    if cursor.running:
        output.line(f"  a run is under way, last progress {minute(cursor.progressed_at)}")
    if cursor.held_reason:
        detail = f": {cursor.held_detail}" if cursor.held_detail else ""
        output.line(f"  held     since {minute(cursor.held_since)}, {cursor.held_reason}{detail}", "yellow")
        output.line(f"           {remedy(session, cursor.held_reason)}")
    if status.runs:
        output.line()
        output.show(_runs_table(status.runs))
    output.line()


def slice_name(key: SliceKey) -> str:
    """Return a slice's name for people."""
    owner = f" of {key.owner_user_id}" if key.owner_user_id else ""
    return escaped(f"{key.org_id} / {key.scope.value}{owner}")


def _runs_table(runs: Sequence[RunReading]) -> Any:
    right = {"justify": "right"}
    made = table(
        "run", "started", "status", ("notes", right), ("created", right), ("corrob.", right), ("rejected", right)
    )
    for run in runs:
        outcome = run.status.value + (f" ({run.held_reason})" if run.held_reason else "")
        notes = run.notes_consolidated + run.notes_retired
        numbers = (notes, run.beliefs_created, run.beliefs_corroborated, run.claims_rejected)
        made.add_row(short_id(run.run_id), minute(run.started_at), outcome, *(f"{number:,}" for number in numbers))
    return made
