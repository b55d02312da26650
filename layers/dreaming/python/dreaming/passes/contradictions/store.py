"""The SQL of contradictions: neighbourhoods, judgements, aliases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from psycopg.rows import dict_row

from dreaming.beliefs import store as beliefs_store
from dreaming.beliefs.records import ArchiveReason, Belief, Source
from dreaming.beliefs.terms import store as terms_store
from dreaming.beliefs.terms.words import looked_up
from dreaming.beliefs.vectors import store as vectors_store
from dreaming.database import Transaction
from dreaming.notes.records import Trust
from dreaming.passes.contradictions.aliases import Alias, may_name
from dreaming.passes.contradictions.records import DecidedBy, Judgement, Relation

CANDIDATES = 25
"""How many beliefs a search brings by words, and how many by vectors."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """Beliefs with their live sources, and the offsets of those sources' notes in seconds."""

    beliefs: Mapping[UUID, tuple[Belief, list[Source]]]
    offsets: Mapping[UUID, int]


def find_partners(tx: Transaction, slice_id: int, belief_ids: Sequence[UUID]) -> list[UUID]:
    """Return the beliefs that were judged, ordered in time or queued together with these."""
    rows = tx.execute(
        """
        select case when a.left_belief_id = any(%(ids)s) then a.right_belief_id else a.left_belief_id end
        from adjudications a
        where a.slice_id = %(slice)s and a.relation is distinct from 'unrelated'
          and (a.left_belief_id = any(%(ids)s) or a.right_belief_id = any(%(ids)s))
        union
        select case when c.left_belief_id = any(%(ids)s) then c.right_belief_id else c.left_belief_id end
        from conflict_candidates c
        where c.slice_id = %(slice)s and (c.left_belief_id = any(%(ids)s) or c.right_belief_id = any(%(ids)s))
        union
        select t.belief_id from timelines t where t.slice_id = %(slice)s and t.successor_id = any(%(ids)s)
        """,
        {"slice": slice_id, "ids": list(belief_ids)},
    ).fetchall()
    return [row[0] for row in rows]


def find_bound(tx: Transaction, slice_id: int, belief_ids: Sequence[UUID]) -> list[UUID]:
    """Return the beliefs that a judge or a person put on one line with these."""
    rows = tx.execute(
        """
        select case when a.left_belief_id = any(%(ids)s) then a.right_belief_id else a.left_belief_id end
        from adjudications a
        where a.slice_id = %(slice)s and a.relation in ('successive', 'incompatible', 'duplicate')
          and a.decided_by <> 'rule' and (a.left_belief_id = any(%(ids)s) or a.right_belief_id = any(%(ids)s))
        """,
        {"slice": slice_id, "ids": list(belief_ids)},
    ).fetchall()
    return [row[0] for row in rows]


def find_similar(tx: Transaction, slice_id: int, statements: Mapping[UUID, str]) -> dict[tuple[UUID, UUID], str]:
    """Return pairs of beliefs that a search by words or by vectors finds alike, with how."""
    ids = list(statements)
    found: dict[tuple[UUID, UUID], str] = {}
    claims = [looked_up(statements[one]) for one in ids]
    for row in terms_store.ranked(tx, slice_id, claims, CANDIDATES + 1):
        one = ids[row.claim]
        if row.belief_id != one:
            found[min(one, row.belief_id), max(one, row.belief_id)] = "alike in words"
    space = vectors_store.active_space(tx, slice_id)
    if space is not None:
        vectors = vectors_store.read_vectors(tx, slice_id, ids, space.model)
        for one, vector in vectors.items():
            for other, cosine in vectors_store.nearest(tx, slice_id, vector, model=space.model, limit=CANDIDATES + 1):
                if other != one and cosine >= _GREY_COSINE:
                    found.setdefault((min(one, other), max(one, other)), "grey_band")
    return found


_GREY_COSINE = 0.60


def queued(tx: Transaction, slice_id: int, belief_ids: Sequence[UUID]) -> dict[tuple[UUID, UUID], str]:
    """Return the pairs that consolidation left of these beliefs, with the reason of each."""
    rows = tx.execute(
        """
        select left_belief_id, right_belief_id, reason from conflict_candidates
        where slice_id = %(slice)s and (left_belief_id = any(%(ids)s) or right_belief_id = any(%(ids)s))
        """,
        {"slice": slice_id, "ids": list(belief_ids)},
    ).fetchall()
    return {(row[0], row[1]): row[2] for row in rows}


def drop_queued(tx: Transaction, slice_id: int, pairs: Sequence[tuple[UUID, UUID]]) -> None:
    """Forget queued pairs that were decided."""
    if pairs:
        tx.execute(
            """
            delete from conflict_candidates c
            using unnest(%s::uuid[], %s::uuid[]) as d (left_id, right_id)
            where c.slice_id = %s and c.left_belief_id = d.left_id and c.right_belief_id = d.right_id
            """,
            ([pair[0] for pair in pairs], [pair[1] for pair in pairs], slice_id),
        )


def load(tx: Transaction, slice_id: int, belief_ids: Iterable[UUID]) -> Loaded:
    """Return beliefs with their live sources, and the offsets of those sources' notes."""
    ids = list(dict.fromkeys(belief_ids))
    if not ids:
        return Loaded({}, {})
    beliefs = beliefs_store.load(tx, slice_id, ids)
    offsets = tx.execute(
        """
        select s.source_id, n.occurred_offset from sources s
        join notes n on n.note_id = s.note_id and n.slice_id = s.slice_id
        where s.slice_id = %s and s.belief_id = any(%s) and s.ended_at is null
        """,
        (slice_id, ids),
    ).fetchall()
    return Loaded(beliefs, {row[0]: row[1] for row in offsets})


def read_surroundings(tx: Transaction, slice_id: int, ids: Sequence[UUID], *, characters: int) -> dict[UUID, list[str]]:
    """Return what stands before and after the quotes of beliefs in their notes, up to so many characters each."""
    rows = tx.execute(
        """
        select s.belief_id, array_agg(
            substr(n.text, greatest(s.quote_start - %(most)s, 0) + 1, least(s.quote_start, %(most)s)) || chr(10)
            || substr(n.text, s.quote_end + 1, %(most)s))
        from sources s
        join notes n on n.note_id = s.note_id and n.slice_id = s.slice_id and n.version = s.note_version
        where s.slice_id = %(slice)s and s.belief_id = any(%(ids)s) and s.ended_at is null group by s.belief_id
        """,
        {"slice": slice_id, "ids": list(ids), "most": characters},
    ).fetchall()
    return dict(rows)


def read_judgements(
    tx: Transaction, slice_id: int, belief_ids: Sequence[UUID], focus: Sequence[UUID]
) -> dict[tuple[UUID, UUID], Judgement]:
    """Return what is known about pairs with one in `focus`, and what a judge or a person related among the others."""
    with tx.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute(
            """
            select left_belief_id as left, right_belief_id as right, relation, decided_by, reason,
                   kept_belief_id as kept, left_fingerprint, right_fingerprint, model, attempts, last_failure, run_id
            from adjudications
            where slice_id = %(slice)s and left_belief_id = any(%(focus)s)
            union
            select left_belief_id, right_belief_id, relation, decided_by, reason, kept_belief_id, left_fingerprint,
                   right_fingerprint, model, attempts, last_failure, run_id
            from adjudications
            where slice_id = %(slice)s and right_belief_id = any(%(focus)s)
            union
            select left_belief_id, right_belief_id, relation, decided_by, reason, kept_belief_id, left_fingerprint,
                   right_fingerprint, model, attempts, last_failure, run_id
            from adjudications
            where slice_id = %(slice)s and left_belief_id = any(%(ids)s) and right_belief_id = any(%(ids)s)
              and decided_by <> 'rule' and relation <> 'unrelated'
            """,
            {"slice": slice_id, "ids": list(belief_ids), "focus": list(focus)},
        ).fetchall()
    found = [
        Judgement(
            **{
                **row,
                "relation": Relation(row["relation"]) if row["relation"] else None,
                "decided_by": DecidedBy(row["decided_by"]) if row["decided_by"] else None,
            }
        )
        for row in rows
    ]
    return {one.pair: one for one in found}


def write_judgements(
    tx: Transaction, slice_id: int, judgements: Sequence[Judgement], *, prompt_version: str | None, now: datetime
) -> None:
    """Remember how pairs relate; a person's word is replaced by nobody else's."""
    if not judgements:
        return
    names = ("left", "right", "relation", "decided_by", "reason", "kept", "left_fingerprint", "right_fingerprint")
    columns = {
        name: [getattr(one, name) for one in judgements]
        for name in (*names, "model", "attempts", "last_failure", "run_id")
    }
    tx.execute(
        """
        insert into adjudications as a (slice_id, left_belief_id, right_belief_id, relation, decided_by, reason,
            kept_belief_id, left_fingerprint, right_fingerprint, model, attempts, last_failure, run_id, prompt_version,
            decided_at)
        select %(slice)s, u.*, case when u.model is not null then %(prompt)s end, %(now)s
        from unnest(%(left)s::uuid[], %(right)s::uuid[], %(relation)s::text[], %(decided_by)s::text[],
                    %(reason)s::text[], %(kept)s::uuid[], %(left_fingerprint)s::text[], %(right_fingerprint)s::text[],
                    %(model)s::text[], %(attempts)s::int[], %(last_failure)s::text[], %(run_id)s::uuid[])
            as u (left_id, right_id, relation, decided_by, reason, kept, left_print, right_print, model, attempts,
                  last_failure, run_id)
        on conflict (left_belief_id, right_belief_id) do update
        set relation = excluded.relation, decided_by = excluded.decided_by, reason = excluded.reason,
            kept_belief_id = excluded.kept_belief_id, left_fingerprint = excluded.left_fingerprint,
            right_fingerprint = excluded.right_fingerprint, model = excluded.model, attempts = excluded.attempts,
            last_failure = excluded.last_failure, run_id = excluded.run_id, prompt_version = excluded.prompt_version,
            decided_at = excluded.decided_at
        where a.decided_by is distinct from 'person' or excluded.decided_by = 'person'
        """,
        {**columns, "slice": slice_id, "prompt": prompt_version, "now": now},
    )


def forget(tx: Transaction, slice_id: int, pairs: Sequence[tuple[UUID, UUID]]) -> None:
    """Forget what was remembered of pairs between which a rule finds nothing; a person's word stays."""
    if pairs:
        tx.execute(
            """
            delete from adjudications a
            using unnest(%s::uuid[], %s::uuid[]) as d (left_id, right_id)
            where a.slice_id = %s and a.left_belief_id = d.left_id and a.right_belief_id = d.right_id
              and a.decided_by is distinct from 'person'
            """,
            ([pair[0] for pair in pairs], [pair[1] for pair in pairs], slice_id),
        )


def forget_unrelated(tx: Transaction, slice_id: int, limit: int) -> int:
    """Delete rows of pairs that a rule called unrelated when that was still remembered; return how many."""
    return tx.execute(
        """
        delete from adjudications where ctid = any(array(
            select ctid from adjudications
            where slice_id = %s and decided_by = 'rule' and relation = 'unrelated' and attempts = 0 limit %s))
          and slice_id = %s and decided_by = 'rule' and relation = 'unrelated' and attempts = 0
        """,
        (slice_id, limit, slice_id),
    ).rowcount


def open_pairs(
    tx: Transaction, slice_id: int, *, max_attempts: int, run_id: UUID, limit: int
) -> list[tuple[UUID, UUID]]:
    """Return open pairs that may be put to a judge and were not in this run, the longest open first."""
    rows = tx.execute(
        # The bound is written out, so that the index over these pairs alone is known to do.
        f"""
        select left_belief_id, right_belief_id from adjudications
        where slice_id = %s and relation is null and attempts < {max_attempts:d} and run_id is distinct from %s
        order by decided_at, left_belief_id, right_belief_id limit %s
        """,
        (slice_id, run_id, limit),
    ).fetchall()
    return [(row[0], row[1]) for row in rows]


def drop_open(
    tx: Transaction, slice_id: int, focus: Sequence[UUID], asked: Sequence[tuple[UUID, UUID]], *, max_attempts: int
) -> int:
    """Forget the open pairs of these beliefs that nobody would put to a judge any more; return how many there were."""
    return tx.execute(
        """
        delete from adjudications a
        where a.slice_id = %(slice)s and a.relation is null and a.attempts < %(most)s
          and (a.left_belief_id = any(%(focus)s) or a.right_belief_id = any(%(focus)s))
          and not exists (
            select from unnest(%(lefts)s::uuid[], %(rights)s::uuid[]) as q (left_id, right_id)
            where q.left_id = a.left_belief_id and q.right_id = a.right_belief_id)
        """,
        {
            "slice": slice_id,
            "most": max_attempts,
            "focus": list(focus),
            "lefts": [pair[0] for pair in asked],
            "rights": [pair[1] for pair in asked],
        },
    ).rowcount


def read_aliases(tx: Transaction, slice_id: int) -> list[tuple[UUID, Alias, bool]]:
    """Return every alias of the slice with the belief that told it, and whether that one may still name things."""
    rows = tx.execute(
        """
        select a.belief_id, a.name, a.other_name, a.form, b.sources, b.trust, b.archive_reason
        from aliases a
        join beliefs b on b.belief_id = a.belief_id and b.slice_id = a.slice_id
        where a.slice_id = %s
        order by a.name, a.other_name, a.belief_id
        """,
        (slice_id,),
    ).fetchall()
    return [
        (row[0], Alias(*row[1:4]), may_name(row[4], Trust(row[5]), ArchiveReason(row[6]) if row[6] else None))
        for row in rows
    ]


def replace_aliases(tx: Transaction, slice_id: int, aliases: Mapping[UUID, Sequence[Alias]]) -> None:
    """Write what beliefs tell of names, in place of what they told before."""
    tx.execute("delete from aliases where slice_id = %s and belief_id = any(%s)", (slice_id, list(aliases)))
    rows = [(belief_id, one) for belief_id, told in aliases.items() for one in told]
    if rows:
        tx.execute(
            """
            insert into aliases (slice_id, belief_id, name, other_name, form)
            select %s, * from unnest(%s::uuid[], %s::text[], %s::text[], %s::text[])
            """,
            (
                slice_id,
                [belief_id for belief_id, _ in rows],
                [one.name for _, one in rows],
                [one.other_name for _, one in rows],
                [one.form for _, one in rows],
            ),
        )
