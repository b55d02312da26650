"""Why a pass does not go on, and what a caller of the API can do about it."""

from __future__ import annotations

from collections.abc import Mapping

from dreaming.passes.records import EMBEDDING

_AUTOMATIC = "the next tick tries again"
_RAISE = "wait for tomorrow (UTC), or let an administrator raise the budget: PUT /brain/settings/{}"
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
    "budget_spent": (_RAISE.format("model_calls_per_day"), "model_calls_per_day"),
    "throttled": (f"the provider asks to slow down; {_AUTOMATIC}", None),
    "provider_unavailable": (f"the provider cannot be reached; {_AUTOMATIC}", "chat_base_url"),
    "database_unavailable": (f"the database went away; {_AUTOMATIC}", None),
}


_OF_EMBEDDING: Mapping[str, tuple[str, str | None]] = {
    "missing_key": (_REMEDIES["missing_key"][0], "embedding_provider"),
    "misconfigured": (_REMEDIES["misconfigured"][0], "embedding_provider"),
    "provider_misconfigured": (_REMEDIES["provider_misconfigured"][0], "embedding_model"),
    "provider_unavailable": (_REMEDIES["provider_unavailable"][0], "embedding_base_url"),
    "budget_spent": (_RAISE.format("embedding_calls_per_day"), "embedding_calls_per_day"),
}
"""What the embedding pass means by the same reasons: it calls the embedder, and has a budget of its own."""


def remedy(reason: str, pass_name: str) -> tuple[str, str | None]:
    """Return what changes a pass's reason, and the setting or consent that it is about, if any."""
    told = _OF_EMBEDDING.get(reason) if pass_name == EMBEDDING else None
    return told or _REMEDIES.get(reason, (_AUTOMATIC, None))
