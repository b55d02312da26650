"""Answers as real models give them: wrapped, broken, cut off, empty, hostile."""

import json

import pytest

from dreaming.errors import MalformedAnswer
from dreaming.passes.consolidation.parsing import parse_answer

CLAIM = {"kind": "fact", "statement": "Likes figs", "quote": "I like figs", "confidence": 0.9}
ONE = json.dumps(CLAIM)


@pytest.mark.parametrize(
    "text",
    [
        f"[{ONE}]",
        f"Sure:\n```json\n[{ONE}]\n```\nDone.",
        f"```\n[{ONE}]\n```",
        f"The claims, as in [1] and {{x}}, are: [{ONE}] I hope this helps {{really}}.",
        f"<think>Perhaps [{{}}] or {{'a': 1}}?</think>[{ONE}]",
        f"hidden start of thought [{{}}]</think>\n[{ONE}]",
        ONE,
        f'{{"claims": [{ONE}]}}',
        f'{{"beliefs": {ONE}}}',
        f'{{"beliefs": [{ONE}], "comment": "none"}}',
        f"[{ONE},]",
        f"[[{ONE}]]",
        f'["Likes figs", {ONE}, null]',
        f"\ufeff[{ONE}]",
        str([CLAIM]),
        f"[{ONE[:-1]},}}]",
    ],
)
def test_one_claim_is_found_however_it_is_wrapped(text: str) -> None:
    answer = parse_answer(text, truncated=False)
    assert [dict(item) for item in answer.items] == [CLAIM]
    assert not answer.partial


def test_objects_one_after_the_other_are_all_found() -> None:
    assert len(parse_answer(f"{ONE}\n{ONE}", truncated=False).items) == 2
    assert len(parse_answer(f"```json\n[{ONE}]\n```\nand\n```json\n[{ONE}]\n```", truncated=False).items) == 2


def test_claims_grouped_by_passage_learn_its_label() -> None:
    items = parse_answer(f'{{"n1": [{ONE}], "n2": []}}', truncated=False).items
    assert [item["note"] for item in items] == ["n1"]


@pytest.mark.parametrize("text", ["[]", '{"claims": []}', "Nothing here: []", "```json\n[]\n```", '{"beliefs": []}'])
def test_an_explicit_empty_list_is_zero_claims(text: str) -> None:
    assert parse_answer(text, truncated=False).items == ()


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n",
        "I found nothing worth keeping.",
        '["Likes figs"]',
        '"Likes figs"',
        "null",
        "[null]",
        '{"beliefs": null}',
        "{}",
        "7",
        "true",
        "[1, 2]",
        '{"claims": "none"}',
        '{"claims": [null]}',
        "<think>only thoughts",
        '[{"statement": "unfinis',
    ],
)
def test_what_holds_no_claim_is_malformed_and_never_zero_claims(text: str) -> None:
    with pytest.raises(MalformedAnswer):
        parse_answer(text, truncated=False)


def test_a_fence_inside_a_string_is_left_alone() -> None:
    claim = {**CLAIM, "statement": "Runs ```sh\nls\n``` daily"}
    assert parse_answer(json.dumps([claim]), truncated=False).items == (claim,)


@pytest.mark.parametrize(
    "text",
    [
        f'[{ONE}, {ONE}, {ONE}, {{"statement": "cut he',
        f'```json\n{{"claims": [{ONE}, {ONE}, {ONE}, {{"statement": "cut", "relations": [{{"type": "a"}}, {{"ty',
        f"[{ONE},\n{ONE},\n{ONE},\n",
        f"[{ONE}, {ONE}, {ONE}",
    ],
)
def test_a_cut_off_array_keeps_its_finished_objects_and_says_so(text: str) -> None:
    answer = parse_answer(text, truncated=False)
    assert [dict(item) for item in answer.items] == [CLAIM] * 3
    assert answer.partial


def test_the_providers_word_that_it_was_cut_off_marks_a_whole_answer_too() -> None:
    assert parse_answer(f"[{ONE}]", truncated=True).partial


def test_an_object_that_cannot_be_read_makes_the_answer_partial() -> None:
    broken = '{"statement": ' + "[" * 60 + "]" * 60 + ", oops oops: }"
    answer = parse_answer(f"[{ONE}, {broken}]", truncated=False)
    assert [dict(item) for item in answer.items] == [CLAIM]
    assert answer.partial


def test_raw_control_characters_and_quotes_in_strings_are_read() -> None:
    answer = parse_answer(
        '[{"statement": "a\tb\nc", "quote": "x"}, {"statement": "says "hi" now", "quote": "y"}]', truncated=False
    )
    assert [item["statement"] for item in answer.items] == ["a\tb\nc", 'says "hi" now']


def test_what_cannot_be_stored_is_removed() -> None:
    answer = parse_answer(
        '[{"statement": "Rent\\u0000 due\\ud800", "confidence": NaN, "a\\u0000": -Infinity, "b": 1e999}]',
        truncated=False,
    )
    assert answer.items == ({"statement": "Rent due", "confidence": None, "a": None, "b": None},)
    json.dumps(answer.items, allow_nan=False).encode()


@pytest.mark.parametrize(
    "text",
    [
        "[" * 300_000,
        '{"a":' * 100_000,
        '{"claims":' * 50_000,
        '"' * 500_000,
        "{'" * 250_000,
        '[{"a": "' + '\\"' * 250_000,
        "[{" * 150_000,
        '{"a' * 150_000,
        "</think>" * 60_000,
        "<think>" * 70_000,
        "[{'" + "a'" * 200_000,
        "}" * 500_000,
        '[{"statement": "x", "n": ' + "9" * 5_000 + "}]",
        f"[{ONE}" + "]" * 500_000,
    ],
)
def test_hostile_text_ends_in_an_answer_or_malformed(text: str) -> None:
    try:
        answer = parse_answer(text, truncated=False)
    except MalformedAnswer:
        return
    assert all(isinstance(item, dict) for item in answer.items)


def test_megabytes_of_claims_are_read() -> None:
    assert len(parse_answer("[" + ",".join([ONE] * 10_000) + "]", truncated=False).items) == 10_000
