"""What the offline extractor keeps, what it leaves, and that it always answers in the agreed form."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dreaming.models.offline import OfflineExtractor
from dreaming.models.protocols import ChatAnswer, ChatRequest, Passage, StopReason
from dreaming.passes.consolidation.records import Claim

DAY = datetime(2024, 2, 9, 10, 0, tzinfo=UTC)


def ask(*passages: Passage) -> ChatAnswer:
    return OfflineExtractor().answer(ChatRequest("", "", passages, max_tokens=4_000, timeout=60))


def claims(text: str, *, source: str = "notes", author: str | None = None) -> list[dict[str, Any]]:
    parsed: list[dict[str, Any]] = json.loads(ask(Passage("n1", text, DAY, source, author)).text)
    return parsed


def statements(text: str, *, source: str = "notes", author: str | None = None) -> list[str]:
    return [claim["statement"] for claim in claims(text, source=source, author=author)]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("The team decided to use Postgres for billing.", "decision"),
        ("Priya prefers written updates.", "preference"),
        ("Invoices must be approved by Lena.", "constraint"),
        ("No refunds are given after 30 days.", "fact"),
        ("Tom sails on Sundays.", "fact"),
        ("Kai moved from Fern to Moss.", "observation"),
        ("Priya confirmed the garden shed is painted green.", "fact"),
    ],
)
def test_a_durable_sentence_becomes_a_claim_of_its_kind(text: str, kind: str) -> None:
    (claim,) = claims(text)
    assert (claim["kind"], claim["statement"], claim["quote"]) == (kind, text, text)


@pytest.mark.parametrize(
    "text",
    [
        "Who decided to use Postgres for billing?",
        "Is the boat inspection on 3 March",
        "Good morning everybody, the coffee is ready.",
        "Yeah, okay, right.",
        "We could use Postgres for billing.",
        "Maybe the team decided to use Postgres.",
        "What if the team used Postgres.",
        "The team should use Postgres for billing.",
        "You must send the report to Lena.",
        "Send the report to Lena by Friday.",
        "It was decided by the team.",
        "They moved the office to Porto.",
        "A new office in Porto.",
        "The price list of the year.",
        "https://example.test/a/long/address",
        "for (i = 0; i < n; i++) { total += price[i]; }",
        "2024-01-01 12:00:01 ERROR The database is down for everybody.",
        "> The team decided to use Postgres for billing.",
        '"The team decided to use Postgres for billing."',
        "```\nThe team decided to use Postgres.\n```",
        "The {vocalsound} team decided to use Postgres.",
        "Tom bought the moon on 3 March. Just kidding!",
        "The team has not decided on a database.",
        "The train from Porto is running late.",
        "The office moves to Porto next week.",
        "config {name} {0} {{x}} %s",
        "Das Budget betraegt 5000 Euro.",
    ],
)
def test_what_does_not_hold_or_stand_alone_is_left(text: str) -> None:
    assert claims(text) == []


def test_first_person_is_told_by_the_speaker() -> None:
    (claim,) = claims("Priya: Well, we decided to use Postgres.\nTom: ok")
    assert claim["statement"] == "Priya said: We decided to use Postgres."
    assert claim["quote"] == "we decided to use Postgres."


def test_first_person_is_told_by_the_author_when_that_is_a_name() -> None:
    assert statements("I live in Porto.", author="Lena Ortiz <lena@example.test>") == [
        "Lena Ortiz said: I live in Porto."
    ]


@pytest.mark.parametrize("author", [None, "u::77::chat-3", "4711", "lena@example.test", "assistant"])
def test_first_person_of_nobody_known_is_left(author: str | None) -> None:
    assert claims("I live in Porto.", author=author) == []


def test_a_third_person_sentence_of_a_speaker_stands_as_it_is() -> None:
    assert statements("Priya: The budget is 25 euros.") == ["The budget is 25 euros."]


def test_a_field_label_is_no_speaker() -> None:
    assert statements("Deadline: the launch is on 12 June.") == ["Deadline: the launch is on 12 June."]


def test_what_an_assistant_says_is_left_over_its_paragraphs() -> None:
    text = "assistant: Greyhounds live 12 years.\n\nGreyhounds are calm dogs.\nuser: I own 2 cats."
    assert statements(text) == ["The user said: I own 2 cats."]


def test_a_day_is_made_absolute_by_the_notes_own_date() -> None:
    assert statements("I planted garlic the day before yesterday.", author="Kai") == [
        "Kai said: I planted garlic on 2024-02-07."
    ]


def test_a_negation_at_the_start_is_kept_in_the_span() -> None:
    assert claims("No refunds are given after 30 days.")[0]["quote"].startswith("No ")


def test_wrapped_lines_join_and_short_lines_do_not() -> None:
    wrapped = "The members of the garden committee decided unanimously\nto paint the shed green."
    assert statements(wrapped) == [wrapped.replace("\n", " ")]
    assert claims(wrapped)[0]["quote"] == wrapped
    assert statements("Tom plays cello\nTom sails on Sundays") == ["Tom plays cello", "Tom sails on Sundays"]


def test_abbreviations_and_initials_do_not_end_a_sentence() -> None:
    assert statements("Dr. Reed approved 5.5 days, e.g. for Porto, on 3 March.") == [
        "Dr. Reed approved 5.5 days, e.g. for Porto, on 3 March."
    ]
    assert len(statements("Herons were seen at the pond. Owls were seen at the barn.")) == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Fix crash in teardown", "Fix crash in teardown"),
        ("Drop support for Python 3.7 (#4711)\n\nSigned-off-by: A <a@x.test>", "Drop support for Python 3.7"),
        ("feat(api): add cursor pagination", "Add cursor pagination"),
    ],
)
def test_a_commit_subject_states_what_the_project_did(text: str, expected: str) -> None:
    assert statements(text, source="git:demo") == [expected]


@pytest.mark.parametrize(
    "text", ["Fix typo in comment", "Merge branch 'main'", "Bump version to 2.3.1", "docs: add a page", "wip"]
)
def test_trivial_commits_are_left(text: str) -> None:
    assert claims(text, source="git:demo") == []


def test_a_shopping_list_is_no_commit() -> None:
    assert claims("Add milk to the list") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Lena works at the bakery", ("Lena", "workplace", "the bakery")),
        ("Lena now works at the bike shop", ("Lena", "workplace", "the bike shop")),
        ("Mia's cat is called Fig.", ("Mia", "cat", "Fig")),
        ("The boat inspection is 4 May.", ("boat inspection", "date", "4 May")),
        ("The price of the kiosk is 25 euros.", ("the kiosk", "price", "25 euros")),
        ("Tom plays cello and sails on Sundays.", (None, None, None)),
        ("Priya confirmed the garden shed is painted green.", (None, None, None)),
    ],
)
def test_subject_attribute_and_value_are_named_only_where_certain(text: str, expected: tuple[str | None, ...]) -> None:
    (claim,) = claims(text)
    assert (claim["subject"], claim["attribute"], claim["value"]) == expected


def test_scripts_without_spaces_yield_declarative_sentences() -> None:
    assert statements("价格是二十五欧元一台。你喜欢绿色的小屋吗？") == ["价格是二十五欧元一台。"]
    assert statements("Priya: 我们决定使用Postgres数据库。") == ["Priya: 我们决定使用Postgres数据库。"]
    assert claims("我们决定使用Postgres数据库。") == []


def test_claims_name_the_passage_they_come_from() -> None:
    passages = [Passage(label, f"The budget of {label} is 25 euros.", DAY, "notes") for label in ("p1", "p2")]
    answer = ask(*passages)
    assert [claim["note"] for claim in json.loads(answer.text)] == ["p1", "p2"]
    assert (answer.model, answer.stop_reason, answer.output_tokens) == ("offline:rules-1", StopReason.COMPLETE, 0)


def test_one_passage_says_a_thing_once() -> None:
    assert len(claims("The budget is 25 euros.\nThe budget is 25 euros.")) == 1


PIECES = st.sampled_from(
    [
        "We decided to use Postgres.", "The budget is 25 euros", "Priya: ", "assistant: ", "\n", "\n\n", " ", "- ", ">",
        "```", "{vocalsound}", "um ", "?", "。", "我们决定使用数据库。", "Dr. ", "e.g. ", "must ", "https://x.test/a ",
        "Tom sails on Sundays. ", "yesterday ", "“", "”", "\u200b", "\u2028", "[01:35] <kai> ", "Fix crash in teardown",
    ]
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(
    st.one_of(st.text(max_size=400), st.lists(st.one_of(PIECES, st.text(max_size=8)), max_size=40).map("".join)),
    st.sampled_from(["notes", "git:demo"]),
    st.one_of(st.none(), st.just("Kai"), st.text(max_size=12)),
)
def test_any_text_gives_valid_claims_quoted_exactly(text: str, source: str, author: str | None) -> None:
    for claim in claims(text, source=source, author=author):
        checked = Claim.model_validate_json(json.dumps(claim))
        assert claim["quote"] in text
        assert len(claim["quote"]) >= 6
        assert checked.confidence <= 0.6
        assert len(checked.statement) <= 500
        assert checked.note == "n1"


@settings(max_examples=100, deadline=None)
@given(st.lists(PIECES, max_size=30).map("".join))
def test_every_number_of_a_statement_is_in_the_text_or_is_a_resolved_date(text: str) -> None:
    for claim in claims(text, author="Kai"):
        numbers = {word.strip(".") for word in claim["statement"].split() if word.strip(".").isdigit()}
        assert numbers <= set(text.replace(".", " ").split())


@pytest.mark.parametrize("unit", ["." * 9 + "x", "a: ", '"', "um um ", "( ", "\n", "> ", "A. ", "-- ", "```\n", "ab"])
def test_repetitive_text_of_any_kind_is_read_in_linear_time(unit: str) -> None:
    # A quadratic rule would need hours for this length, so the test's own end is the assertion.
    assert len(claims(unit * (300_000 // len(unit)))) == 0
