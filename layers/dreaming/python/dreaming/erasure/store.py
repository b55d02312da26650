"""The SQL of erasure over whole slices and organizations, and of the names that stay in records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from psycopg import sql

from dreaming.database import Transaction
from dreaming.notes.records import Scope, Slice, SliceKey

ORGANIZATION_ERASED = "organization_erased"
"""The action of the one entry of the audit that outlives an organization."""


def slices_of_organization(tx: Transaction, org_id: str) -> list[Slice]:
    """Return every slice of an organization, whoever owns it; as the eraser, without a user."""
    rows = tx.execute(
        "select slice_id, org_id, scope, owner_user_id from slices where org_id = %s order by slice_id", (org_id,)
    ).fetchall()
    return [Slice(row[0], SliceKey(row[1], Scope(row[2]), row[3])) for row in rows]


def slices_of_notes(tx: Transaction, org_id: str, note_ids: Sequence[UUID]) -> dict[Slice, list[UUID]]:
    """Return the slices in which the notes are, with their ids; those that the tenant does not see are left out."""
    rows = tx.execute(
        """
        select s.slice_id, s.org_id, s.scope, s.owner_user_id, n.note_id
        from notes n join slices s on s.slice_id = n.slice_id
        where s.org_id = %s and n.note_id = any(%s) order by s.slice_id, n.note_id
        """,
        (org_id, list(note_ids)),
    ).fetchall()
    found: dict[Slice, list[UUID]] = {}
    for row in rows:
        found.setdefault(Slice(row[0], SliceKey(row[1], Scope(row[2]), row[3])), []).append(row[4])
    return found


def fence(tx: Transaction, slice_id: int, *, now: datetime) -> int:
    """End every run of the slice, so that a batch at work commits nothing; return how many there were."""
    tx.execute(
        """
        update dream_cursor
        set generation = generation + 1, run_id = null, lease_holder = null, lease_expires_at = null, held_detail = null
        where slice_id = %s
        """,
        (slice_id,),
    )
    return tx.execute(
        """
        update dream_runs set status = 'replaced', held_reason = 'erasure', finished_at = %s
        where slice_id = %s and status = 'running'
        """,
        (now, slice_id),
    ).rowcount


def next_notes(tx: Transaction, slice_id: int, limit: int | None) -> dict[UUID, tuple[str, str]]:
    """Return source and external id of some of the slice's notes, all without a limit."""
    rows = tx.execute(
        "select note_id, source, external_id from notes where slice_id = %s order by note_id limit %s",
        (slice_id, limit),
    ).fetchall()
    return {row[0]: (row[1], row[2]) for row in rows}


def next_conversations(tx: Transaction, slice_id: int, user_id: str | None, limit: int | None) -> dict[int, str]:
    """Return external ids of some of the slice's conversations by document, of one user when one is named."""
    rows = tx.execute(
        """
        select document_id, external_id from conversations
        where slice_id = %(slice)s and (%(user)s::text is null or user_id = %(user)s)
        order by document_id limit %(limit)s
        """,
        {"slice": slice_id, "user": user_id, "limit": limit},
    ).fetchall()
    return {row[0]: row[1] for row in rows}


def forget_answers(tx: Transaction, org_id: str, user_id: str | None) -> int:
    """Delete what was answered to posts within the day, of whichever user: an answer may quote what is erased.

    A post at work keeps its key; a user who is named loses every key.
    """
    return tx.execute(
        "delete from idempotency_keys where org_id = %s and (answer is not null or user_id = %s)",
        (org_id, user_id),
    ).rowcount


def blank_actions(tx: Transaction, org_id: str, conversations: Sequence[str], blank: str) -> Counter[str]:
    """Take the summaries from actions of these conversations; one that no judge has read yet goes whole."""
    parameters = {"org": org_id, "conversations": list(conversations), "blank": blank}
    chosen = "org_id = %(org)s and conversation_id = any(%(conversations)s)"
    deleted = tx.execute(
        f"delete from autonomy_actions where {chosen} and needs_judge and scoring in ('waiting', 'dead')", parameters
    ).rowcount
    tx.execute(f"update autonomy_actions set summary = %(blank)s, conversation_id = null where {chosen}", parameters)
    return Counter({"autonomy_actions": deleted})


_NAMES = (
    ("audit", "actor", "org_id"),
    ("autonomy_audit", "actor", "org_id"),
    ("settings", "updated_by", "org_id"),
    ("enrolment", "updated_by", "org_id"),
)


def rename_in_records(tx: Transaction, org_id: str, names: Sequence[str], pseudonym: str) -> Counter[str]:
    """Let the organization's records say `pseudonym` where they name an erased owner as who acted."""
    renamed: Counter[str] = Counter()
    for table, column, owner in _NAMES:
        query = sql.SQL("update {} set {column} = %s where {} = %s and {column} = any(%s)").format(
            sql.Identifier(table), sql.Identifier(owner), column=sql.Identifier(column)
        )
        renamed[table] += tx.execute(query, (pseudonym, org_id, list(names))).rowcount
    return renamed


def rename_in_slice(tx: Transaction, slice_id: int, names: Sequence[str], pseudonym: str) -> Mapping[str, int]:
    """Let confirmations and histories of a slice say `pseudonym` likewise."""
    sources = tx.execute(
        """
        update sources set origin = 'person:' || %(pseudonym)s
        where slice_id = %(slice)s and source_type = 'confirmation' and origin = any(%(origins)s)
        """,
        {"pseudonym": pseudonym, "slice": slice_id, "origins": [f"person:{name}" for name in names]},
    ).rowcount
    history = tx.execute(
        """
        update belief_history set detail = jsonb_set(detail, '{actor}', to_jsonb(%(pseudonym)s::text))
        where slice_id = %(slice)s and detail ->> 'actor' = any(%(names)s)
        """,
        {"pseudonym": pseudonym, "slice": slice_id, "names": list(names)},
    ).rowcount
    return {"sources": sources, "belief_history": history}


def unenrol(tx: Transaction, org_id: str, *, now: datetime) -> None:
    """Switch an organization off and take back its consents."""
    tx.execute(
        """
        update enrolment set enrolled = false, model_consent = false, embedding_consent = false,
            embedding_excluded_sources = '{}', updated_at = %s, updated_by = 'erasure'
        where org_id = %s
        """,
        (now, org_id),
    )


def delete_audit(tx: Transaction, org_id: str) -> int:
    """Delete the organization's audit but for the word that it was erased."""
    return tx.execute("delete from audit where org_id = %s and action <> %s", (org_id, ORGANIZATION_ERASED)).rowcount


def delete_slice(tx: Transaction, slice_id: int) -> int:
    """Delete a slice whose tables are empty; what came in since the last look goes with it."""
    return tx.execute("delete from slices where slice_id = %s", (slice_id,)).rowcount
