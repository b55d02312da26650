"""What 100 million notes of 10,000 organizations take, on paper: `python -m tests.benchmarks.scale`.

The page docs/scale.md holds the inputs in tables: bytes and rows that `tests.benchmarks.row_sizes` measured, times of
other benchmarks, limits and assumptions. This writes its figures; the page gives the formulas, and these are they.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass

from infra import cost
from tests.architecture.modules import ROOT

PAGE = ROOT / "docs" / "scale.md"
MEASURED, ASSUMED, LIMITS, FIGURES = "Measured rows", "Assumptions", "Limits", "Figures"
GIGABYTE = 1e9
DAY = 86_400


@dataclass(frozen=True, slots=True)
class Inputs:
    """The tables of the page: bytes of a row and rows of a note by table, then single numbers by name."""

    rows: Mapping[str, tuple[float, float]]
    assumed: Mapping[str, float]
    limits: Mapping[str, float]

    @classmethod
    def read(cls, page: str) -> Inputs:
        """Read the page's tables."""
        return cls(
            {name: (cells[0], cells[1]) for name, cells in cost.numbers(page, MEASURED).items()},
            {name: cells[0] for name, cells in cost.numbers(page, ASSUMED).items()},
            {name: cells[0] for name, cells in cost.numbers(page, LIMITS).items()},
        )

    @property
    def notes(self) -> float:
        """All notes."""
        return self.assumed["notes"]


@dataclass(frozen=True, slots=True)
class Need:
    """Something that is needed, beside what there is of it."""

    name: str
    need: float
    limit: float
    unit: str

    @property
    def share(self) -> float:
        """The need as a part of the limit: above 1 it breaks."""
        return self.need / self.limit


def table_rows(inputs: Inputs) -> dict[str, float]:
    """Return how many rows each table has."""
    conversations = inputs.notes * inputs.assumed["conversations, a note"]
    return {
        name: each * (conversations if name.startswith("conversation") else inputs.notes)
        for name, (_, each) in inputs.rows.items()
    }


def table_gigabytes(inputs: Inputs) -> dict[str, float]:
    """Return how large each table is with its indexes."""
    return {name: count * inputs.rows[name][0] / GIGABYTE for name, count in table_rows(inputs).items()}


def peak(inputs: Inputs) -> float:
    """Return notes a second in the busiest hour."""
    return inputs.assumed["notes a day"] / DAY * inputs.assumed["busiest hour to the mean"]


def needs(inputs: Inputs) -> list[Need]:
    """Return what the busiest hour needs, the nearest to its limit first."""
    assumed, limits = inputs.assumed, inputs.limits
    calls = peak(inputs) * assumed["calls, a note"]
    waiting = calls * assumed["seconds a call"]
    functions = waiting / assumed["calls at once in a function"]
    processor = peak(inputs) * assumed["milliseconds of the database, a note"] / 1_000
    reading = assumed["API requests a second"] * assumed["milliseconds of the database, a request"] / 1_000
    units = (processor + reading) / assumed["processors of a capacity unit"]
    sandboxes = functions + assumed["API requests a second"] * assumed["seconds of an API request"]
    connections = sandboxes * assumed["connections of a sandbox"]
    exact = largest_conversations(inputs) / 1_000 * assumed["milliseconds a thousand vectors, exact"]
    found = [
        Need(
            "Model tokens a minute",
            60 * calls * (assumed["tokens in, a call"] + assumed["tokens out, a call"]),
            limits["model tokens a minute"], "tokens",
        ),
        Need("Model calls a minute", 60 * calls, limits["model calls a minute"], "calls"),
        Need("Consolidating functions at once", functions, limits["consolidating functions at once"], "functions"),
        Need("Database capacity while busy", units, limits["capacity units"], "units"),
        Need("Database connections", connections, limits["connections"], "connections"),
        Need("Vector search in the largest organization", exact, limits["milliseconds of a recall"], "ms"),
        Need("Largest table", max(table_gigabytes(inputs).values()), limits["gigabytes of a table"], "GB"),
        Need("Storage", sum(table_gigabytes(inputs).values()), limits["gigabytes of the cluster"], "GB"),
        Need(
            "A tick's planning",
            assumed["organizations"] * assumed["milliseconds of planning, a slice"] / 1_000,
            limits["seconds of a function"], "s",
        ),
    ]  # fmt: skip
    return sorted(found, key=lambda need: -need.share)


def largest_conversations(inputs: Inputs) -> float:
    """Return the conversations of the largest organization."""
    return inputs.notes * inputs.assumed["conversations, a note"] * inputs.assumed["share of the largest organization"]


def thresholds(inputs: Inputs) -> dict[str, str]:
    """Return from where on each measure pays."""
    assumed, limits = inputs.assumed, inputs.limits
    exact = limits["milliseconds of a recall"] / assumed["milliseconds a thousand vectors, exact"] * 1_000
    build = largest_conversations(inputs) * assumed["seconds of HNSW, a thousand vectors"] / 1_000 / 3_600
    name, size = max(table_gigabytes(inputs).items(), key=lambda item: item[1])
    parts = max(1, round(size / assumed["gigabytes of a partition"]))
    vacuum = size * 1_000 / assumed["megabytes a second of vacuum"] / 3_600
    drain = assumed["notes"] / (_steady(inputs) * DAY)
    return {
        "An HNSW index of its own pays from": f"{exact:,.0f} conversations or vectors in one organization",
        "The largest organization here has": f"{largest_conversations(inputs):,.0f}; its index takes {build:.1f} h",
        "Vacuum of the largest table, whole": f"{vacuum:.1f} h ({name})",
        "Partitions of it by hash of slice": f"{parts:,} of {size / parts:,.0f} GB",
        "All notes read anew, at the function limit": f"{drain:,.0f} days",
    }


def _steady(inputs: Inputs) -> float:
    """Notes a second with all functions at the limit, each waiting for its calls."""
    assumed = inputs.assumed
    at_once = inputs.limits["consolidating functions at once"] * assumed["calls at once in a function"]
    return at_once / assumed["seconds a call"] / assumed["calls, a note"]


def monthly(inputs: Inputs) -> dict[str, float]:
    """Return dollars a month at the notes a day, by the cost page, with the storage of all notes."""
    prices = cost.Inputs.read(cost.PAGE.read_text("utf-8"))
    parts = cost.monthly(int(inputs.assumed["notes a day"]), prices)
    kept = sum(table_gigabytes(inputs).values()) * prices.prices["Aurora storage, a GB and month"]
    return {**parts, "Storage of all notes, in place of a year's": kept}


def written(page: str) -> str:
    """Return the page with figures that follow from its tables."""
    inputs = Inputs.read(page)
    sizes = table_gigabytes(inputs)
    counts = table_rows(inputs)
    total = sum(sizes.values())
    lines = ["These are written by `python -m tests.benchmarks.scale`.", "", "### Tables", ""]
    lines += ["| table | rows, millions | GB with indexes | share |", "|---|---|---|---|"]
    for name in sorted(sizes, key=lambda one: -sizes[one]):
        lines.append(
            f"| `{name}` | {counts[name] / 1e6:,.0f} | {sizes[name]:,.0f} | {100 * sizes[name] / total:.0f} % |"
        )
    lines += [f"| **Together** | | {total:,.0f} | |", ""]
    lines += ["### What breaks first", "", f"At {peak(inputs):.1f} notes a second in the busiest hour:", ""]
    lines += ["| | needed | there is | share |", "|---|---|---|---|"]
    for need in needs(inputs):
        share = f"**{need.share:.2f}**" if need.share > 1 else f"{need.share:.2f}"
        lines.append(f"| {need.name} | {need.need:,.4g} {need.unit} | {need.limit:,g} {need.unit} | {share} |")
    lines += ["", "### From where on", "", "| | |", "|---|---|"]
    lines += [f"| {name} | {text} |" for name, text in thresholds(inputs).items()]
    lines += ["", "### Dollars a month", "", "| part | dollars |", "|---|---|"]
    parts = monthly(inputs)
    lines += [f"| {name} | {amount:,.0f} |" for name, amount in parts.items()]
    lines.append(f"| **Together** | {sum(parts.values()):,.0f} |")
    return _replaced(page, FIGURES, lines)


def with_measured(page: str, rows: Mapping[str, tuple[float, float]]) -> str:
    """Return the page with other measured rows, and what follows from them."""
    lines = ["| table | bytes of a row | rows of a note, or of a conversation |", "|---|---|---|"]
    lines += [f"| {name} | {each:,.0f} | {count:.2f} |" for name, (each, count) in rows.items()]
    return written(_replaced(page, MEASURED, lines))


def _replaced(page: str, heading: str, lines: list[str]) -> str:
    head, _, rest = page.partition(f"## {heading}\n")
    tail = rest.partition("\n## ")[2]
    return f"{head}## {heading}\n\n" + "\n".join(lines) + (f"\n\n## {tail}" if tail else "\n")


def main() -> int:
    """Write the page's figures; returns the exit code."""
    PAGE.write_text(written(PAGE.read_text("utf-8")), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
