"""`dream beliefs`: list and search what is believed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import click

from dreaming.errors import InvalidInput
from dreaming.local.commands.command import DreamCommand, cursor_option, with_session
from dreaming.local.commands.nothing import tell_nothing_believed
from dreaming.local.commands.readings import moment
from dreaming.local.commands.session import Session
from dreaming.local.output import counted, day, escaped, note_name, one_line, printable, short_id

if TYPE_CHECKING:
    from rich.console import RenderableType

    from dreaming.api.beliefs.store import BeliefFilter
    from dreaming.api.paging import Listing
    from dreaming.api.records import BeliefReading
    from dreaming.api.search.ranking import Place

QUOTE_LENGTH = 300


@click.command(
    cls=DreamCommand,
    examples="""
    dream beliefs                                 # the surest first
    dream beliefs postgres migration              # what is about it, by words and by meaning
    dream beliefs --kind decision --min-confidence 0.5 --limit 50
    dream beliefs --archived                      # what has faded or was archived
    dream beliefs lena --as-of 2024-05-01         # what held then, by what is known today
    """,
)
@click.argument("words", metavar="[WORD]...", nargs=-1)
@click.option("--kind", type=click.Choice(["fact", "preference", "decision", "entity", "constraint", "observation"]))
@click.option("--min-confidence", type=click.FloatRange(0, 1), default=0.0, help="Least confidence, aged to today.")
@click.option("--archived", is_flag=True, help="Archived beliefs instead of live ones.")
@click.option("--as-of", metavar="DATE", help="What held at that time, by all that is known today.")
@click.option("--believed-at", metavar="DATE", help="What was believed then, by what was known at that time.")
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="How many at once.")
@cursor_option
@with_session
def beliefs(
    session: Session,
    words: Sequence[str],
    kind: str | None,
    min_confidence: float,
    archived: bool,
    as_of: str | None,
    believed_at: str | None,
    limit: int,
    cursor: str | None,
) -> None:
    """List beliefs by today's confidence, then importance, each with the quote behind it.

    With words, beliefs about them, the best match first: by words in any form and, where beliefs have
    vectors, by meaning; of two that match equally the surer comes first.
    """
    from dreaming.api.beliefs.store import BeliefFilter
    from dreaming.beliefs.records import Kind

    words = words_meant(words)
    wanted = BeliefFilter(
        words,
        Kind(kind) if kind else None,
        min_confidence,
        archived,
        moment("--as-of", as_of, UTC),
        moment("--believed-at", believed_at, UTC),
    )
    listing = session.listing("beliefs", **{name: getattr(wanted, name) for name in type(wanted).__dataclass_fields__})
    place = listing.open(cursor)
    if words:
        _search(session, wanted, limit, place, listing)
        return
    with session.database() as database:
        page = session.reader(database).beliefs(session.key, wanted, limit=limit, cursor=place)
        if not page.beliefs and not archived and not session.output.as_json:
            tell_nothing_believed(session, database, narrowed=bool(kind or min_confidence or cursor or as_of))
            return
    more = listing.close(page.next_cursor)
    if session.output.as_json:
        session.output.document({"beliefs": [belief_document(one) for one in page.beliefs], "next_cursor": more})
        return
    if not page.beliefs:
        session.output.line(
            "No archived belief matches." if kind or min_confidence or cursor else "Nothing is archived."
        )
        session.output.line(f"What is believed: {session.invocation} beliefs")
        return
    show_beliefs(session, page.beliefs)
    session.output.line(f"Behind one: {session.invocation} why {short_id(page.beliefs[0].belief.belief_id)}")
    session.tell_more(more)


def words_meant(given: Sequence[str], name: str = "WORD", example: str = "say what to look for") -> tuple[str, ...]:
    """Return the words to look for without the blank ones; raises `InvalidInput` when all that were given are."""
    words = tuple(word for word in given if word.strip())
    if given and not words:
        raise InvalidInput(name, "is empty", example)
    return words


def _search(session: Session, wanted: BeliefFilter, limit: int, place: str | None, listing: Listing) -> None:
    from dreaming.api.search.service import Searching
    from dreaming.local.commands.conversations import named_embedder

    with session.database() as database:
        searching = Searching(database, session.tenant, session.variables, session.now(), named_embedder(session))
        page = searching.search(session.key, wanted, limit=limit, cursor=place)
        if page.reason and not session.output.as_json:
            session.output.notice(_COMPARED.get(page.reason, f"Words only: {page.reason.replace('_', ' ')}."))
        if not page.found and not session.output.as_json:
            tell_nothing_believed(session, database, narrowed=True)
            return
    more = listing.close(page.next_cursor)
    if session.output.as_json:
        found = [
            belief_document(one.reading)
            | {"score": one.place.score, "lexical": one.place.lexical, "likeness": one.place.likeness}
            for one in page.found
        ]
        session.output.document({"beliefs": found, "next_cursor": more, "reason": page.reason})
        return
    show_beliefs(session, [one.reading for one in page.found], [one.place for one in page.found])
    session.output.line(f"Behind one: {session.invocation} why {short_id(page.found[0].reading.belief.belief_id)}")
    session.tell_more(more)


_COMPARED = {
    "no_embedding_consent": "Words only: the organization does not consent to embedding.",
    "no_vectors": "Words only: no belief has a vector; see dream embeddings",
    "no_embedder": "Words only: the embedder that made the vectors is out of reach.",
}


def belief_document(reading: BeliefReading) -> dict[str, Any]:
    """Return a belief as JSON has it: its fields, its confidence today, its quote."""
    from dreaming.local.output import to_json

    belief = to_json(reading.belief)
    if not isinstance(belief, dict):
        raise TypeError("a belief is an object")
    return belief | {"slice_id": reading.slice_id, "aged_confidence": reading.aged, "evidence": reading.evidence}


def show_beliefs(session: Session, readings: Sequence[BeliefReading], places: Sequence[Place] = ()) -> None:
    """Print beliefs, two columns: how sure and which, what and why; `places` say why a search found each."""
    from rich.table import Table

    made = Table.grid(padding=(0, 2, 0, 0))
    made.add_column(no_wrap=True)
    made.add_column(ratio=1)
    for reading, place in zip_longest(readings, places):
        made.add_row(_figures(reading), _words(reading, place))
        made.add_row()
    session.output.show(made)


def _figures(reading: BeliefReading) -> RenderableType:
    from rich.text import Text

    belief = reading.belief
    figures = Text()
    figures.append(f"{reading.aged:.2f}", _colour(reading.aged))
    has_aged = f"{belief.confidence:.2f}" != f"{reading.aged:.2f}"
    figures.append(f" of {belief.confidence:.2f}\n" if has_aged else "\n", "dim")
    figures.append(f"{belief.kind.value}\n")
    figures.append(short_id(belief.belief_id), "dim")
    return figures


def _words(reading: BeliefReading, found: Place | None = None) -> RenderableType:
    from rich.text import Text

    belief, evidence = reading.belief, reading.evidence
    words = Text(printable(belief.statement), "bold")
    if evidence is not None:
        quote = one_line(evidence.quote, QUOTE_LENGTH)
        # The offline rules state what they quote: once is enough then.
        if quote.rstrip(".") != belief.statement.rstrip("."):
            words.append(printable(f"\n“{quote}”"), "not bold italic")
        author = f"{evidence.author}, " if evidence.author else ""
        place = f"{author}{evidence.source} {note_name(evidence.external_id)}, {day(evidence.occurred_at)}"
        words.append(f"\n{escaped(place)}", "not bold dim")
    words.append(_standing(reading), "not bold dim")
    if found is not None:
        likeness = "-" if found.likeness is None else f"{found.likeness:.2f}"
        words.append(f"\nmatch {found.score:.2f}: words {found.lexical:.1f} · meaning {likeness}", "not bold dim")
    return words


def _standing(reading: BeliefReading) -> str:
    belief = reading.belief
    parts = []
    if belief.sources > 1:
        parts.append(f"{counted(belief.sources, 'source')} of {counted(belief.origins, 'origin')}")
    if belief.importance.value in ("high", "critical"):
        parts.append(f"{belief.importance.value} importance")
    if belief.trust.value == "untrusted":
        parts.append("untrusted")
    if belief.archive_reason is not None:
        parts.append(f"archived as {belief.archive_reason.value} on {day(belief.archived_at)}")
    return "".join(f" · {part}" for part in parts)


def _colour(confidence: float) -> str:
    if confidence >= 0.5:
        return "bold green"
    return "bold yellow" if confidence >= 0.2 else "bold red"
