"""What cleaning takes out of a text, and what it must leave."""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dreaming.notes.cleaning import clean, clean_values, is_empty
from dreaming.notes.records import IncomingNote

any_text = st.text(st.characters(codec=None) | st.sampled_from("\x00\ud83d\ude00\ud800e\u0301\u200b\ufeff\r\n\t"))


@settings(deadline=None)
@given(any_text)
def test_cleaned_text_can_be_stored_and_cleaning_it_again_changes_nothing(text: str) -> None:
    cleaned = clean(text)
    assert "\x00" not in cleaned
    cleaned.encode()
    assert clean(cleaned) == cleaned


@settings(deadline=None)
@given(st.text(st.characters(codec="utf-8", exclude_characters="\x00")))
def test_storable_text_only_becomes_nfc(text: str) -> None:
    assert clean(text) == unicodedata.normalize("NFC", text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Rent\x00 due Monday", "Rent due Monday"),
        ("lone \ud800 and \udc00", "lone  and "),
        ("pair \ud83d\ude00", "pair \U0001f600"),
        ("pair \ud83d\x00\ude00", "pair \U0001f600"),
        ("cafe\u0301", "caf\u00e9"),
        ("kept\r\n \t\u200b\ufeff\u00a0\x07", "kept\r\n \t\u200b\ufeff\u00a0\x07"),
    ],
)
def test_only_what_cannot_be_stored_goes(text: str, expected: str) -> None:
    assert clean(text) == expected


def test_a_long_run_of_marks_is_kept_in_its_order_and_the_rest_normalised() -> None:
    run = "\u0301\u0323" * 200_000
    assert clean(f"cafe\u0301 x{run} cafe\u0301") == f"caf\u00e9 x{run} caf\u00e9"


def test_values_are_cleaned_at_every_depth() -> None:
    dirty = {"k\x00": ["a\x00", {"b": "\ud800c"}], "n": 1, "t": ("d\x00", None)}
    assert clean_values(dirty) == {"k": ["a", {"b": "c"}], "n": 1, "t": ["d", None]}


def test_every_string_of_a_note_is_cleaned_when_it_is_made() -> None:
    note = IncomingNote(
        external_id="1\x00",
        source="s\x00",
        text="t\ud800\x00",
        occurred_at=datetime(2024, 1, 1, tzinfo=UTC),
        author="a\x00",
        participants=("p\x00", "q"),
        origin="o\x00",
        metadata={"m\x00": ["\x00", {"n": "\udfff"}]},
    )
    assert (note.external_id, note.source, note.text, note.author, note.origin) == ("1", "s", "t", "a", "o")
    assert note.participants == ("p", "q")
    assert note.metadata == {"m": ["", {"n": ""}]}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "\n\t",
        "\u200b\u200d\ufeff",
        "\u00a0\u3000\u2028",
        "\u2060\u00ad\u202e",
        "\u3164\u2800\ufe0f",
        "\x07\x1b",
    ],
)
def test_a_text_that_shows_nothing_is_empty(text: str) -> None:
    assert is_empty(text)


@pytest.mark.parametrize("text", ["a", "\u200b.\u200b", "  \u4f60", "\n0", "\U0001f600", "\u200bx" + "\u200b" * 10])
def test_a_text_that_shows_something_is_not_empty(text: str) -> None:
    assert not is_empty(text)
