"""Why a pass does nothing for an organization: one answer for the engine and for whoever tells people. Pure."""

from __future__ import annotations

from dreaming.passes.records import CONSOLIDATION, EMBEDDING
from dreaming.settings.records import Enrolment
from dreaming.settings.resolution import Settings


def is_switched_on(settings: Settings) -> bool:
    """Tell whether the deployment's master switch is on."""
    return settings.flag("enabled")


def why_not(pass_name: str, settings: Settings | None, enrolment: Enrolment) -> tuple[str, ...]:
    """Return every reason why a pass does nothing for an organization; `settings` is None when unreadable.

    Every pass needs the master switch and the organization enrolled. Consolidation sends text to the chat
    model and needs consent to that. The embedding pass needs an embedder, and consent to that one.
    Contradictions and autonomy go by rules alone without consent to a model; no text leaves the others.
    """
    if settings is None:
        return ("settings_unreadable",)
    reasons = [] if is_switched_on(settings) else ["disabled"]
    reasons += [] if enrolment.enrolled else ["not_enrolled"]
    if pass_name == CONSOLIDATION:
        reasons += [] if enrolment.model_consent else ["no_model_consent"]
    if pass_name == EMBEDDING:
        reasons += [] if settings.get("embedding_provider") != "none" else ["embedding_off"]
        reasons += [] if enrolment.embedding_consent else ["no_embedding_consent"]
    return tuple(reasons)


def refusal(pass_name: str, settings: Settings | None, enrolment: Enrolment) -> str | None:
    """Return why no batch of a pass may run for an organization, or None.

    It is the first reason of `why_not`, but for the embedding pass: without consent or an embedder it
    still runs, to forget what it may no longer keep.
    """
    reasons = why_not(pass_name, settings, enrolment)
    if pass_name == EMBEDDING and settings is not None:
        forgets = not enrolment.embedding_consent
        reasons = tuple(one for one in reasons if one == "disabled" or (one == "not_enrolled" and not forgets))
    return reasons[0] if reasons else None
