"""What is left of two statements when all that means the same is taken away, and in which order it may stand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreaming.passes.consolidation.remainder import arrangement, content, read_terms

DIFFERENT_CONTENT = [
    ("The test server runs Debian", "The server runs Debian"),
    ("Anna is a manager", "Anna has a manager"),
    ("The bridge is being repaired", "The bridge has been repaired"),
    ("A few students failed", "Few students failed"),
    ("She owns a cottage by the lake", "She owns cottages by the lake"),
    ("They'll pay the fine", "They pay the fine"),
    ("We did not charge a fee", "We do not charge a fee"),
    ("The shop is already open", "The shop is still open"),
    ("His lawyer called him", "Her lawyer called her"),
    ("The US economy is growing", "The economy is growing"),
    ("Plan A was chosen", "The plan was chosen"),
    ("He paid Ann", "He paid for Ann"),
    ("Ida works with Jon", "Ida works for Jon"),
    ("The parser is called by the compiler", "The parser calls the compiler"),
    ("The tower can be demolished", "The tower might be demolished"),
    ("If it rains, the picnic is cancelled", "The picnic is cancelled"),
    ("सीता स्कूल जाती है", "गीता स्कूल जाती है"),
    ("Wir benutzen Slack", "Wir benutzten Slack"),
    ("他去过北京", "他去北京"),
    ("この部屋で写真を撮れる", "この部屋で写真を撮る"),
]

OTHER_ORDER = [
    ("The score was 2-1", "The score was 1-2"),
    ("The meeting was moved from Monday to Friday", "The meeting was moved from Friday to Monday"),
    ("The webinar lasts from 10:00 to 11:00", "The webinar lasts from 11:00 to 10:00"),
    ("We lint before we test", "We test before we lint"),
    ("All dogs are mammals", "All mammals are dogs"),
    ("Water is in the tank", "The tank is in water"),
    ("The sister of Anna's friend lives here", "Anna's sister's friend lives here"),
    ("If the alarm rings, call Ann", "If you call Ann, the alarm rings"),
    ("Only the manager approved the budget", "The manager approved only the budget"),
    ("Tom hates Ann and loves Eve", "Tom hates Eve and loves Ann"),
    ("小李跟小张学中文", "小张跟小李学中文"),
    ("Peter liebt Julia seit 2010", "Seit 2010 liebt Julia Peter"),
]

THE_SAME = [
    ("Ada bought a sofa for the big room", "Ada purchased a couch for the large room"),
    ("Mira organised the trip", "Mira organized the trip"),
    ("The bus replaced the tram", "The tram was replaced by the bus"),
    ("In the hallway next to the kitchen is the fuse box", "The fuse box is in the hallway next to the kitchen"),
    ("Because of the storm, the wedding was postponed", "The wedding was postponed because of the storm"),
    ("Marc is our treasurer", "Our treasurer is Marc"),
    ("Aisha speaks Arabic, French and English", "Aisha speaks French, English and Arabic"),
    ("Anna is the manager of Ben", "Anna is Ben's manager"),
    ("The cat is sleeping on the sofa", "The cat sleeps on the couch"),
    ("The office has moved to a new building", "The office relocated to a new building"),
    ("Wir treffen uns jeden Montag", "Jeden Montag treffen wir uns"),
    ("Elle habite à Lyon depuis 2015", "Depuis 2015, elle habite à Lyon"),
    ("Мария работает врачом в Казани", "В Казани Мария работает врачом"),
    ("田中さんは毎朝コーヒーを飲みます", "田中さんは毎朝コーヒーを飲む"),
    ("班里有二十五个学生", "班里有25个学生"),
]


@pytest.mark.parametrize(("left", "right"), DIFFERENT_CONTENT)
def test_a_word_without_its_counterpart_is_seen_from_both_sides(left: str, right: str) -> None:
    seen, mirrored = content(left, right), content(right, left)
    assert seen is not None
    assert mirrored is not None
    assert sorted(seen[0].split()) == sorted(mirrored[1].split())


@pytest.mark.parametrize(("left", "right"), OTHER_ORDER)
def test_another_order_is_another_statement(left: str, right: str) -> None:
    assert arrangement(left, right) or content(left, right)
    assert arrangement(right, left) or content(right, left)


@pytest.mark.parametrize(("left", "right"), THE_SAME)
def test_what_says_the_same_leaves_nothing(left: str, right: str) -> None:
    assert (content(left, right), arrangement(left, right)) == (None, None)
    assert (content(right, left), arrangement(right, left)) == (None, None)


def test_terms_carry_their_form_and_what_leads_them() -> None:
    terms = read_terms("The shed was painted by the team on Sunday")
    assert [(term.word, term.form) for term in terms] == [
        ("shed", ""), ("was", ""), ("painted", "passive"), ("by", ""), ("team", ""),
    ]  # fmt: skip
    assert terms[-1].before == ("by", "the")


CHOSEN = [
    "Ann",
    "Bob",
    "and",
    "likes",
    "was",
    "liked",
    "by",
    "the",
    "not",
    "3",
    "in",
    "garden",
    "北京",
    "的",
    "is",
    "a",
]
WORDS = st.lists(st.sampled_from(CHOSEN), max_size=8)


@given(WORDS.map(" ".join), WORDS.map(" ".join))
def test_both_are_symmetric_and_find_nothing_between_a_statement_and_itself(left: str, right: str) -> None:
    assert content(left, left) is None
    assert arrangement(left, left) is None
    assert bool(content(left, right)) == bool(content(right, left))
    assert bool(content(left, right) or arrangement(left, right)) == bool(
        content(right, left) or arrangement(right, left)
    )
