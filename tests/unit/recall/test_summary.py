"""The bounded summary, and the turns that are kept."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from dreaming.notes.echo import mark
from dreaming.recall.passages import PASSAGE_CHARACTERS, best_part
from dreaming.recall.preparation import prepare
from dreaming.recall.records import IncomingTurn, StoredTurn, conversation_key
from dreaming.recall.summary import MAX_CHARACTERS, summarize
from dreaming.recall.words import terms


def turns(*said: tuple[str, str]) -> list[StoredTurn]:
    return prepare(IncomingTurn(speaker=speaker, text=text) for speaker, text in said)


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["ana", "helper"]), st.text(min_size=1, max_size=3_000)), max_size=20))
def test_a_summary_is_bounded(said: list[tuple[str, str]]) -> None:
    assert len(summarize(turns(*said), "helper" * 30)) <= MAX_CHARACTERS


def test_a_summary_tells_the_agent_the_ending_and_the_best_of_the_rest() -> None:
    middle = [("ana", f"Well, yes, okay {number}.") for number in range(300)]
    middle[150] = ("ana", "The Zephyrine turbine needs a titanium gasket.")
    said = [*middle, ("ana", "What is next?"), ("helper", "Order the gasket on Monday.")]
    text = summarize(turns(*said), "helper")
    assert text.startswith("Agent: helper\n")
    assert "ana: What is next?\nhelper: Order the gasket on Monday." in text
    assert "titanium gasket" in text.split("Before: ")[1]


def test_the_latest_prompt_is_told_even_when_it_is_long_ago() -> None:
    said = [("ana", "Please sort the attic."), *(("helper", f"Step {number} is done.") for number in range(12))]
    assert "ana: Please sort the attic." in summarize(turns(*said), "helper").split("Before:")[0]


def test_recalled_text_and_secrets_are_not_kept() -> None:
    echoed = mark("Ana likes figs.", "conversation:1")
    kept = turns(("ana", f"{echoed}\nUse this: password: hunter2secret99"), ("ana", echoed), ("ana", "\u200b \n"))
    assert len(kept) == 1
    assert "figs" not in kept[0].text
    assert "hunter2" not in kept[0].text


def test_equal_beginnings_have_equal_hashes() -> None:
    one, other = turns(("ana", "a"), ("ana", "b")), turns(("ana", "a"), ("ben", "b"))
    assert one[0].sha256 == other[0].sha256
    assert one[1].sha256 != other[1].sha256


def test_ids_cannot_be_made_equal_by_moving_a_character() -> None:
    assert len({conversation_key("ab", "c"), conversation_key("a", "bc"), conversation_key("abc", "")}) == 3


def test_a_passage_is_the_part_with_the_heaviest_words() -> None:
    text = "Nothing here. " * 40 + "The gasket is made of titanium. " + "Nothing there. " * 40
    part = best_part(text, dict.fromkeys(terms("titanium gasket"), 1.0))
    assert "titanium" in part
    assert len(part) <= PASSAGE_CHARACTERS
