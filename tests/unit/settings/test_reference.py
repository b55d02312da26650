"""The page of settings says what the registry says."""

from __future__ import annotations

from pathlib import Path

from dreaming.settings.records import ChangedBy, Setting
from dreaming.settings.reference import reference
from dreaming.settings.registry import REGISTRY

PAGE = Path(__file__).parents[3] / "docs" / "settings.md"


def test_the_committed_page_is_up_to_date() -> None:
    assert PAGE.read_text("utf-8") == reference(REGISTRY.values()), "run `make docs`"


def test_every_setting_has_a_row() -> None:
    rows = [line for line in reference(REGISTRY.values()).splitlines() if line.startswith("| `")]
    assert [row.split("`")[1] for row in rows] == list(REGISTRY)


def test_a_row_names_everything_and_cannot_break_the_table() -> None:
    setting = Setting("a_flag", bool, False, ChangedBy.DEPLOYMENT, "dreaming.reader", "This | that.")
    assert reference([setting]).splitlines()[-1] == (
        "| `a_flag` | This &#124; that. | true or false | `false` | `DREAMING_A_FLAG` | `dreaming.reader` | no |"
    )
