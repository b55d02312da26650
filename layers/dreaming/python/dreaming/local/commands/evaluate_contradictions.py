"""`dream evaluate contradictions`: stories of a few notes, and what must be believed after them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dreaming.errors import InvalidInput
from dreaming.local.commands.command import DreamCommand, with_session
from dreaming.local.commands.evaluate_results import Results, with_results
from dreaming.local.commands.session import Session
from dreaming.local.output import counted, table

if TYPE_CHECKING:
    from dreaming.local.evaluation.contradictions import Told
    from dreaming.local.evaluation.records import Figure
    from dreaming.local.evaluation.stories import Row
    from dreaming.local.output import ShowProgress

_BUILT_IN = Path(__file__).parents[6] / "tests" / "evaluation" / "contradictions.jsonl"
_TITLES = {"rules": "rules alone", "judge": "and a judge", "unsure_judge": "a judge wrong in 10 %"}
_FIGURES = ("answers", "retired", "intervals")
_FIGURE_TITLES = {
    "answers": "current answer right",
    "retired": "unrelated retired",
    "intervals": "both sides, intervals",
}


@click.command(
    cls=DreamCommand,
    examples="""
    dream evaluate contradictions                        # the half that is reported
    dream evaluate contradictions stories.jsonl --wrong  # your own, in the format of docs/contradictions.md
    dream evaluate contradictions --row judge --json
    """,
)
@click.argument("file", type=click.Path(path_type=Path), required=False)
@click.option(
    "--half",
    type=click.Choice(["development", "reported", "all"]),
    help="Which stories; the reported half of the built-in set and all of a file of yours by default.",
)
@click.option(
    "--row",
    "rows",
    type=click.Choice(list(_TITLES)),
    multiple=True,
    help="Who decides what no rule does; all three by default.",
)
@click.option("--model", "by_model", is_flag=True, help="Let the configured chat model read notes without claims.")
@click.option("--wrong", is_flag=True, help="List what came out wrong.")
@with_session
@with_results
def contradictions(
    results: Results,
    session: Session,
    file: Path | None,
    half: str | None,
    rows: Sequence[str],
    by_model: bool,
    wrong: bool,
) -> int | None:
    """Measure contradictions on stories, note by note through the real passes.

    Each row runs every story in a database of its own. The judge of the second row knows the stories'
    outcomes; that of the third is wrong in one of ten answers.
    """
    from dreaming.local.evaluation.contradictions import details, figures, own_database, tell
    from dreaming.local.evaluation.dedup import Half
    from dreaming.local.evaluation.records import Report, environment
    from dreaming.local.evaluation.results import SET, VERSION, digest
    from dreaming.local.evaluation.stories import Row, half_of, read_stories

    path = file or _BUILT_IN
    if file is None and not path.exists():
        raise InvalidInput("FILE", "is not given, and the built-in stories are only in the repository", "name a file")
    chosen = Half(half) if half else (Half.REPORTED if file is None else Half.ALL)
    stories = half_of(read_stories(path), chosen)
    identity = {
        VERSION: 1,
        SET: digest(story.model_dump_json() for story in stories),
        "file": path.name,
        "half": chosen.value,
    }
    results.check("contradictions", identity)
    wanted = [Row(row) for row in _TITLES if not rows or row in rows]
    extractor = None
    if by_model:
        with session.database() as own:
            extractor = session.chat_model(own)
    told: dict[Row, Sequence[Told]] = {}
    with own_database() as database, session.output.progress("telling", len(stories) * len(wanted), "stories") as show:
        for place, row in enumerate(wanted):
            step = partial(_step, show, place * len(stories), _TITLES[row.value])
            told[row] = tell(database, stories, row, extractor=extractor, on_story=step)
    model = extractor.name if extractor else "none: the claims are given"
    report = Report("contradictions", figures(told), environment(model=model, **identity, **details(stories)))
    of = f"{counted(len(stories), 'story', 'stories')} ({chosen.value}) of {path.name}"
    code = results.finish(
        session,
        report,
        lambda: _show(session, report.figures, wanted, sorted({story.kind for story in stories}), of),
        titles=_TITLES | _FIGURE_TITLES,
        problems=[
            (f"{_TITLES[row.value]}: {one.story.id} ({one.story.kind})", one.problems)
            for row, held in told.items()
            for one in held
            if one.problems
        ],
    )
    if wrong:
        _show_wrong(session, told)
    return code


def _step(show: ShowProgress, before: int, title: str, done: int) -> None:
    show(before + done, detail=title)


def _show(session: Session, found: Mapping[str, Figure], rows: Sequence[Row], kinds: Sequence[str], of: str) -> None:
    right = {"justify": "right"}
    session.output.line(of, "bold")
    made = table("", ("current answer\nright", right), ("unrelated\nretired", right), ("both sides,\nintervals", right))
    for row in rows:
        made.add_row(_TITLES[row.value], *(_cell(found.get(f"{row.value}.{name}")) for name in _FIGURES))
    goals = [found.get(f"judge.{name}") for name in _FIGURES]
    made.add_row("goal of the second", *((one.goal or "" if one else "") for one in goals), style="dim")
    session.output.show(made)
    session.output.line()
    titles = [(f"{_TITLES[row.value]}\nright, retired, intervals", right) for row in rows]
    by_kind = table("by kind", *titles)
    for kind in kinds:
        cells = [
            "  ".join(_cell(found.get(f"{row.value}.{kind}.{name}")).rjust(8) for name in _FIGURES) for row in rows
        ]
        by_kind.add_row(kind, *cells)
    session.output.show(by_kind)


def _cell(figure: Figure | None) -> str:
    if figure is None:
        return "-"
    text = f"{figure.value:.1f} %" if figure.unit == "%" else f"{figure.value:.0f}"
    return text + (" ✗" if figure.ok is False else "")


def _show_wrong(session: Session, told: Mapping[Row, Sequence[Told]]) -> None:
    """List what came out wrong on standard error, so that a JSON document stays one."""
    for row, stories in told.items():
        for one in stories:
            if one.problems:
                problems = "".join(f"\n  {problem}" for problem in one.problems)
                session.output.notice(f"{_TITLES[row.value]}: {one.story.id} ({one.story.kind}){problems}")
