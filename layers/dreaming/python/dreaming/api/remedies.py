"""Why a pass does not go on, and what a caller of the API can do about it."""

from __future__ import annotations

from collections.abc import Mapping

from dreaming.settings.resolution import Settings
from dreaming.settings.store import Enrolment

_AUTOMATIC = "the next tick tries again"
_CONSENT = "an administrator allows its notes to go to the chat model: PUT /brain/settings/model_consent true"

_REMEDIES: Mapping[str, tuple[str, str | None]] = {
    "disabled": (
        "the master switch is off; whoever operates the deployment sets DREAMING_ENABLED=true in its environment",
        "enabled",
    ),
    "not_enrolled": ("an administrator enrols the organization: PUT /brain/settings/enrolled true", "enrolled"),
    "no_model_consent": (_CONSENT, "model_consent"),
    "consent_missing": (_CONSENT, "model_consent"),
    "no_embedding_consent": (
        "an administrator allows its text to go to the embedder: PUT /brain/settings/embedding_consent true",
        "embedding_consent",
    ),
    "embedding_off": ("whoever operates the deployment chooses an embedder", "embedding_provider"),
    "settings_unreadable": ("an administrator returns the setting that cannot be read to its default", None),
    "missing_key": ("whoever operates the deployment puts the provider's key where it keeps its keys", "chat_provider"),
    "misconfigured": ("correct the setting that is named", "chat_provider"),
    "provider_misconfigured": ("the provider takes neither this model nor this address; correct them", "chat_model"),
    "budget_spent": (
        "wait for tomorrow (UTC), or let an administrator raise the budget: PUT /brain/settings/model_calls_per_day",
        "model_calls_per_day",
    ),
    "throttled": (f"the provider asks to slow down; {_AUTOMATIC}", None),
    "provider_unavailable": (f"the provider cannot be reached; {_AUTOMATIC}", "chat_base_url"),
    "database_unavailable": (f"the database went away; {_AUTOMATIC}", None),
}


def remedy(reason: str) -> tuple[str, str | None]:
    """Return what changes a reason, and the setting or consent that it is about, if any."""
    return _REMEDIES.get(reason, (_AUTOMATIC, None))


def forbidden(pass_name: str, settings: Settings | None, enrolment: Enrolment) -> tuple[str, ...]:
    """Return every reason why no run of a pass starts for an organization; `settings` is None when unreadable.

    The passes themselves ask for the same, and stop at the first.
    """
    if settings is None:
        return ("settings_unreadable",)
    reasons = [] if settings.get("enabled") else ["disabled"]
    reasons += [] if enrolment.enrolled else ["not_enrolled"]
    if pass_name == "consolidation":
        reasons += [] if enrolment.model_consent else ["no_model_consent"]
    if pass_name == "embedding":
        reasons += [] if settings.get("embedding_provider") != "none" else ["embedding_off"]
        reasons += [] if enrolment.embedding_consent else ["no_embedding_consent"]
    return tuple(reasons)
