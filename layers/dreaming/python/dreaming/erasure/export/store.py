"""The SQL of exports: whole rows, in the order of their keys."""

from __future__ import annotations

from collections.abc import Sequence

from psycopg import sql

from dreaming.database import Transaction
from dreaming.erasure.catalogue.records import Table
from dreaming.erasure.export.records import ExportedRow, Part
from dreaming.notes.records import Tenant


def read_rows(
    tx: Transaction, part: Part, table: Table, after: Sequence[str] | None, *, rows: int, characters: int
) -> tuple[list[ExportedRow], tuple[str, ...] | None]:
    """Return rows behind the one with the key `after`, and the key of the last one when there may be more.

    At most `rows`, and no further one once they have so many characters together.
    """
    keys = sql.SQL(", ").join(sql.SQL("t.{}").format(sql.Identifier(name)) for name in table.key)
    shown = sql.SQL(", ").join(sql.SQL("t.{}::text").format(sql.Identifier(name)) for name in table.key)
    behind: sql.Composable = sql.SQL("true")
    parameters = dict(part.parameters) | {"rows": rows}
    if after is not None:
        marks = [
            sql.SQL("{}::{}").format(sql.Placeholder(f"after_{place}"), sql.SQL(kind))
            for place, kind in enumerate(table.key.values())
        ]
        behind = sql.SQL("({}) > ({})").format(keys, sql.SQL(", ").join(marks))
        parameters |= {f"after_{place}": value for place, value in enumerate(after)}
    query = sql.SQL("select to_jsonb(t)::text, {} from {} t where ({}) and {} order by {} limit %(rows)s").format(
        shown, sql.Identifier(part.table), sql.SQL(part.condition), behind, keys
    )
    found: list[ExportedRow] = []
    total = 0
    for row in tx.execute(query, parameters):
        found.append(ExportedRow(part.table, row[0]))
        total += len(row[0])
        if total >= characters or len(found) == rows:
            return found, tuple(row[1:])
    return found, None


def only_read(tx: Transaction) -> None:
    """Let nothing be written in the rest of the transaction."""
    tx.execute("set transaction read only")


def shared_slices(tx: Transaction, tenant: Tenant) -> list[int]:
    """Return the organization's slices that are nobody's own."""
    rows = tx.execute(
        "select slice_id from slices where org_id = %s and scope <> 'private' order by slice_id", (tenant.org_id,)
    ).fetchall()
    return [row[0] for row in rows]
