"""The page of all benchmarks, from their results: what each figure is beside, at three sizes, and plots."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.architecture.modules import ROOT
from tests.benchmarks.plot import Plot, Points

PAGE = ROOT / "docs" / "benchmarks.md"

_SIZE = re.compile(r" at (?P<size>[\d,]+)(?: beliefs| notes)?$")
_OF_THIS_MACHINE = {"ms", "s", "notes/s"}


@dataclass(frozen=True, slots=True)
class Section:
    """What a benchmark is about, what its sizes count, and which of its figures are drawn."""

    title: str
    what: str
    sizes: str
    drawn: tuple[str, ...]
    up: str = "times"


SECTIONS: Mapping[str, Section] = {
    "ingest": Section(
        "Ingest",
        "Chat lines stored in transactions of 500, on a server that flushes to disk. *Bare inserts* put id and text of"
        " the same notes into a table with a key and nothing else: what is above 1 pays for versions, sequences under"
        " the slice's lock, counters, cleaning and row-level security.",
        "notes",
        ("new / bare inserts", "known already / bare inserts"),
    ),
    "consolidation": Section(
        "Consolidation, waiting for a model",
        "A call for each note, 300 ms each, 16 at once. *Least possible* is calls · 300 ms / 16. Then chat lines that"
        " share calls, as they do by default: calls for each line.",
        "notes",
        ("time of the least possible",),
    ),
    "growth": Section(
        "Consolidation, without the model",
        "A slice that holds so many beliefs takes 400 notes whose model answers at once, so what is left is our own"
        " work and the database's; a quarter of the notes repeat what is believed. A *commit of one row* is measured in"
        " the same run, before and after. Memory is the peak of the worker's process. Then the same notes again.",
        "beliefs in the slice",
        ("overhead for a note", "of it our processor time", "statements for a note", "memory of a worker"),
        "1 = smallest",
    ),
    "decay": Section(
        "Decay",
        "A slice with so many beliefs and twice as many relationships, of which 1 % are due. *Rewriting* sets the"
        " confidence of every live row, as systems do that decay by rewriting. Pages of the list and a search are"
        " compared with the same queries that leave ageing out.",
        "beliefs",
        ("pass / rewriting", "list page / without ageing", "top-50 search / without ageing"),
    ),
    "contradictions": Section(
        "Contradictions",
        "150 people work somewhere, and a year later somewhere else. The pass examines these 300 beliefs among so many"
        " others and orders them by its rules; the ratio is to consolidating the same notes in the same run.",
        "beliefs in the slice",
        ("examining a belief", "examining / consolidating", "statements for a belief"),
        "1 = smallest",
    ),
    "recall": Section(
        "Recall",
        "Conversations of 450 words in 50 organizations, the largest with 13 % of all, and vectors of 768 dimensions;"
        " questions of 8 to 30 words. *Brute force* counts words and compares vectors in memory, with numpy, and what"
        " it finds is what recall must find. A *round trip* is a transaction that asks for nothing.",
        "conversations",
        ("largest_to_brute_force", "capture_ratio"),
    ),
    "status": Section(
        "Status",
        "`GET /brain/dream/status` through the function's handler, for an organization with so many notes and one with"
        " 1,000, in turns.",
        "notes",
        ("ratio to 1,000 notes",),
    ),
    "cold-start": Section(
        "Cold start",
        "Importing each handler in fresh interpreters, beside importing boto3 in the same run; more in"
        " [Cold start](cold-start.md).",
        "",
        (),
    ),
}

_HEAD = """# Benchmarks

Written by `make bench` from [benchmarks.json](benchmarks.json), last on {day} with Python {python}, {machine}, {cores}
cores. One benchmark alone: `make bench-growth`, and so on; `python -m tests.benchmarks.suite --only growth` renews its
part of this page.

## How to read it

- **Ratios and counts say something; times do not travel.** A ratio compares two things of one run on one machine, and
  holds elsewhere about as well as the two are alike. Milliseconds are of this machine, which other work shared: the
  load (processes that want a core) stands below each table, and above {cores} everything waits.
- A row with several sizes shows growth. Where the unit is a time, what stands in brackets is the ratio to the
  smallest size.
- A goal is what must hold; **missed** marks where it does not, and is left standing.
- Plots are of ratios. *1 = smallest* means that each line is divided by its own value at the smallest size.

{missed}
"""


def rendered(results: Mapping[str, Any]) -> str:
    """Return the page."""
    runs: Sequence[Mapping[str, Any]] = results["runs"]
    names = [name for name in SECTIONS if any(run["benchmark"] == name for run in runs)]
    missed = [
        f"{SECTIONS[run['benchmark']].title.lower()}: {name} is {figure['value']:g} {figure['unit']},"
        f" not {figure['goal']}{_of_size(run)}"
        for run in runs
        for name, figure in run["figures"].items()
        if figure["ok"] is False
    ]
    told = "Every goal is met." if not missed else "Missed:\n\n" + "\n".join(f"- {one}" for one in missed)
    parts = [_HEAD.format(**{key: results[key] for key in ("day", "python", "machine", "cores")}, missed=told)]
    parts += [_section(name, [run for run in runs if run["benchmark"] == name]) for name in names]
    return "\n".join(parts)


def plots(results: Mapping[str, Any]) -> dict[str, str]:
    """Return the drawings by file name."""
    drawn = {}
    for name, section in SECTIONS.items():
        runs = [run for run in results["runs"] if run["benchmark"] == name]
        lines = _lines(section, table(runs)) if runs else {}
        if lines:
            drawn[_image(name)] = Plot(section.title, section.sizes, section.up, lines).svg()
    return drawn


def table(runs: Sequence[Mapping[str, Any]]) -> dict[str, dict[int, Mapping[str, Any]]]:
    """Return figures by name and size; a size of 0 where there is none."""
    rows: dict[str, dict[int, Mapping[str, Any]]] = {}
    for run in runs:
        for name, figure in run["figures"].items():
            found = _SIZE.search(name)
            size = int(found["size"].replace(",", "")) if found and run["size"] is None else run["size"] or 0
            rows.setdefault(name[: found.start()] if found else name, {})[size] = figure
    return rows


def _lines(section: Section, rows: Mapping[str, Mapping[int, Mapping[str, Any]]]) -> dict[str, Points]:
    lines: dict[str, Points] = {}
    for name in section.drawn:
        points = [(float(size), float(figure["value"])) for size, figure in sorted(rows.get(name, {}).items())]
        if len(points) > 1 and points[0][1] > 0:
            base = points[0][1] if section.up != "times" else 1.0
            lines[name.replace("_", " ")] = [(x, round(y / base, 4)) for x, y in points]
    return lines


def _section(name: str, runs: Sequence[Mapping[str, Any]]) -> str:
    section, rows = SECTIONS[name], table(runs)
    sizes = sorted({size for cells in rows.values() for size in cells if size})
    parts = [f"## {section.title}", "", section.what, ""]
    if _lines(section, rows):
        parts += [f"![{section.title}: growth](images/{_image(name)})", ""]
    heads = [f"{size:,}" for size in sizes] or ["value"]
    parts.append(f"| {section.sizes or 'figure'} | {' | '.join(heads)} | goal |")
    parts.append("|---" * (len(heads) + 2) + "|")
    parts += [_row(row, cells, sizes) for row, cells in rows.items()]
    loads = ", ".join(f"{run['load'][0]:g} to {run['load'][1]:g}" for run in runs)
    seconds = sum(run["seconds"] for run in runs)
    parts += ["", f"Load before and after: {loads}. Took {seconds:.0f} s.", ""]
    parts += [f"**A run failed**{_of_size(run)}: {run['problem']}\n" for run in runs if "problem" in run]
    return "\n".join(parts)


def _row(name: str, cells: Mapping[int, Mapping[str, Any]], sizes: Sequence[int]) -> str:
    first = next(iter(cells.values()))
    goal = next((figure["goal"] for figure in cells.values() if figure["goal"]), "")
    unit = "" if first["unit"] in {"", "times", "x"} else f", {first['unit']}"
    if set(cells) == {0} and sizes:
        shown = [""] * (len(sizes) - 1) + [_cell(cells[0], None)]
    else:
        base = cells[min(cells)]
        shown = [_cell(cells.get(size), base if size != min(cells) else None) for size in sizes or [0]]
    return f"| {name.replace('_', ' ')}{unit} | {' | '.join(shown)} | {goal} |"


def _cell(figure: Mapping[str, Any] | None, base: Mapping[str, Any] | None) -> str:
    if figure is None:
        return ""
    value = f"{figure['value']:,g}"
    if base and base["value"] and figure["unit"] in _OF_THIS_MACHINE:
        value += f" (× {figure['value'] / base['value']:.2g})"
    return f"**{value} missed**" if figure["ok"] is False else value


def _of_size(run: Mapping[str, Any]) -> str:
    return "" if run["size"] is None else f" at {run['size']:,}"


def _image(name: str) -> str:
    return f"bench-{name}.svg"
