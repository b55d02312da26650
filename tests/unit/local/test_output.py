"""What is printed stands where it belongs, whatever a name or a text holds."""

from __future__ import annotations

import pytest

from dreaming.local.commands.why import difference
from dreaming.local.output import Output, escaped, note_name, styled, table

HOSTILE = "a\nb\r\nc\td\x1b[31me\u2028f\x07g"


@pytest.mark.parametrize("cell", [HOSTILE, styled(HOSTILE), styled("x\ny", "bold")], ids=["text", "styled", "bold"])
def test_a_row_of_a_table_is_one_line(cell: object, capsys: pytest.CaptureFixture[str]) -> None:
    made = table("name", ("count", {"justify": "right"}), "empty")
    made.add_row(cell, "1", None)
    made.add_row("second", "2", "")
    Output(as_json=False).show(made)
    printed = capsys.readouterr().out
    head, _, first, second = printed.splitlines()
    assert (head.split(), second.split()) == (["name", "count", "empty"], ["second", "2"])
    assert not (set(printed) & set("\x1b\r\t\x07\u2028"))
    assert first.split()[-1] == "1"


def test_a_name_is_told_apart_from_its_control_characters() -> None:
    assert escaped("a\nb\tc\rd") == r"a\nb\tc\rd"
    assert note_name("notes\n/etc") == r"notes\n/etc"
    assert escaped("plain name.md") == "plain name.md"


@pytest.mark.parametrize(
    ("sides", "told"),
    [
        (("", "drizzle"), "differ in names: only one names drizzle"),
        (("drizzle", None), "differ in names: only one names drizzle"),
        (("prisma", "drizzle"), "differ in names: prisma / drizzle"),
        ((None, ""), "differ in names"),
    ],
)
def test_what_differs_is_told_of_one_side_or_of_both(sides: tuple[str | None, str | None], told: str) -> None:
    assert difference("names", *sides) == told
