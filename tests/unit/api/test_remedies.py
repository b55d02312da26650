"""Why no run starts is what the passes themselves refuse, and each reason has a remedy."""

from __future__ import annotations

from itertools import product
from typing import Any, cast

import pytest

from dreaming.api.remedies import forbidden, remedy
from dreaming.passes.autonomy.run import Autonomy
from dreaming.passes.consolidation.run import Consolidation
from dreaming.passes.contradictions.run import Contradictions
from dreaming.passes.decay.run import Decay
from dreaming.passes.embedding.run import Embedding
from dreaming.passes.records import PASS_FUNCTIONS
from dreaming.passes.synthesis.run import Synthesis
from dreaming.settings.registry import REGISTRY
from dreaming.settings.resolution import resolve
from dreaming.settings.service import CONSENTS
from dreaming.settings.store import Enrolment

PASSES: dict[str, Any] = {
    "autonomy": Autonomy,
    "consolidation": Consolidation,
    "contradictions": Contradictions,
    "decay": Decay,
    "embedding": Embedding,
    "synthesis": Synthesis,
}
ON = resolve({"DREAMING_ENABLED": "true", "DREAMING_EMBEDDING_PROVIDER": "minilm"}, {})


@pytest.mark.parametrize("name", PASS_FUNCTIONS)
def test_what_a_pass_refuses_is_told_first(name: str) -> None:
    for answers in product((False, True), repeat=len(CONSENTS)):
        enrolled, model, embedding = answers
        enrolment = Enrolment(enrolled, model, embedding)
        told = forbidden(name, ON, enrolment)
        refused = PASSES[name].refusal(cast(Any, None), enrolment)
        # The embedding pass goes on without consent, to forget; it embeds nothing then, and that is told.
        assert told[:1] == ((refused,) if refused else ()) or (name == "embedding" and not enrolment.embedding_consent)
        off = forbidden(name, resolve({}, {}), enrolment)
        assert off[0] == "disabled"
    assert forbidden(name, ON, Enrolment(True, True, True)) == ()
    assert forbidden(name, None, Enrolment(True, True, True)) == ("settings_unreadable",)


def test_each_reason_has_a_remedy_in_words_of_the_api() -> None:
    reasons = {one for name in PASS_FUNCTIONS for one in forbidden(name, resolve({}, {}), Enrolment())}
    assert reasons == {"disabled", "not_enrolled", "no_model_consent", "no_embedding_consent", "embedding_off"}
    for reason in (*reasons, "budget_spent", "settings_unreadable", "something new"):
        told, setting = remedy(reason)
        assert told
        assert "`dream" not in told
        assert setting is None or setting in {*CONSENTS, *REGISTRY}
