"""The plots of docs/images are what the rules give, and are well-formed."""

from __future__ import annotations

from collections.abc import Mapping
from xml.etree import ElementTree as ET

import pytest

from tests.documents.pages import pages
from tests.documents.plots import FOLDER, drawn

NAMES = ("ageing.svg", "autonomy.svg", "confidence.svg", "fusion.svg", "guards.svg")


@pytest.fixture(scope="module")
def plots() -> Mapping[str, str]:
    return drawn()


@pytest.mark.parametrize("name", NAMES)
def test_a_committed_plot_is_up_to_date(name: str, plots: Mapping[str, str]) -> None:
    assert (FOLDER / name).read_text("utf-8") == plots[name], "run `make docs`"
    root = ET.fromstring(plots[name])
    assert root.get("role") == "img"
    assert root.get("aria-label")


def test_every_plot_stands_on_a_page(plots: Mapping[str, str]) -> None:
    assert sorted(plots) == list(NAMES)
    text = "".join(page.text for page in pages())
    assert [name for name in plots if f"images/{name})" not in text] == []
