"""Chunks of a long note together are the note."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dreaming.notes.chunking import split

texts = st.text(
    st.sampled_from("ab .\n!\u3002\u4f60e\u0301\u0323\u200d\U0001f3fd\U0001f469\U0001f1e9\r\t"), max_size=300
)


@settings(deadline=None)
@given(texts, st.integers(min_value=1, max_value=40))
@example("", 5)
@example("a\r\n" * 30, 2)
def test_chunks_cover_every_character_exactly_once(text: str, max_characters: int) -> None:
    chunks = split(text, max_characters)
    assert "".join(chunk.text for chunk in chunks) == text
    assert [chunk.index for chunk in chunks] == list(range(len(chunks)))
    assert all(0 < len(chunk.text) <= max_characters for chunk in chunks)
    assert all(text.startswith(chunk.text, chunk.start) for chunk in chunks)
    assert [chunk.start for chunk in chunks] == [sum(len(c.text) for c in chunks[:i]) for i in range(len(chunks))]


@settings(deadline=None)
@given(
    st.lists(st.sampled_from(["e\u0301\u0323", "\U0001f44b\U0001f3fd", "a", "\U0001f469\u200d\U0001f4bb"]), min_size=1)
)
def test_a_hard_cut_never_tears_a_character_from_its_marks(characters: list[str]) -> None:
    text = "".join(characters)
    for chunk in split(text, 7):
        assert chunk.text[0] not in "\u200d\U0001f3fd\U0001f4bb"
        assert unicodedata.category(chunk.text[0]) != "Mn"


sentences_of_18 = st.text("bk ", max_size=12).map(lambda words: f"Then{words}".strip() + ". ")


@settings(deadline=None)
@given(st.lists(sentences_of_18, min_size=2, max_size=30))
def test_sentences_that_fit_are_never_cut(sentences: list[str]) -> None:
    text = "".join(sentences)
    starts = {sum(map(len, sentences[:place])) for place in range(len(sentences) + 1)}
    assert {chunk.start + len(chunk.text) - len(chunk.text.lstrip()) for chunk in split(text, 18)} <= starts


def test_a_sentence_too_long_is_cut_after_white_space() -> None:
    assert [chunk.text for chunk in split("one two three four", 9)] == ["one two ", "three ", "four"]


@pytest.mark.parametrize(
    "text",
    [
        "word " * 2_000_000,
        "A sentence of ordinary length says one thing and then ends here. " * 153_000,
        "x" * 10_000_000,
    ],
)
def test_ten_megabytes_are_split(text: str) -> None:
    chunks = split(text, 8_000)
    assert "".join(chunk.text for chunk in chunks) == text


@pytest.mark.parametrize("piece", [".", " ", "\n", ".)", '."', "a. ", "1.", "\u3002", "x\n ", " .", "e\u0301", "\r\n"])
def test_hostile_text_on_one_line_takes_no_more_than_linear_work(piece: str) -> None:
    text = piece * (400_000 // len(piece))
    assert sum(len(chunk.text) for chunk in split(text, 4_000)) == len(text)


def test_a_limit_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="positive"):
        split("text", 0)
