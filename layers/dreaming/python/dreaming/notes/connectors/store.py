"""The SQL of connectors' positions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import datetime

from dreaming.database import Transaction
from dreaming.notes.connectors.marks import Feed, Mark


def read_marks(tx: Transaction, slice_id: int, feed: Feed) -> dict[str, Mark]:
    """Return the marks of a feed by their entries."""
    rows = tx.execute(
        """
        select entry, mark from connector_positions
        where slice_id = %s and connector = %s and source = %s and location = %s
        """,
        (slice_id, feed.connector, feed.source, feed.location),
    ).fetchall()
    return dict(rows)


def save_marks(tx: Transaction, slice_id: int, feed: Feed, marks: Mapping[str, Mark], now: datetime) -> None:
    """Store marks over those of the same entries; the slice must be locked."""
    tx.execute(
        """
        insert into connector_positions (slice_id, connector, source, location, entry, mark, saved_at)
        select %s, %s, %s, %s, given.entry, given.mark, %s
        from unnest(%s::text[], %s::jsonb[]) as given (entry, mark)
        on conflict (slice_id, connector, source, location, entry)
        do update set mark = excluded.mark, saved_at = excluded.saved_at
        """,
        (
            *(slice_id, feed.connector, feed.source, feed.location, now),
            list(marks),
            [json.dumps(mark) for mark in marks.values()],
        ),
    )


def remove_marks(tx: Transaction, slice_id: int, feed: Feed, entries: Iterable[str]) -> None:
    """Forget entries; the slice must be locked."""
    tx.execute(
        """
        delete from connector_positions
        where slice_id = %s and connector = %s and source = %s and location = %s and entry = any(%s)
        """,
        (slice_id, feed.connector, feed.source, feed.location, list(entries)),
    )
