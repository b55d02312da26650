"""What must not come back: putting tombstones up, asking for them, and taking them away."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import datetime

from dreaming.database import Transaction
from dreaming.erasure.tombstones import store
from dreaming.erasure.tombstones.records import Graveyard
from dreaming.erasure.tombstones.rules import name_of_conversation, name_of_note, name_of_organization
from dreaming.notes.records import SliceKey

NoteName = tuple[str, str]
"""Source and external id: how a connector names a note."""


def erased_notes(tx: Transaction, key: SliceKey, names: Sequence[NoteName]) -> set[NoteName]:
    """Return which of the notes were erased from the slice and must stay out; all when the organization was.

    The slice is locked, so that no erasure comes between this and the write.
    """
    graveyard = store.read(tx, key.org_id)
    if graveyard is None:
        return set()
    if graveyard.closed:
        return set(names)
    hidden = {name_of_note(graveyard.key, key, *name): name for name in names}
    return {hidden[found] for found in store.among(tx, key.org_id, list(hidden))}


def is_conversation_erased(tx: Transaction, org_id: str, external_id: str) -> bool:
    """Tell whether the conversation was erased and must stay out."""
    graveyard = store.read(tx, org_id)
    if graveyard is None:
        return False
    return graveyard.closed or bool(store.among(tx, org_id, [name_of_conversation(graveyard.key, external_id)]))


def open_graveyard(tx: Transaction, org_id: str, new_key: Callable[[], bytes], *, now: datetime) -> Graveyard:
    """Return the organization's key, made at its first erasure; as the eraser."""
    found = store.read(tx, org_id)
    if found is None:
        store.keep_key(tx, org_id, new_key(), now=now)
        found = store.read(tx, org_id)
    if found is None:
        raise RuntimeError("the key for tombstones is not visible to its own organization")
    return found


def bury_notes(
    tx: Transaction, graveyard: Graveyard, key: SliceKey, names: Collection[NoteName], *, now: datetime
) -> int:
    """Keep notes from coming back; return how many tombstones are new."""
    hidden = [name_of_note(graveyard.key, key, *name) for name in names]
    return store.add(tx, key.org_id, "note", hidden, now=now)


def bury_conversations(
    tx: Transaction, graveyard: Graveyard, org_id: str, external_ids: Collection[str], *, now: datetime
) -> int:
    """Keep conversations from being captured again; return how many tombstones are new."""
    hidden = [name_of_conversation(graveyard.key, external_id) for external_id in external_ids]
    return store.add(tx, org_id, "conversation", hidden, now=now)


def close_organization(tx: Transaction, graveyard: Graveyard, org_id: str, *, now: datetime) -> None:
    """Keep everything of the organization out, and wait for whoever is just bringing something in."""
    store.shut_out(tx, org_id)
    store.add(tx, org_id, "organization", [name_of_organization(graveyard.key, org_id)], now=now)
