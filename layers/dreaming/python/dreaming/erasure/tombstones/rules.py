"""The names of tombstones. Pure.

HMAC-SHA256 (RFC 2104) under a random key of the organization, over parts that are each led by their
length. Without the key a name can neither be read nor tested by guessing, and the same note has other
names in other organizations.
"""

from __future__ import annotations

import hmac

from dreaming.notes.records import SliceKey

KEY_BYTES = 32


def name_of_note(key: bytes, slice_key: SliceKey, source: str, external_id: str) -> bytes:
    """Return the name of a note that a connector knows by its source and external id."""
    return _name(key, "note", slice_key.scope.value, slice_key.owner_user_id or "", source, external_id)


def name_of_conversation(key: bytes, external_id: str) -> bytes:
    """Return the name of a captured conversation; its id is one for the whole organization."""
    return _name(key, "conversation", external_id)


def name_of_organization(key: bytes, org_id: str) -> bytes:
    """Return the name of the organization as a whole."""
    return _name(key, "organization", org_id)


def pseudonym(key: bytes, user_id: str) -> str:
    """Return what stands for an erased owner where a record must go on saying that somebody acted."""
    return f"erased:{_name(key, 'owner', user_id).hex()[:24]}"


def _name(key: bytes, *parts: str) -> bytes:
    message = b""
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass")
        message += len(encoded).to_bytes(8, "big") + encoded
    return hmac.digest(key, message, "sha256")
