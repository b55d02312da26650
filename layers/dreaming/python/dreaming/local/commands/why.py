"""`dream why`: everything behind one belief."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING, Any

import click

from dreaming.errors import InvalidInput
from dreaming.local.commands.beliefs import belief_document, words_meant
from dreaming.local.commands.command import DreamCommand, with_session
from dreaming.local.commands.session import Session
from dreaming.local.commands.status import slice_name
from dreaming.local.output import counted, day, escaped, minute, one_line, printable, short_id, to_json

if TYPE_CHECKING:
    from uuid import UUID

    from rich.console import RenderableType
    from rich.text import Text

    from dreaming.api.records import Arithmetic, ConflictReading, Explanation, SourceReading
    from dreaming.api.service import Reader
    from dreaming.api.timelines.store import SuccessionRow

_EVENTS_SHOWN = 20
_MATCHES_TOLD = 6
_AN_ID = re.compile(r"…?[0-9a-fA-F-]{4,36}")


@click.command(
    cls=DreamCommand,
    examples="""
    dream why 4f1c09ab                 # the end of an id, as `dream beliefs` shows it
    dream why 0199c7f2-6f3a            # or its beginning
    dream why watertight               # or words: the surest belief that has them all
    dream why 4f1c09ab --json
    """,
)
@click.argument("wanted", metavar="BELIEF_ID|WORD...", nargs=-1, required=True)
@with_session
def why(session: Session, wanted: tuple[str, ...]) -> None:
    """Show why a belief is believed.

    From each quote in the context of its note to the run that read it, how the confidence comes
    about, what happened to the belief, and what may contradict it.
    """
    words = words_meant(wanted)
    with session.database() as database:
        reader = session.reader(database)
        explanation = reader.explain(_belief_id(session, reader, words))
        succession = reader.succession(explanation.slice.slice_id, explanation.reading.belief.belief_id)
    if session.output.as_json:
        session.output.document(explanation_document(explanation) | {"succession": succession})
    else:
        show_explanation(session, explanation)
        zones = (source.note.occurred_at.tzinfo for source in explanation.sources if source.note is not None)
        show_succession(session, succession, explanation.reading.belief.belief_id, next(zones, None) or UTC)


def _belief_id(session: Session, reader: Reader, wanted: tuple[str, ...]) -> str:
    """Return the id that was given, or that of the surest live belief with all the words."""
    if len(wanted) == 1 and _AN_ID.fullmatch(wanted[0]):
        return wanted[0]
    from dreaming.api.beliefs.store import BeliefFilter

    found = reader.beliefs(session.key, BeliefFilter(wanted), limit=_MATCHES_TOLD, cursor=None).beliefs
    if not found:
        problem = f"no belief has the words {' '.join(wanted)[:60]!r}"
        raise InvalidInput("WORD", problem, f"see {session.invocation} beliefs")
    if len(found) > 1:
        others = ", ".join(short_id(one.belief.belief_id) for one in found[1:])
        session.output.notice(f"The surest of several; also {others}")
    return str(found[0].belief.belief_id)


def explanation_document(explanation: Explanation) -> dict[str, Any]:
    """Return an explanation as JSON has it."""
    return {
        "belief": belief_document(explanation.reading),
        "slice": explanation.slice,
        "arithmetic": explanation.arithmetic,
        "sources": explanation.sources,
        "history": [to_json(entry) for entry in explanation.history],
        "conflicts": explanation.conflicts,
        "relationships": explanation.relationships,
    }


def show_explanation(session: Session, explanation: Explanation) -> None:
    """Print an explanation."""
    output, belief = session.output, explanation.reading.belief
    output.line(belief.statement, "bold")
    output.line(
        f"{belief.kind.value}, {belief.importance.value} importance, {belief.decay_class.value}, "
        f"in {slice_name(explanation.slice.key)}"
    )
    output.line(str(belief.belief_id), "dim")
    if belief.archive_reason is not None:
        output.line(f"archived as {belief.archive_reason.value} on {day(belief.archived_at)}", "yellow")
    if belief.subject and belief.attribute and belief.value:
        several = ", may have several values" if belief.multi_valued else ""
        output.line(f"about     {belief.subject} · {belief.attribute} = {belief.value}{several}")
    output.line()
    _show_arithmetic(session, explanation.arithmetic)
    live = sum(source.ended_at is None for source in explanation.sources)
    ended = len(explanation.sources) - live
    output.line(f"\nSources ({live} counting{f', {ended} ended' if ended else ''})", "bold")
    for source in explanation.sources:
        output.show(_source(source))
    _show_relationships(session, explanation)
    _show_history(session, explanation)
    _show_conflicts(session, explanation)


def _show_arithmetic(session: Session, found: Arithmetic | None) -> None:
    output = session.output
    output.line("Confidence", "bold")
    if found is None:
        output.line("  no source counts any more")
        return
    corroborated = f" + {found.step:.2f} × {counted(found.corroborations, 'further origin')}"
    capped = "" if found.most == 1 else f", at most {found.most:.2f} of untrusted sources alone"
    output.line(f"  base {found.base:.2f}{corroborated} = {found.confidence:.2f}{capped}")
    if found.half_life_days is None:
        output.line("  permanent: it does not age")
        return
    output.line(
        f"  aged {found.confidence:.2f} × 0.5 ^ ({found.age_days:,.1f} days / {found.half_life_days:g} days)"
        f" = {found.aged:.2f} today, confirmed {day(found.confirmed_at)}"
    )
    if found.fades_at is not None:
        output.line(f"  fades on {day(found.fades_at)}, unless confirmed before")


def _source(reading: SourceReading) -> RenderableType:
    from rich.padding import Padding
    from rich.text import Text

    source, note = reading.source, reading.note
    text = Text()
    if source.quote is not None:
        _append_quote(text, reading, source.quote)
    if note is not None:
        author = f"{note.author}, " if note.author else ""
        version = f"version {note.version}"
        if note.current_version != note.version:
            version += f" of {note.current_version}"
        text.append(escaped(f"{author}{note.source} {note.external_id}, {minute(note.occurred_at)}, {version}"), "cyan")
        text.append("\n")
        if note.conversation_id is not None:
            name = one_line(escaped(note.conversation_id), 80)
            text.append(f"said in the conversation {name}\n", "cyan")
    else:
        text.append(f"confirmed by a person, {minute(source.occurred_at)}\n", "cyan")
    text.append(escaped(f"claimed {source.confidence:.2f}, {source.trust.value}, origin {source.origin}") + "\n")
    text.append(escaped(_reading(reading)))
    for line, style in _warnings(reading):
        text.append(f"\n{line}", style)
    return Padding(text, (0, 0, 1, 2))


def _append_quote(text: Text, reading: SourceReading, quote: str) -> None:
    """The quote stands between «», which also tells where it is without colours."""
    before, after = reading.before, reading.after
    text.append(printable(_flat(before) + " " * before[-1:].isspace()), "dim")
    text.append(printable(f"«{_flat(quote)}»"), "bold" if reading.ended_at is None else "strike")
    text.append(printable(" " * after[:1].isspace() + _flat(after)) + "\n", "dim")


def _flat(text: str) -> str:
    return " ".join(text.split())


def _reading(reading: SourceReading) -> str:
    model = f"read by {reading.model}, prompt {reading.prompt_version}, " if reading.model else ""
    run = f", run {short_id(reading.run.run_id)}" if reading.run is not None else ""
    return f"{model}{minute(reading.recorded_at)}{run}"


def _warnings(reading: SourceReading) -> list[tuple[str, str]]:
    found = []
    if reading.exact is False:
        found.append(("the quote is not what stands in the note at its place: run dream doctor", "bold red"))
    if reading.ended_at is not None and reading.ended_reason is not None:
        found.append((f"stopped counting on {day(reading.ended_at)}: {reading.ended_reason.value}", "yellow"))
    return found


def _show_relationships(session: Session, explanation: Explanation) -> None:
    if not explanation.relationships:
        return
    session.output.line("Relationships", "bold")
    for one in explanation.relationships:
        way = "→" if one.outgoing else "←"
        name = one.relationship.type.replace("_", " ")
        session.output.line(f"  {short_id(one.other_id)}  {one.aged:.2f}  {way} {name}  {one.other_statement}")
    session.output.line()


def _show_history(session: Session, explanation: Explanation) -> None:
    output = session.output
    output.line("History", "bold")
    for entry in explanation.history[-_EVENTS_SHOWN:]:
        detail = ", ".join(f"{name} {_value(value)}" for name, value in sorted(entry["detail"].items()))
        output.line(
            f"  {minute(entry['happened_at'])}  {entry['event']:<16} {entry['confidence']:.2f}"
            + (f"  {one_line(detail, 80)}" if detail else "")
        )
    hidden = len(explanation.history) - _EVENTS_SHOWN
    if hidden > 0:
        output.line(f"  {hidden:,} earlier ones; --json lists all")


def _value(value: Any) -> str:
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def _show_conflicts(session: Session, explanation: Explanation) -> None:
    if not explanation.conflicts:
        return
    session.output.line("\nMay contradict", "bold")
    for conflict in explanation.conflicts:
        session.output.line(f"  {short_id(conflict.other_id)}  {conflict.other_statement}")
        session.output.line(f"            {conflict_reason(conflict)}", "dim")


_MARKS = {"current": "●", "past": "○", "upcoming": "◌", "review": "?", "rejected": "×"}


def show_succession(session: Session, line: Sequence[SuccessionRow], belief_id: UUID, zone: tzinfo) -> None:
    """Print what held before and after a belief, one stretch a line, in days as its note counts them."""
    if not line:
        return
    session.output.line(f"\nLine of succession · {line[0].subject} · {line[0].attribute}", "bold")
    for one in line:
        ends = "…" if one.standing in ("current", "upcoming") else ""
        until = day(one.holds_until.astimezone(zone)) if one.holds_until else ends
        times = f"{day(one.holds_from.astimezone(zone))} – {until:<10}"
        mark = _MARKS.get(one.standing, "○")
        text = f"  {mark} {times}  {one.standing:<8}  {short_id(one.belief_id)}  {one_line(one.statement, 80)}"
        session.output.line(text, "bold" if one.belief_id == belief_id else "")


def conflict_reason(conflict: ConflictReading) -> str:
    """Return what a guard saw on either side, or what both beliefs are about."""
    evidence = conflict.evidence
    if "attribute" in evidence:
        return f"two values of {evidence.get('subject')} · {evidence['attribute']}"
    if conflict.reason == "grey_band":
        return f"may say the same: cosine {evidence.get('cosine', 0):.2f} by {evidence.get('model')}"
    if conflict.reason == "part":
        return "one says what the other says beside something else"
    return difference(conflict.reason, evidence.get("left"), evidence.get("right"))


_SAYS = {"names": "names", "numbers": "gives", "dates": "gives", "negation": "denies with", "tense": "says"}


def difference(guard: str, left: str | None, right: str | None) -> str:
    """Return in words what a guard saw on either side, or on one of them alone."""
    if left and right:
        return f"differ in {guard}: {left} / {right}"
    if left or right:
        return f"differ in {guard}: only one {_SAYS.get(guard, 'has')} {left or right}"
    return f"differ in {guard}"
