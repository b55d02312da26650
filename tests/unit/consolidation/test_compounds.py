"""Statements that join two by "and"."""

import pytest

from dreaming.passes.consolidation.compounds import is_part, remainder_of

COMPOUND = "Tom plays cello and sails on Sundays."


@pytest.mark.parametrize(
    ("part", "compound", "rest"),
    [
        ("Tom sails on Sundays", COMPOUND, "Tom plays cello."),
        ("tom plays cello!", COMPOUND, "Tom sails on Sundays."),
        ("Mara Reed leads the choir", "Mara Reed leads the choir and teaches yoga", "Mara Reed teaches yoga."),
        ("The boat leaks at the stern", "The boat needs paint and leaks at the stern", "The boat needs paint."),
        ("The boat needs paint", "The boat needs paint and leaks at the stern", None),
    ],
)
def test_a_part_is_found_and_what_is_left_is_a_statement_of_its_own(part: str, compound: str, rest: str | None) -> None:
    assert is_part(part, compound)
    assert remainder_of(compound, part) == rest


@pytest.mark.parametrize(
    ("claim", "statement"),
    [
        ("Tom sails", COMPOUND),
        ("Ann sails on Sundays", COMPOUND),
        (COMPOUND, COMPOUND),
        ("Tom likes white films", "Tom likes black and white films"),
        ("Tom sails on Sundays", "Tom never plays cello and sails on Sundays"),
        ("Tom sails on Sundays", "Tom plays cello if it rains and sails on Sundays"),
        ("Tom sails on Sundays", "Tom plays cello and cooks and sails on Sundays"),
    ],
)
def test_what_is_not_said_by_itself_is_no_part(claim: str, statement: str) -> None:
    assert not is_part(claim, statement)
    assert remainder_of(statement, claim) is None
