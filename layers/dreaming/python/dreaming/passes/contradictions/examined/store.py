"""The SQL of examined beliefs: those still to come to, what was read of those that were, marking them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from uuid import UUID

from dreaming.database import Transaction


def unexamined(tx: Transaction, slice_id: int, limit: int) -> list[UUID]:
    """Return beliefs that are new or whose row has changed since they were examined, the earliest first.

    It reads no more rows than it returns: triggers list every belief that is written.
    """
    rows = tx.execute(
        "select belief_id from unexamined_beliefs where slice_id = %s order by created_at, belief_id limit %s",
        (slice_id, limit),
    ).fetchall()
    return [row[0] for row in rows]


def list_unexamined(tx: Transaction, slice_id: int) -> None:
    """See to it, once for a slice, that beliefs from before there was a list are in it, by comparing all."""
    row = tx.execute(
        "update belief_lock set lists_unexamined = true where slice_id = %s and not lists_unexamined returning 1",
        (slice_id,),
    ).fetchone()
    if row is not None:
        tx.execute(
            """
            insert into unexamined_beliefs (belief_id, slice_id, created_at)
            select b.belief_id, b.slice_id, b.created_at from beliefs b
            left join examined_beliefs e on e.belief_id = b.belief_id and e.slice_id = b.slice_id
            where b.slice_id = %s and e.row_version is distinct from b.xmin::text
            on conflict (belief_id) do nothing
            """,
            (slice_id,),
        )


def examined_keys(tx: Transaction, slice_id: int, belief_ids: Sequence[UUID]) -> list[tuple[str, str | None]]:
    """Return the subjects and attributes under which beliefs were examined before."""
    rows = tx.execute(
        "select distinct subject, attribute from examined_beliefs "
        "where slice_id = %s and belief_id = any(%s) and subject is not null",
        (slice_id, list(belief_ids)),
    ).fetchall()
    return [(row[0], row[1]) for row in rows]


def find_by_key(tx: Transaction, slice_id: int, keys: Sequence[tuple[str, str]]) -> list[UUID]:
    """Return the beliefs about subjects with attributes, given as pairs."""
    if not keys:
        return []
    rows = tx.execute(
        """
        select e.belief_id from unnest(%s::text[], %s::text[]) as k (subject, attribute)
        join examined_beliefs e on e.slice_id = %s and e.subject = k.subject and e.attribute = k.attribute
        """,
        ([subject for subject, _ in keys], [attribute for _, attribute in keys], slice_id),
    ).fetchall()
    return [row[0] for row in rows]


def loose_subjects(tx: Transaction, slice_id: int, subjects: Sequence[str]) -> list[str]:
    """Return those of the subjects of which something is told without an attribute, or that are called a sort."""
    rows = tx.execute(
        """
        select distinct subject from examined_beliefs
        where slice_id = %s and subject = any(%s) and (attribute is null or sense is distinct from '')
        """,
        (slice_id, list(subjects)),
    ).fetchall()
    return [row[0] for row in rows]


def find_by_subject(tx: Transaction, slice_id: int, subjects: Sequence[str], limit: int) -> list[UUID]:
    """Return beliefs about any of the subjects, the latest confirmed first."""
    if not subjects:
        return []
    rows = tx.execute(
        """
        select e.belief_id from examined_beliefs e
        join beliefs b on b.belief_id = e.belief_id and b.slice_id = e.slice_id
        where e.slice_id = %(slice)s and e.subject = any(%(subjects)s)
        order by b.confirmed_at desc, b.belief_id limit %(limit)s
        """,
        {"slice": slice_id, "subjects": list(subjects), "limit": limit},
    ).fetchall()
    return [row[0] for row in rows]


def subjects(tx: Transaction, slice_id: int) -> list[str]:
    """Return every subject of the slice, as it was read."""
    rows = tx.execute(
        "select distinct subject from examined_beliefs where slice_id = %s and subject is not null", (slice_id,)
    ).fetchall()
    return [row[0] for row in rows]


def mark_examined(
    tx: Transaction, slice_id: int, rows: Sequence[tuple[UUID, str, str | None, str | None, str]], *, now: datetime
) -> None:
    """Note that beliefs (id, fingerprint, subject, attribute, sense) were examined as their rows are now."""
    if rows:
        tx.execute(
            """
            insert into examined_beliefs
                (belief_id, slice_id, fingerprint, subject, attribute, sense, row_version, examined_at)
            select b.belief_id, b.slice_id, u.fingerprint, u.subject, u.attribute, u.sense, b.xmin::text, %(now)s
            from unnest(%(ids)s::uuid[], %(prints)s::text[], %(subjects)s::text[], %(attributes)s::text[],
                        %(senses)s::text[]) as u (belief_id, fingerprint, subject, attribute, sense)
            join beliefs b on b.belief_id = u.belief_id and b.slice_id = %(slice)s
            on conflict (belief_id) do update
            set fingerprint = excluded.fingerprint, subject = excluded.subject, attribute = excluded.attribute,
                sense = excluded.sense, row_version = excluded.row_version, examined_at = excluded.examined_at
            """,
            {
                "now": now,
                "slice": slice_id,
                "ids": [row[0] for row in rows],
                "prints": [row[1] for row in rows],
                "subjects": [row[2] for row in rows],
                "attributes": [row[3] for row in rows],
                "senses": [row[4] for row in rows],
            },
        )


def examine_again(tx: Transaction, slice_id: int, subjects: Iterable[str], *, but: Sequence[UUID]) -> None:
    """Let the pass come to all beliefs about these subjects again: their names mean something else now."""
    tx.execute(
        "update examined_beliefs set row_version = '' "
        "where slice_id = %s and subject = any(%s) and belief_id <> all(%s)",
        (slice_id, list(subjects), list(but)),
    )
