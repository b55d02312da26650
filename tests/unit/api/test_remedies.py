"""Each reason why a pass does not go on has a remedy in words of the API."""

from __future__ import annotations

import pytest

from dreaming.api.remedies import remedy
from dreaming.passes.records import AUTONOMY, CONSOLIDATION, EMBEDDING, PASS_FUNCTIONS
from dreaming.passes.rules import why_not
from dreaming.settings.records import Enrolment
from dreaming.settings.registry import REGISTRY
from dreaming.settings.resolution import resolve
from dreaming.settings.service import CONSENTS

HOLDS = ("missing_key", "misconfigured", "provider_misconfigured", "provider_unavailable", "throttled", "budget_spent")


@pytest.mark.parametrize("pass_name", PASS_FUNCTIONS)
def test_each_reason_has_a_remedy_and_names_a_setting_that_exists(pass_name: str) -> None:
    reasons = why_not(pass_name, resolve({}, {}), Enrolment())
    for reason in (*reasons, *HOLDS, "settings_unreadable", "something new"):
        told, setting = remedy(reason, pass_name)
        assert told
        assert "`dream" not in told
        assert setting is None or setting in {*CONSENTS, *REGISTRY}


@pytest.mark.parametrize(
    ("pass_name", "budget"),
    [
        (CONSOLIDATION, "model_calls_per_day"),
        (AUTONOMY, "model_calls_per_day"),
        (EMBEDDING, "embedding_calls_per_day"),
    ],
)
def test_a_spent_budget_names_the_one_that_the_pass_spends(pass_name: str, budget: str) -> None:
    told, setting = remedy("budget_spent", pass_name)
    assert setting == budget
    assert f"PUT /brain/settings/{budget}" in told


@pytest.mark.parametrize("reason", ["missing_key", "misconfigured", "provider_misconfigured", "provider_unavailable"])
def test_what_the_embedder_lacks_is_a_setting_of_the_embedder(reason: str) -> None:
    assert (remedy(reason, EMBEDDING)[1] or "").startswith("embedding_")
    assert (remedy(reason, CONSOLIDATION)[1] or "").startswith("chat_")
