"""`dream fading`: what fades in the weeks to come."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from dreaming.local.commands.command import DreamCommand, cursor_option, with_session
from dreaming.local.commands.session import Session
from dreaming.local.output import counted, day, one_line, short_id, table

if TYPE_CHECKING:
    from dreaming.passes.decay.records import Fading, Forecast

BLOCKS = " ▏▎▍▌▋▊▉█"
"""A character cell filled from the left in eighths."""

_BAR_WIDTH = 48
_STATEMENT = 64


@click.command(
    cls=DreamCommand,
    examples="""
    dream fading                       # the next 12 weeks, and the first ten to fade
    dream fading --limit 50
    dream fading --json
    """,
)
@click.option("--limit", type=click.IntRange(0, 1000), default=10, show_default=True, help="How many to list.")
@cursor_option
@with_session
def fading(session: Session, limit: int, cursor: str | None) -> None:
    """Show how many beliefs fade in each of the next 12 weeks, and which ones go first.

    Unless something confirms them: a further note, or `dream confirm`. What has faded is archived by the
    next pass and can be restored.
    """
    from dreaming.api.paging import moment_and_id, write_cursor
    from dreaming.passes.decay.service import Outlook

    listing = session.listing("fading")
    after = moment_and_id(listing.open(cursor))
    with session.database() as database:
        forecast = Outlook(database, session.key, session.variables, session.now()).forecast(limit=limit, after=after)
    last = forecast.next_ones[-1] if forecast and forecast.more and forecast.next_ones else None
    more = None if last is None else listing.close(write_cursor(last.fades_at, last.belief_id))
    if session.output.as_json:
        session.output.document({"forecast": forecast, "next_cursor": more})
    elif forecast is None:
        session.output.line("There is nothing in this slice yet.")
    else:
        _show(session, forecast)
        session.tell_more(more)


def _show(session: Session, forecast: Forecast) -> None:
    output = session.output
    total = sum(week.beliefs for week in forecast.weeks)
    output.line(f"{counted(forecast.ageing, 'belief')} age; {total:,} fade within 12 weeks", "bold")
    if forecast.faded:
        output.line(
            f"{counted(forecast.faded, 'belief')} faded already and wait for a pass, or are held back", "yellow"
        )
    output.line()
    most = max((week.beliefs for week in forecast.weeks), default=0)
    for week in forecast.weeks:
        output.line(f"  {day(week.start)}  {bar(week.beliefs, most, _BAR_WIDTH)} {week.beliefs:,}".rstrip())
    if forecast.next_ones:
        output.line("\nNext to fade", "bold")
        output.show(fading_table(forecast.next_ones))
        first = short_id(forecast.next_ones[0].belief_id)
        output.line(f"Keep one: {session.invocation} confirm {first}")


def bar(number: int, most: int, width: int) -> str:
    """Return a bar of blocks, `width` cells for `most`, to an eighth of a cell; whatever is not none shows."""
    if not number:
        return ""
    eighths = max(1, round(number / most * width * 8))
    return BLOCKS[-1] * (eighths // 8) + (BLOCKS[eighths % 8] if eighths % 8 else "")


def fading_table(beliefs: Sequence[Fading]) -> Any:
    """Return a table of beliefs that fade."""
    right = {"justify": "right"}
    made = table("belief", ("today", right), "fades", "archived from", "announced", "statement")
    for one in beliefs:
        announced = day(one.warned_at) if one.warned_at else ("will be" if one.warns else "-")
        made.add_row(
            short_id(one.belief_id),
            f"{one.aged:.2f}",
            day(one.fades_at),
            day(one.archived_from),
            announced,
            one_line(one.statement, _STATEMENT),
        )
    return made
