"""`dream conflicts`: beliefs that cannot both hold, side by side, and a person's word on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from dreaming.local.commands.command import DreamCommand, DreamFamily, cursor_option, with_session
from dreaming.local.commands.session import Session
from dreaming.local.output import counted, day, one_line, printable, short_id

if TYPE_CHECKING:
    from rich.console import RenderableType

    from dreaming.api.records import Explanation
    from dreaming.api.timelines.store import ReviewRow

_QUOTES_SHOWN = 3
_QUOTE_LENGTH = 160


@click.group(
    cls=DreamFamily,
    invoke_without_command=True,
    examples="""
    dream conflicts                                      # what needs a person, side by side
    dream conflicts resolve 4f1c09ab 77ab01cd --keep left
    dream conflicts resolve 4f1c09ab 77ab01cd --keep both
    dream conflicts resolve 4f1c09ab 77ab01cd --keep merge
    """,
)
@click.option("--limit", type=click.IntRange(1, 200), default=20, show_default=True, help="How many pairs.")
@click.option("--neighbours", is_flag=True, help="Also pairs that are only alike and wait for a judge.")
@cursor_option
@click.pass_context
def conflicts(ctx: click.Context, limit: int, neighbours: bool, cursor: str | None) -> None:
    """List beliefs that contradict each other within a margin too small to decide, and pairs that no judge decides.

    What is only alike waits for a judge and is not here; nor is what a rule or the judge decided: `dream why BELIEF`
    shows its line of succession.
    """
    if ctx.invoked_subcommand is None:
        _list(limit=limit, neighbours=neighbours, cursor=cursor)


@with_session
def _list(session: Session, *, limit: int, neighbours: bool, cursor: str | None) -> None:
    listing = session.listing("conflicts", neighbours=neighbours)
    with session.database() as database:
        reader = session.reader(database)
        page = reader.reviews(session.key, limit=limit, neighbours=neighbours, cursor=listing.open(cursor))
        explained = reader.explain_all(
            session.key, [one for pair in page.items for one in (pair.left_id, pair.right_id)]
        )
        waiting = 0 if neighbours else reader.waiting_for_a_judge(session.key)
    found = [one for one in page.items if {one.left_id, one.right_id} <= explained.keys()]
    sides = [(explained[one.left_id], explained[one.right_id]) for one in found]
    more = listing.close(page.next_cursor)
    if session.output.as_json:
        documents = [_document(one, left, right) for one, (left, right) in zip(found, sides, strict=True)]
        session.output.document({"conflicts": documents, "waiting_for_a_judge": waiting, "next_cursor": more})
        return
    if not found:
        session.output.line("Nothing contradicts itself in a way that needs a person.")
        _tell_waiting(session, waiting)
        return
    for one, (left, right) in zip(found, sides, strict=True):
        session.output.line(_title(one), "bold")
        session.output.show(_side_by_side(left, right))
        session.output.line()
    ids = f"{short_id(found[0].left_id)} {short_id(found[0].right_id)}"
    command = f"{session.invocation} conflicts resolve {ids} --keep left|right|both|merge"
    session.output.line(f"{counted(len(found), 'pair')}. Decide one: {command}")
    _tell_waiting(session, waiting)
    session.tell_more(more)


def _tell_waiting(session: Session, waiting: int) -> None:
    """Say how many pairs are only alike: a list of contradictions is not their place."""
    if waiting:
        told = f"{counted(waiting, 'pair')} only alike: whether they contradict is for a judge, which needs a model."
        session.output.line(told, "dim")
        session.output.line(f"  See them: {session.invocation} conflicts --neighbours", "dim")


_REASONS = {"grey_band": "near in meaning", "part": "one says what the other says beside something else"}


def _title(one: ReviewRow) -> str:
    reason = _REASONS.get(one.reason, one.reason)
    if one.waits:
        return f"Alike, not known to contradict: {reason}"
    return f"Which holds? {reason}" if one.relation is not None else f"Still open: {reason}"


def _document(one: ReviewRow, left: Explanation, right: Explanation) -> dict[str, Any]:
    from dreaming.local.commands.beliefs import belief_document

    sides = {"left": left, "right": right}
    return {
        "relation": one.relation,
        "reason": one.reason,
        "waits_for_a_judge": one.waits,
        **{
            name: belief_document(side.reading)
            | {"quotes": [{"quote": s.source.quote, "occurred_at": s.source.occurred_at} for s in side.sources]}
            for name, side in sides.items()
        },
    }


def _side_by_side(left: Explanation, right: Explanation) -> RenderableType:
    from rich.table import Table

    made = Table.grid(padding=(0, 3, 0, 0), expand=True)
    made.add_column(ratio=1)
    made.add_column(ratio=1)
    made.add_row(_side("left", left), _side("right", right))
    return made


def _side(name: str, side: Explanation) -> RenderableType:
    from rich.text import Text

    belief = side.reading.belief
    text = Text()
    text.append(f"{name}  {short_id(belief.belief_id)}\n", "dim")
    text.append(printable(belief.statement) + "\n", "bold")
    text.append(f"confidence {belief.confidence:.2f}, {belief.trust.value}, {counted(belief.origins, 'origin')}\n")
    for reading in [one for one in side.sources if one.ended_at is None][:_QUOTES_SHOWN]:
        quote = one_line(reading.source.quote or "confirmed by a person", _QUOTE_LENGTH)
        text.append(f"{day(reading.source.occurred_at)}  ", "cyan")
        text.append(printable(f"«{quote}»\n"))
    return text


@conflicts.command(
    cls=DreamCommand,
    examples="""
    dream conflicts resolve 4f1c09ab 77ab01cd --keep right
    """,
)
@click.argument("left", metavar="LEFT_ID")
@click.argument("right", metavar="RIGHT_ID")
@click.option(
    "--keep",
    type=click.Choice(["left", "right", "both", "merge"]),
    required=True,
    help="The one that holds; both, when they can hold at once; merge, when they are one.",
)
@with_session
def resolve(session: Session, left: str, right: str, keep: str) -> None:
    """Say which of two beliefs holds. It stands until one of them says something else."""
    from dreaming.identifiers import uuid7
    from dreaming.passes.contradictions.service import Choice, Resolver

    with session.database() as database:
        reader = session.reader(database)
        left_id, right_id = (reader.explain(one).reading.belief.belief_id for one in (left, right))
        resolver = Resolver(database, session.key, session.settings(database), session.now(), uuid7)
        resolver.resolve(left_id, right_id, Choice(keep))
    if session.output.as_json:
        session.output.document({"left": left_id, "right": right_id, "kept": keep})
        return
    done = {"both": "Both are kept.", "merge": "They are one belief now.", "left": "The left one is kept.",
            "right": "The right one is kept."}[keep]  # fmt: skip
    session.output.line(f"{done} See: {session.invocation} why {short_id(left_id)}")
