"""`dream demo`: the whole system at work, on this repository's history and a sample month of notes."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import dreaming
from dreaming.api.wording import in_words
from dreaming.errors import InvalidInput, Misconfigured
from dreaming.local.commands.beliefs import belief_document, show_beliefs
from dreaming.local.commands.command import DreamCommand
from dreaming.local.commands.drain import Drained, drain_all, show_stopped
from dreaming.local.commands.other_passes import PassDrained, drain_pass, show_pass_drained
from dreaming.local.commands.readings import Ingested, ingest_readings
from dreaming.local.commands.session import Session, open_session, program
from dreaming.local.commands.why import conflict_reason, explanation_document, show_explanation
from dreaming.local.home import keep_variable
from dreaming.local.output import counted, short_id, styled, table
from dreaming.passes.records import CONSOLIDATION, CONTRADICTIONS, DECAY

if TYPE_CHECKING:
    from pydantic import ValidationError

    from dreaming.api.records import BeliefReading, ConflictReading, Explanation, SliceStatus
    from dreaming.api.service import Reader
    from dreaming.local.runtime import LocalRuntime
    from dreaming.notes.connectors.records import Reading
    from dreaming.notes.records import NoteState

SAMPLES = Path(__file__).parents[1] / "samples"

_CHECKOUT = Path(dreaming.__file__).parents[4]
_MARK = "dreaming-demo"
_BELIEFS_SHOWN = 8
_CONFLICTS_SHOWN = 4
_UNAVAILABLE = 4
_FURTHER_PASSES = (CONTRADICTIONS, DECAY)
_SWITCHES = ("enabled", "enrolled", "model_consent")


@dataclass(frozen=True)
class Shown:
    """What the demo shows in the end."""

    status: SliceStatus
    by_source: dict[str, dict[NoteState, int]]
    beliefs: list[BeliefReading]
    explanation: Explanation | None
    conflicts: list[ConflictReading]


@click.command(
    cls=DreamCommand,
    examples="""
    dream demo                         # again: it goes on where it was, and changes nothing
    dream demo --fresh                 # from the beginning
    dream demo --repository ~/code/shop
    dream beliefs pilot --demo         # any command on the demo's notes
    """,
)
@click.option("--fresh", is_flag=True, help="Delete the demo's home folder first.")
@click.option("--repository", metavar="PATH", type=click.Path(path_type=Path), help="Another git repository to read.")
@click.pass_context
def demo(ctx: click.Context, fresh: bool, repository: Path | None) -> int:
    """Consolidate a git history and a sample month of a fictional team's notes, and show what is believed.

    It has a home folder and an organization of its own, and reads with the offline model: rules
    instead of a language model, so nothing leaves this machine and no key is needed.
    """
    session = open_session({**ctx.find_root().obj, "demo": True}, os.environ)
    _prepare_home(session, fresh=fresh)
    # Settings are read once more, now that the home folder keeps some.
    session = open_session({**ctx.find_root().obj, "demo": True}, os.environ)
    with session.runtime() as runtime:
        return _demonstrate(session, runtime, repository)


def _demonstrate(session: Session, runtime: LocalRuntime, repository: Path | None) -> int:
    output = session.output
    _agree(session, runtime)
    if not output.as_json:
        _show_beginning(session, runtime)
    limit = session.longest_note(runtime.database)
    readings, missing = _readings(repository, limit)
    ingested = ingest_readings(session, runtime.database, "ingest", readings, limit)
    drained = drain_all(session, runtime, only=_slice_id(session.reader(runtime.database), session))
    others = [drain_pass(session, runtime, name) for name in _FURTHER_PASSES]
    shown = _look(session, session.reader(runtime.database))
    if output.as_json:
        output.document(_document(session, missing, ingested, drained, shown) | {"passes": others})
    else:
        _show(session, missing, ingested, drained, shown)
        _show_further(session, others, shown)
    return _UNAVAILABLE if drained.stopped else 0


def _prepare_home(session: Session, *, fresh: bool) -> None:
    """Make the demo's home, or empty it; a folder that is not the demo's is left alone."""
    home = session.home
    if fresh and session.other_database:
        raise InvalidInput("--fresh", "deletes the embedded database, but DATABASE_URL names another", "unset it")
    if fresh and home.exists():
        if not (home / _MARK).exists():
            raise InvalidInput("--fresh", f"{home} was not made by the demo", "delete it yourself, or give --home")
        from dreaming.local.postgres import EmbeddedPostgres

        EmbeddedPostgres(home).remove()
        shutil.rmtree(home)
    if not home.exists():
        session.make_home()
        (home / _MARK).touch()
    keep_variable(home, "DREAMING_ENABLED", "true")


def _agree(session: Session, runtime: LocalRuntime) -> None:
    """Enrol the demo's organization and record its consent."""
    from dreaming.settings.service import change_consent

    with runtime.database.transaction(session.tenant) as tx:
        for name in ("enrolled", "model_consent"):
            change_consent(tx, session.org, name, True, actor=session.actor, now=session.now())


def _readings(repository: Path | None, max_note_characters: int) -> tuple[list[Reading], str | None]:
    """Return what there is to read, and why the repository's history is not part of it."""
    from dreaming.notes.connectors.git import read_git

    samples = read_samples()
    if repository is not None:
        return [read_git(repository.expanduser(), max_note_characters=max_note_characters), samples], None
    if not (_CHECKOUT / ".git").exists():
        return [samples], "the package is not in a git repository; read one with --repository PATH"
    try:
        history = read_git(_CHECKOUT, max_note_characters=max_note_characters)
    except InvalidInput as error:
        return [samples], f"{error.problem}; read another repository with --repository PATH"
    return [history, samples], None


def read_samples(folder: Path = SAMPLES) -> Reading:
    """Read the sample notes: JSON lines with the fields of `IncomingNote`; progress in notes.

    Raises:
        Misconfigured: they are missing or broken, which an installation that is whole never is.
    """
    from pydantic import ValidationError

    from dreaming.notes.connectors.records import Reading
    from dreaming.notes.records import IncomingNote

    files = sorted(folder.glob("*.jsonl"))
    if not files:
        raise Misconfigured(f"the sample notes are missing from {folder}; install the package again")
    notes = []
    for file in files:
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
            try:
                notes.append(IncomingNote.model_validate_json(line))
            except ValidationError as error:
                raise Misconfigured(
                    f"{file}, line {number} is not a note: {_wrong(error)}; install the package again"
                ) from error
    return Reading(enumerate(notes, start=1), total=len(notes), unit="notes")


def _wrong(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, first['loc'])) or 'it'} {in_words(first).partition('; ')[0]}"


def _slice_id(reader: Reader, session: Session) -> int:
    """The demo works on its own slice only, whatever else its database holds."""
    statuses = reader.status(CONSOLIDATION, runs=0)
    return next(status.slice.slice_id for status in statuses if status.slice.key == session.key)


def _look(session: Session, reader: Reader) -> Shown:
    status = next(one for one in reader.status(CONSOLIDATION, runs=1) if one.slice.key == session.key)
    corroborated = reader.corroborated(session.key, limit=1)
    beliefs = _best(reader, session)
    example = next(iter(corroborated or beliefs), None)
    return Shown(
        status,
        reader.notes_by_source(session.key),
        beliefs,
        None if example is None else reader.explain(str(example.belief.belief_id)),
        reader.conflicts(session.key, limit=_CONFLICTS_SHOWN),
    )


def _best(reader: Reader, session: Session) -> list[BeliefReading]:
    """The surest beliefs, first one of each kind and then the next ones."""
    from dreaming.api.beliefs.store import BeliefFilter
    from dreaming.beliefs.records import Kind

    by_kind = [reader.beliefs(session.key, BeliefFilter(kind=kind), limit=2).beliefs for kind in Kind]
    firsts = [page[0] for page in by_kind if page]
    seconds = sorted((page[1] for page in by_kind if len(page) > 1), key=lambda one: -one.aged)
    return sorted([*firsts, *seconds][:_BELIEFS_SHOWN], key=lambda one: -one.aged)


def _document(
    session: Session, missing: str | None, ingested: Ingested, drained: Drained, shown: Shown
) -> dict[str, Any]:
    return {
        "home": session.home,
        "org": session.org,
        "history_missing": missing,
        "ingested": ingested.counts,
        "skipped": ingested.skipped,
        "drained": drained,
        "notes": shown.status.notes,
        "beliefs_by_kind": shown.status.beliefs.by_kind,
        "beliefs_archived": shown.status.beliefs.archived,
        "notes_by_source": shown.by_source,
        "beliefs": [belief_document(one) for one in shown.beliefs],
        "why": None if shown.explanation is None else explanation_document(shown.explanation),
        "conflicts": shown.conflicts,
    }


def _show_beginning(session: Session, runtime: LocalRuntime) -> None:
    output = session.output
    output.line("Dreaming: notes in, quoted and confidence-scored beliefs out.", "bold")
    model = session.chat_model(runtime.database).name
    if model.startswith("offline:"):
        output.line("Read by the offline model: rules, no language model. Nothing leaves this machine.", "dim")
    else:
        output.line(f"Read by {model}, as this demo's settings say.", "yellow")
    output.line(f"Everything is kept in {session.home}", "dim")


def _show(session: Session, missing: str | None, ingested: Ingested, drained: Drained, shown: Shown) -> None:
    output = session.output
    if missing is not None:
        output.line(f"No git history: {missing}", "yellow")
    _show_notes(session, ingested, drained, shown)
    show_stopped(session, drained.stopped)
    _title(session, "The surest beliefs of each kind", "confidence today, of that when last confirmed")
    show_beliefs(session, shown.beliefs)
    if shown.explanation is not None:
        command = f"{session.invocation} why {short_id(shown.explanation.reading.belief.belief_id)}"
        _title(session, "Why one of them is believed", command)
        show_explanation(session, shown.explanation)
    _show_conflicts(session, shown.conflicts)


def _show_further(session: Session, others: Sequence[PassDrained], shown: Shown) -> None:
    _title(session, "The other passes", "contradictions in order of time, and what has faded")
    for other in others:
        show_pass_drained(session, other)
        if not other.batches and not other.held:
            session.output.line(f"{other.pass_name}: nothing to do")
    _show_next(session, shown)


def _show_notes(session: Session, ingested: Ingested, drained: Drained, shown: Shown) -> None:
    from dreaming.notes.records import NoteState

    output, counts = session.output, ingested.counts
    states = (NoteState.CONSOLIDATED, NoteState.EMPTY, NoteState.RETIRED, NoteState.WAITING)
    right = {"justify": "right"}
    made = table("source", ("notes", right), *((state.value, right) for state in states))
    for source, by_state in shown.by_source.items():
        numbers = [by_state.get(state, 0) for state in states]
        made.add_row(styled(source), f"{sum(numbers):,}", *(f"{number:,}" for number in numbers))
    _title(session, "What came in, and what became of it", "")
    output.show(made)
    changed = counts.created + counts.edited + counts.reinstated
    beliefs = shown.status.beliefs
    output.line(
        f"This time: {counted(changed, 'note')} new or edited, {counts.unchanged:,} unchanged; "
        f"{counted(drained.totals['beliefs_created'], 'belief')} created, "
        f"{counted(drained.totals['beliefs_corroborated'], 'corroboration')}, "
        f"{counted(drained.totals['claims_rejected'], 'claim')} rejected."
    )
    output.line(f"In all: {counted(beliefs.live, 'belief')} live, {beliefs.archived:,} archived.")


def _show_conflicts(session: Session, conflicts: Sequence[ConflictReading]) -> None:
    if not conflicts:
        return
    _title(session, "Kept apart, and left to be judged", "similar, but a guard saw that they may contradict")
    for conflict in conflicts:
        session.output.line(f"  {conflict.statement}\n  {conflict.other_statement}")
        session.output.line(f"  {conflict_reason(conflict)}\n", "dim")


def _show_next(session: Session, shown: Shown) -> None:
    word = "pilot"
    identifier = short_id(shown.beliefs[0].belief.belief_id) if shown.beliefs else "ID"
    rows = (
        (f"beliefs {word}", "search what is believed"),
        (f"why {identifier}", "the evidence behind one belief"),
        ("fading", "what fades in the next weeks, as a plot"),
        ("brief", "what is believed now, for an agent's prompt"),
        ("dashboard --open", "all of it on a page"),
        ("doctor", "check the installation, recount everything"),
    )
    _title(session, "Where to look next", "")
    width = max(len(command) for command, _ in rows)
    for command, sentence in rows:
        session.output.line(f"  {session.invocation} {command:<{width}}  {sentence}")
    session.output.line("  Your own notes, without --demo:", "dim")
    for line in ("ingest git PATH", *(f"settings set {name} true" for name in _SWITCHES), "drain"):
        session.output.line(f"  {program()} {line}")


def _title(session: Session, title: str, remark: str) -> None:
    from rich.text import Text

    session.output.line()
    text = Text(title, "bold cyan")
    if remark:
        text.append(f"  {remark}", "not bold dim")
    session.output.show(text)
