"""The SQL of terms: writing those of statements, and the statements that BM25 ranks first for a claim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from psycopg.rows import class_row

from dreaming.beliefs.encoding import array_of
from dreaming.beliefs.records import Kind
from dreaming.database import Transaction

COMMON = 1_000
"""Postings from which a term says too little to be read: no claim reads more than so many for one term."""

_MOST_COUNTED = 32_767

_MARGIN = 3
"""How many times the wanted number is ranked, since superseded and sourceless beliefs are left out after it."""


@dataclass(frozen=True, slots=True)
class RankedRow:
    """A belief that BM25 found for the claim at index `claim`, the best first."""

    claim: int
    belief_id: UUID
    statement: str
    archive_reason: str | None


@dataclass(frozen=True, slots=True)
class RecentRow:
    """One of the latest live beliefs of a kind."""

    kind: str
    belief_id: UUID
    statement: str


def replace(
    tx: Transaction, slice_id: int, statements: Mapping[UUID, Mapping[int, int]], reworded: Sequence[UUID]
) -> None:
    """Write the terms of new statements, in place of the former ones of `reworded`, in at most three statements."""
    documents = sum(bool(counts) for counts in statements.values())
    length = sum(sum(counts.values()) for counts in statements.values())
    if reworded:
        query = """
            with gone as (
                delete from belief_terms where slice_id = %s and belief_id = any(%s) returning belief_id, length
            )
            select count(*), coalesce(sum(length), 0) from (select distinct belief_id, length from gone) former
        """
        row = tx.execute(query, (slice_id, list(reworded))).fetchone()
        documents, length = documents - (row[0] if row else 0), length - (int(row[1]) if row else 0)
    if statements:
        tx.execute(
            """
            insert into belief_terms (slice_id, term, belief_id, occurrences, length)
            select %(slice)s, t.term, b.belief_id, t.occurrences, b.length
            from unnest(%(ids)s::uuid[], %(lengths)s::smallint[], %(terms)s::text[], %(occurrences)s::text[])
                as b (belief_id, length, terms, occurrences)
            cross join unnest(b.terms::bigint[], b.occurrences::smallint[]) as t (term, occurrences)
            """,
            {
                "slice": slice_id,
                "ids": list(statements),
                "lengths": array_of(min(sum(counts.values()), _MOST_COUNTED) for counts in statements.values()),
                "terms": [array_of(counts) for counts in statements.values()],
                "occurrences": [
                    array_of(min(count, _MOST_COUNTED) for count in counts.values()) for counts in statements.values()
                ],
            },
        )
    if documents or length:
        tx.execute(
            """
            insert into belief_term_statistics as s (slice_id, statements, length)
            values (%s, %s, %s)
            on conflict (slice_id) do update
            set statements = s.statements + excluded.statements, length = s.length + excluded.length
            """,
            (slice_id, documents, length),
        )


def ranked(tx: Transaction, slice_id: int, claims: Sequence[Sequence[int]], limit: int) -> list[RankedRow]:
    """Return for each claim, given by its terms, the `limit` beliefs that BM25 ranks first, in one statement.

    BM25 as by Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with
    k1 = 1.2 and b = 0.75. Terms of more than `COMMON` statements are left out: they tell little apart, and
    so the work for a claim is bounded. Superseded and sourceless beliefs are not found.
    """
    asked = [(claim, term) for claim, terms in enumerate(claims) for term in terms]
    if not asked:
        return []
    query = """
        with asked as (
            select * from unnest(%(claims)s::int[], %(terms)s::bigint[]) as q (claim, term)
        ), counted as materialized (
            -- From the index alone: of a common term not one row is read.
            select wanted.term, found.statements
            from (select distinct term from asked) wanted
            cross join lateral (
                select count(*) as statements from (
                    select from belief_terms t where t.slice_id = %(slice)s and t.term = wanted.term
                    limit %(common)s + 1
                ) counted
            ) found
            where found.statements between 1 and %(common)s
        ), frequencies as materialized (
            -- In double precision throughout: the logarithm of a numeric alone would cost more than all the rest.
            select c.term, 2.2::float8 * ln(
                    1 + (greatest(s.statements - c.statements, 0) + 0.5::float8) / (c.statements + 0.5::float8)
                ) as weight,
                0.9::float8 * greatest(s.statements, 1) / greatest(s.length, 1) as discount
            from counted c cross join belief_term_statistics s where s.slice_id = %(slice)s
        ), postings as materialized (
            select f.term, hit.belief_id,
                f.weight * hit.occurrences / (hit.occurrences + 0.3::float8 + f.discount * hit.length) as weight
            from frequencies f
            cross join lateral (
                select t.belief_id, t.occurrences, t.length from belief_terms t
                where t.slice_id = %(slice)s and t.term = f.term
                offset 0
            ) hit
        ), scored as (
            select asked.claim, p.belief_id, sum(p.weight) as score
            from asked join postings p on p.term = asked.term
            group by asked.claim, p.belief_id
        ), placed as (
            select claim, belief_id, row_number() over (partition by claim order by score desc, belief_id) as place
            from scored
        ), found as (
            select placed.claim, placed.belief_id, belief.statement, belief.archive_reason,
                row_number() over (partition by placed.claim order by placed.place) as place
            from placed
            cross join lateral (
                select b.slice_id, b.statement, b.archive_reason from beliefs b where b.belief_id = placed.belief_id
                offset 0
            ) belief
            -- Out here, or a planner that does not know yet how large the slice is reads it whole for each of them.
            where placed.place <= %(ranked)s and belief.slice_id = %(slice)s
              and (belief.archive_reason is null or belief.archive_reason in ('faded', 'person'))
        )
        select claim, belief_id, statement, archive_reason from found
        where place <= %(limit)s order by claim, place
    """
    parameters = {
        "slice": slice_id,
        "claims": [claim for claim, _ in asked],
        "terms": [term for _, term in asked],
        "common": COMMON,
        "ranked": limit * _MARGIN,
        "limit": limit,
    }
    with tx.cursor(row_factory=class_row(RankedRow)) as cursor:
        return cursor.execute(query, parameters).fetchall()


def recent(tx: Transaction, slice_id: int, kinds: Sequence[Kind], limit: int) -> list[RecentRow]:
    """Return the latest `limit` live beliefs of each kind, in one statement."""
    query = """
        select q.kind, hit.belief_id, hit.statement
        from unnest(%(kinds)s::text[]) as q (kind)
        cross join lateral (
            select b.belief_id, b.statement from beliefs b
            where b.slice_id = %(slice)s and b.kind = q.kind and b.archived_at is null
            order by b.confirmed_at desc nulls last, b.belief_id -- as the index has it
            limit %(limit)s
        ) hit
    """
    parameters = {"slice": slice_id, "kinds": sorted({kind.value for kind in kinds}), "limit": limit}
    with tx.cursor(row_factory=class_row(RecentRow)) as cursor:
        return cursor.execute(query, parameters).fetchall()


def not_to_embed(tx: Transaction, slice_id: int, belief_ids: Sequence[UUID], excluded: Sequence[str]) -> set[UUID]:
    """Return those of the beliefs that rest on a live source whose note is of an excluded source."""
    if not belief_ids or not excluded:
        return set()
    query = """
        select distinct s.belief_id from sources s
        join notes n on n.note_id = s.note_id and n.slice_id = s.slice_id
        where s.slice_id = %s and s.belief_id = any(%s) and s.ended_at is null and n.source = any(%s)
    """
    return {row[0] for row in tx.execute(query, (slice_id, list(belief_ids), list(excluded))).fetchall()}
