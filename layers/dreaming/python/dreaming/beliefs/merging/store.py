"""The SQL of merges: sources that move, the rows from before, and what tells whether they were touched."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import class_row

from dreaming.database import Transaction

_RESTORED = """kind, statement, statement_hash, words_version, confidence, confirmed_at, first_seen_at, importance,
    decay_class, subject, attribute, value, multi_valued, valid_from, valid_until, trust, provenance, sources,
    origins, created_at, updated_at, archived_at, archive_reason, warned_at"""

# A belief's row and its sources, as one hash. When a note of the belief was last seen plays no part.
_FINGERPRINT = """
    select encode(sha256(convert_to(to_jsonb(b)::text || coalesce((
        select jsonb_agg(to_jsonb(s) order by s.source_id)::text from sources s
        where s.slice_id = b.slice_id and s.belief_id = b.belief_id), ''), 'UTF8')), 'hex')
    from beliefs b where b.slice_id = %(slice)s and b.belief_id = %(belief)s
"""


@dataclass(frozen=True, slots=True)
class Merge:
    """A merge as its row holds it; `kept_after` and `merged_after` tell whether anything came after it.

    The reasons are why the beliefs were archived before the merge, if they were.
    """

    merge_id: UUID
    kept_belief_id: UUID
    merged_belief_id: UUID
    kept_after: str
    merged_after: str
    merged_at: datetime
    kept_reason: str | None = None
    merged_reason: str | None = None
    place: int = 0


def read_rows(tx: Transaction, slice_id: int, belief_ids: list[UUID]) -> dict[UUID, str]:
    """Return whole rows of beliefs as JSON text."""
    rows = tx.execute(
        "select belief_id, to_jsonb(b)::text from beliefs b where slice_id = %s and belief_id = any(%s)",
        (slice_id, belief_ids),
    ).fetchall()
    return {row[0]: row[1] for row in rows}


def fingerprint(tx: Transaction, slice_id: int, belief_id: UUID) -> str:
    """Return a hash of the belief's row and of all its sources."""
    row = tx.execute(_FINGERPRINT, {"slice": slice_id, "belief": belief_id}).fetchone()
    return str(row[0]) if row else ""


def record(
    tx: Transaction,
    slice_id: int,
    merge: Merge,
    *,
    before: Mapping[UUID, str],
    decided_by: str,
    evidence: Mapping[str, Any],
    run_id: UUID | None,
) -> None:
    """Write a merge's row; the hashes of after follow with `settle`."""
    tx.execute(
        """
        insert into merges (merge_id, slice_id, kept_belief_id, merged_belief_id, kept_before, merged_before,
                            kept_after, merged_after, decided_by, evidence, run_id, merged_at)
        values (%s, %s, %s, %s, %s, %s, '', '', %s, %s, %s, %s)
        """,
        (
            merge.merge_id,
            slice_id,
            merge.kept_belief_id,
            merge.merged_belief_id,
            before[merge.kept_belief_id],
            before[merge.merged_belief_id],
            decided_by,
            json.dumps(evidence, ensure_ascii=False),
            run_id,
            merge.merged_at,
        ),
    )


def move_sources(tx: Transaction, slice_id: int, merge: Merge) -> None:
    """Let the kept belief have the other's live sources; a note that supports it already ends there instead."""
    parameters = {
        "slice": slice_id,
        "kept": merge.kept_belief_id,
        "merged": merge.merged_belief_id,
        "merge": merge.merge_id,
        "now": merge.merged_at,
    }
    tx.execute(
        """
        insert into merged_sources (merge_id, source_id, slice_id, ended)
        select %(merge)s, s.source_id, s.slice_id, s.note_id is not null and exists (
            select from sources k
            where k.slice_id = s.slice_id and k.belief_id = %(kept)s and k.note_id = s.note_id and k.ended_at is null)
        from sources s
        where s.slice_id = %(slice)s and s.belief_id = %(merged)s and s.ended_at is null
        """,
        parameters,
    )
    tx.execute(
        """
        update sources s
        set belief_id = case when m.ended then s.belief_id else %(kept)s end,
            ended_at = case when m.ended then %(now)s end,
            ended_reason = case when m.ended then 'merged' end
        from merged_sources m
        where m.merge_id = %(merge)s and m.slice_id = %(slice)s and s.slice_id = m.slice_id
          and s.source_id = m.source_id
        """,
        parameters,
    )


def return_sources(tx: Transaction, slice_id: int, merge: Merge) -> None:
    """Give the merged belief its sources back; those of them that ended meanwhile stay ended.

    A source that ended only because of the merge counts again, unless its note was edited, withdrawn or
    erased since.
    """
    parameters = {"slice": slice_id, "merge": merge.merge_id, "merged": merge.merged_belief_id}
    tx.execute(
        """
        update sources s
        set belief_id = %(merged)s,
            ended_at = case when m.ended and s.ended_reason = 'merged' and n.version = s.note_version
                and n.state <> 'withdrawn' then null else s.ended_at end,
            ended_reason = case when m.ended and s.ended_reason = 'merged' and n.version = s.note_version
                and n.state <> 'withdrawn' then null else s.ended_reason end
        from merged_sources m, sources o
        left join notes n on n.note_id = o.note_id and n.slice_id = o.slice_id
        where m.merge_id = %(merge)s and m.slice_id = %(slice)s and s.slice_id = m.slice_id
          and s.source_id = m.source_id and o.source_id = s.source_id and o.slice_id = s.slice_id
        """,
        parameters,
    )


def settle(tx: Transaction, slice_id: int, merge: Merge) -> None:
    """Write down what the merge left, so that a later touch is seen."""
    tx.execute(
        "update merges set kept_after = %s, merged_after = %s where slice_id = %s and merge_id = %s",
        (
            fingerprint(tx, slice_id, merge.kept_belief_id),
            fingerprint(tx, slice_id, merge.merged_belief_id),
            slice_id,
            merge.merge_id,
        ),
    )


def restore_rows(tx: Transaction, slice_id: int, merge: Merge) -> None:
    """Put both rows back as they were, column for column; when they fade follows from the half-lives of now."""
    names = [name.strip() for name in _RESTORED.split(",")]
    assignments = ", ".join(f"{name} = was.{name}" for name in names)
    tx.execute(
        f"""
        update beliefs b set {assignments}
        from merges m, lateral (
            select * from jsonb_populate_record(null::beliefs, m.kept_before)
            union all select * from jsonb_populate_record(null::beliefs, m.merged_before)
        ) was
        where m.slice_id = %(slice)s and m.merge_id = %(merge)s
          and b.slice_id = m.slice_id and b.belief_id = was.belief_id
        """,
        {"slice": slice_id, "merge": merge.merge_id},
    )


def find_merges(tx: Transaction, slice_id: int, belief_id: UUID) -> list[Merge]:
    """Return the merges that made or took the belief and were not undone, the latest first."""
    with tx.cursor(row_factory=class_row(Merge)) as cursor:
        return cursor.execute(
            """
            select merge_id, place, kept_belief_id, merged_belief_id, kept_after, merged_after, merged_at,
                   kept_before ->> 'archive_reason' as kept_reason, merged_before ->> 'archive_reason' as merged_reason
            from merges
            where slice_id = %(slice)s and undone_at is null
              and %(belief)s in (kept_belief_id, merged_belief_id)
            order by place desc
            """,
            {"slice": slice_id, "belief": belief_id},
        ).fetchall()


def mark_undone(tx: Transaction, slice_id: int, merge_id: UUID, now: datetime) -> bool:
    """Mark a merge as undone; False when it was before."""
    return (
        tx.execute(
            "update merges set undone_at = %s where slice_id = %s and merge_id = %s and undone_at is null",
            (now, slice_id, merge_id),
        ).rowcount
        == 1
    )


def move_source(tx: Transaction, slice_id: int, source_id: UUID, belief_id: UUID) -> None:
    """Let a source support another belief."""
    tx.execute(
        "update sources set belief_id = %s where slice_id = %s and source_id = %s", (belief_id, slice_id, source_id)
    )
