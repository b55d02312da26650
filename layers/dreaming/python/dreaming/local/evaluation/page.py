"""A result as one HTML page: figures, plots, what changed, what went wrong. No other file, no other host."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

from dreaming.local.evaluation.plots import Bar, Lines, bars, lines
from dreaming.local.evaluation.records import Figure, Report
from dreaming.local.evaluation.results import Comparison, Delta, Verdict

_MARKS = {Verdict.BETTER: "▲", Verdict.WORSE: "▼", Verdict.CHANGED: "●", Verdict.SAME: "="}
_MOST_PROBLEMS = 300
_MOST_ROWS_IN_A_PLOT = 24


def page(
    report: Report,
    titles: Mapping[str, str],
    comparison: Comparison | None = None,
    plots: Sequence[Lines] = (),
    problems: Sequence[tuple[str, Sequence[str]]] = (),
) -> str:
    """Return the page; `titles` are the names of rows, groups and figures by the parts of a figure's name.

    A figure `a.b.c` is `c` of row `b` in the group `a`, `b.c` is `c` of row `b` in the first group.
    """
    title = f"dream evaluate {report.name}"
    body = [
        f"<header><h1>{escape(title)}</h1><p>{_verdict(report)}</p></header>",
        *([_changes(comparison, titles)] if comparison else []),
        *(_group(name, rows, titles, comparison) for name, rows in _groups(report.figures).items()),
        _courses(plots),
        _problems(problems),
        _environment(report.environment),
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>\n"
        f"<body><main>{''.join(body)}</main></body></html>\n"
    )


def _verdict(report: Report) -> str:
    goals = [figure for figure in report.figures.values() if figure.goal is not None]
    missed = sum(figure.ok is False for figure in goals)
    if not goals:
        return "No goals apply."
    kind, text = ("missed", f"{missed} of {len(goals)} goals missed") if missed else ("met", "All goals are met")
    return f'<span class="badge {kind}">{text}</span>'


def _groups(figures: Mapping[str, Figure]) -> dict[str, dict[str, dict[str, tuple[str, Figure]]]]:
    """Sort figures by group, row and figure, each with its whole name."""
    groups: dict[str, dict[str, dict[str, tuple[str, Figure]]]] = {}
    for name, figure in figures.items():
        row, _, metric = name.rpartition(".")
        group, _, rest = row.partition(".")
        group, row = (group, rest) if rest else ("", row)
        groups.setdefault(group, {}).setdefault(row, {})[metric] = (name, figure)
    return groups


def _group(
    name: str,
    rows: Mapping[str, Mapping[str, tuple[str, Figure]]],
    titles: Mapping[str, str],
    comparison: Comparison | None,
) -> str:
    metrics = list(dict.fromkeys(metric for row in rows.values() for metric in row))
    if len(rows) == 1 and not name:
        (figures,) = rows.values()
        return (
            f"<section><h2>Figures</h2><div class=tiles>{''.join(_tiles(figures, titles, comparison))}</div></section>"
        )
    plots = [
        _plot(metric, {row: held[metric] for row, held in rows.items() if metric in held}, titles, comparison)
        for metric in metrics
    ]
    title = _capital(titles.get(name, name) or "Figures")
    return (
        f"<section><h2>{escape(title)}</h2><div class=plots>{''.join(plots)}</div>"
        f"<details><summary>As a table</summary>{_table(rows, metrics, titles)}</details></section>"
    )


def _courses(plots: Sequence[Lines]) -> str:
    if not plots:
        return ""
    figures = "".join(
        f"<figure><figcaption>{escape(_capital(plot.title))}</figcaption>{lines(plot)}</figure>" for plot in plots
    )
    notes = " ".join(dict.fromkeys(plot.note for plot in plots))
    return f"<section><h2>Courses</h2><p class=soft>{escape(notes)}</p><div class=plots>{figures}</div></section>"


def _capital(title: str) -> str:
    return title[:1].upper() + title[1:]


def _tiles(
    figures: Mapping[str, tuple[str, Figure]], titles: Mapping[str, str], comparison: Comparison | None
) -> Iterator[str]:
    for metric, (name, figure) in figures.items():
        goal = f"goal {_goal(figure.goal)}" if figure.goal else ""
        missed = " missed" if figure.ok is False else ""
        change = _change(comparison.deltas.get(name)) if comparison else ""
        yield (
            f'<div class=tile><div class=soft>{escape(titles.get(metric, metric))}</div>'
            f'<div class="big{missed}">{escape(_shown(figure))}</div><div class=soft>{goal} {change}</div></div>'
        )  # fmt: skip


def _plot(
    metric: str,
    rows: Mapping[str, tuple[str, Figure]],
    titles: Mapping[str, str],
    comparison: Comparison | None,
) -> str:
    found = [figure for _, figure in rows.values()]
    deltas = {name: comparison.deltas.get(name) if comparison else None for name, _ in rows.values()}
    largest = _largest([figure.value for figure in found] + [one.before for one in deltas.values() if one], found[0])
    goals = list(dict.fromkeys(figure.goal for figure in found if figure.goal))
    drawn = [
        Bar(
            _row_title(row, titles),
            figure.value,
            _shown(figure) + (f" {_MARKS[delta.verdict]}" if (delta := _moved(deltas[name])) else ""),
            figure.ok,
            delta.before if delta else None,
            _bound(figure),
        )
        for row, (name, figure) in list(rows.items())[:_MOST_ROWS_IN_A_PLOT]
    ]
    title = titles.get(metric, metric)
    caption = escape(title) + "".join(f" <span class=soft>goal {_goal(goal)}</span>" for goal in goals)
    return f"<figure><figcaption>{caption}</figcaption>{bars(title, drawn, largest=largest)}</figure>"


def _goal(goal: str) -> str:
    return escape(goal.replace("<=", "≤").replace(">=", "≥"))


def _moved(delta: Delta | None) -> Delta | None:
    return None if delta is None or delta.verdict is Verdict.SAME else delta


def _bound(figure: Figure) -> float | None:
    return float(figure.goal.split()[1]) if figure.goal else None


def _largest(values: Sequence[float], figure: Figure) -> float:
    """Return where bars end: all of a share, 1 of a correlation, else the largest there is."""
    if figure.unit in ("%", "correlation"):
        return 100.0 if figure.unit == "%" else 1.0
    return max(values) or 1.0


def _row_title(row: str, titles: Mapping[str, str]) -> str:
    return " · ".join(titles.get(part, part.replace("_", " ")) for part in row.split("."))


def _shown(figure: Figure) -> str:
    number = f"{figure.value:,.1f}" if figure.unit == "%" else f"{figure.value:,g}"
    if figure.unit.startswith("$"):
        return f"${number}{figure.unit.removeprefix('$')}"
    return f"{number} {figure.unit}" if figure.unit != "correlation" else f"{figure.value:.2f}"


def _table(
    rows: Mapping[str, Mapping[str, tuple[str, Figure]]], metrics: Sequence[str], titles: Mapping[str, str]
) -> str:
    head = "".join(f"<th scope=col>{escape(titles.get(metric, metric))}</th>" for metric in metrics)
    body = []
    for row, held in rows.items():
        cells = "".join(f"<td>{escape(_shown(held[metric][1])) if metric in held else '–'}</td>" for metric in metrics)
        body.append(f"<tr><th scope=row>{escape(_row_title(row, titles))}</th>{cells}</tr>")
    return (
        f"<div class=scroll><table><thead><tr><td></td>{head}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"
    )


def _changes(comparison: Comparison, titles: Mapping[str, str]) -> str:
    counts = ", ".join(f"{comparison.count(verdict)} {verdict.value}" for verdict in Verdict)
    rows = [
        f"<tr><th scope=row>{escape(_row_title(name, titles))}</th><td>{delta.before:,g}</td><td>{delta.now:,g}</td>"
        f"<td>{_change(delta)}</td></tr>"
        for name, delta in comparison.deltas.items()
        if delta.verdict is not Verdict.SAME
    ]
    head = "<thead><tr><td></td><th scope=col>then</th><th scope=col>now</th><th scope=col>change</th></tr></thead>"
    table = f"<div class=scroll><table>{head}<tbody>{''.join(rows)}</tbody></table></div>" if rows else ""
    then = ", ".join(
        f"{key} {comparison.before[key]}" for key in ("dreaming", "model", "embedder") if key in comparison.before
    )
    return (
        f"<section><h2>Against an earlier result</h2><p class=soft>{escape(then)}</p><p>{counts}</p>{table}</section>"
    )


def _change(delta: Delta | None) -> str:
    if delta is None or delta.verdict is Verdict.SAME:
        return ""
    return (
        f'<span class="{delta.verdict.value}">{_MARKS[delta.verdict]} {delta.change:+,g} {delta.verdict.value}</span>'
    )


def _problems(problems: Sequence[tuple[str, Sequence[str]]]) -> str:
    if not problems:
        return ""
    shown = problems[:_MOST_PROBLEMS]
    rest = f"<p class=soft>and {len(problems) - len(shown):,} more</p>" if len(problems) > len(shown) else ""
    return (
        f"<section><h2>What went wrong</h2><details><summary>{len(problems):,} with a problem</summary>"
        f"<dl>{''.join(_problem(*one) for one in shown)}</dl>{rest}</details></section>"
    )


def _problem(name: str, sentences: Iterable[str]) -> str:
    return f"<dt>{escape(name)}</dt>" + "".join(f"<dd>{escape(sentence)}</dd>" for sentence in sentences)


def _environment(environment: Mapping[str, Any]) -> str:
    rows = "".join(
        f"<tr><th scope=row>{escape(str(name).replace('_', ' '))}</th><td>{escape(_plain(value))}</td></tr>"
        for name, value in environment.items()
    )
    return f"<section><h2>Measured with</h2><div class=scroll><table class=plain>{rows}</table></div></section>"


def _plain(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_plain(item)}" for key, item in value.items()) or "none"
    if isinstance(value, list | tuple):
        return ", ".join(map(_plain, value)) or "none"
    return str(value)


_STYLE = """
:root { --ground: #f6f6f3; --surface: #fff; --ink: #1d2024; --soft: #565c66; --line: #e1e1dc; --track: #ececea;
  --bar: #3f6ec4; --good: #23744a; --good-ground: #e4f3ea; --bad: #a92a20; --bad-ground: #fbe9e7; --bad-fill: #c8453a;
  --mark: #855300; --g0: #a92a20; --g1: #b26a00; --g2: #6a6f00; --g3: #23744a; --g4: #2f5fb5;
  color-scheme: light dark; }
@media (prefers-color-scheme: dark) { :root { --ground: #131519; --surface: #1b1e24; --ink: #e7e8ea; --soft: #a5acb7;
  --line: #2d323a; --track: #2a2f37; --bar: #86a9ee; --good: #7fcf9f; --good-ground: #1c3327; --bad: #f19a91;
  --bad-ground: #43211e; --bad-fill: #d9665b; --mark: #e8bd6a; --g0: #f19a91; --g1: #e8bd6a; --g2: #c6cb6a;
  --g3: #7fcf9f; --g4: #93b4f5; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 15px/1.5 system-ui, -apple-system, "Segoe UI",
  Roboto, "Noto Sans", "Noto Sans CJK JP", "DejaVu Sans", sans-serif; font-variant-numeric: tabular-nums;
  overflow-wrap: break-word; }
main { max-width: 1180px; margin: 0 auto; padding: 28px 16px 60px; display: grid; gap: 16px; }
main > * { min-width: 0; }
header { display: flex; flex-wrap: wrap; gap: 6px 16px; align-items: baseline; }
h1 { margin: 0; font-size: 22px; } h2 { margin: 0 0 10px; font-size: 16px; } p { margin: 0 0 8px; }
section { background: var(--surface); border: 1px solid var(--line); border-radius: 8px; padding: 16px; min-width: 0; }
.soft { color: var(--soft); font-size: 13px; }
.badge { border-radius: 99px; padding: 2px 10px; font-size: 13px; font-weight: 600; }
.badge.met { background: var(--good-ground); color: var(--good); }
.badge.missed { background: var(--bad-ground); color: var(--bad); }
.tiles { display: grid; grid-template-columns: repeat(auto-fill, minmax(150px, 1fr)); gap: 14px 16px; }
.big { font-size: 21px; font-weight: 650; line-height: 1.3; } .big.missed, .value.missed { color: var(--bad); }
.plots { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 300px), 1fr)); gap: 20px 28px; }
figure { margin: 0; min-width: 0; max-width: 480px; }
figcaption { font-weight: 600; font-size: 14px; margin-bottom: 4px; }
svg { display: block; width: 100%; height: auto; } svg text { font-size: 12px; fill: var(--ink); }
svg .value { font-weight: 600; } svg .value.missed { fill: var(--bad); } svg .track { fill: var(--track); }
svg .bar { fill: var(--bar); } svg .bar.missed { fill: var(--bad-fill); }
svg .goal { stroke: var(--mark); stroke-dasharray: 3 3; fill: none; stroke-width: 1.5; }
svg .before { stroke: var(--ink); stroke-width: 2; fill: none; }
svg .axis { font-size: 10px; fill: var(--soft); } svg .level { stroke: var(--line); fill: none; }
svg .line { fill: none; stroke-width: 1.6; } svg .end { font-size: 10px; }
svg .line.g0 { stroke: var(--g0); } svg .line.g1 { stroke: var(--g1); } svg .line.g2 { stroke: var(--g2); }
svg .line.g3 { stroke: var(--g3); } svg .line.g4 { stroke: var(--g4); }
svg .end.g0 { fill: var(--g0); } svg .end.g1 { fill: var(--g1); } svg .end.g2 { fill: var(--g2); }
svg .end.g3 { fill: var(--g3); } svg .end.g4 { fill: var(--g4); }
.better { color: var(--good); } .worse { color: var(--bad); font-weight: 600; } .changed { color: var(--soft); }
.scroll { overflow-x: auto; } table { border-collapse: collapse; font-size: 14px; }
th, td { text-align: right; padding: 4px 12px 4px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th[scope=row] { text-align: left; font-weight: 500; } thead th { font-weight: 600; }
.plain td { text-align: left; overflow-wrap: anywhere; }
details { margin-top: 12px; } summary { cursor: pointer; color: var(--soft); font-size: 14px; }
dt { font-weight: 600; margin-top: 10px; } dd { margin: 0 0 0 14px; font-size: 14px; }
:focus-visible { outline: 2px solid var(--bar); outline-offset: 2px; }
"""
