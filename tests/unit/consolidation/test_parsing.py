"""From items to claims: what is coerced, defaulted, dropped and refused."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreaming.beliefs.records import DecayClass, Importance, Kind
from dreaming.errors import MalformedAnswer, RejectClaim
from dreaming.passes.consolidation.parsing import parse_answer, to_claim
from dreaming.passes.consolidation.records import Claim

ZONE = timezone(timedelta(hours=2))
ITEM: dict[str, Any] = {"kind": "fact", "statement": "The shed is green.", "quote": "shed is green", "confidence": 0.8}
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def made(**fields: Any) -> Claim:
    return to_claim({**ITEM, **fields}, default_timezone=ZONE)


@pytest.mark.parametrize(("given_", "expected"), [("0.8", 0.8), ("80%", 0.8), (1, 1.0), (0, 0.0), (" 0.5 ", 0.5)])
def test_confidence_may_be_text_or_a_percentage(given_: object, expected: float) -> None:
    assert made(confidence=given_).confidence == pytest.approx(expected)


@pytest.mark.parametrize("confidence", [80, "high", None, True, -0.1, 1.01, "nan", "inf", [0.5], 10**400, "120%"])
def test_confidence_of_unclear_scale_is_refused(confidence: object) -> None:
    with pytest.raises(RejectClaim) as rejection:
        made(confidence=confidence)
    assert rejection.value.rule == "shape"


@pytest.mark.parametrize(
    "fields", [{"kind": "rumour"}, {"kind": None}, {"statement": " "}, {"quote": None}, {"quote": ["a"]}]
)
def test_items_without_the_essentials_are_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(RejectClaim) as rejection:
        made(**fields)
    assert rejection.value.rule == "shape"


def test_unknown_choices_become_the_default_and_case_does_not_matter() -> None:
    claim = made(kind="Preference", importance="urgent", decay_class="Fast Decay")
    assert (claim.kind, claim.importance, claim.decay_class) == (Kind.PREFERENCE, Importance.NORMAL, DecayClass.FAST)


def test_optional_texts_that_are_too_long_or_no_text_are_dropped() -> None:
    claim = made(subject="s" * 201, attribute={"a": 1}, value=3, multi_valued="true", note=7)
    assert (claim.subject, claim.attribute, claim.value, claim.multi_valued, claim.note) == (None, None, "3", True, "7")


def test_relations_keep_only_what_is_one() -> None:
    claim = made(
        relations=[
            {"type": "works_at", "target": "Orbit"},
            {"type": "x"},
            "Orbit",
            None,
            {"type": "y" * 99, "target": "z"},
        ]
    )
    assert [(relation.type, relation.target) for relation in claim.relations] == [("works_at", "Orbit")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-02-09T10:00:00Z", datetime(2024, 2, 9, 10, tzinfo=UTC)),
        ("2024-02-09T10:00:00-05:00", datetime(2024, 2, 9, 15, tzinfo=UTC)),
        ("2024-02-09T10:00", datetime(2024, 2, 9, 10, tzinfo=ZONE)),
        ("2024-02-09", datetime(2024, 2, 9, tzinfo=ZONE)),
        ("2024-02", datetime(2024, 2, 1, tzinfo=ZONE)),
        ("2024", datetime(2024, 1, 1, tzinfo=ZONE)),
        ("2024-02-30", None),
        ("0001-01-01", None),
        ("soon", None),
        ("", None),
        (20240209, None),
    ],
)
def test_dates_get_the_default_offset_and_invalid_ones_are_dropped(text: object, expected: datetime | None) -> None:
    assert made(valid_from=text).valid_from == expected


def test_an_end_before_the_beginning_is_dropped() -> None:
    claim = made(valid_from="2024-02-09", valid_until="2024-02-08")
    assert claim.valid_from is not None
    assert claim.valid_until is None


@given(st.dictionaries(st.sampled_from([*Claim.model_fields, "other"]), JSON_VALUES))
def test_any_item_becomes_a_claim_or_is_refused(fields: dict[str, Any]) -> None:
    try:
        confidence, rule = to_claim({**ITEM, **fields}).confidence, "shape"
    except RejectClaim as rejection:
        confidence, rule = 0.0, rejection.rule
    assert rule == "shape"
    assert 0 <= confidence <= 1


@given(st.text(alphabet="[]{}\",:\\'`ab1 \n\ttruenl<>/think", max_size=80), st.booleans())
def test_any_text_is_parsed_or_malformed(text: str, truncated: bool) -> None:
    try:
        answer = parse_answer(text, truncated=truncated)
    except MalformedAnswer:
        return
    assert all(isinstance(item, dict) for item in answer.items)
    assert answer.partial or not truncated
