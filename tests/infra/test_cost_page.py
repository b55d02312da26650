"""The figures of the cost page follow from its own prices and assumptions, and from what is deployed."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from infra.config import PASSES
from infra.cost import PAGE, SIZES, Inputs, alarm_metrics, custom_metrics, monthly, numbers, written
from tests.infra.templates import Assembly, Template

TEXT = PAGE.read_text("utf-8")
INPUTS = Inputs.read(TEXT)


@pytest.fixture(scope="module")
def stack(assembly: Assembly) -> Template:
    return assembly.stack("dreaming-prod")


def test_the_figures_are_those_of_the_formulas() -> None:
    assert written(TEXT) == TEXT, "the figures of docs/cost.md are out of date: make docs"


def test_the_parts_add_up() -> None:
    shown = numbers(TEXT, "Three sizes")
    together = shown.pop("**Together**")
    for column in range(len(SIZES)):
        # Each figure is rounded, to dollars where it is large.
        assert together[column] == pytest.approx(sum(cells[column] for cells in shown.values()), abs=3)


def test_every_part_has_its_formula_on_the_page() -> None:
    formulas = TEXT.partition("## Formulas")[2]
    for part in monthly(10, INPUTS):
        assert re.search(rf"^{part} +=", formulas, re.MULTILINE), part


def test_every_price_and_assumption_is_used() -> None:
    before = [monthly(size, INPUTS) for size in SIZES]
    for name, price in INPUTS.prices.items():
        other = replace(INPUTS, prices={**INPUTS.prices, name: 2 * price})
        assert [monthly(size, other) for size in SIZES] != before, name
    for name, cells in INPUTS.assumptions.items():
        other = replace(INPUTS, assumptions={**INPUTS.assumptions, name: [2 * cell for cell in cells]})
        assert [monthly(size, other) for size in SIZES] != before, name


def test_a_thousand_notes_a_day_by_hand() -> None:
    """30,400 notes of 1,500 tokens in and 250 out, at 1 and 5 dollars a million."""
    month = monthly(1_000, INPUTS)
    assert month["Model"] == pytest.approx(30_400 * (1_500 * 1 + 250 * 5) / 1e6)
    # A tenth of 730 hours for ticks, and 3,040 batches of 12 seconds, at one unit of 0.12 dollars.
    awake = 73 + 3_040 * 12 / 3600
    assert month["Database"] == pytest.approx(awake * 0.12 + 12 * 30_400 * 5e-6 * 0.10 + 30_400 * 100 * 0.20 / 1e6)


def test_the_metrics_that_alarms_watch_are_counted(stack: Template) -> None:
    watched = 0
    for alarm in stack.of_type("AWS::CloudWatch::Alarm").values():
        watched += sum("MetricStat" in metric for metric in alarm["Metrics"]) if "Metrics" in alarm else 1
    assert alarm_metrics(PASSES) == watched


def test_the_metrics_that_functions_write_are_counted() -> None:
    quiet = replace(PASSES[0], function="quiet", graphs={})
    assert custom_metrics([quiet, PASSES[0]]) == 2 * custom_metrics([quiet]) + len(PASSES[0].counts)
    assert len(set(PASSES[0].counts)) == len(PASSES[0].counts)


def test_dashboards_and_endpoints_are_as_many_as_are_deployed(assembly: Assembly, stack: Template) -> None:
    assert len(stack.of_type("AWS::CloudWatch::Dashboard")) == 2
    endpoints: dict[str, Any] = assembly.stack("dreaming-prod-data").of_type("AWS::EC2::VPCEndpoint")
    assert sum(len(endpoint["SubnetIds"]) for endpoint in endpoints.values()) == 6


def test_the_page_says_when_the_prices_were_found() -> None:
    assert re.search(r"found\s+in \w+ 20\d\d", TEXT)
