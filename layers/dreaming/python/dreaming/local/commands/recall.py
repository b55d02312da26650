"""`dream recall`: find past conversations from a paraphrase."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from dreaming.errors import Misconfigured
from dreaming.local.commands.beliefs import words_meant
from dreaming.local.commands.command import DreamCommand, with_session
from dreaming.local.commands.conversations import off_remedy, recalling, remedy, words_only
from dreaming.local.commands.nothing import tell_nothing_recalled
from dreaming.local.commands.session import Session
from dreaming.local.output import counted, day, escaped, one_line, printable

if TYPE_CHECKING:
    from rich.console import RenderableType

    from dreaming.recall.records import RecallAnswer, RecalledConversation

_BAR = 12
_EXAMPLE = 'recall "how we moved the database"'


@click.command(
    cls=DreamCommand,
    examples="""
    dream recall "how we moved the database"      # the organization's conversations
    dream recall --user ana garden plans          # and Ana's own
    dream recall --user ana --scope private roses # hers only
    dream recall roof --agent                     # as marked text for an agent's prompt
    """,
)
@click.argument("words", metavar="QUERY...", nargs=-1, required=True)
@click.option("--limit", type=click.IntRange(1, 10), default=10, show_default=True, help="How many at most.")
@click.option("--agent", "for_agent", is_flag=True, help="Marked text for an agent, which capture and ingest strip.")
@with_session
def recall(session: Session, words: Sequence[str], limit: int, for_agent: bool) -> None:
    """Find past conversations by words and by meaning, each with why and with its best passage.

    Without --scope the organization's conversations are searched and, with --user, that user's own.
    """
    from dreaming.recall.service import marked, searched_scopes
    from dreaming.recall.switch import is_on

    query = " ".join(words_meant(words, "QUERY", f"say what it was about: {session.invocation} {_EXAMPLE}"))
    if not is_on(session.variables):
        raise Misconfigured(off_remedy(session.variables))
    with session.database() as database:
        scope = session.scope if _scope_given() else None
        answer = recalling(session, database).recall(session.tenant, query, scope=scope, limit=limit)
        lacking = words_only(session, database, [answer.reason])
        if not answer.conversations and not session.output.as_json and not for_agent:
            tell_nothing_recalled(session, database, searched_scopes(session.tenant, scope))
    if session.output.as_json:
        session.output.document(answer)
    elif for_agent:
        session.output.whole(printable(marked(session.tenant, answer)))
    else:
        _show(session, answer, lacking)


def _scope_given() -> bool:
    return bool(click.get_current_context().find_root().obj.get("scope"))


def _show(session: Session, answer: RecallAnswer, lacking: str | None) -> None:
    from rich.table import Table

    if answer.conversations:
        made = Table.grid(padding=(0, 2, 0, 0))
        made.add_column(no_wrap=True)
        made.add_column(ratio=1)
        for one in answer.conversations:
            made.add_row(_figures(one), _words(one))
            made.add_row()
        session.output.show(made)
    if answer.reason:
        session.output.notice(lacking or remedy(answer.reason))
    if answer.terms_left_out:
        session.output.notice(f"{counted(answer.terms_left_out, 'common word')} of the query left out")


def _figures(one: RecalledConversation) -> RenderableType:
    """The score as a bar, and both of its parts."""
    from rich.text import Text

    full = round(one.score * _BAR)
    figures = Text()
    figures.append("█" * full, "green").append("░" * (_BAR - full), "dim").append(f" {one.score:.2f}\n", "bold")
    likeness = "-" if one.likeness is None else f"{one.likeness:.2f}"
    figures.append(f"words {one.lexical:.1f} · meaning {likeness}", "dim")
    return figures


def _words(one: RecalledConversation) -> RenderableType:
    from rich.text import Text

    words = Text(one_line(escaped(one.conversation_id), 80), "bold")
    who = f", {one.agent}" if one.agent else ""
    private = " · private" if one.scope.value == "private" else ""
    words.append(escaped(f"  {day(one.last_at)}, {counted(one.turns, 'turn')}{who}{private}"), "not bold dim")
    passage = one.passage
    if passage is None:
        words.append(printable("\n" + one_line(one.summary, 300)), "not bold")
    else:
        speaker = f"{passage.speaker}: " if passage.speaker else ""
        words.append(printable(f"\n{speaker}“{one_line(passage.text, 320)}”"), "not bold italic")
        words.append(f"  turn {passage.position + 1}", "not bold dim")
    return words
