"""Answers of models, whatever they send: read, refused by a named error, never a crash and never a hang."""

from __future__ import annotations

import json
from datetime import UTC

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreaming.autonomy.records import Flags
from dreaming.errors import MalformedAnswer, RejectClaim
from dreaming.passes.autonomy.rules import UnreadableJudgement, parse_judgement
from dreaming.passes.consolidation.parsing import parse_answer, to_claim
from dreaming.passes.contradictions.parsing import parse_verdicts
from dreaming.passes.contradictions.records import Relation
from tests.fuzz.endurance import any_text, fuzzed, keep_going, mosaic, no_hang

pytestmark = pytest.mark.fuzz

JSON_TOKENS = (
    *("{", "}", "[", "]", ":", ",", '"', "'", "\\", "\\u0000", "\\ud800", "```json\n", "\n```", "```", "null", "true"),
    *("NaN", "-Infinity", "1e999", "-0", "9" * 400, "<think>", "</think>", "<thinking>", "</reasoning>", "//", "/*"),
    *("\\", '\\"', "“", "”", " ", "\n", "\t", "\ufeff", "Sure:", "[[", "]]", "{{", "}}", "{}", "[]", "[{", "}]"),
)
CLAIM_TOKENS = (
    *('{"claims": [', '"statement": "', '"quote":"', '"kind":"fact"', '"confidence": 0.9', '"note": "n1"', "claims:"),
    *('{"statement": "Ada sails.", "quote": "Ada sails.", "kind": "fact", "confidence": "80%"}', '"relations": [{'),
    *('"valid_from": "2024-02-30T99:00"', '"valid_until": "0001-01-01T00:00:00+23:59"', '"valid_from": 12e300'),
)
VERDICT_TOKENS = ('{"relations": [', '{"candidate": "c1", "relation": "duplicate"}', '"candidate"', '"c1"', '"c2"')
FIELDS = (
    *("kind", "statement", "quote", "confidence", "importance", "decay_class", "subject", "attribute", "value", "note"),
    *("multi_valued", "relations", "valid_from", "valid_until"),
)
FLAG_TOKENS = ('"competence": 1', '"commitment": 0', '"compatibility": 1', '"factual_error": false', '"competence": 2')

scalars = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), any_text())
keys = st.one_of(
    st.sampled_from(["statement", "quote", "kind", "confidence", "note", "claims", "relations"]), any_text(8)
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=6), max_leaves=20
)


def test_any_answer_is_parsed_or_called_malformed() -> None:
    @fuzzed()
    @given(text=mosaic((*JSON_TOKENS, *CLAIM_TOKENS)) | values.map(json.dumps), truncated=st.booleans())
    def check(text: str, truncated: bool) -> None:
        with no_hang():
            try:
                parsed = parse_answer(text, truncated=truncated)
            except MalformedAnswer:
                return
            assert truncated <= parsed.partial
            stored = json.dumps([dict(item) for item in parsed.items], ensure_ascii=False, allow_nan=False)
            assert "\x00" not in stored
            stored.encode("utf-8")

    keep_going(check, "answer parser")


def test_any_item_is_a_claim_with_offsets_or_rejected() -> None:
    item = st.dictionaries(
        st.sampled_from(FIELDS),
        values | st.sampled_from(["fact", "80%", "0,8", "1e400", "9999-12-31T23:59:59-14:00", "0001-01-01", "high"]),
        max_size=14,
    )

    @fuzzed()
    @given(item=item)
    def check(item: dict[str, object]) -> None:
        with no_hang():
            try:
                claim = to_claim(item, default_timezone=UTC)
            except RejectClaim:
                return
            assert 0 <= claim.confidence <= 1
            for moment in (claim.valid_from, claim.valid_until):
                assert moment is None or moment.utcoffset() is not None

    keep_going(check, "items of an answer")


def test_any_verdict_is_about_what_was_offered_or_malformed() -> None:
    offered = ["c1", "c2", "c3"]

    @fuzzed()
    @given(text=mosaic((*JSON_TOKENS, *VERDICT_TOKENS)) | values.map(json.dumps))
    def check(text: str) -> None:
        with no_hang():
            try:
                verdicts = parse_verdicts(text, offered)
            except MalformedAnswer:
                return
            assert set(verdicts.relations) <= set(offered)
            assert all(isinstance(relation, Relation) for relation in verdicts.relations.values())

    keep_going(check, "verdicts")


def test_any_judgement_is_flags_or_unreadable() -> None:
    @fuzzed()
    @given(text=mosaic((*JSON_TOKENS, *FLAG_TOKENS)) | values.map(json.dumps))
    def check(text: str) -> None:
        with no_hang():
            try:
                flags = parse_judgement(text)
            except UnreadableJudgement:
                return
            assert isinstance(flags, Flags)
            assert {flags.competence, flags.commitment, flags.compatibility} <= {0, 1}

    keep_going(check, "judgements")
