"""Recalled text is taken out of notes again, and nothing else is."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dreaming.notes.cleaning import clean
from dreaming.notes.echo import mark, strip

tags = ("<dreaming-recall>", '<dreaming-recall id="x">', "</dreaming-recall>", "</DREAMING-recall >", "<dreaming-")
fragments = st.sampled_from([*tags, "recall>", "\n", "\n\n", "\r\n\r\n", " ", "a", "\x00", "\u0338", "<", ">", "&lt;"])
hostile = st.lists(fragments | st.text(max_size=5), max_size=12).map("".join)
plain = st.text(st.characters(codec="utf-8", exclude_characters="<\u0338"))


@settings(deadline=None)
@given(hostile, plain, plain)
def test_a_marked_text_is_removed_whole_whatever_it_says(recalled: str, before: str, after: str) -> None:
    assert strip(clean(f"{before}{mark(recalled, 'r-1')}{after}")) == clean(f"{before}\n{after}")


@settings(deadline=None)
@given(hostile, plain, st.integers(min_value=0, max_value=60))
def test_a_marked_text_that_is_cut_off_is_removed_to_its_last_character(recalled: str, before: str, cut: int) -> None:
    block = mark(recalled, "r")
    opening = block.index("\n")
    kept = clean(before) + block[: max(opening, len(block) - cut)]
    assert strip(kept) == clean(before) + "\n"


@settings(deadline=None)
@given(plain)
def test_text_without_marks_is_kept_to_the_character(text: str) -> None:
    assert strip(text) == text


@settings(deadline=None)
@given(hostile)
def test_stripping_twice_is_stripping_once(text: str) -> None:
    once = strip(clean(text))
    assert strip(once) == once


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a<dreaming-recall>x</dreaming-recall>b", "a\nb"),
        ("a<dreaming-recall>x<dreaming-recall>y</dreaming-recall>z</dreaming-recall>b", "a\nb"),
        ("a\n<dreaming-recall id='1'>\nx\ny\n\nmine", "a\n\n\n\nmine"),
        ("a<dreaming-recall>x<dreaming-recall>y</dreaming-recall>z\n\nmine", "a\n\n\nmine"),
        ("mine</dreaming-recall> too", "mine</dreaming-recall> too"),
        ("<dreaming-<dreaming-recall>x</dreaming-recall>recall>", "<dreaming-\nrecall>"),
        ("<Dreaming-Recall>x</DREAMING-RECALL>", "\n"),
        ("<dreaming-recaller>x</dreaming-recaller>", "<dreaming-recaller>x</dreaming-recaller>"),
    ],
)
def test_blocks_nest_and_an_open_one_ends_with_its_paragraph(text: str, expected: str) -> None:
    assert strip(text) == expected


def test_a_recalled_text_is_readable_in_its_block() -> None:
    assert mark("Tom sails.\n\nMia has a cat.", "01a2") == (
        '<dreaming-recall id="01a2">\nTom sails.\nMia has a cat.\n</dreaming-recall>'
    )


@pytest.mark.parametrize("recall_id", ["", 'a"b', "a>b", "a b", "x" * 201])
def test_an_id_that_could_break_out_of_the_mark_is_refused(recall_id: str) -> None:
    with pytest.raises(ValueError, match="recall_id"):
        mark("text", recall_id)


def test_many_open_marks_take_no_more_than_linear_work() -> None:
    text = "<dreaming-recall>" * 100_000 + "\n\nmine"
    assert strip(text).endswith("\n\nmine")
