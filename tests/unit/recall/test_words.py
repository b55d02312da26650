"""What makes two texts share a term, in any script."""

from __future__ import annotations

import pytest

from dreaming.notes.secrets import mask
from dreaming.recall.words import distinct_terms, query_terms, rarity, stem, terms, words


def found(query: str, text: str) -> bool:
    """Whether some term of the query is one of the text."""
    return bool(set(query_terms(query)) & set(terms(text)))


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("migrating databases", "We migrate the database"),
        ("deploys", "deployed"),
        ("parties", "a party"),
        ("planned", "plan it"),
        ("cafe", "Le café est fermé"),
        ("猫", "猫が好きです"),
        ("东京", "我们明天去东京开会"),
        ("ประชุม", "เราจะประชุมพรุ่งนี้"),
        ("اجتماع", "عندنا اِجتماع غدا"),
        ("שלום", "הוא אמר שָׁלוֹם לכולם"),
        ("🚀", "we launch 🚀 today"),
        ("👍", "👍🏽 agreed"),
        ("billing", "see the module dreaming.billing_rules"),
        ("O'Neill", "ask Neill"),
        ("2,000 euros", "it costs 2000 euros"),
        ("हिन्दी", "मैं हिन्दी बोलता हूँ"),
    ],
)
def test_a_query_finds_a_text_in_any_script(query: str, text: str) -> None:
    assert found(query, text)


@pytest.mark.parametrize(("query", "text"), [("cat", "dog"), ("东京", "京东商城"), ("ship", "shoe"), ("no", "know")])
def test_other_words_are_not_found(query: str, text: str) -> None:
    assert not found(query, text)


def test_function_words_are_no_terms() -> None:
    assert list(words("What did we say about it? Okay, and the rest of them")) == ["rest"]


def test_occurrences_are_counted() -> None:
    assert sorted(terms("boat boats BOAT sail").values()) == [1, 3]


def test_what_hides_a_secret_is_no_word() -> None:
    hidden = mask("password: hunter2secret99").text
    assert list(terms(hidden)) == list(terms("password"))


def test_a_query_of_two_ideographs_asks_for_the_pair_alone() -> None:
    assert len(query_terms("东京")) == 1
    assert len(terms("东京")) == 3


def test_stems_keep_short_and_foreign_words() -> None:
    assert [stem(word) for word in ("this", "bus", "sing", "été", "x2", "running", "agreed")] == [
        *("this", "bus", "sing", "ete", "x2", "run", "agre")
    ]


def test_rare_words_weigh_more() -> None:
    assert rarity(stem("time")) < rarity(stem("server")) < rarity("unheardofword")


@pytest.mark.parametrize(
    "text",
    ["We can't move the data.store, twice twice!", "京都の夜 and 京都", f"key {mask('x').text} -5 %", "it's its 3,000"],
)
def test_the_distinct_terms_are_those_that_are_counted(text: str) -> None:
    assert distinct_terms(text) == set(terms(text))
