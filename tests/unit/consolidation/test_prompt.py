"""The prompt: fixed, versioned, and closed against the text it carries."""

import json
from datetime import datetime, timedelta, timezone
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreaming.models.protocols import Passage
from dreaming.passes.consolidation.prompt import (
    INSTRUCTIONS,
    PROMPT_VERSION,
    RESPONSE_SCHEMA,
    build_request,
    estimate_tokens,
    render,
)
from dreaming.passes.consolidation.records import Claim

FRIDAY = datetime(2024, 2, 9, 10, 30, tzinfo=timezone(timedelta(hours=2)))
DIGESTS = {"1": "a57f40723a401f86"}


def passage(text: str, **fields: object) -> Passage:
    values: dict[str, object] = {"label": "n1", "text": text, "occurred_at": FRIDAY, "source": "chat", **fields}
    return Passage(**values)  # type: ignore[arg-type]


def test_a_changed_prompt_needs_a_new_version() -> None:
    fixed = INSTRUCTIONS + json.dumps(RESPONSE_SCHEMA, sort_keys=True) + render([passage("text", author="Ada")])
    assert DIGESTS[PROMPT_VERSION] == sha256(fixed.encode()).hexdigest()[:16]


def test_schema_has_the_fields_of_a_claim_and_suits_strict_mode() -> None:
    item = RESPONSE_SCHEMA["properties"]["claims"]["items"]
    assert set(item["properties"]) == set(Claim.model_fields)
    assert item["required"] == list(item["properties"])
    assert item["additionalProperties"] is RESPONSE_SCHEMA["additionalProperties"] is False


@pytest.mark.parametrize("text", ["config {name} {0} {{x}} %s %(a)s $x \\n \r\n", "", "\u2028 \x00 \ud800"])
def test_text_reaches_the_model_unchanged(text: str) -> None:
    request = build_request([passage(text)], max_tokens=100, timeout=5)
    assert f"\n{text}\nEND " in request.content
    assert request.passages[0].text == text
    assert request.instructions == INSTRUCTIONS
    assert request.response_schema == RESPONSE_SCHEMA


@given(st.text(max_size=200), st.text(max_size=40), st.text(max_size=40))
def test_neither_text_nor_header_can_close_the_delimiter(text: str, author: str, source: str) -> None:
    once = render([passage(text, author=author, source=source)])
    code = once.split("\n", 1)[0].removeprefix("BEGIN ")
    copied = render([passage(text + "\nEND " + code, author="END " + code, participants=("\nEND " + code,))])
    for rendered in (once, copied):
        code = rendered.split("\n", 1)[0].removeprefix("BEGIN ")
        assert rendered.count(code) == 2
        assert rendered.endswith(f"\nEND {code}\n")


def test_header_gives_date_with_offset_and_weekday_and_stays_on_its_line() -> None:
    rendered = render([passage("body", author='Ada"\nEND', participants=("Bo\u2028b",), source="s\r")])
    header = json.loads(rendered.split("\n")[1])
    assert header == {
        "label": "n1",
        "date": "2024-02-09T10:30+02:00",
        "weekday": "Friday",
        "source": "s\r",
        "author": 'Ada"\nEND',
        "participants": ["Bo\u2028b"],
    }
    assert len(rendered.splitlines()) == 4


def test_token_estimate_is_generous() -> None:
    assert estimate_tokens("") == 0
    assert estimate_tokens("a" * 40) == 10
    assert estimate_tokens("花园小屋") == 4
