"""Turns are read and put into windows that never shift."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dreaming.notes.connectors.turns import Turn, join_turns, parse_turn, windows

turns = st.lists(
    st.builds(Turn, st.sampled_from(["Ann", "Bo", None]), st.text("ab \n", max_size=40), st.none()), max_size=20
)


@settings(deadline=None)
@given(turns, turns, st.integers(min_value=1, max_value=60))
def test_turns_added_at_the_end_change_no_window_but_the_last(old: list[Turn], new: list[Turn], size: int) -> None:
    before = list(windows(old, size))
    after = list(windows(old + new, size))
    assert after[: max(0, len(before) - 1)] == before[:-1]
    if before:
        assert after[len(before) - 1].text.startswith(before[-1].text)


@settings(deadline=None)
@given(turns, st.integers(min_value=1, max_value=60))
def test_windows_hold_every_turn_that_says_something_once_and_whole(spoken: list[Turn], size: int) -> None:
    found = list(windows(spoken, size))
    assert [turn for window in found for turn in window.turns] == [turn for turn in spoken if turn.text.strip()]
    assert [window.index for window in found] == list(range(len(found)))
    assert all(len(window.turns) == 1 or max(len(turn.written) for turn in window.turns) < size for window in found)


def test_participants_are_the_speakers_so_far() -> None:
    spoken = [Turn("Ann", "x" * 10), Turn("Bo", "y" * 10), Turn("Ann", "z" * 10)]
    assert [window.participants for window in windows(spoken, 10)] == [("Ann",), ("Ann", "Bo"), ("Ann", "Bo")]


def test_subtitles_of_one_speaker_become_one_turn_up_to_a_limit() -> None:
    parts = [Turn("Ann", "one"), Turn(None, "two"), Turn("Ann", "three" * 5), Turn("Bo", "four")]
    assert list(join_turns(parts, 20)) == [Turn("Ann", "one two"), Turn("Ann", "three" * 5), Turn("Bo", "four")]


@pytest.mark.parametrize(
    ("line", "speaker", "said"),
    [
        ("Ann: hello", "Ann", "hello"),
        ("Project Manager: so", "Project Manager", "so"),
        ("Dr. Ludwig van der Berg: yes", "Dr. Ludwig van der Berg", "yes"),
        ("SPEAKER_00: hm", "SPEAKER_00", "hm"),
        ("ann:", "ann", ""),
        ("\u738b\u4f1f: \u597d", "\u738b\u4f1f", "\u597d"),
        ("I have two points: first", None, "I have two points: first"),
        ("see https://example.test", None, "see https://example.test"),
        ("At 10:30 we start", None, "At 10:30 we start"),
        ("He left. Then he said: go", None, "He left. Then he said: go"),
        ("no colon here", None, "no colon here"),
    ],
)
def test_a_speaker_is_a_name_before_a_colon(line: str, speaker: str | None, said: str) -> None:
    assert parse_turn(line) == Turn(speaker, said)
