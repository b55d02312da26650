"""What a month costs, computed from the prices and assumptions of docs/cost.md and from the list of passes.

`python -m infra.cost` writes the page's figures. The page gives the formulas; these are they.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from infra.config import DISPOSITIONS, PASSES, PassDefinition
from infra.paths import ROOT

PAGE = ROOT / "docs" / "cost.md"
SIZES = (10, 1_000, 100_000)
"""Notes a day."""

FIGURES = "Three sizes"
HOURS = 730
DAYS = 30.4
"""Of a month."""

_DASHBOARDS = 2
_ENDPOINTS = 3 * 2  # SQS, Secrets Manager and Bedrock, each in two zones
_OF_API_AND_MIGRATION = 5  # alarm metrics: errors and throttles of both, 5xx of the API


@dataclass(frozen=True, slots=True)
class Inputs:
    """The tables of the page: dollars by price, and by assumption one number or one for each size."""

    prices: Mapping[str, float]
    assumptions: Mapping[str, Sequence[float]]

    @classmethod
    def read(cls, page: str) -> Inputs:
        """Read both tables."""
        prices = {name: cells[0] for name, cells in numbers(page, "Prices").items()}
        return cls(prices, numbers(page, "Assumptions"))

    def assumed(self, name: str, size: int) -> float:
        """An assumption for a number of notes a day."""
        cells = self.assumptions[name]
        return cells[SIZES.index(size)] if len(cells) > 1 else cells[0]


def alarm_metrics(passes: Sequence[PassDefinition]) -> int:
    """How many metrics the alarms watch; the alarm on success watches three for each pass."""
    of_pass = [
        7 + ("notes_retired" in definition.counts) + ("model_calls" in definition.counts) for definition in passes
    ]  # errors, throttles, dead letters, age, success
    return sum(of_pass) + _OF_API_AND_MIGRATION


def custom_metrics(passes: Sequence[PassDefinition]) -> int:
    """How many metrics the functions write: runs, dispositions of batches, and each pass's own counts."""
    return sum(1 + len(DISPOSITIONS) + len(definition.counts) for definition in passes)


def monthly(size: int, inputs: Inputs, passes: Sequence[PassDefinition] = PASSES) -> dict[str, float]:
    """Return the dollars of a month by part, for `size` notes a day."""
    price, notes = inputs.prices, DAYS * size
    batches = max(notes / inputs.assumed("notes a batch", size), min(notes, HOURS))
    busy = batches * inputs.assumed("seconds a batch", size)
    ticks = HOURS * len(passes)
    slices = inputs.assumed("slices at once", size)
    awake = min(HOURS, HOURS * inputs.assumed("minutes awake for a tick", size) / 60 + busy / slices / 3600)
    gigabyte_seconds = busy * passes[0].memory_mb / 1024 + HOURS * sum(one.memory_mb for one in passes) / 1024
    logged = batches * inputs.assumed("bytes logged, a batch", size) + inputs.assumed("bytes of refused packets", size)
    return {
        "Model": notes
        * (
            inputs.assumed("tokens in, a note", size) * price["model, a million tokens in"]
            + inputs.assumed("tokens out, a note", size) * price["model, a million tokens out"]
        )
        / 1e6,
        "Database": awake * inputs.assumed("capacity units while awake", size) * price["Aurora capacity unit, an hour"]
        + 12 * notes * inputs.assumed("bytes kept, a note", size) / 1e9 * price["Aurora storage, a GB and month"]
        + notes * inputs.assumed("reads and writes, a note", size) * price["Aurora reads and writes, a million"] / 1e6,
        "Functions": gigabyte_seconds * price["Lambda arm64, a GB-second"]
        + (batches + ticks) * price["Lambda requests, a million"] / 1e6,
        "Queues": (len(passes) * inputs.assumed("polls of a queue, a month", size) + 4 * batches)
        * price["SQS FIFO requests, a million"]
        / 1e6,
        "Endpoints": _ENDPOINTS * HOURS * price["interface endpoint, an hour and zone"]
        + notes * inputs.assumed("bytes through endpoints, a note", size) / 1e9 * price["endpoint data, a GB"],
        "Watching": alarm_metrics(passes) * price["alarm metric, a month"]
        + custom_metrics(passes) * price["custom metric, a month"]
        + _DASHBOARDS * price["dashboard, a month"]
        + logged / 1e9 * price["logs, a GB"]
        + (batches + ticks) * price["traces, a million"] / 1e6,
        "Keys": price["KMS key, a month"] + 2 * price["secret, a month"],
    }


def written(page: str) -> str:
    """Return the page with figures that follow from its prices, its assumptions and the list of passes."""
    inputs = Inputs.read(page)
    months = [monthly(size, inputs) for size in SIZES]
    lines = ["| part | 10 notes a day | 1,000 a day | 100,000 a day |", "|---|---|---|---|"]
    lines += [f"| {part} | {' | '.join(_dollars(month[part]) for month in months)} |" for part in months[0]]
    lines.append(f"| **Together** | {' | '.join(_dollars(sum(month.values())) for month in months)} |")
    head, _, rest = page.partition(f"## {FIGURES}\n")
    _, _, tail = rest.partition("\n## ")
    counts = (
        f"Dollars a month, egress by endpoints with Bedrock. Passes: {len(PASSES)}; metrics that alarms watch: "
        f"{alarm_metrics(PASSES)};\nmetrics that functions write: {custom_metrics(PASSES)}. "
        "These figures are written by `make docs`."
    )
    return f"{head}## {FIGURES}\n\n{counts}\n\n" + "\n".join(lines) + f"\n\n## {tail}"


def numbers(page: str, heading: str) -> dict[str, list[float]]:
    """Return the numbers of the first table below a heading, by the first cell of their row."""
    below = page.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in below.splitlines() if line[:1] == "|"]
    return {
        row[0]: [float(re.sub(r"[^\d.]", "", cell)) for cell in row[1:] if re.search(r"\d", cell)] for row in rows[2:]
    }


def _dollars(amount: float) -> str:
    return f"{amount:,.0f}" if amount >= 100 else f"{amount:.2f}"


def main(page: Path = PAGE) -> int:
    """Write the page's figures; returns the exit code."""
    page.write_text(written(page.read_text("utf-8")), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
