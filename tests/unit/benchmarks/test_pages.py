"""Pages and plots follow from their results and inputs, and say what is missed."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from tests.architecture.modules import ROOT
from tests.benchmarks import page, scale, suite
from tests.benchmarks.plot import Plot
from tests.benchmarks.scale import Inputs

MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
SCALE = scale.PAGE.read_text("utf-8")
INPUTS = Inputs.read(SCALE)


def figure(value: float, unit: str, goal: str | None = None, ok: bool | None = None) -> dict[str, Any]:
    return {"value": value, "unit": unit, "goal": goal, "ok": ok}


def run(benchmark: str, size: int | None, **figures: Any) -> dict[str, Any]:
    return {
        "benchmark": benchmark,
        "size": size,
        "arguments": [],
        "seconds": 3.0,
        "load": [1.0, 2.0],
        "figures": figures,
    }


def results(*runs: dict[str, Any]) -> dict[str, Any]:
    return {"day": "2026-11-30", "python": "3.11.7", "machine": "Linux x86_64", "cores": 2, "runs": list(runs)}


def test_the_committed_report_is_what_its_results_say() -> None:
    kept = json.loads(suite.RESULTS.read_text("utf-8"))
    assert page.rendered(kept) == page.PAGE.read_text("utf-8"), "docs/benchmarks.md was changed by hand: make bench"
    drawn = page.plots(kept)
    assert {name: (suite.IMAGES / name).read_text("utf-8") for name in drawn} == drawn
    told = re.findall(r"\(images/([\w-]+\.svg)\)", page.PAGE.read_text("utf-8"))
    assert sorted(told) == sorted(drawn)


def test_every_benchmark_has_a_section_three_sizes_and_a_target() -> None:
    assert [one.name for one in suite.BENCHMARKS] == list(page.SECTIONS)
    for one in suite.BENCHMARKS:
        assert f"\nbench-{one.name}: setup ## " in MAKEFILE
        sizes = one.sizes or [word for word in one.runs[0] if word.isdigit()]
        assert len(sizes) == (0 if one.name == "cold-start" else 3), one.name


def test_a_row_shows_growth_beside_times_and_ratios_as_they_are() -> None:
    shown = page.rendered(
        results(
            run("status", 1_000, median=figure(2.0, "ms"), ratio=figure(1.0, "times")),
            run("status", 100_000, median=figure(3.0, "ms"), ratio=figure(1.5, "times")),
        )
    )
    assert "| median, ms | 2 | 3 (× 1.5) |  |" in shown
    assert "| ratio | 1 | 1.5 |  |" in shown
    assert "Every goal is met." in shown


def test_what_is_missed_stands_at_the_top_and_in_its_row() -> None:
    shown = page.rendered(MISSED)
    assert "- consolidation, without the model: overhead at 100,000 is 7 ms, not <= 5" in shown
    assert "| overhead, ms | 4 | **7 (× 1.8) missed** | <= 5 |" in shown
    assert "Every goal is met." not in shown


MISSED = results(
    {
        **run("growth", None),
        "figures": {
            "overhead at 1,000": figure(4.0, "ms"),
            "overhead at 100,000": figure(7.0, "ms", "<= 5", False),
        },
    }
)


def test_a_run_that_failed_is_told() -> None:
    failed = {**run("decay", 500), "problem": "exit code 3"}
    assert "**A run failed** at 500: exit code 3" in page.rendered(results(failed))
    assert not suite.fine(failed)
    assert not suite.fine(MISSED["runs"][0])
    assert suite.fine(run("decay", 500, rows=figure(1, "rows", "<= 1", True)))


def test_a_plot_is_well_formed_and_puts_points_where_they_belong() -> None:
    drawn = ET.fromstring(Plot("a < b", "x", "times", {"one": [(10, 0.5), (1_000, 1.0)]}).svg())
    points = next(element for element in drawn.iter() if element.tag.endswith("polyline")).attrib["points"]
    (left, half), (right, whole) = (map(float, pair.split(",")) for pair in points.split())
    assert left < right
    labels = {element.text: float(element.attrib["y"]) for element in drawn.iter() if "y" in element.attrib}
    assert whole == pytest.approx(labels["1"] - 4, abs=0.2)
    assert half == pytest.approx(labels["0.5"] - 4, abs=0.2)
    assert {"10", "1,000", "one", "a < b"} <= set(labels)


def test_lines_are_divided_by_their_smallest_size_only_where_the_plot_says_so() -> None:
    drawn = page.plots(
        results(
            {**run("growth", None), "figures": {
                "overhead for a note at 1,000": figure(4.0, "ms"), "overhead for a note at 100,000": figure(2.0, "ms"),
            }},
        )
    )["bench-growth.svg"]  # fmt: skip
    assert "1 = smallest" in drawn
    assert ">2</text>" not in drawn


def test_the_figures_of_scale_are_those_of_its_tables() -> None:
    assert scale.written(SCALE) == SCALE, "the figures of docs/scale.md are out of date: make docs"


def test_scale_by_hand() -> None:
    """100,000 notes a day, six times as many in the busiest hour, a call of four seconds each, eight at once."""
    known = {need.name: need for need in scale.needs(INPUTS)}
    assert scale.peak(INPUTS) == pytest.approx(6.944, abs=0.001)
    assert known["Consolidating functions at once"].need == pytest.approx(6.944 * 4 / 8, abs=0.001)
    assert known["Model tokens a minute"].need == pytest.approx(6.944 * 60 * 1_750, rel=0.001)
    assert scale.largest_conversations(INPUTS) == 1_000_000
    each, count = INPUTS.rows["notes"]
    assert scale.table_gigabytes(INPUTS)["notes"] == pytest.approx(1e8 * each * count / 1e9)


def test_every_input_of_scale_is_used() -> None:
    def computed(inputs: Inputs) -> Any:
        return scale.needs(inputs), scale.thresholds(inputs), scale.table_gigabytes(inputs)

    before = computed(INPUTS)
    for name, value in INPUTS.assumed.items():
        if name != "notes a day":  # the cost page knows only its own three sizes; `peak` uses it, by hand above
            assert computed(replace(INPUTS, assumed={**INPUTS.assumed, name: 2 * value})) != before, name
    for name, value in INPUTS.limits.items():
        assert computed(replace(INPUTS, limits={**INPUTS.limits, name: 2 * value})) != before, name


def test_what_is_measured_anew_replaces_the_table_and_nothing_else() -> None:
    other = scale.with_measured(SCALE, {"notes": (1_000.0, 1.0)})
    assert Inputs.read(other).rows == {"notes": (1_000.0, 1.0)}
    assert Inputs.read(other).assumed == INPUTS.assumed
    assert "| `notes` | 100 | 100 | 100 % |" in other
    assert other.partition("## Formulas")[2] == SCALE.partition("## Formulas")[2]
