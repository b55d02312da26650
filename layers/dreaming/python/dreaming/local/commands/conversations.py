"""What `dream converse` and `dream recall` share: the services, the embedder, what the flag needs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

from dreaming.errors import DreamingError
from dreaming.local.commands.session import Session

if TYPE_CHECKING:
    from dreaming.database import Database
    from dreaming.models.keys import KeyResolver
    from dreaming.models.protocols import Embedder
    from dreaming.recall.capture import Capturing
    from dreaming.recall.service import Recalling
    from dreaming.settings.resolution import Settings

_FLAG = "DREAMING_CONVERSATION_MEMORY"
REMEDIES = {
    "off": "conversations are not remembered here; set DREAMING_CONVERSATION_MEMORY=true",
    "no_embedding_consent": "words only: the organization does not consent to embedding; "
    "run: dream settings set embedding_consent true",
    "no_embedder": "words only: no embedder is set up; set DREAMING_EMBEDDING_PROVIDER=minilm",
    "not_embedded_yet": "words only: no conversation searched has a vector yet; run: dream drain embedding",
    "budget_spent": "words only: the model calls of today are used up; see the setting model_calls_per_day",
    "throttled": "captured a moment ago; the embedding pass adds the vector: dream drain embedding",
    "not_owner": "another user of the organization has captured a conversation of this name; give yours another: "
    "rename the file, or change the line's conversation_id",
    "other_scope": "you have captured a conversation of this name in another scope; name that with --scope, or give "
    "this one another name: rename the file, or change the line's conversation_id",
    "erased": "was erased, and is kept out until that is lifted",
    "superseded": "a later capture of this conversation is stored",
    "empty": "nothing was said",
}
"""What people read for a reason."""


def remedy(reason: str) -> str:
    """Return what a reason means and what to do."""
    return REMEDIES.get(reason, f"{reason.replace('_', ' ')}; see dream doctor")


def off_remedy(variables: Mapping[str, str]) -> str:
    """Return why conversations are not remembered, with the variable's value where there is one."""
    value = variables.get(_FLAG, "")
    if not value or value == "false":
        return REMEDIES["off"]
    return f"conversations are not remembered here; {_FLAG} is {value[:40]!r}, and must be exactly `true`: {_FLAG}=true"


def words_only(session: Session, database: Database, reasons: Collection[str | None]) -> str | None:
    """Return what to do about all that embedding lacks: consent shows first, and hides a missing embedder."""
    if "no_embedding_consent" not in reasons:
        return None
    if _has_embedder(session.settings(database)):
        return remedy("no_embedding_consent")
    return (
        "words only: the organization does not consent to embedding, and no embedder is set up; "
        "set DREAMING_EMBEDDING_PROVIDER=minilm, and run: dream settings set embedding_consent true"
    )


def _has_embedder(settings: Settings) -> bool:
    from dreaming.models.selection import embedding_space

    try:
        return embedding_space(settings) is not None
    except DreamingError:
        return True  # one that is set up wrongly; its own message names the setting


def capturing(session: Session, database: Database) -> Capturing:
    """Return the service that captures, for this installation."""
    from dreaming.recall.capture import Capturing

    return Capturing(database, session.variables, partial(_embedder, _keys(session)), session.now, _uncounted)


def recalling(session: Session, database: Database) -> Recalling:
    """Return the service that recalls, for this installation."""
    from dreaming.recall.service import Recalling

    return Recalling(database, session.variables, partial(_embedder, _keys(session)), session.now)


def named_embedder(session: Session) -> Callable[[Settings, str, str], Embedder | None]:
    """Return what builds the embedder of an organization that made the vectors of a name."""
    keys = _keys(session)

    def build(settings: Settings, org_id: str, name: str) -> Embedder | None:
        from dreaming.models.selection import embedder

        return embedder(settings, org_id, keys, name=name)

    return build


def _keys(session: Session) -> KeyResolver:
    from dreaming.models.keys import EnvironmentKeys, KeyResolver

    return KeyResolver(EnvironmentKeys(session.variables), clock=monotonic)


def _embedder(keys: KeyResolver, settings: Settings, org_id: str) -> Embedder | None:
    from dreaming.models.selection import embedder

    return embedder(settings, org_id, keys)


def _uncounted(reason: str) -> None:
    """A laptop has no metrics; the answer says it."""
