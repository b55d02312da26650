"""The SQL of the outbox."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

from dreaming.database import Transaction
from dreaming.passes.outbox.records import Announcement, Event


def announce(tx: Transaction, slice_id: int, announcements: Sequence[Announcement], *, now: datetime) -> None:
    """Write events in the transaction of what they announce."""
    if announcements:
        tx.execute(
            """
            insert into outbox (slice_id, event, detail, created_at)
            select %s, a.event, a.detail, %s from unnest(%s::text[], %s::jsonb[]) as a (event, detail)
            """,
            (
                slice_id,
                now,
                [one.name for one in announcements],
                [json.dumps(one.detail) for one in announcements],
            ),
        )


def waiting(tx: Transaction, slice_id: int, *, limit: int) -> list[Event]:
    """Return a slice's events that were not sent, the earliest first."""
    rows = tx.execute(
        """
        select outbox_id, slice_id, event, detail, created_at from outbox
        where slice_id = %s and sent_at is null order by outbox_id limit %s
        """,
        (slice_id, limit),
    ).fetchall()
    return [Event(*row) for row in rows]


def forget(tx: Transaction, slice_id: int, event_ids: Sequence[int]) -> None:
    """Drop events that were sent."""
    if event_ids:
        tx.execute("delete from outbox where slice_id = %s and outbox_id = any(%s)", (slice_id, list(event_ids)))
