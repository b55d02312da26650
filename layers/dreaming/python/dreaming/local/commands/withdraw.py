"""`dream withdraw`: notes that are gone upstream."""

from __future__ import annotations

from collections.abc import Sequence

import click

from dreaming.local.commands.command import DreamCommand, with_session
from dreaming.local.commands.session import Session
from dreaming.local.output import counted


@click.command(
    cls=DreamCommand,
    examples="""
    dream withdraw wiki page-17 page-18    # notes of the source wiki
    """,
)
@click.argument("source", metavar="SOURCE")
@click.argument("external_ids", metavar="EXTERNAL_ID...", nargs=-1, required=True)
@with_session
def withdraw(session: Session, source: str, external_ids: Sequence[str]) -> None:
    """Withdraw notes: what they said stops counting at once, and they are not read again.

    A belief that loses its last source is archived. Ingesting the note again reinstates it.
    """
    from dreaming.beliefs.service import withdraw_notes
    from dreaming.identifiers import uuid7

    with session.database() as database:
        count = withdraw_notes(
            database,
            session.key,
            source,
            external_ids,
            settings=session.settings(database),
            now=session.now(),
            new_id=uuid7,
        )
    unknown = len(set(external_ids)) - count
    if session.output.as_json:
        session.output.document({"withdrawn": count, "unknown": unknown})
        return
    session.output.line(f"{counted(count, 'note')} withdrawn")
    if unknown:
        session.output.line(f"{unknown:,} unknown to this slice, or withdrawn before", "yellow")
