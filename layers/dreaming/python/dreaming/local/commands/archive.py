"""`dream confirm`, `dream archive` and `dream restore`: what a person does to beliefs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from dreaming.local.commands.command import DreamCommand, with_session
from dreaming.local.commands.session import Session
from dreaming.local.output import day, short_id

if TYPE_CHECKING:
    from uuid import UUID

    from dreaming.beliefs.persons.service import Outcome, Person
    from dreaming.database import Database

_ids = click.argument("belief_ids", metavar="BELIEF_ID...", nargs=-1, required=True)


@click.command(
    cls=DreamCommand,
    examples="""
    dream confirm 4f1c09ab             # it is so, as of now
    dream confirm 4f1c09ab 77ab01cd --json
    """,
)
@_ids
@with_session
def confirm(session: Session, belief_ids: Sequence[str]) -> None:
    """Vouch for beliefs: confidence 1.0 as of now; one that has faded comes back.

    The beginning or the end of an id is enough. Repeating it only moves the moment.
    """
    _act(session, belief_ids, "confirm")


@click.command(
    cls=DreamCommand,
    examples="""
    dream archive 4f1c09ab             # out of sight, whatever the notes say
    """,
)
@_ids
@with_session
def archive(session: Session, belief_ids: Sequence[str]) -> None:
    """Take beliefs out of sight; notes that say the same no longer bring them back.

    They and their history are kept, and `dream restore` undoes it.
    """
    _act(session, belief_ids, "archive")


@click.command(
    cls=DreamCommand,
    examples="""
    dream beliefs --archived           # what there is to restore
    dream restore 4f1c09ab
    """,
)
@_ids
@with_session
def restore(session: Session, belief_ids: Sequence[str]) -> None:
    """Bring back beliefs that have faded or that a person archived, with their relationships.

    One that would fade again at once is confirmed too.
    """
    _act(session, belief_ids, "restore")


def _act(session: Session, belief_ids: Sequence[str], action: str) -> None:
    """Do it to each belief in turn; all ids are looked up before the first is changed."""
    with session.database() as database:
        found = _find(session, database, belief_ids)
        outcomes = [_one(session, database, belief_id, action) for belief_id in found]
    if session.output.as_json:
        session.output.document(
            {"beliefs": [{"belief": outcome.belief, "changed": outcome.changed} for outcome in outcomes]}
        )
        return
    for outcome in outcomes:
        _show(session, outcome, action)


def _find(session: Session, database: Database, belief_ids: Sequence[str]) -> list[UUID]:
    reader = session.reader(database)
    return list(dict.fromkeys(reader.explain(given).reading.belief.belief_id for given in belief_ids))


def _one(session: Session, database: Database, belief_id: UUID, action: str) -> Outcome:
    from dreaming.beliefs.persons.service import Person
    from dreaming.identifiers import uuid7

    person: Person = Person(database, session.tenant, session.actor, session.variables)
    doing = {"confirm": person.confirm, "archive": person.archive, "restore": person.restore}[action]
    return doing(belief_id, now=session.now(), new_id=uuid7)


def _show(session: Session, outcome: Outcome, action: str) -> None:
    belief = outcome.belief
    done = {"confirm": "confirmed", "archive": "archived", "restore": "restored"}[action]
    session.output.line(f"{short_id(belief.belief_id)}  {done if outcome.changed else f'was {done} before'}")
    session.output.line(f"          {belief.statement}", "bold")
    if belief.live:
        until = f"fades on {day(belief.fades_at)}" if belief.fades_at else "permanent"
        session.output.line(f"          confidence {belief.confidence:.2f} as of {day(belief.confirmed_at)}, {until}")
