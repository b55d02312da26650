"""The SQL of the overview; nothing here writes."""

from __future__ import annotations

from datetime import date, datetime

from psycopg.rows import class_row

from dreaming.api.overview.records import AGE_BANDS, BeliefGroup, HeldPass, PassDay
from dreaming.api.store import VISIBLE, of_tenant
from dreaming.beliefs.ageing.store import parameters
from dreaming.beliefs.records import Kind
from dreaming.beliefs.rules import Ageing
from dreaming.database import Transaction
from dreaming.notes.records import Scope, Tenant
from dreaming.passes.records import PASS_FUNCTIONS

_STATUSES = ("running", "drained", "held", "stalled", "stopped", "replaced")
_BY_STATUS = ", ".join(f"count(*) filter (where r.status = '{one}') as {one}" for one in _STATUSES)


def pass_days(tx: Transaction, tenant: Tenant, first: date, last: date) -> list[PassDay]:
    """Count the runs of every pass by the UTC day of their start, from `first` to `last`."""
    query = f"""
        select r.pass as pass_name, (r.started_at at time zone 'UTC')::date as day, count(*) as runs, {_BY_STATUS},
               sum(r.notes_consolidated)::bigint as notes_consolidated, sum(r.notes_retired)::bigint as notes_retired,
               sum(r.beliefs_created)::bigint as beliefs_created, sum(r.beliefs_archived)::bigint as beliefs_archived,
               sum(r.model_calls)::bigint as model_calls
        from slices s join dream_runs r using (slice_id)
        where {VISIBLE} and r.pass = any(%(passes)s) and r.started_at >= %(first)s::date::timestamp at time zone 'UTC'
          and r.started_at < (%(last)s::date + 1)::timestamp at time zone 'UTC'
        group by 1, 2 order by 2, 1
    """
    given = {"passes": list(PASS_FUNCTIONS), "first": first, "last": last, **of_tenant(tenant)}
    with tx.cursor(row_factory=class_row(PassDay)) as cursor:
        return cursor.execute(query, given).fetchall()


def held_passes(tx: Transaction, tenant: Tenant) -> list[HeldPass]:
    """Return every pass that is held in a visible slice, the longest held first."""
    query = f"""
        select c.pass, s.slice_id, s.scope, s.owner_user_id, c.held_reason, c.held_detail, c.held_since
        from slices s join dream_cursor c using (slice_id)
        where {VISIBLE} and c.held_reason is not null
        order by c.held_since nulls last, s.slice_id, c.pass
    """
    rows = tx.execute(query, of_tenant(tenant)).fetchall()
    return [HeldPass(row[0], row[1], Scope(row[2]), *row[3:]) for row in rows]


def belief_groups(tx: Transaction, slice_id: int, ageing: Ageing, *, now: datetime) -> list[BeliefGroup]:
    """Count the live beliefs of a slice by kind, tenth of aged confidence and age; reads every live belief."""
    rows = tx.execute(
        """
        select kind,
               least(9, floor(10 * aged(confidence, confirmed_at, half_life_of(decay_class, %(slow)s, %(fast)s),
                                        %(now)s)))::int as tenth,
               width_bucket(extract(epoch from %(now)s - confirmed_at)::float8 / 86400, %(bands)s::float8[]) as band,
               count(*)
        from beliefs where slice_id = %(slice)s and archived_at is null
        group by 1, 2, 3 order by 1, 2, 3
        """,
        {"slice": slice_id, "now": now, "bands": list(AGE_BANDS[1:]), **parameters(ageing)},
    ).fetchall()
    return [BeliefGroup(Kind(kind), tenth, AGE_BANDS[band], count) for kind, tenth, band, count in rows]
