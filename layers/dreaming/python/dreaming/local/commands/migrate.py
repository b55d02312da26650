"""`dream migrate`: the database's schema."""

from __future__ import annotations

import click

from dreaming.local.commands.command import DreamCommand, with_session
from dreaming.local.commands.session import Session
from dreaming.local.output import minute, table


@click.command(
    cls=DreamCommand,
    examples="""
    dream migrate                                 # apply what is missing
    dream migrate --status                        # only look
    DATABASE_URL=postgresql://… dream migrate     # another database than the embedded one
    """,
)
@click.option("--status", "only_look", is_flag=True, help="List migrations and change nothing.")
@with_session
def migrate(session: Session, only_look: bool) -> None:
    """Bring the database up to date. It is safe to run twice, and at the same time."""
    from dreaming.database.migration import migrate as apply
    from dreaming.database.migration import status

    url = session.database_url()
    applied = [] if only_look else apply(url, wait_seconds=session.wait_seconds)
    found = status(url, wait_seconds=session.wait_seconds)
    if session.output.as_json:
        session.output.document(
            {
                "newly_applied": [migration.name for migration in applied],
                "applied": [{"name": done.name, "applied_at": done.applied_at} for done in found.applied],
                "pending": [migration.name for migration in found.pending],
            }
        )
        return
    made = table("migration", "applied")
    for done in found.applied:
        made.add_row(done.name, minute(done.applied_at))
    for migration in found.pending:
        made.add_row(migration.name, "pending")
    session.output.show(made)
    if only_look:
        pending = len(found.pending)
        session.output.line(f"{pending} pending: run dream migrate" if pending else "The database is up to date.")
    else:
        session.output.line(f"{len(applied)} applied now; the database is up to date.")
