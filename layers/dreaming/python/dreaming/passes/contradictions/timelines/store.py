"""The SQL of timelines: the stretches in which beliefs held, and when one begins or ends by itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from dreaming.database import Transaction
from dreaming.passes.contradictions.records import Line


def replace_timelines(
    tx: Transaction, slice_id: int, belief_ids: Sequence[UUID], lines: Sequence[Line], *, now: datetime
) -> None:
    """Write the stretches of these lines in place of all that these beliefs had; only what differs is written."""
    wanted: dict[UUID, dict[tuple[object, ...], None]] = {one: {} for one in belief_ids}
    for line in lines:
        for one in line.stretches:
            row = (one.holds_from, one.holds_until, one.standing.value, one.successor, line.subject, line.attribute)
            wanted.setdefault(one.belief_id, {}).setdefault(row)
    known: defaultdict[UUID, dict[tuple[object, ...], None]] = defaultdict(dict)
    outdated: set[UUID] = set()
    for belief_id, derived_at, *rest in tx.execute(
        """
        select belief_id, derived_at, holds_from, holds_until, standing, successor_id, subject, attribute
        from timelines where slice_id = %s and belief_id = any(%s)
        """,
        (slice_id, list(wanted)),
    ).fetchall():
        known[belief_id][tuple(rest)] = None
        if any(moment is not None and derived_at < moment <= now for moment in rest[:2]):
            outdated.add(belief_id)
    changed = [one for one, rows in wanted.items() if one in outdated or known[one].keys() != rows.keys()]
    if not changed:
        return
    tx.execute("delete from timelines where slice_id = %s and belief_id = any(%s)", (slice_id, changed))
    rows = [(belief_id, *row) for belief_id in changed for row in wanted[belief_id]]
    if rows:
        tx.execute(
            """
            insert into timelines (slice_id, belief_id, holds_from, holds_until, standing, successor_id, subject,
                                   attribute, derived_at)
            select %s, u.*, %s
            from unnest(%s::uuid[], %s::timestamptz[], %s::timestamptz[], %s::text[], %s::uuid[], %s::text[],
                        %s::text[])
                as u (belief_id, holds_from, holds_until, standing, successor_id, subject, attribute)
            on conflict do nothing
            """,
            (slice_id, now, *([row[place] for row in rows] for place in range(7))),
        )


def next_boundary(tx: Transaction, slice_id: int, now: datetime) -> datetime | None:
    """Return when a stretch of the slice next begins or ends by itself."""
    row = tx.execute(
        """
        select least(
            (select min(holds_from) from timelines
             where slice_id = %(slice)s and holds_from > derived_at and holds_from > %(now)s),
            (select min(holds_until) from timelines
             where slice_id = %(slice)s and holds_until > derived_at and holds_until > %(now)s))
        """,
        {"slice": slice_id, "now": now},
    ).fetchone()
    return row[0] if row else None


def crossed(tx: Transaction, slice_id: int, now: datetime, limit: int) -> list[UUID]:
    """Return beliefs whose stretch has begun or ended since it was derived.

    What was ahead when it was derived stands in partial indexes, so nothing else is read.
    """
    rows = tx.execute(
        """
        select belief_id from timelines
        where slice_id = %(slice)s and holds_from > derived_at and holds_from <= %(now)s
        union
        select belief_id from timelines
        where slice_id = %(slice)s and holds_until > derived_at and holds_until <= %(now)s
        order by belief_id limit %(limit)s
        """,
        {"slice": slice_id, "now": now, "limit": limit},
    ).fetchall()
    return [row[0] for row in rows]
