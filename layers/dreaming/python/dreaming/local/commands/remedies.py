"""What to do about each reason why a slice does not go on."""

from __future__ import annotations

from dreaming.errors import InvalidInput
from dreaming.local.commands.session import Session

_REMEDIES = {
    "disabled": "switch it on: {dream} settings set enabled true",
    "not_enrolled": "enrol the organization: {dream} settings set enrolled true",
    "no_model_consent": "allow its notes to go to the chat model: {dream} settings set model_consent true",
    "consent_missing": "allow its notes to go to the chat model: {dream} settings set model_consent true",
    "no_embedding_consent": "allow its text to go to the embedder: {dream} settings set embedding_consent true",
    "embedding_off": "choose an embedder: {dream} settings set embedding_provider minilm",
    "off": "conversations are not remembered here; set DREAMING_CONVERSATION_MEMORY=true",
    "settings_unreadable": "a setting cannot be read; find it with: {dream} doctor",
    "missing_key": "set the provider's key in the environment, then: {dream} drain",
    "misconfigured": "correct the setting that is named, then: {dream} drain",
    "provider_misconfigured": "correct the model or its address (chat_… or embedding_…), see: {dream} settings",
    "budget_spent": "wait for tomorrow (UTC), or raise it: {dream} settings set {budget} N",
    "throttled": "the provider asks to slow down; later: {dream} drain",
    "provider_unavailable": "check chat_base_url or embedding_base_url; once it can be reached: {dream} drain",
    "database_unavailable": "the database went away; later: {dream} drain",
}


_COMMANDS = {
    "belief_id": "dream beliefs",
    "left_id": "dream conflicts",
    "right_id": "dream conflicts",
    "source_id": "dream why BELIEF_ID --json",
    "agent": "dream autonomy",
    "external_id": "dream autonomy log",
    "org_id": "dream erase lift-organization",
}


def in_commands(error: BaseException) -> str:
    """Return what an error says, with the command that helps where the error tells of the data and not of it."""
    told = str(error) or type(error).__name__
    command = _COMMANDS.get(error.field) if isinstance(error, InvalidInput) else None
    return told if command is None or "`dream " in told else f"{told}: see `{command}`"


def remedy(session: Session, reason: str, pass_name: str | None = None) -> str:
    """Return the command or the step that changes a pass's reason; without a name it is consolidation's."""
    from dreaming.passes.records import EMBEDDING

    budget = "embedding_calls_per_day" if pass_name == EMBEDDING else "model_calls_per_day"
    told = _REMEDIES.get(reason, "the next run tries again: {dream} drain")
    return told.format(dream=session.invocation, budget=budget)
