"""What every `dream evaluate` does with its result: print, save, compare, and write a page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import click

from dreaming.errors import InvalidInput
from dreaming.local.commands.session import Session
from dreaming.local.output import counted, table

if TYPE_CHECKING:
    from dreaming.local.evaluation.plots import Lines
    from dreaming.local.evaluation.records import Report
    from dreaming.local.evaluation.results import Comparison

P = ParamSpec("P")
R = TypeVar("R")

GOALS_MISSED = 5
"""The exit code when a goal is missed, or with `--fail-if-worse` when a figure is worse than before."""

_MARKS = {"better": ("▲", "green"), "worse": ("▼", "red"), "changed": ("●", ""), "same": ("", "dim")}
_FILE = click.Path(path_type=Path, dir_okay=False)


@dataclass(frozen=True, slots=True)
class Results:
    """Where a result goes, and what it is compared with."""

    page: Path | None = None
    save: Path | None = None
    against: Path | None = None
    fail_if_worse: bool = False
    tolerance: float = 0.0

    def check(self, name: str, environment: Mapping[str, Any]) -> None:
        """Refuse, before anything is measured, what could not be compared or written afterwards."""
        from dreaming.local.evaluation.results import read_result, require_comparable

        for option, path in (("--html", self.page), ("--save", self.save)):
            if path is not None and not path.absolute().parent.is_dir():
                raise InvalidInput(option, f"{path.parent} is no folder", "make it first, or name another")
        if self.fail_if_worse and self.against is None:
            raise InvalidInput("--fail-if-worse", "has nothing to compare with", "add --against FILE")
        if self.against is not None:
            require_comparable(self.against, read_result(self.against), name, environment)

    def finish(
        self,
        session: Session,
        report: Report,
        show: Callable[[], object],
        *,
        titles: Mapping[str, str],
        lines: Sequence[Lines] = (),
        problems: Sequence[tuple[str, Sequence[str]]] = (),
    ) -> int | None:
        """Save, compare and print a result; `show` prints the tables for people. Return the exit code.

        `titles` name the rows and figures on the page, `lines` are its further plots, `problems` what went
        wrong, by what it went wrong with.
        """
        from dreaming.local.evaluation.results import compare, read_result, write_file, write_result

        before = read_result(self.against) if self.against else None
        comparison = compare(report, before, tolerance=self.tolerance) if before else None
        if self.save is not None:
            write_result(self.save, report)
        if self.page is not None:
            from dreaming.local.evaluation.page import page

            write_file(self.page, page(report, titles, comparison, lines, problems))
        if session.output.as_json:
            session.output.document(_document(report, comparison, self.against))
        else:
            show()
            if comparison is not None:
                _show_comparison(session, comparison, report, self.against)
            for what, path in (("Result", self.save), ("Page", self.page)):
                if path is not None:
                    session.output.line(f"{what} written to {path}", "dim")
        if self.fail_if_worse and comparison is not None:
            return GOALS_MISSED if comparison.worse else None
        return None if report.ok else GOALS_MISSED


def with_results(function: Callable[Concatenate[Results, P], R]) -> Callable[P, R]:
    """Give a command the options of results, and what they say as its first argument."""

    @click.option("--html", "page", type=_FILE, help="Write a page with plots: one file, light and dark.")
    @click.option("--save", type=_FILE, help="Write the result as JSON, to compare a later one with.")
    @click.option("--against", type=_FILE, help="Compare with a result that --save or --json wrote.")
    @click.option("--fail-if-worse", is_flag=True, help="Exit with 5 when a figure is worse than in --against, only.")
    @click.option(
        "--tolerance", type=click.FloatRange(min=0), default=0.0, help="What counts as no change, in a figure's unit."
    )
    @wraps(function)
    def call(*args: P.args, **options: P.kwargs) -> R:
        given: dict[str, Any] = {
            name: options.pop(name) for name in ("page", "save", "against", "fail_if_worse", "tolerance")
        }
        return function(Results(**given), *args, **options)

    return call


def _document(report: Report, comparison: Comparison | None, path: Path | None) -> object:
    if comparison is None:
        return report
    return {
        "name": report.name,
        "figures": report.figures,
        "environment": report.environment,
        "against": {"file": path, "worse": comparison.worse, **_fields(comparison)},
    }


def _fields(comparison: Comparison) -> dict[str, Any]:
    return {
        "environment": comparison.before,
        "deltas": comparison.deltas,
        "only_now": comparison.only_now,
        "only_before": comparison.only_before,
    }


def _show_comparison(session: Session, comparison: Comparison, report: Report, path: Path | None) -> None:
    """Print what changed, and how much did not."""
    from dreaming.local.evaluation.results import Verdict

    output, right = session.output, {"justify": "right"}
    output.line()
    output.line(f"Against {path}", "bold")
    for key in ("dreaming", "model", "embedder"):
        then, now = comparison.before.get(key), report.environment.get(key)
        if then != now:
            output.line(f"{key}: {then} then, {now} now")
    changed = {name: one for name, one in comparison.deltas.items() if one.verdict is not Verdict.SAME}
    if changed:
        made = table("figure", ("then", right), ("now", right), ("change", right), "")
        for name, delta in changed.items():
            mark, style = _MARKS[delta.verdict.value]
            made.add_row(
                name, f"{delta.before:g}", f"{delta.now:g}", f"{delta.change:+g} {delta.unit}",
                f"{mark} {delta.verdict.value}", style=style,
            )  # fmt: skip
        output.show(made)
    output.line(
        f"{comparison.count(Verdict.BETTER)} better, {comparison.count(Verdict.WORSE)} worse, "
        f"{counted(comparison.count(Verdict.SAME), 'figure')} the same"
    )
    for names, where in ((comparison.only_now, "now"), (comparison.only_before, "then")):
        if names:
            output.line(f"only {where}: {counted(len(names), 'figure')}, such as {names[0]}", "dim")
