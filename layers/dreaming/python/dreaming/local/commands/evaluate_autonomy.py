"""`dream evaluate autonomy`: how soon a score says what an agent is worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dreaming.local.commands.command import DreamCommand, with_session
from dreaming.local.commands.evaluate_results import Results, with_results
from dreaming.local.commands.session import Session
from dreaming.local.output import counted, table

if TYPE_CHECKING:
    from dreaming.autonomy.rules import Policy
    from dreaming.local.evaluation.autonomy import Course, JudgeRow
    from dreaming.local.evaluation.plots import Lines
    from dreaming.local.evaluation.records import Figure
    from dreaming.local.output import ShowProgress

_SEEDS = 3
_MOST_NAMES = 12
_ROWS = {"right": "a judge that is right", "unsure": "a judge wrong in 10 %", "absent": "no judge"}
TITLES = {
    **_ROWS, "rank": "rank correlation", "right_band": "in the right band", "band_distance": "bands away",
    "bad_above_floor": "actions until a bad agent is below 70", "never_below": "bad agents never below 70",
    "false_blocks": "rises refused to good agents",
}  # fmt: skip
_OVER_TIME = ("rank", "right_band", "band_distance")


@click.command(
    cls=DreamCommand,
    examples="""
    dream evaluate autonomy                          # simulated agents, the same each time
    dream evaluate autonomy --html page.html         # with the course of every score
    dream evaluate autonomy actions.jsonl            # your agents, with what they deserve
    dream evaluate autonomy --row right --json
    """,
)
@click.argument("file", type=click.Path(path_type=Path), required=False)
@click.option("--row", "rows", type=click.Choice(list(_ROWS)), multiple=True, help="Who judges; all three by default.")
@click.option(
    "--seeds", type=click.IntRange(1, 100), default=_SEEDS, show_default=True, help="Simulated agents of each quality."
)
@with_session
@with_results
def autonomy(results: Results, session: Session, file: Path | None, rows: Sequence[str], seeds: int) -> int | None:
    """Measure autonomy scores on agents whose quality is known, action by action, with one run a day.

    Without FILE nine qualities are simulated, three agents of each. FILE holds JSON lines: one for each agent
    with agent and deserves (a band or a score), and one for each action with agent, acted_at, outcome and,
    for successes and failures, flags. The settings in force decide half-life, steps and cool-down.
    """
    from dreaming.autonomy.service import policy
    from dreaming.local.evaluation.agents import read_agents, simulated
    from dreaming.local.evaluation.autonomy import AFTER, VERSION, JudgeRow, figures, follow
    from dreaming.local.evaluation.records import Report, environment
    from dreaming.local.evaluation.results import SET, digest
    from dreaming.local.evaluation.results import VERSION as VERSION_NAME
    from dreaming.settings.resolution import resolve

    agents = read_agents(file) if file else simulated(AFTER[-1], seeds=seeds)
    identity = {
        VERSION_NAME: VERSION,
        SET: digest(map(repr, agents)),
        "file": file.name if file else f"simulated, {seeds} of each quality",
    }
    results.check("autonomy", identity)
    wanted = [JudgeRow(row) for row in _ROWS if not rows or row in rows]
    rules = policy(resolve(session.variables, {}))
    courses: dict[JudgeRow, Sequence[Course]] = {}
    with session.output.progress("scoring", len(agents) * len(wanted), "agents") as show:
        for place, row in enumerate(wanted):
            step = partial(_step, show, place * len(agents), _ROWS[row.value])
            courses[row] = follow(agents, row, rules, on_agent=step)
    actions = sum(len(agent.actions) for agent in agents)
    report = Report(
        "autonomy",
        figures(courses),
        environment(**identity, agents=len(agents), actions=actions, policy=_policy(rules)),
    )
    return results.finish(
        session,
        report,
        lambda: _show(session, report.figures, wanted, f"{counted(len(agents), 'agent')}, {identity['file']}"),
        titles=TITLES | {f"after_{number}": f"after {number} actions" for number in range(1, AFTER[-1] + 1)},
        lines=[_plot(row, held) for row, held in courses.items()],
    )


def _policy(rules: Policy) -> str:
    return (
        f"half-life {rules.half_life.days} days, from {rules.min_actions} actions, "
        f"steps of at most {rules.max_step}, cool-down {rules.cool_down.days} days"
    )


def _step(show: ShowProgress, before: int, title: str, done: int) -> None:
    show(before + done, detail=title)


def _show(session: Session, found: Mapping[str, Figure], rows: Sequence[JudgeRow], of: str) -> None:
    output, right = session.output, {"justify": "right"}
    output.line(of, "bold")
    whole = ("bad_above_floor", "never_below", "false_blocks")
    made = table(
        "", *((TITLES[name].replace(" a bad", "\na bad").replace(" never", "\nnever"), right) for name in whole)
    )
    for row in rows:
        made.add_row(_ROWS[row.value], *(_cell(found.get(f"{row.value}.{name}")) for name in whole))
    output.show(made)
    output.line()
    later = table("after actions", *((TITLES[name], right) for name in _OVER_TIME))
    for row in rows:
        for after in dict.fromkeys(name.split(".")[1] for name in found if name.startswith(f"{row.value}.after_")):
            cells = (_cell(found.get(f"{row.value}.{after}.{name}")) for name in _OVER_TIME)
            later.add_row(f"{_ROWS[row.value]}, {after.removeprefix('after_')}", *cells)
    output.show(later)


def _cell(figure: Figure | None) -> str:
    if figure is None:
        return "-"
    missed = " ✗" if figure.ok is False else ""
    return (f"{figure.value:.1f} %" if figure.unit == "%" else f"{figure.value:.2f}") + missed


def _plot(row: JudgeRow, courses: Sequence[Course]) -> Lines:
    """Return the course of every score, coloured by the band that the agent deserves."""
    from dreaming.autonomy.records import Band
    from dreaming.autonomy.rules import START_SCORE
    from dreaming.local.evaluation.plots import Line, Lines

    order = list(reversed(Band))
    return Lines(
        title=_ROWS[row.value],
        note="One line an agent, from 75; its colour is the band that it deserves, from red for restricted to blue.",
        across="actions",
        up="score",
        lines=[
            Line(
                _label(course.agent.name, len(courses)),
                ((0, START_SCORE), *course.scores),
                order.index(course.agent.band),
            )
            for course in courses
        ],
        low=40,
        high=100,
        levels=(("60", 60), ("70", 70), ("80", 80), ("90", 90)),
    )


def _label(name: str, agents: int) -> str:
    """Return what stands at the end of a line: of many agents of one quality, only the first is named."""
    quality, _, number = name.rpartition("-")
    if agents <= _MOST_NAMES:
        return name
    return quality if number == "1" else ""
