"""`dream decay`: one decay pass, or what one would do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from dreaming.local.commands.command import DreamCommand, with_session
from dreaming.local.commands.fading import fading_table
from dreaming.local.commands.other_passes import drain_pass, show_pass_drained
from dreaming.local.commands.session import Session
from dreaming.local.output import counted, minute
from dreaming.passes.records import DECAY

if TYPE_CHECKING:
    from dreaming.passes.decay.records import Preview

_UNAVAILABLE = 4


@click.command(
    cls=DreamCommand,
    examples="""
    dream decay                        # archive what has faded, announce what matters
    dream decay --dry-run              # what that would be, and when; nothing is written
    dream decay --dry-run --limit 50 --json
    """,
)
@click.option("--dry-run", is_flag=True, help="Only show what a pass would do in the slice.")
@click.option("--limit", type=click.IntRange(0, 1000), default=10, show_default=True, help="How many of each to list.")
@with_session
def decay(session: Session, dry_run: bool, limit: int) -> int:
    """Archive what has faded and announce what matters before it does, in every slice that is due.

    The schedule does the same each hour. It is safe to run at any time and as often as you like: what
    fades depends on moments, not on passes.
    """
    if dry_run:
        _show_preview(session, limit)
        return 0
    with session.runtime() as runtime:
        drained = drain_pass(session, runtime, DECAY)
    if session.output.as_json:
        session.output.document(drained)
    elif not drained.batches and not drained.held:
        session.output.line("Nothing is due.")
        session.output.line(f"What fades next: {session.invocation} fading")
    else:
        show_pass_drained(session, drained)
    return _UNAVAILABLE if drained.held and not drained.batches else 0


def _show_preview(session: Session, limit: int) -> None:
    from dreaming.passes.decay.service import Outlook

    with session.database() as database:
        preview = Outlook(database, session.key, session.variables, session.now()).preview(limit=limit)
    if session.output.as_json:
        session.output.document({"preview": preview})
        return
    if preview is None:
        session.output.line("There is nothing in this slice yet.")
        return
    _show(session, preview)


def _show(session: Session, preview: Preview) -> None:
    output = session.output
    edges = counted(preview.relationships_archived, "relationship")
    output.line(f"A pass now would archive {counted(preview.archived, 'belief')} and {edges},", "bold")
    output.line(f"and announce {counted(preview.warned, 'belief')}; {preview.held:,} announced before are held back.")
    if preview.recomputed:
        output.line("The ageing settings have changed: the pass first recomputes when each belief fades.", "yellow")
    for title, beliefs in (("Archived", preview.to_archive), ("Announced", preview.to_warn)):
        if beliefs:
            output.line(f"\n{title}", "bold")
            output.show(fading_table(beliefs))
    if preview.next_due is not None:
        output.line(f"\nNext moment with something to do: {minute(preview.next_due)}")
