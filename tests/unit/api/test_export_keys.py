"""The key of a row, as a cursor of an export has it, is one that its table could hold."""

from __future__ import annotations

import pytest

from dreaming.erasure.export.rules import fits

KNOWN = "01a22e02-fe7b-7457-b014-95e82b7db21a"
TIME = "timestamp with time zone"


@pytest.mark.parametrize(
    ("kind", "kept", "refused"),
    [
        ("smallint", ["0", "-32768"], ["32768", "", "1.5", " 1", "\u0661", "null"]),
        ("integer", ["2147483647"], ["2147483648", "q"]),
        ("bigint", ["9223372036854775807"], ["9223372036854775808", "9" * 30, "9" * 5_000]),
        ("uuid", [KNOWN], ["q", "", KNOWN[:-1], KNOWN.upper()]),
        ("date", ["2026-06-01"], ["2026-02-30", "today", ""]),
        (
            TIME,
            ["2026-06-01 12:30:00+00", "2026-06-01 12:30:00.123+00", "0001-01-01 00:00:00+00"],
            ["now", "2026-06-01 1"],
        ),
        ("text", ["", "a b", "\U0001f980"], ["a\0", "\ud800"]),
    ],
)
def test_a_value_is_of_its_column(kind: str, kept: list[str], refused: list[str]) -> None:
    for value in kept:
        assert fits([value], [kind]), value
    for value in refused:
        assert not fits([value], [kind]), value


def test_a_key_has_a_value_for_each_column() -> None:
    assert fits(["1", KNOWN], ["bigint", "uuid"])
    for key in ([], ["1"], ["1", KNOWN, "1"], [KNOWN, "1"]):
        assert not fits(key, ["bigint", "uuid"])
