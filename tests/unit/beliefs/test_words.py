"""Folding, word sets, and the exactness of the prefix filter."""

import math
from fractions import Fraction
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreaming.beliefs import words
from dreaming.beliefs.words import (
    STORED_THRESHOLD,
    WORDS_VERSION,
    fold,
    jaccard,
    prefix,
    rare_first,
    size_bounds,
    statement_hash,
    token,
    word_set,
)

WORDS = st.sampled_from([*"abcdefghijklmnop", "the", "is", "coffee", "green", "zyxwv", "quux", "7"])
WORD_SETS = st.frozensets(WORDS, min_size=1)
THRESHOLDS = st.one_of(
    st.sampled_from([0.5, 0.55, 0.6, 2 / 3, 0.7, 5 / 7, 0.75, 0.8, 0.9, 1.0]), st.floats(min_value=0.5, max_value=1.0)
)


PIECES = st.sampled_from(
    """
    tea Tom cannot can't don't shan't 12 1,000 1,000,000.50 3.5 -5 +7 (-3 5- 5/6 5.x C++ C# x+ 50% $5 €9 a_b _x_ __
    v1.2.3 10:30 2024-01-02 , . ... ! ? ; : / ~ | & @x x@y.z 's it’s `q` -- – ß é 茶 日本語 ไทย İ ﬁ ① 12ab ab12 1. a,
    a.b x,y ?x !x .x
    """.split()  # noqa: SIM905 - a list of words reads better than a list of strings
)
SPACES = st.sampled_from([" ", "", "  ", "\t", "\n", "\x1c", "\u00a0", "\u3000", ", ", ". "])


@given(st.lists(st.tuples(PIECES, SPACES), max_size=7))
def test_what_is_read_without_the_pattern_is_what_the_pattern_reads(pieces: list[tuple[str, str]]) -> None:
    text = "".join(piece + space for piece, space in pieces)
    by_pattern = list(words._matched(words._fold_characters(text)))
    assert words.tokens(text) == by_pattern
    assert word_set(text) == frozenset(words._words(by_pattern))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("The shed is GREEN.", "the shed is green"),
        ("It’s  a\u00a03\u2011day\ttrip", "it's a 3-day trip"),
        ("Caf\u00e9 “Orbit” (north)", "cafe\u0301 Orbit north!"),
        ("gar\u00adden \u200bshed", "garden shed"),
        ("ﬁne ＡＢＣ", "fine abc"),
        ("The price is 1,000 euros", "the price is 1000 euros"),
        ("Straße", "strasse"),
    ],
)
def test_statements_that_differ_only_in_form_fold_to_the_same(left: str, right: str) -> None:
    assert fold(left) == fold(right)
    assert statement_hash(fold(left)) == statement_hash(fold(right))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("It is -5 degrees", "It is 5 degrees"),
        ("Version 3.5", "Version 35"),
        ("Costs $5", "Costs €5"),
        ("Uses C++", "Uses C"),
        ("Uses C#", "Uses C"),
        ("Up 50%", "Up 50"),
        ("It is not green", "It is green"),
        ("Open 10:30", "Open 1030"),
        ("hund", "hünd"),
        ("कि", "की"),
    ],
)
def test_folding_keeps_what_can_change_the_meaning(left: str, right: str) -> None:
    assert fold(left) != fold(right)


@given(st.text(max_size=60))
def test_folding_accepts_any_text_and_leaves_clean_words(text: str) -> None:
    folded = fold(text)
    assert folded == folded.strip()
    assert "  " not in folded
    assert all(word_set(text)) or not word_set(text)


@given(st.lists(st.from_regex(r"[a-z]{1,6}|[0-9]{1,4}", fullmatch=True), max_size=8).map(" ".join))
def test_folding_folded_text_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


def test_short_forms_keep_their_negation() -> None:
    assert word_set("Anna isn't here") == {"anna", "is", "not", "here"}
    assert word_set("Anna can’t come") == word_set("Anna cannot come") == {"anna", "can", "not", "come"}
    assert word_set("Mia's cat") == {"mia", "cat"}


def test_scripts_without_spaces_give_bigrams() -> None:
    assert word_set("花园小屋") == {"花园", "园小", "小屋"}
    assert word_set("Lena住在Oslo 3年") == {"lena", "住在", "oslo", "3", "年"}


def test_hashes_are_signed_64_bit_and_differ_by_purpose() -> None:
    assert all(-(2**63) <= value < 2**63 for value in (token("shed"), statement_hash("shed")))
    assert token("shed") != statement_hash("shed")
    assert (token("shed"), statement_hash("shed")) == (
        -8110060797571485348,
        3135648981001433344,
    )  # stored: they may never change


def test_the_frozen_order_of_words_needs_a_new_version_to_change() -> None:
    table = Path(words.__file__).with_name(f"word_frequencies_{WORDS_VERSION}.txt").read_bytes()
    assert {1: "8d8c81df902f16d9"}[WORDS_VERSION] == sha256(table).hexdigest()[:16]
    assert len(table.split()) == len(set(table.split())) == 20_000


def test_order_puts_unknown_words_first_and_then_the_rarest() -> None:
    assert rare_first(["the", "coffee", "qzxv"]) == ["qzxv", "coffee", "the"]


def test_ceilings_forgive_floating_point() -> None:
    ten = frozenset(map(str, range(10)))
    assert len(prefix(ten, 0.7)) == 4
    assert size_bounds(10, 0.7) == (7, 14)
    assert size_bounds(100, 0.55) == (55, 181)
    assert size_bounds(7, 0.7) == (5, 10)
    assert prefix(frozenset(), 0.7) == []


@given(THRESHOLDS, st.integers(1, 400))
def test_size_bounds_are_those_of_exact_arithmetic(threshold: float, size: int) -> None:
    exact = Fraction(threshold).limit_denominator(10**6)
    if abs(float(exact) - threshold) > 1e-15:
        exact = Fraction(threshold)
    low, high = size_bounds(size, threshold)
    assert low in {math.ceil(size * exact), math.ceil(size * exact - Fraction(1, 10**8))}
    assert high in {math.floor(size / exact), math.floor(size / exact + Fraction(1, 10**8))}


@given(WORD_SETS, WORD_SETS, THRESHOLDS)
def test_similar_sets_share_a_prefix_word_and_lie_within_the_bounds(
    left: frozenset[str], right: frozenset[str], threshold: float
) -> None:
    for query, stored in ((left, right), (left, left | right), (left | right, right)):
        if jaccard(query, stored) >= threshold:
            low, high = size_bounds(len(query), threshold)
            assert set(prefix(query, threshold)) & set(prefix(stored, STORED_THRESHOLD))
            assert low <= len(stored) <= high


def test_jaccard_of_nothing_is_zero() -> None:
    assert jaccard(frozenset(), frozenset()) == 0
    assert jaccard({"a", "b"}, {"b", "c"}) == pytest.approx(1 / 3)
