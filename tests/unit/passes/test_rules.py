"""Why a pass does nothing for an organization, and when it may not even run."""

from __future__ import annotations

from itertools import product

import pytest

from dreaming.passes.records import CONSOLIDATION, EMBEDDING, PASS_FUNCTIONS
from dreaming.passes.rules import refusal, why_not
from dreaming.settings.records import Enrolment
from dreaming.settings.resolution import resolve

OFF = resolve({}, {})
ON = resolve({"DREAMING_ENABLED": "true", "DREAMING_EMBEDDING_PROVIDER": "minilm"}, {})
ALL = Enrolment(enrolled=True, model_consent=True, embedding_consent=True)


@pytest.mark.parametrize("name", [*PASS_FUNCTIONS, "one_of_the_users_own"])
def test_whatever_is_not_agreed_to_is_told_in_one_order(name: str) -> None:
    for enrolled, model, embedding in product((False, True), repeat=3):
        expected = {
            "not_enrolled": not enrolled,
            "no_model_consent": name == CONSOLIDATION and not model,
            "no_embedding_consent": name == EMBEDDING and not embedding,
        }
        told = why_not(name, ON, Enrolment(enrolled, model, embedding))
        assert told == tuple(reason for reason, holds in expected.items() if holds)
    assert why_not(name, ON, ALL) == ()


@pytest.mark.parametrize("name", PASS_FUNCTIONS)
def test_without_the_switch_or_readable_settings_no_pass_runs(name: str) -> None:
    assert why_not(name, OFF, ALL)[0] == refusal(name, OFF, ALL) == "disabled"
    assert why_not(name, None, ALL) == ("settings_unreadable",)
    assert refusal(name, None, ALL) == "settings_unreadable"


@pytest.mark.parametrize("name", [one for one in PASS_FUNCTIONS if one != EMBEDDING])
def test_a_pass_is_refused_for_the_first_reason(name: str) -> None:
    for enrolled, model, embedding in product((False, True), repeat=3):
        enrolment = Enrolment(enrolled, model, embedding)
        assert refusal(name, ON, enrolment) == next(iter(why_not(name, ON, enrolment)), None)


def test_the_embedding_pass_runs_without_consent_or_an_embedder_to_forget() -> None:
    assert refusal(EMBEDDING, ON, Enrolment()) is None
    assert refusal(EMBEDDING, ON, Enrolment(enrolled=True)) is None
    assert refusal(EMBEDDING, ON, Enrolment(embedding_consent=True)) == "not_enrolled"
    without = resolve({"DREAMING_ENABLED": "true"}, {})
    assert "embedding_off" in why_not(EMBEDDING, without, ALL)
    assert refusal(EMBEDDING, without, ALL) is None
