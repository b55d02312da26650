"""Which rows belong to an export. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from dreaming.erasure.catalogue.records import Catalogue
from dreaming.erasure.catalogue.rules import of_slices
from dreaming.erasure.export.records import DERIVED, Part


def parts_of_slice(catalogue: Catalogue, slice_id: int) -> list[Part]:
    """Return everything in a slice, what others refer to first."""
    tables = ["slices", *reversed(of_slices(catalogue))]
    return [Part(name, "t.slice_id = %(slice)s", {"slice": slice_id}) for name in tables if name not in DERIVED]


def names_of_owner(user_id: str) -> list[str]:
    """Return the names under which records know a user who acted: by the API, the command, the tool server."""
    return [user_id, *(f"{door}:{user_id}" for door in ("api", "dream", "mcp"))]


def parts_of_owner(org_id: str, user_id: str, shared: Sequence[int], own: Sequence[Part]) -> list[Part]:
    """Return everything that is held on a user of an organization.

    `own`: the parts of their private slice. From the `shared` slices what they captured, with the notes
    and sources made of it, and what they confirmed; from the organization their posts and acts, and what
    agents did in their conversations.
    """
    names = names_of_owner(user_id)
    given = {"org": org_id, "user": user_id, "shared": list(shared), "names": names}
    given["origins"] = [f"person:{name}" for name in names]
    captured = "select c.document_id from conversations c where c.slice_id = any(%(shared)s) and c.user_id = %(user)s"
    made = f"""select n.note_id from conversation_notes m
        join notes n on n.slice_id = m.slice_id and n.source = 'conversation' and n.external_id = m.external_id
        where m.slice_id = any(%(shared)s) and m.document_id in ({captured})"""
    said = """select c.external_id from conversations c join slices s on s.slice_id = c.slice_id
        where s.org_id = %(org)s and c.user_id = %(user)s"""
    conditions = {
        "conversations": "t.slice_id = any(%(shared)s) and t.user_id = %(user)s",
        "conversation_turns": f"t.slice_id = any(%(shared)s) and t.document_id in ({captured})",
        "conversation_notes": f"t.slice_id = any(%(shared)s) and t.document_id in ({captured})",
        "notes": f"t.slice_id = any(%(shared)s) and t.note_id in ({made})",
        "note_versions": f"t.slice_id = any(%(shared)s) and t.note_id in ({made})",
        "sources": "t.slice_id = any(%(shared)s) and (t.source_type = 'confirmation' and t.origin = any(%(origins)s)"
        f" or t.note_id in ({made}))",
        "autonomy_actions": f"t.org_id = %(org)s and t.conversation_id in ({said})",
        "autonomy_audit": "t.org_id = %(org)s and t.actor = any(%(names)s)",
        "audit": "t.org_id = %(org)s and t.actor = any(%(names)s)",
        "idempotency_keys": "t.org_id = %(org)s and t.user_id = %(user)s",
    }
    return [*own, *(Part(table, condition, given) for table, condition in conditions.items())]


_BITS = {"smallint": 15, "integer": 31, "bigint": 63}
_WHOLE = re.compile(r"-?[0-9]{1,19}")
_MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}( [0-9:.]{8,15}[+][0-9]{2})?")
"""As PostgreSQL writes a date or a time in UTC."""


def fits(key: Sequence[str], types: Sequence[str]) -> bool:
    """Tell whether the texts of a key are ones of columns of these SQL types, which can be compared with them."""
    return len(key) == len(types) and all(_is_of(value, kind) for value, kind in zip(key, types, strict=True))


def _is_of(value: str, kind: str) -> bool:
    try:
        if kind in _BITS:
            return bool(_WHOLE.fullmatch(value)) and -(2 ** _BITS[kind]) <= int(value) < 2 ** _BITS[kind]
        if kind == "uuid":
            return str(UUID(value)) == value
        if kind == "date" or kind.startswith("timestamp"):
            return bool(_MOMENT.fullmatch(value)) and bool(datetime.fromisoformat(value))
        value.encode()
    except ValueError:
        return False
    return "\0" not in value
