"""The SQL of the decay pass: what is due, announcing, archiving, the next due time, the forecast."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg.rows import dict_row

from dreaming.beliefs.ageing.store import parameters
from dreaming.beliefs.records import Importance, Kind
from dreaming.beliefs.rules import Ageing
from dreaming.database import Transaction
from dreaming.notes.records import Scope, Slice, SliceKey
from dreaming.passes.decay.records import Archived, Due, Fading, Totals
from dreaming.passes.decay.rules import archived_from
from dreaming.passes.records import DECAY

# A belief matters by its importance, or by its relationships: those that neither themselves nor with their
# other end had faded when the announcement falls due. So the answer is the same whenever a pass asks, and
# however much it has archived before.
_MATTERS = """
    (b.importance in ('high', 'critical') or (
        select count(*) from (
            (select 1 from relationships r join beliefs o on o.belief_id = r.to_belief_id
             where r.slice_id = b.slice_id and r.from_belief_id = b.belief_id and {counts})
            union all
            (select 1 from relationships r join beliefs o on o.belief_id = r.from_belief_id
             where r.slice_id = b.slice_id and r.to_belief_id = b.belief_id and {counts})
            limit %(relationships)s
        ) counted
    ) >= %(relationships)s)
""".replace(
    "{counts}",
    """(r.archived_at is null or r.archive_reason in ('faded', 'endpoint'))
       and (r.fades_at is null or r.fades_at > b.fades_at - make_interval(secs => %(warn)s))
       and (o.archived_at is null or o.archive_reason = 'faded')
       and (o.fades_at is null or o.fades_at > b.fades_at - make_interval(secs => %(warn)s))""",
)

_FADED = """b.slice_id = %(slice)s and b.archived_at is null and b.fades_at <= %(now)s
    and (b.warned_at is null or b.warned_at <= %(now)s - make_interval(secs => %(warn)s))"""

_SOON = """b.slice_id = %(slice)s and b.archived_at is null and b.fades_at > %(now)s
    and b.fades_at <= %(now)s + make_interval(secs => %(warn)s) and b.warned_at is null"""


def slices_to_visit(planner: Transaction, ageing: Ageing, *, now: datetime, stalled_after: timedelta) -> list[Slice]:
    """Return the slices that need the pass although their due time has not come; planner role.

    Those whose rows are under other half-lives or another threshold than the organization's settings
    now say (`ageing` holds the deployment's), and those with events that were not sent.
    """
    query = """
        with wanted as (
            select s.slice_id, s.org_id, s.scope, s.owner_user_id,
                86400 * coalesce(number_set(s.org_id, 'slow_decay_days'), %(slow)s / 86400) as slow_half_life,
                86400 * coalesce(number_set(s.org_id, 'fast_decay_days'), %(fast)s / 86400) as fast_half_life,
                coalesce(number_set(s.org_id, 'archive_threshold'), %(threshold)s) as archive_threshold,
                86400 * coalesce(number_set(s.org_id, 'warn_days'), %(warn)s / 86400) as warn_ahead
            from slices s
            join enrolment e on e.org_id = s.org_id and e.enrolled
        )
        select w.slice_id, w.org_id, w.scope, w.owner_user_id
        from wanted w
        join belief_lock l on l.slice_id = w.slice_id
        left join dream_cursor c on c.slice_id = w.slice_id and c.pass = %(pass)s
        where (abs(l.slow_half_life - w.slow_half_life) > %(least)s
               or abs(l.fast_half_life - w.fast_half_life) > %(least)s
               or abs(l.warn_ahead - w.warn_ahead) > %(least)s
               or abs(l.archive_threshold - w.archive_threshold) > 1e-9
               or l.recomputing is not null
               or exists (select from outbox o where o.slice_id = w.slice_id and o.sent_at is null))
          and (c.run_id is null or c.progressed_at <= %(now)s - %(stalled_after)s)
        order by w.slice_id
    """
    given = {
        **parameters(ageing),
        "pass": DECAY,
        "now": now,
        "stalled_after": stalled_after,
        # A half-life is at least a quarter of an hour: less than this moves no moment by a second.
        "least": 1e-4,
    }
    rows = planner.execute(query, given).fetchall()
    return [Slice(row[0], SliceKey(row[1], Scope(row[2]), row[3])) for row in rows]


def totals(planner: Transaction) -> Totals:
    """Return what ages in all slices; planner role."""
    row = planner.execute(
        "select count(*), coalesce(sum(beliefs_ageing), 0), coalesce(sum(relationships_ageing), 0) from slice_counters"
    ).fetchone()
    return Totals(0, 0, 0) if row is None else Totals(int(row[0]), int(row[1]), int(row[2]))


def ageing_counters(tx: Transaction, slice_id: int) -> tuple[int, int]:
    """Return how many beliefs and how many relationships of the slice age."""
    row = tx.execute(
        "select beliefs_ageing, relationships_ageing from slice_counters where slice_id = %s", (slice_id,)
    ).fetchone()
    return (0, 0) if row is None else (row[0], row[1])


def faded_beliefs(
    tx: Transaction, slice_id: int, ageing: Ageing, *, relationships: int, now: datetime, limit: int
) -> list[Due]:
    """Return beliefs that have faded and are not held back by an announcement, the first to fade first.

    `relationships`: from how many on a belief matters.
    """
    query = f"""
        select b.belief_id, b.fades_at, b.warned_at is null and {_MATTERS} as warns
        from beliefs b where {_FADED} order by b.fades_at, b.belief_id limit %(limit)s
    """
    return _due(tx, query, slice_id, ageing, relationships=relationships, now=now, limit=limit)


def fading_soon(
    tx: Transaction, slice_id: int, ageing: Ageing, *, relationships: int, now: datetime, limit: int
) -> list[Due]:
    """Return beliefs that matter and whose announcement has fallen due, the first to fade first."""
    query = f"""
        select b.belief_id, b.fades_at, true
        from beliefs b where {_SOON} and {_MATTERS} order by b.fades_at, b.belief_id limit %(limit)s
    """
    return _due(tx, query, slice_id, ageing, relationships=relationships, now=now, limit=limit)


def _due(
    tx: Transaction, query: str, slice_id: int, ageing: Ageing, *, relationships: int, now: datetime, limit: int
) -> list[Due]:
    given = {
        "slice": slice_id,
        "now": now,
        "relationships": relationships,
        "limit": limit,
        **parameters(ageing),
    }
    return [Due(*row) for row in tx.execute(query, given).fetchall()]


def warn(tx: Transaction, slice_id: int, belief_ids: Sequence[UUID], *, run_id: UUID, now: datetime) -> int:
    """Announce that beliefs will fade: on the belief, in its history and in the outbox."""
    if not belief_ids:
        return 0
    return tx.execute(
        """
        with warned as (
            update beliefs set warned_at = %(now)s, updated_at = %(now)s
            where slice_id = %(slice)s and belief_id = any(%(ids)s)
            returning belief_id, confidence, confirmed_at, statement, fades_at
        ), told as (
            insert into belief_history (slice_id, belief_id, happened_at, event, confidence, confirmed_at, statement,
                                        run_id, detail)
            select %(slice)s, belief_id, %(now)s, 'warned', confidence, confirmed_at, statement, %(run)s,
                   jsonb_build_object('fades_at', fades_at)
            from warned
        )
        insert into outbox (slice_id, event, detail, created_at)
        select %(slice)s, 'belief.fading',
               jsonb_build_object('belief_id', belief_id, 'fades_at', fades_at, 'run_id', %(run)s::uuid), %(now)s
        from warned
        """,
        {"slice": slice_id, "ids": list(belief_ids), "run": run_id, "now": now},
    ).rowcount


def archive_beliefs(
    tx: Transaction, slice_id: int, belief_ids: Sequence[UUID], *, run_id: UUID, now: datetime
) -> Archived:
    """Archive beliefs as faded: the row, its history and the event."""
    if not belief_ids:
        return Archived()
    rows = tx.execute(
        """
        with archived as (
            update beliefs set archived_at = %(now)s, archive_reason = 'faded', warned_at = null, updated_at = %(now)s
            where slice_id = %(slice)s and belief_id = any(%(ids)s) and archived_at is null
            returning belief_id, kind, confidence, confirmed_at, statement, fades_at
        ), told as (
            insert into belief_history (slice_id, belief_id, happened_at, event, confidence, confirmed_at, statement,
                                        run_id, detail)
            select %(slice)s, belief_id, %(now)s, 'archived', confidence, confirmed_at, statement, %(run)s,
                   jsonb_build_object('reason', 'faded', 'fades_at', fades_at)
            from archived
        ), announced as (
            insert into outbox (slice_id, event, detail, created_at)
            select %(slice)s, 'belief.archived',
                   jsonb_build_object('belief_id', belief_id, 'reason', 'faded', 'run_id', %(run)s::uuid), %(now)s
            from archived
        )
        select kind, count(*) from archived group by kind
        """,
        {"slice": slice_id, "ids": list(belief_ids), "run": run_id, "now": now},
    ).fetchall()
    total = sum(row[1] for row in rows)
    by_kind = {f"beliefs_{kind}": -number for kind, number in rows}
    return Archived(total, {**by_kind, "beliefs_ageing": -total, "beliefs_archived": total} if total else {})


def archive_ends(tx: Transaction, slice_id: int, belief_ids: Sequence[UUID], *, now: datetime) -> Archived:
    """Archive every live relationship of beliefs that are archived in the same transaction."""
    if not belief_ids:
        return Archived()
    rows = tx.execute(
        """
        with touched as (
            select relationship_id from relationships
            where slice_id = %(slice)s and from_belief_id = any(%(ids)s) and archived_at is null
            union select relationship_id from relationships
            where slice_id = %(slice)s and to_belief_id = any(%(ids)s) and archived_at is null
        ), archived as (
            update relationships r set archived_at = %(now)s, archive_reason = 'endpoint', updated_at = %(now)s
            from touched where r.slice_id = %(slice)s and r.relationship_id = touched.relationship_id
            returning r.decay_class
        )
        select count(*), count(*) filter (where decay_class <> 'permanent') from archived
        """,
        {"slice": slice_id, "ids": list(belief_ids), "now": now},
    ).fetchone()
    return _archived_relationships(rows)


def archive_relationships(tx: Transaction, slice_id: int, *, now: datetime, limit: int) -> Archived:
    """Archive live relationships that have faded, the first to fade first."""
    rows = tx.execute(
        """
        with due as (
            select relationship_id from relationships
            where slice_id = %(slice)s and archived_at is null and fades_at <= %(now)s
            order by fades_at, relationship_id limit %(limit)s
        ), archived as (
            update relationships r set archived_at = %(now)s, archive_reason = 'faded', updated_at = %(now)s
            from due where r.slice_id = %(slice)s and r.relationship_id = due.relationship_id
            returning r.decay_class
        )
        select count(*), count(*) filter (where decay_class <> 'permanent') from archived
        """,
        {"slice": slice_id, "now": now, "limit": limit},
    ).fetchone()
    return _archived_relationships(rows)


def _archived_relationships(row: Sequence[Any] | None) -> Archived:
    total, ageing = (0, 0) if row is None else (int(row[0]), int(row[1]))
    if not total:
        return Archived()
    return Archived(
        total,
        {"relationships_live": -total, "relationships_ageing": -ageing, "relationships_archived": total},
    )


def next_due(tx: Transaction, slice_id: int, ageing: Ageing, *, now: datetime) -> datetime | None:
    """Return when a pass next has something to look at, after one at `now` has done all there was.

    The least of: a belief or a relationship fades, a belief comes within the reach of announcements, an
    announced one is held back no longer.
    """
    query = """
        select least(
            (select fades_at from beliefs where slice_id = %(slice)s and archived_at is null and fades_at > %(now)s
             order by fades_at limit 1),
            (select fades_at - make_interval(secs => %(warn)s) from beliefs
             where slice_id = %(slice)s and archived_at is null
               and fades_at > %(now)s + make_interval(secs => %(warn)s)
             order by fades_at limit 1),
            (select greatest(warned_at + make_interval(secs => %(warn)s), fades_at) from beliefs
             where slice_id = %(slice)s and archived_at is null and warned_at is not null
             order by 1 limit 1),
            (select fades_at from relationships
             where slice_id = %(slice)s and archived_at is null and fades_at > %(now)s
             order by fades_at limit 1))
    """
    row = tx.execute(query, {"slice": slice_id, "now": now, **parameters(ageing)}).fetchone()
    found: datetime | None = None if row is None else row[0]
    return found


def count_relationships_due(tx: Transaction, slice_id: int, belief_ids: Sequence[UUID], *, now: datetime) -> int:
    """Count the live relationships that have faded, or that begin or end at one of the beliefs."""
    row = tx.execute(
        """
        select count(*) from (
            select relationship_id from relationships
            where slice_id = %(slice)s and archived_at is null and fades_at <= %(now)s
            union select relationship_id from relationships
            where slice_id = %(slice)s and archived_at is null and from_belief_id = any(%(ids)s)
            union select relationship_id from relationships
            where slice_id = %(slice)s and archived_at is null and to_belief_id = any(%(ids)s)
        ) due
        """,
        {"slice": slice_id, "ids": list(belief_ids), "now": now},
    ).fetchone()
    return 0 if row is None else int(row[0])


def count_weeks(tx: Transaction, slice_id: int, *, now: datetime, weeks: int) -> tuple[int, dict[int, int]]:
    """Count the live beliefs that have faded by `now`, and those that fade in each of the next weeks, from 0."""
    rows = tx.execute(
        """
        select case when fades_at <= %(now)s then -1
               else floor(extract(epoch from fades_at - %(now)s) / 604800)::int end, count(*)
        from beliefs
        where slice_id = %(slice)s and archived_at is null
          and fades_at < %(now)s + make_interval(days => 7 * %(weeks)s)
        group by 1
        """,
        {"slice": slice_id, "now": now, "weeks": weeks},
    ).fetchall()
    counts: dict[int, int] = dict(rows)
    return counts.pop(-1, 0), counts


_FADING = """
    b.belief_id, b.kind, b.statement, b.importance, b.confidence,
    aged(b.confidence, b.confirmed_at, half_life_of(b.decay_class, %(slow)s, %(fast)s), %(now)s) as aged,
    b.fades_at, b.warned_at
"""


def list_fading(
    tx: Transaction,
    slice_id: int,
    ageing: Ageing,
    *,
    relationships: int,
    now: datetime,
    limit: int,
    only: Sequence[UUID] | None = None,
    after: tuple[datetime, UUID] | None = None,
) -> list[Fading]:
    """Return the live beliefs that fade next, or those of `only`, each with when a pass may archive it.

    `after`: those that follow a belief, given by when it fades and its id.
    """
    fades_at, belief_id = after or (None, None)
    query = f"""
        select {_FADING}, {_MATTERS} as warns from beliefs b
        where b.slice_id = %(slice)s and b.archived_at is null and b.fades_at is not null
          and (%(only)s::uuid[] is null or b.belief_id = any(%(only)s))
          and (%(after_at)s::timestamptz is null or (b.fades_at, b.belief_id) > (%(after_at)s, %(after_id)s::uuid))
        order by b.fades_at, b.belief_id limit %(limit)s
    """
    given = {
        "slice": slice_id,
        "now": now,
        "relationships": relationships,
        "limit": limit,
        "only": None if only is None else list(only),
        "after_at": fades_at,
        "after_id": belief_id,
        **parameters(ageing),
    }
    with tx.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute(query, given).fetchall()
    return [_fading(row, ageing, now) for row in rows]


def _fading(row: dict[str, Any], ageing: Ageing, now: datetime) -> Fading:
    return Fading(
        **{
            **row,
            "kind": Kind(row["kind"]),
            "importance": Importance(row["importance"]),
            "archived_from": archived_from(
                row["fades_at"], row["warned_at"], ageing.warn_ahead, warns=row["warns"], now=now
            ),
        }
    )


def count_held(tx: Transaction, slice_id: int, ageing: Ageing, *, now: datetime) -> int:
    """Count the beliefs that have faded and are held back since their announcement."""
    row = tx.execute(
        """
        select count(*) from beliefs
        where slice_id = %(slice)s and archived_at is null and fades_at <= %(now)s
          and warned_at > %(now)s - make_interval(secs => %(warn)s)
        """,
        {"slice": slice_id, "now": now, **parameters(ageing)},
    ).fetchone()
    return 0 if row is None else int(row[0])
