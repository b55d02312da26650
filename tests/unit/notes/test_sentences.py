"""Where sentences begin and end."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dreaming.notes.sentences import sentence_spans


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize(
    "expected",
    [
        ["Tom sails.", "Mia rows!", "Really?", '"Yes," she said.'],
        ["Dr. Smith paid 3.5 euros.", "He left, e.g. by tram."],
        ["See No. 5 and Fig. 3 for it, etc.", "The answer is no.", "Fine."],
        ["J. K. Rowling wrote it.", "I know I.", "So there."],
        ["Version 2.0.1 is on example.com.", "Get it at 9 a.m. today."],
        ['"Stop!" he shouted.', "(It stopped.)", "Good\u2026", "Then it went on."],
        ["Okay .", "Sorry ?", "Okay , everybody ."],
        ["\u4f60\u597d\u3002", "\u4ed6\u8bf4\uff1a\u201c\u597d\u7684\uff01\u201d", "\u8d70\u4e86\uff1f"],
        ["\u0930\u093e\u092e \u0917\u092f\u093e\u0964", "\u0938\u0940\u0924\u093e \u0906\u0908\u0964"],
        ["Um...", "Yes... maybe."],
    ],
)
def test_sentences_end_where_a_reader_ends_them(expected: list[str]) -> None:
    joint = "" if expected[0][0] > "\u2e80" else " "
    assert sentences(joint.join(expected)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A headline\n\nThe text.", ["A headline", "The text."]),
        ("- one item\n- another\n1. First\n2. Second", ["- one item", "- another", "1. First", "2. Second"]),
        ("Anna: hello there\nBob: hi", ["Anna: hello there", "Bob: hi"]),
        ("This line was wrapped at the usual width of a\nmail and goes on.", None),
        ("We moved the datastore of the whole company to\nPostgres in May.", None),
        ("short line\nAnother short line", ["short line", "Another short line"]),
        ("  spaced  \r\n\r\n  out  ", ["spaced", "out"]),
    ],
)
def test_line_breaks_end_items_and_turns_but_not_wrapped_lines(text: str, expected: list[str] | None) -> None:
    assert sentences(text) == (expected or [text])


@settings(deadline=None)
@given(st.text(st.sampled_from("ab AB.!?\n\r\u3002\uff01 \u2026\"')-1:\u2028")))
def test_spans_hold_every_visible_character_once_and_in_order(text: str) -> None:
    spans = sentence_spans(text)
    assert "".join("".join(text[start:end].split()) for start, end in spans) == "".join(text.split())
    assert all(text[start:end] == text[start:end].strip() != "" for start, end in spans)
    assert all(left[1] <= right[0] for left, right in pairwise(spans))
