"""The SQL of briefs: the first beliefs of each importance and decay class, by an index in that order."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from dreaming.beliefs.ageing.store import parameters
from dreaming.beliefs.briefs.records import BriefLine
from dreaming.beliefs.records import DecayClass, Importance, Kind
from dreaming.beliefs.rules import Ageing
from dreaming.database import Transaction
from dreaming.notes.records import Scope, Tenant, Trust


def read_lines(
    tx: Transaction, tenant: Tenant, scopes: Sequence[Scope], ageing: Ageing, *, now: datetime, most: int
) -> list[BriefLine]:
    """Return what is believed now in the tenant's slices of these scopes, in any order.

    Of each slice, importance and decay class the `most` surest. Of one decay class that which fades later
    is surer at any moment, so these hold the `most` surest of each importance, whatever `now` is. Not
    believed now: what is archived, has faded, holds no longer or not yet. Equal ones come by id.
    """
    query = """
        select found.belief_id, found.statement, found.kind, groups.importance, found.aged, found.confirmed_at,
               found.trust, found.in_review, s.scope
        from slices s
        cross join (
            select * from unnest(%(importances)s::text[]) as i (importance)
            cross join unnest(%(classes)s::text[]) as c (decay_class)
        ) groups
        cross join lateral (
            select b.belief_id, b.statement, b.kind, b.confirmed_at, b.trust,
                aged(b.confidence, b.confirmed_at, half_life_of(b.decay_class, %(slow)s, %(fast)s), %(now)s) as aged,
                exists (select from timelines t where t.slice_id = b.slice_id and t.belief_id = b.belief_id
                        and t.standing = 'review') as in_review
            from beliefs b
            where b.slice_id = s.slice_id and b.importance = groups.importance
              and b.decay_class = groups.decay_class and b.archived_at is null
              and (b.fades_at is null or b.fades_at > %(now)s)
              and (b.valid_from is null or b.valid_from <= %(now)s)
              and (b.valid_until is null or b.valid_until > %(now)s)
              and (
                exists (select from timelines t where t.slice_id = b.slice_id and t.belief_id = b.belief_id
                        and t.standing in ('current', 'review'))
                or not exists (select from timelines t where t.slice_id = b.slice_id and t.belief_id = b.belief_id)
              )
            order by b.fades_at desc, b.confidence desc, b.belief_id
            limit %(most)s
        ) found
        where s.org_id = %(org)s and s.scope = any(%(scopes)s)
          and (s.scope <> 'private' or s.owner_user_id = %(user)s)
    """
    rows = tx.execute(
        query,
        {
            "org": tenant.org_id,
            "user": tenant.user_id,
            "scopes": [one.value for one in scopes],
            "importances": [one.value for one in Importance],
            "classes": [one.value for one in DecayClass],
            "now": now,
            "most": most,
            **parameters(ageing),
        },
    ).fetchall()
    return [
        BriefLine(
            belief_id=row[0],
            statement=row[1],
            kind=Kind(row[2]),
            importance=Importance(row[3]),
            aged=row[4],
            confirmed_at=row[5],
            trust=Trust(row[6]),
            in_review=row[7],
            scope=Scope(row[8]),
        )
        for row in rows
    ]
