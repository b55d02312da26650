"""`dream erase`: what is held of a note, an owner or an organization, gone for good."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING
from uuid import UUID

import click

from dreaming.errors import InvalidInput
from dreaming.local.commands.command import DreamFamily, with_session
from dreaming.local.commands.session import Session
from dreaming.local.output import table

if TYPE_CHECKING:
    from dreaming.database import Database
    from dreaming.erasure.records import Erased
    from dreaming.erasure.service import Eraser

_yes = click.option("--yes", is_flag=True, help="Do not ask; it cannot be undone.")


@click.group(
    cls=DreamFamily,
    examples="""
    dream erase note 0197c1a2-5b1e-7f00-8000-3c2d4f1c09ab     # with every wording of it
    dream erase owner --user mia                              # all that is held on mia
    dream erase organization --org acme --yes
    dream erase lift notes/2024-05-02.md --source markdown    # it may be ingested again
    """,
)
def erase() -> None:
    """Erase notes, an owner's data or an organization: rows, wordings, vectors, answers.

    Nothing comes back by a connector until `dream erase lift`. What is counted of calls stays.
    """


@erase.command(
    "note",
    examples="""
    dream erase note 0197c1a2-5b1e-7f00-8000-3c2d4f1c09ab
    """,
)
@click.argument("note_ids", metavar="NOTE_ID...", nargs=-1, required=True)
@_yes
@with_session
def erase_note(session: Session, note_ids: Sequence[str], yes: bool) -> None:
    """Erase notes by their whole ids; one made of a conversation takes that along.

    Beliefs with other sources say what those say; the rest is deleted.
    """
    ids = [_id(given) for given in note_ids]
    _ask(yes, f"Erase {len(ids)} note(s) for good?")
    _erase(session, lambda eraser: eraser.notes(session.tenant, ids))


@erase.command(
    "owner",
    examples="""
    dream erase owner --user mia --yes
    """,
)
@_yes
@with_session
def erase_owner(session: Session, yes: bool) -> None:
    """Erase what is held on the user that --user names.

    Their private slice, the conversations they captured, and their name where records say who acted.
    """
    if not session.user:
        raise InvalidInput("--user", "is missing", "name the owner whose data is meant")
    _ask(yes, f"Erase everything on {session.user} of {session.org} for good?")
    _erase(session, lambda eraser: eraser.owner(session.tenant))


@erase.command(
    "organization",
    examples="""
    dream erase organization --org acme --yes
    """,
)
@_yes
@with_session
def erase_organization(session: Session, yes: bool) -> None:
    """Erase everything of the organization; it is switched off and takes nothing in."""
    _ask(yes, f"Erase everything of the organization {session.org} for good?")
    _erase(session, lambda eraser: eraser.organization(session.org))


@erase.command(
    "lift",
    examples="""
    dream erase lift notes/2024-05-02.md --source markdown
    """,
)
@click.argument("external_ids", metavar="EXTERNAL_ID...", nargs=-1, required=True)
@click.option("--source", required=True, help="The source that names the notes so.")
@with_session
def lift(session: Session, external_ids: Sequence[str], source: str) -> None:
    """Let erased notes be ingested again, by the names their connector gives them."""
    with session.database() as database:
        lifted = _eraser(session, database).lift_notes(session.key, source, external_ids)
    _lifted(session, lifted)


@erase.command(
    "lift-conversation",
    examples="""
    dream erase lift-conversation standup-2024-05-02
    """,
)
@click.argument("conversation_ids", metavar="CONVERSATION_ID...", nargs=-1, required=True)
@with_session
def lift_conversation(session: Session, conversation_ids: Sequence[str]) -> None:
    """Let erased conversations be captured again."""
    with session.database() as database:
        lifted = _eraser(session, database).lift_conversations(session.tenant, conversation_ids)
    _lifted(session, lifted)


@erase.command(
    "lift-organization",
    examples="""
    dream erase lift-organization --org acme
    """,
)
@with_session
def lift_organization(session: Session) -> None:
    """Let an erased organization take notes in again; it must be enrolled anew."""
    with session.database() as database:
        lifted = _eraser(session, database).lift_organization(session.org)
    _lifted(session, int(lifted))


def _erase(session: Session, effect: Callable[[Eraser], Erased]) -> None:
    deleted = 0
    with session.database() as database, session.output.working("erasing") as say:

        def progress(rows: int) -> None:
            nonlocal deleted
            deleted += rows
            say(f"{deleted:,} rows deleted")

        erased = effect(_eraser(session, database, progress))
    if session.output.as_json:
        session.output.document(
            {
                "deleted": erased.counts,
                "rewritten": erased.rewritten_counts,
                "tombstones": erased.tombstones,
                "complete": erased.complete,
            }
        )
        return
    if not erased.counts:
        session.output.line("nothing of it was here")
        return
    shown = table("table", ("deleted", {"justify": "right"}), ("rewritten", {"justify": "right"}))
    for name in sorted({*erased.counts, *erased.rewritten_counts}):
        shown.add_row(name, f"{erased.counts.get(name, 0):,}", f"{erased.rewritten_counts.get(name, 0):,}")
    session.output.show(shown)
    session.output.line(f"{erased.tombstones:,} kept from coming back")


def _eraser(session: Session, database: Database, on_progress: Callable[[int], None] | None = None) -> Eraser:
    from dreaming.erasure.service import Eraser
    from dreaming.identifiers import uuid7

    return Eraser(
        database,
        session.variables,
        session.actor,
        session.now,
        uuid7,
        on_progress=on_progress or (lambda _rows: None),
    )


def _lifted(session: Session, count: int) -> None:
    if session.output.as_json:
        session.output.document({"lifted": count})
    else:
        session.output.line(f"{count:,} may come in again" if count else "nothing of that name was kept out")


def _ask(yes: bool, question: str) -> None:
    if yes:
        return
    try:
        agreed = click.confirm(question, err=True)
    except click.Abort as error:
        if sys.stdin.isatty():
            raise
        click.echo(err=True)  # ends the question's line
        raise InvalidInput("--yes", "is missing, and there is no terminal to ask on", "add --yes") from error
    if not agreed:
        raise click.Abort


def _id(given: str) -> UUID:
    try:
        return UUID(given)
    except ValueError as error:
        problem = f"{given[:60]!r} is no whole id"
        raise InvalidInput("NOTE_ID", problem, "copy it from `dream why BELIEF_ID --json`") from error
