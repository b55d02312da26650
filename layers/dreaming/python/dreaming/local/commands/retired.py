"""`dream retired`: notes that were given up, and their retry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from uuid import UUID

import click

from dreaming.errors import InvalidInput
from dreaming.local.commands.command import DreamCommand, DreamFamily, cursor_option, with_session
from dreaming.local.commands.session import Session
from dreaming.local.output import counted, day, escaped, minute, one_line, short_id, table

if TYPE_CHECKING:
    from dreaming.api.service import Reader
    from dreaming.notes.records import SliceKey

MOST = 1_000
_SHORTEST_ID = 4


@click.group(
    cls=DreamFamily,
    invoke_without_command=True,
    examples="""
    dream retired                      # what was given up, and why
    dream retired retry 4f1c09ab       # let one wait again
    dream retired retry --all
    """,
)
@click.option("--limit", type=click.IntRange(1, MOST), default=100, show_default=True, help="How many notes.")
@cursor_option
@click.pass_context
def retired(ctx: click.Context, limit: int, cursor: str | None) -> None:
    """List the notes that failed three times; `retry` lets them wait again with no attempts counted."""
    if ctx.invoked_subcommand is None:
        list_retired(limit=limit, cursor=cursor)


@with_session
def list_retired(session: Session, *, limit: int, cursor: str | None) -> None:
    """Print a page of a slice's retired notes."""
    listing = session.listing("retired notes")
    with session.database() as database:
        page = session.reader(database).retired(session.key, limit=limit, cursor=listing.open(cursor))
    notes, more = page.items, listing.close(page.next_cursor)
    if session.output.as_json:
        session.output.document({"retired": notes, "next_cursor": more})
        return
    if not notes:
        session.output.line("No note is retired.")
        return
    made = table("note", "retired", "reason", "attempts", "source", "written")
    for note in notes:
        place = one_line(escaped(f"{note.source} {note.external_id}"), 48)
        made.add_row(
            short_id(note.note_id),
            minute(note.retired_at),
            note.reason,
            str(note.attempts),
            place,
            day(note.occurred_at),
        )
    session.output.show(made)
    session.output.line(f"Retry: {session.invocation} retired retry ID, or --all; then {session.invocation} drain")
    session.tell_more(more)


@retired.command(
    cls=DreamCommand,
    examples="""
    dream retired retry 4f1c09ab 77ab01cd
    dream retired retry --all && dream drain
    """,
)
@click.argument("note_ids", metavar="[ID]...", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Every retired note of the slice.")
@with_session
def retry(session: Session, note_ids: Sequence[str], everything: bool) -> None:
    """Let retired notes wait again; the beginning or end of an id is enough."""
    if bool(note_ids) == everything:
        raise InvalidInput("ID", "is missing" if not note_ids else "is given with --all", "name notes, or give --all")
    from dreaming.notes.service import retry_retired

    with session.database() as database:
        chosen = None
        if not everything:
            known = _ids(session.reader(database), session.key)
            chosen = [_find(given, known) for given in note_ids]
        count = retry_retired(database, session.key, chosen, now=session.now())
    if session.output.as_json:
        session.output.document({"retried": count})
    else:
        session.output.line(f"{counted(count, 'note')} waiting again. Next: {session.invocation} drain")


def _ids(reader: Reader, key: SliceKey) -> list[UUID]:
    page = reader.retired(key, limit=MOST)
    found = [note.note_id for note in page.items]
    while page.next_cursor is not None:
        page = reader.retired(key, limit=MOST, cursor=page.next_cursor)
        found += [note.note_id for note in page.items]
    return found


def _find(given: str, known: Sequence[UUID]) -> UUID:
    part = given.strip().lower().replace("-", "")
    found = [one for one in known if part and (one.hex.startswith(part) or one.hex.endswith(part))]
    if len(part) < _SHORTEST_ID or len(found) != 1:
        problem = f"{given[:60]!r} names {len(found)} retired notes" if found else f"no retired note is {given[:60]!r}"
        raise InvalidInput("ID", problem, "see `dream retired`, and use more characters of the id")
    return found[0]
