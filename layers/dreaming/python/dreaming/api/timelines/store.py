"""The SQL of timelines as people read them; nothing here writes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from psycopg.rows import class_row

from dreaming.database import Transaction
from dreaming.passes.contradictions.records import MAX_ATTEMPTS


@dataclass(frozen=True, slots=True)
class SuccessionRow:
    """One stretch in a line of succession: what held, from when until when, and what came in its place."""

    belief_id: UUID
    statement: str
    holds_from: datetime
    holds_until: datetime | None
    standing: str
    successor_id: UUID | None
    subject: str
    attribute: str


@dataclass(frozen=True, slots=True)
class StandingRow:
    """A belief with every wording of its sources, why it is archived, and the stretches in which it held."""

    belief_id: UUID
    statements: list[str]
    archive_reason: str | None
    stretches: list[tuple[datetime, datetime | None, str]]


def read_standings(tx: Transaction, slice_id: int) -> list[StandingRow]:
    """Return every belief of a slice, the earliest first, with its stretches in order of time."""
    beliefs = tx.execute(
        """
        select b.belief_id, b.archive_reason,
               array(select b.statement union select s.statement from sources s
                     where s.slice_id = b.slice_id and s.belief_id = b.belief_id and s.ended_at is null)
        from beliefs b where b.slice_id = %s order by b.first_seen_at, b.belief_id
        """,
        (slice_id,),
    ).fetchall()
    stretches = tx.execute(
        "select belief_id, holds_from, holds_until, standing from timelines where slice_id = %s order by holds_from",
        (slice_id,),
    ).fetchall()
    return [
        StandingRow(row[0], row[2], row[1], [(one[1], one[2], one[3]) for one in stretches if one[0] == row[0]])
        for row in beliefs
    ]


@dataclass(frozen=True, slots=True)
class ReviewRow:
    """A pair for a person: incompatible within a margin too small, or, without a relation, still open.

    One that `waits` is only alike so far: a judge has yet to say whether the two contradict each other.
    """

    left_id: UUID
    right_id: UUID
    relation: str | None
    reason: str
    in_review: bool
    decided_at: datetime
    waits: bool

    @property
    def place(self) -> tuple[int, datetime, UUID, UUID]:
        """Its place in the list, the greatest first."""
        return int(self.in_review), self.decided_at, self.left_id, self.right_id


def read_reviews(
    tx: Transaction,
    slice_id: int,
    limit: int,
    *,
    neighbours: bool = False,
    after: tuple[int, datetime, UUID, UUID] | None = None,
) -> list[ReviewRow]:
    """Return the pairs for a person, what is in review first, then what is open; those `after` a place.

    Open pairs that are only alike, and wait for a judge, are left out unless `neighbours` asks for them: what is
    open for a person is what no judge could decide.
    """
    in_review, decided_at, left, right = after or (None, None, None, None)
    rows = tx.execute(
        """
        select left_belief_id, right_belief_id, relation, reason, in_review, decided_at, not in_review and waits from (
            select a.*, a.relation is null and a.attempts < %(most)s as waits, exists (
                select from timelines t where t.slice_id = a.slice_id and t.standing = 'review'
                  and t.belief_id = a.left_belief_id
            ) and exists (
                select from timelines t where t.slice_id = a.slice_id and t.standing = 'review'
                  and t.belief_id = a.right_belief_id
            ) as in_review
            from adjudications a where a.slice_id = %(slice)s and (a.relation is null or a.relation = 'incompatible')
        ) pairs
        where (in_review or (relation is null and (%(neighbours)s or not waits) and exists (
            select from beliefs b where b.slice_id = %(slice)s and b.belief_id = pairs.left_belief_id
              and b.archived_at is null
        ) and exists (
            select from beliefs b where b.slice_id = %(slice)s and b.belief_id = pairs.right_belief_id
              and b.archived_at is null
        )))
          and (%(in_review)s::int is null
               or (in_review::int, decided_at, left_belief_id, right_belief_id)
                  < (%(in_review)s::int, %(decided)s::timestamptz, %(left)s::uuid, %(right)s::uuid))
        order by in_review desc, decided_at desc, left_belief_id desc, right_belief_id desc limit %(limit)s
        """,
        {
            "slice": slice_id,
            "limit": limit,
            "neighbours": neighbours,
            "most": MAX_ATTEMPTS,
            "in_review": in_review,
            "decided": decided_at,
            "left": left,
            "right": right,
        },
    ).fetchall()
    return [ReviewRow(*row) for row in rows]


def count_waiting(tx: Transaction, slice_id: int) -> int:
    """Count the pairs of live beliefs that are alike and wait for a judge."""
    row = tx.execute(
        """
        select count(*) from adjudications a
        join beliefs l on l.belief_id = a.left_belief_id and l.slice_id = a.slice_id and l.archived_at is null
        join beliefs r on r.belief_id = a.right_belief_id and r.slice_id = a.slice_id and r.archived_at is null
        where a.slice_id = %s and a.relation is null and a.attempts < %s
        """,
        (slice_id, MAX_ATTEMPTS),
    ).fetchone()
    return int(row[0]) if row else 0


def read_succession(tx: Transaction, slice_id: int, belief_id: UUID) -> list[SuccessionRow]:
    """Return the stretches of the line that a belief is on, in order of time; none when nothing bears upon it."""
    query = """
        select t.belief_id, b.statement, t.holds_from, t.holds_until, t.standing, t.successor_id, t.subject, t.attribute
        from timelines t
        join beliefs b on b.belief_id = t.belief_id and b.slice_id = t.slice_id
        where t.slice_id = %(slice)s and (t.subject, t.attribute) in (
            select subject, attribute from timelines where slice_id = %(slice)s and belief_id = %(belief)s)
        order by t.holds_from, t.holds_until nulls last, t.belief_id
    """
    with tx.cursor(row_factory=class_row(SuccessionRow)) as cursor:
        return cursor.execute(query, {"slice": slice_id, "belief": belief_id}).fetchall()
