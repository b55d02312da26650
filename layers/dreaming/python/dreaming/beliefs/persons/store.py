"""The SQL behind what a person does to a belief."""

from __future__ import annotations

from uuid import UUID

from dreaming.database import Transaction


def slice_of(tx: Transaction, belief_id: UUID) -> int | None:
    """Return the slice of a belief that the tenant sees."""
    row = tx.execute("select slice_id from beliefs where belief_id = %s", (belief_id,)).fetchone()
    return None if row is None else int(row[0])
