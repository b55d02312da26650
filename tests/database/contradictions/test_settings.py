"""Statements that name no subject contradict each other only where their notes do not tell them apart."""

from __future__ import annotations

import pytest

from tests.database.contradictions.worlds import Examined, told

CODE, OTHER_CODE = "The door code is 8812.", "The door code is 1234."


@pytest.mark.parametrize(
    ("heading", "other_heading", "standing"),
    [
        ("Hotel Miramar is near the sea.", "The cabin in Norway has a stove.", "current"),
        ("Hotel Miramar is near the sea.", "Hotel Miramar is near the sea, they say.", "superseded"),
        ("", "", "superseded"),
    ],
)
def test_two_things_told_alike_stay_two(examined: Examined, heading: str, other_heading: str, standing: str) -> None:
    examined.tell(told(f"{heading}\n{CODE}".strip(), "2025-01-10", name="a"))
    examined.tell(told(f"{other_heading}\n{OTHER_CODE}".strip(), "2025-03-10", name="b"))
    found = examined.standing()
    assert (found[CODE], found[OTHER_CODE]) == (standing, "current")


def test_what_tells_nothing_around_it_joins_no_two_things(examined: Examined) -> None:
    examined.tell(told(f"Hotel Miramar is near the sea.\n{CODE}", "2025-01-10", name="a"))
    examined.tell(told(f"The cabin in Norway has a stove.\n{OTHER_CODE}", "2025-02-10", name="b"))
    examined.tell(told("The door code is 5555.", "2025-03-10", name="c"))
    found = examined.standing()
    assert {found[CODE], found[OTHER_CODE]} == {"current"}
