"""`dream brief`: the digest of what is believed, for people and for an agent's system prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from dreaming.local.commands.command import DreamCommand, with_session
from dreaming.local.commands.nothing import tell_nothing_believed
from dreaming.local.commands.session import Session
from dreaming.local.output import counted, printable, to_json

if TYPE_CHECKING:
    from dreaming.beliefs.briefs.records import Brief


@click.command(
    cls=DreamCommand,
    examples="""
    dream brief                                   # what the organization believes
    dream brief --user ana                        # and Ana's own beliefs
    dream brief --user ana --agent                # as marked text for an agent's system prompt
    dream brief --json
    """,
)
@click.option("--agent", "for_agent", is_flag=True, help="Marked text for an agent, which capture and ingest strip.")
@with_session
def brief(session: Session, for_agent: bool) -> None:
    """Tell what is believed now in few words: the most important and the surest first, each with its id.

    Without --scope the organization's beliefs and, with --user, that user's own. The setting
    brief_characters bounds it; no line is cut.
    """
    from dreaming.beliefs.briefs.service import Briefing, marked
    from dreaming.database import Role
    from dreaming.notes.records import Scope

    scope = Scope(session.scope) if click.get_current_context().find_root().obj.get("scope") else None
    with session.database() as database:
        briefing = Briefing(database, session.variables, Role.API)
        made = briefing.brief(session.tenant, now=session.now(), scope=scope)
        if not made.lines and not session.output.as_json and not for_agent:
            tell_nothing_believed(session, database, narrowed=False)
            return
    if session.output.as_json:
        session.output.document(brief_document(made) | {"marked": marked(made)})
    elif for_agent:
        session.output.whole(printable(marked(made)))
    else:
        _show(session, made)


def brief_document(made: Brief) -> dict[str, Any]:
    """Return a brief as JSON has it."""
    document = to_json(made)
    if not isinstance(document, dict):
        raise TypeError("a brief is an object")
    return document


def _show(session: Session, made: Brief) -> None:
    session.output.whole(printable(made.text))
    if not made.complete:
        session.output.notice(
            f"{counted(len(made.lines), 'belief')} within {made.characters:,} characters; "
            f"all of them: {session.invocation} beliefs"
        )
