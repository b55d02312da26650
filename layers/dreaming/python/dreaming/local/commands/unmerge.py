"""`dream unmerge`: take back a merge of two beliefs, or the match of one source."""

from __future__ import annotations

from uuid import UUID

import click

from dreaming.errors import InvalidInput
from dreaming.local.commands.command import DreamCommand, with_session
from dreaming.local.commands.session import Session
from dreaming.local.output import short_id

_SHORTEST_ID = 4


@click.command(
    cls=DreamCommand,
    examples="""
    dream unmerge 4f1c09ab                       # the latest merge of this belief
    dream unmerge 4f1c09ab --source 77ab01cd     # one source gets a belief of its own
    """,
)
@click.argument("belief", metavar="BELIEF_ID")
@click.option("--source", metavar="SOURCE_ID", help="Split this source off; ids are in `dream why BELIEF_ID --json`.")
@with_session
def unmerge(session: Session, belief: str, source: str | None) -> None:
    """Take back the latest merge of a belief; both are again what they were.

    What came after the merge stays where it is. The two are never merged again by themselves.
    """
    from dreaming.identifiers import uuid7
    from dreaming.passes.contradictions.service import Resolver

    with session.database() as database:
        explanation = session.reader(database).explain(belief)
        belief_id = explanation.reading.belief.belief_id
        resolver = Resolver(database, session.key, session.settings(database), session.now(), uuid7)
        if source is None:
            one, other = resolver.unmerge(belief_id)
        else:
            known = [reading.source.source_id for reading in explanation.sources if reading.ended_at is None]
            one, other = belief_id, resolver.split(belief_id, _find(source, known))
    if session.output.as_json:
        session.output.document({"belief_id": one, "other_belief_id": other})
    else:
        session.output.line(f"Two beliefs again: {short_id(one)} and {short_id(other)}")


def _find(given: str, known: list[UUID]) -> UUID:
    part = given.strip().lower().replace("-", "")
    found = [one for one in known if len(part) >= _SHORTEST_ID and (one.hex.startswith(part) or one.hex.endswith(part))]
    if len(found) != 1:
        problem = f"{given[:60]!r} names {len(found)} live sources of the belief"
        raise InvalidInput("--source", problem, "see `dream why BELIEF_ID --json`")
    return found[0]
