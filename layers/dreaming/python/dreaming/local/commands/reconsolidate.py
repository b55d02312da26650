"""`dream reconsolidate`: notes read again, after a change of the model or of the prompt."""

from __future__ import annotations

from datetime import datetime

import click

from dreaming.local.commands.command import DreamCommand, with_session
from dreaming.local.commands.session import Session
from dreaming.local.output import counted


@click.command(
    cls=DreamCommand,
    examples="""
    dream reconsolidate && dream drain             # read every note of the slice again
    dream reconsolidate --source git:dreaming      # only those of one source
    dream reconsolidate --since 2026-01-01         # only those written since then
    """,
)
@click.option("--source", metavar="NAME", help="Only notes of this source.")
@click.option(
    "--since",
    type=click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"]),
    metavar="DATE",
    help="Only notes written on this day (UTC) or later.",
)
@with_session
def reconsolidate(session: Session, source: str | None, since: datetime | None) -> None:
    """Let consolidated notes of the slice wait again, as after a change of the model.

    The next drain reads them anew, which costs their model calls again. A belief that a note still
    supports keeps its id and history; one that no note supports any more is archived. Nothing is lost
    when the drain is interrupted, and `dream status` shows how far it is. Retired notes are left alone.
    """
    from datetime import UTC

    from dreaming.passes.consolidation.reconsolidation import reconsolidate as rewind

    with session.database() as database:
        count = rewind(
            database,
            session.key,
            source=source,
            since=since.replace(tzinfo=UTC) if since else None,
            now=session.now(),
        )
    if session.output.as_json:
        session.output.document({"waiting_again": count})
    elif count:
        session.output.line(f"{counted(count, 'note')} waiting again. Next: {session.invocation} drain")
    else:
        session.output.line("No consolidated note is meant: nothing is read again.")
