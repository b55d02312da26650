"""`dream evaluate extraction`: labelled notes, the claims that should be found, and those that must not be."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dreaming.errors import BudgetSpent, InvalidInput
from dreaming.local.commands.command import DreamCommand, with_session
from dreaming.local.commands.evaluate_results import Results, with_results
from dreaming.local.commands.session import Session
from dreaming.local.output import counted, table

if TYPE_CHECKING:
    from dreaming.database import Database
    from dreaming.local.evaluation.estimate import Estimate
    from dreaming.local.evaluation.extraction import Marked, Prices
    from dreaming.local.evaluation.labelled_notes import LabelledNote
    from dreaming.local.evaluation.reading import CountedModel, Reading
    from dreaming.local.evaluation.records import Figure
    from dreaming.models.protocols import ChatModel
    from dreaming.settings.resolution import Settings

_BUILT_IN = Path(__file__).parents[6] / "tests" / "evaluation" / "extraction.jsonl"
_PASS = "evaluation"
_KNOWN_PRICES = {"claude-haiku-4-5": (1.0, 5.0)}
"""Dollars for a million tokens in and out, as docs/cost.md has them; of other models they are asked for."""

TITLES = {
    "all": "all notes", "precision": "precision", "recall": "recall", "traps": "traps believed",
    "kinds": "kind right, of what was found", "silent": "notes without claims left alone",
    "fabricated": "quotes made up, before the check", "fabricated_kept": "quotes made up, kept",
    "rejected": "claims refused by a check", "claims": "claims kept", "calls": "model calls",
    "tokens_in": "tokens in", "tokens_out": "tokens out", "cost": "cost", "notes_failed": "notes given up",
    "language": "By language", "form": "By form", "kind": "By kind of claim", "trap": "By kind of trap",
    "en": "English", "de": "German", "es": "Spanish", "ja": "Japanese",
}  # fmt: skip
_OF_ALL = ("precision", "recall", "traps", "kinds", "silent", "fabricated", "fabricated_kept", "rejected", "claims",
           "calls", "tokens_in", "tokens_out", "cost", "notes_failed")  # fmt: skip
_COLUMNS = ("precision", "recall", "traps")


@click.command(
    cls=DreamCommand,
    examples="""
    dream evaluate extraction                           # the configured model, else the offline rules
    dream evaluate extraction --html page.html --wrong  # with plots, and what went wrong
    dream evaluate extraction notes.jsonl --save now.json
    dream evaluate extraction --save a.json             # then change the model or the settings, and
    dream evaluate extraction --against a.json --fail-if-worse --tolerance 2
    dream evaluate extraction --limit 10 --yes          # a paid model: at most ten notes, without asking
    """,
)
@click.argument("file", type=click.Path(path_type=Path), required=False)
@click.option(
    "--half",
    type=click.Choice(["development", "reported", "all"]),
    help="Which notes; the reported half of the built-in set and all of a file of yours by default.",
)
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Read at most the first N notes.")
@click.option("--yes", is_flag=True, help="Do not ask before calls that cost something.")
@click.option(
    "--prices", nargs=2, type=click.FloatRange(min=0), metavar="IN OUT", help="Dollars for a million tokens in and out."
)
@click.option("--wrong", is_flag=True, help="List what was believed, not expected or missed.")
@with_session
@with_results
def extraction(
    results: Results,
    session: Session,
    file: Path | None,
    half: str | None,
    limit: int | None,
    yes: bool,
    prices: tuple[float, float] | None,
    wrong: bool,
) -> int | None:
    """Measure extraction on labelled notes: claims found and missed, invented quotes, traps believed, cost.

    Each note goes the way of any other: prompt, answer, quote check, claim check, deduplication, in a database
    of the evaluation's own. FILE holds one JSON object a line with id, form, language, text, occurred_at,
    claims and traps; docs/evaluation.md gives the format.
    """
    from dreaming.local.evaluation.extraction import VERSION, details, figures, mark_all
    from dreaming.local.evaluation.records import Report, environment
    from dreaming.local.evaluation.results import SET, digest
    from dreaming.local.evaluation.results import VERSION as VERSION_NAME

    path = file or _BUILT_IN
    chosen = half or ("reported" if file is None else "all")
    notes = _notes(path, chosen, limit)
    identity = {
        VERSION_NAME: VERSION,
        SET: digest(note.model_dump_json() for note in notes),
        "file": path.name,
        "half": chosen,
    }
    results.check("extraction", identity)
    with _configured(session) as (model, settings, own):
        costs = _prices(model, prices)
        asked = _estimate(session, notes, model, settings, costs, yes=yes)
        reading = _read(session, notes, model, settings, own, asked)
    marked = mark_all(notes, reading.kept)
    report = Report(
        "extraction",
        figures(marked, reading, costs),
        environment(model=model.name, **identity, **details(marked, reading)),
    )
    problems = [(one.note.id, one.problems) for one in marked if one.problems]
    code = results.finish(
        session,
        report,
        lambda: _show(session, report.figures, marked, f"({chosen}) of {path.name}, {model.name}"),
        titles=TITLES,
        problems=problems,
    )
    if wrong:
        for name, sentences in problems:
            session.output.notice("".join([name, *(f"\n  {sentence}" for sentence in sentences)]))
    return code


def _notes(path: Path, half: str, limit: int | None) -> list[LabelledNote]:
    """Return the first notes of a half; raises `InvalidInput` when there are none."""
    from dreaming.local.evaluation.dedup import Half
    from dreaming.local.evaluation.labelled_notes import half_of, read_notes

    if path == _BUILT_IN and not path.exists():
        raise InvalidInput("FILE", "is not given, and the built-in notes are only in the repository", "name a file")
    notes = half_of(read_notes(path), Half(half))[:limit]
    if not notes:
        raise InvalidInput("--half", f"{path.name} has no note in the {half} half", "take --half all")
    return notes


def _read(
    session: Session,
    notes: list[LabelledNote],
    model: ChatModel,
    settings: Settings,
    own: Database | None,
    asked: Estimate | None,
) -> Reading:
    from time import sleep

    from dreaming.local.evaluation.contradictions import own_database
    from dreaming.local.evaluation.reading import CountedModel, read_through

    with session.output.progress("reading", len(notes), "notes") as show:
        counted_model = CountedModel(model, lambda passages: show(min(passages, len(notes))))
        with own_database() as database, _booked(session, own, counted_model, asked) as granted:
            return read_through(database, notes, counted_model, settings, most_calls=granted, sleep=sleep)


@contextmanager
def _configured(session: Session) -> Iterator[tuple[ChatModel, Settings, Database | None]]:
    """Give the chat model, the settings in force, and the installation's database where calls are booked.

    Where there is no installation, the settings are the environment's; a paid model makes one, for its budget.
    """
    from time import monotonic

    from dreaming.models.keys import EnvironmentKeys, KeyResolver
    from dreaming.models.selection import chat_model
    from dreaming.settings.resolution import resolve

    keys = KeyResolver(EnvironmentKeys(session.variables), clock=monotonic)
    installed = session.other_database is not None or (session.home / "postgres").exists()
    plain = resolve(session.variables, {})
    if not installed and not chat_model(plain, session.org, keys).metered:
        yield chat_model(plain, session.org, keys), plain, None
        return
    with session.database() as own:
        settings = session.settings(own)
        yield chat_model(settings, session.org, keys), settings, own


def _prices(model: ChatModel, given: tuple[float, float] | None) -> Prices | None:
    from dreaming.local.evaluation.extraction import Prices

    if given:
        return Prices(*given)
    if not model.metered:
        return Prices(0.0, 0.0)
    return next((Prices(*both) for name, both in _KNOWN_PRICES.items() if name in model.name), None)


def _estimate(
    session: Session,
    notes: Sequence[LabelledNote],
    model: ChatModel,
    settings: Settings,
    prices: Prices | None,
    *,
    yes: bool,
) -> Estimate | None:
    """Say what calls will be made and ask, where they cost something; None where they do not."""
    if not model.metered:
        return None
    from dreaming.local.evaluation.estimate import estimate

    asked = estimate(notes, model, settings)
    cost = f", about ${asked.tokens_in * prices.tokens_in / 1e6:.2f} for them" if prices else ""
    session.output.notice(
        f"{model.name} will be asked {counted(asked.calls, 'time')} about {counted(len(notes), 'note')}, at most "
        f"{asked.most_calls} times if calls fail: about {asked.tokens_in:,} tokens in{cost}, and what it answers."
    )
    if yes:
        return asked
    if not sys.stdin.isatty():
        raise InvalidInput("--yes", "is missing, and nobody can be asked", "add --yes, or --limit N for fewer notes")
    click.confirm("Go on?", abort=True, err=True)
    return asked


@contextmanager
def _booked(
    session: Session, own: Database | None, model: CountedModel, asked: Estimate | None
) -> Iterator[int | None]:
    """Book the calls against the organization's budget of today, and give back what was not used."""
    if own is None or asked is None:
        yield None
        return
    from dreaming.passes.calls import store as calls_store
    from dreaming.passes.calls.limits import call_limits

    budget, now = call_limits(session.settings(own)).per_day, session.now()
    with own.transaction(session.tenant) as tx:
        granted = calls_store.reserve_calls(
            tx, session.org, _PASS, model.name, wanted=asked.most_calls, budget=budget, now=now
        )
    try:
        if granted < asked.calls:
            raise BudgetSpent(
                f"{asked.calls} calls are needed and {granted} are left of today's budget of {budget:,}; take fewer "
                "notes with --limit, or raise model_calls_per_day"
            )
        yield granted
    finally:
        with own.transaction(session.tenant) as tx:
            calls_store.add_usage(
                tx,
                session.org,
                _PASS,
                model.name,
                day=now,
                calls=model.calls - granted,
                input_tokens=model.input_tokens,
                output_tokens=model.output_tokens,
            )


def _show(session: Session, found: Mapping[str, Figure], marked: Sequence[Marked], of: str) -> None:
    output, right = session.output, {"justify": "right"}
    output.line(f"{counted(len(marked), 'note')} {of}", "bold")
    made = table("", ("all notes", right), "goal")
    for name in _OF_ALL:
        if (figure := found.get(f"all.{name}")) is not None:
            made.add_row(TITLES[name], _cell(figure), figure.goal or "")
    output.show(made)
    for group in ("language", "form"):
        output.line()
        rows = table(TITLES[group].casefold(), *((TITLES[name], right) for name in _COLUMNS))
        for key in _keys(found, group):
            rows.add_row(TITLES.get(key, key), *(_cell(found.get(f"{group}.{key}.{name}")) for name in _COLUMNS))
        output.show(rows)
    for group, name in (("kind", "recall"), ("trap", "traps")):
        output.line()
        rows = table(TITLES[group].casefold(), (TITLES[name], right))
        for key in _keys(found, group):
            rows.add_row(key, _cell(found.get(f"{group}.{key}.{name}")))
        output.show(rows)


def _keys(found: Mapping[str, Figure], group: str) -> list[str]:
    return list(dict.fromkeys(name.split(".")[1] for name in found if name.startswith(f"{group}.")))


def _cell(figure: Figure | None) -> str:
    if figure is None:
        return "-"
    missed = " ✗" if figure.ok is False else ""
    if figure.unit == "%":
        return f"{figure.value:.1f} %{missed}"
    if figure.unit.startswith("$"):
        return f"${figure.value:,.2f}{figure.unit.removeprefix('$')}"
    return f"{figure.value:,g} {figure.unit}{missed}"
