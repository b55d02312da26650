"""What surrounds a statement without a subject of its own tells whether two of them are about one thing."""

from __future__ import annotations

import pytest

from dreaming.passes.contradictions.setting import may_be_one_setting, needs_setting, setting_of


@pytest.mark.parametrize(
    ("statement", "needed"),
    [
        ("The budget is 400 euros.", True),
        ("The door code is 8812.", True),
        ("The check-in time is 14:00.", True),
        ("The budget of the summer trip is 400 euros.", False),
        ("The Lisbon office is closed.", False),
        ("Lena works at the mill.", False),
        ("Ouch!", False),
    ],
)
def test_what_names_no_subject_needs_a_setting(statement: str, needed: bool) -> None:
    assert needs_setting(statement) is needed


def test_a_setting_is_what_the_other_sentences_name() -> None:
    assert setting_of(["Hotel Miramar. The door code is 8812. ", " The budget is 400 euros."]) == {"hotel", "miramar"}
    assert setting_of(["", " The budget is 400 euros."]) == frozenset()


@pytest.mark.parametrize(
    ("left", "right", "one"),
    [
        ("", "Cabin in Norway.", True),
        ("Hotel Miramar.", "Hotel Miramar again.", True),
        ("Hotel Miramar.", "Cabin in Norway.", False),
        ("Checkout service.", "Billing service.", False),
    ],
)
def test_two_settings_are_one_where_most_is_shared_or_nothing_is_told(left: str, right: str, one: bool) -> None:
    assert may_be_one_setting(setting_of([left]), setting_of([right])) is one
    assert may_be_one_setting(setting_of([right]), setting_of([left])) is one
