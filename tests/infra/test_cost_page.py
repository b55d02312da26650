"""The figures of the cost page follow from its own prices and assumptions, by the formulas that it gives."""

from __future__ import annotations

import re

import pytest

from infra.config import PASSES
from tests.architecture.modules import ROOT

PAGE = (ROOT / "docs" / "cost.md").read_text("utf-8")
HOURS = 730
DAYS = 30.4
SIZES = (10, 1_000, 100_000)
PARTS = ("Model", "Database", "Functions", "Queue", "Endpoints", "Watching", "Keys")


def table(heading: str) -> dict[str, list[str]]:
    """The rows of the first table below a heading, by their first cell."""
    below = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in below.splitlines() if line[:1] == "|"]
    return {row[0]: row[1:] for row in rows[2:]}


def numbers(heading: str) -> dict[str, list[float]]:
    """The same with the numbers of each cell after the first."""
    return {
        name: [float(re.sub(r"[^\d.]", "", cell)) for cell in cells if re.search(r"\d", cell)]
        for name, cells in table(heading).items()
    }


PRICES = {name: cells[0] for name, cells in numbers("Prices").items()}
ASSUMED = numbers("Assumptions")


def assumed(name: str, size: int) -> float:
    """An assumption, one for all sizes or one for each."""
    cells = ASSUMED[name]
    return cells[SIZES.index(size)] if len(cells) > 1 else cells[0]


def monthly(size: int) -> dict[str, float]:
    """The formulas of the page."""
    notes = DAYS * size
    batches = max(notes / assumed("notes a batch", size), min(notes, HOURS))
    busy = batches * assumed("seconds a batch", size)
    awake = min(
        HOURS, HOURS * assumed("minutes awake for a tick", size) / 60 + busy / assumed("slices at once", size) / 3600
    )
    tokens_in, tokens_out = (assumed(f"tokens {way}, a note", size) for way in ("in", "out"))
    gigabytes = 12 * notes * assumed("bytes kept, a note", size) / 1e9
    price_in, price_out = PRICES["model, a million tokens in"], PRICES["model, a million tokens out"]
    return {
        "Model": notes * (tokens_in * price_in + tokens_out * price_out) / 1e6,
        "Database": awake * assumed("capacity units while awake", size) * PRICES["Aurora capacity unit, an hour"]
        + gigabytes * PRICES["Aurora storage, a GB and month"]
        + notes * assumed("reads and writes, a note", size) * PRICES["Aurora reads and writes, a million"] / 1e6,
        "Functions": (busy + HOURS) * PASSES[0].memory_mb / 1024 * PRICES["Lambda arm64, a GB-second"]
        + (batches + HOURS) * PRICES["Lambda requests, a million"] / 1e6,
        "Queue": (assumed("polls a month", size) + 4 * batches) * PRICES["SQS FIFO requests, a million"] / 1e6,
        "Endpoints": 3 * 2 * HOURS * PRICES["interface endpoint, an hour and zone"],
        "Watching": 14 * PRICES["alarm metric, a month"] + 16 * PRICES["custom metric, a month"]
        + batches * assumed("bytes logged, a batch", size) / 1e9 * PRICES["logs, a GB"],
        "Keys": PRICES["KMS key, a month"] + 2 * PRICES["secret, a month"],
    }  # fmt: skip


@pytest.mark.parametrize("size", SIZES)
def test_the_figures_follow_from_the_formulas(size: int) -> None:
    shown = {name: cells[SIZES.index(size)] for name, cells in numbers("Three sizes").items()}
    computed = monthly(size)
    for part in PARTS:
        assert shown[part] == pytest.approx(computed[part], abs=0.006 if computed[part] < 100 else 0.6), part
    assert shown["**Together**"] == pytest.approx(sum(computed.values()), abs=0.006 if size < 100_000 else 1)


def test_the_page_says_when_the_prices_were_found() -> None:
    assert re.search(r"found\s+in \w+ 20\d\d", PAGE)
