"""The SQL over the catalogue, and deletions that follow it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from psycopg import sql

from dreaming.database import Transaction
from dreaming.erasure.catalogue.records import Catalogue, Reference, Table

_COLUMNS = """
    select c.relname, a.attname, format_type(a.atttypid, a.atttypmod), coalesce(array_position(k.conkey, a.attnum), 0)
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    left join pg_constraint k on k.conrelid = c.oid and k.contype = 'p'
    where c.relnamespace = 'dreaming'::regnamespace and c.relkind in ('r', 'p') and c.relname <> 'schema_migrations'
    order by c.relname, a.attnum
"""

_REFERENCES = """
    select child.relname, parent.relname,
        array(select a.attname::text from unnest(k.conkey) with ordinality as n (number, place)
              join pg_attribute a on a.attrelid = k.conrelid and a.attnum = n.number order by n.place),
        array(select a.attname::text from unnest(k.confkey) with ordinality as n (number, place)
              join pg_attribute a on a.attrelid = k.confrelid and a.attnum = n.number order by n.place)
    from pg_constraint k
    join pg_class child on child.oid = k.conrelid
    join pg_class parent on parent.oid = k.confrelid
    where k.contype = 'f' and child.relnamespace = 'dreaming'::regnamespace
    order by 1, 2, k.conname
"""


def read(tx: Transaction) -> Catalogue:
    """Return all tables of tenants and the foreign keys between them."""
    columns: dict[str, dict[str, str]] = {}
    keys: dict[str, dict[int, str]] = {}
    for table, column, kind, place in tx.execute(_COLUMNS).fetchall():
        columns.setdefault(table, {})[column] = kind
        if place:
            keys.setdefault(table, {})[place] = column
    tables = {
        name: Table(name, of_table, {keys[name][place]: of_table[keys[name][place]] for place in sorted(keys[name])})
        for name, of_table in columns.items()
    }
    references = [
        Reference(child, tuple(child_columns), parent, tuple(parent_columns))
        for child, parent, child_columns, parent_columns in tx.execute(_REFERENCES).fetchall()
    ]
    return Catalogue(tables, tuple(references))


def delete_rows(
    tx: Transaction, catalogue: Catalogue, slice_id: int, table: str, column: str, values: Sequence[Any]
) -> Counter[str]:
    """Delete the slice's rows whose `column` is among `values`, and before them all that refers to them.

    Returns how many rows of each table went.
    """
    deleted: Counter[str] = Counter()
    if not values:
        return deleted
    for reference in catalogue.referring_to(table):
        named = reference.parent_columns[0]
        found = values if named == column else _select(tx, slice_id, table, named, column, values)
        deleted += delete_rows(tx, catalogue, slice_id, reference.child, reference.child_columns[0], found)
    query = sql.SQL("delete from {} where slice_id = %s and {} = any(%s)").format(
        sql.Identifier(table), sql.Identifier(column)
    )
    deleted[table] += tx.execute(query, (slice_id, list(values))).rowcount
    return deleted


def _select(tx: Transaction, slice_id: int, table: str, wanted: str, column: str, values: Sequence[Any]) -> list[Any]:
    query = sql.SQL("select {} from {} where slice_id = %s and {} = any(%s)").format(
        sql.Identifier(wanted), sql.Identifier(table), sql.Identifier(column)
    )
    return [row[0] for row in tx.execute(query, (slice_id, list(values))).fetchall()]


def has_more_than(tx: Transaction, table: str, column: str, value: int | str, limit: int) -> bool:
    """Tell whether a slice or an organization has more than `limit` rows in a table."""
    query = sql.SQL("select count(*) from (select from {} where {} = %s limit %s) counted").format(
        sql.Identifier(table), sql.Identifier(column)
    )
    row = tx.execute(query, (value, limit + 1)).fetchone()
    return row is not None and int(row[0]) > limit


def delete_some(tx: Transaction, table: str, column: str, value: int | str, limit: int | None) -> int:
    """Delete up to `limit` rows of a slice or an organization, all without a limit; return how many."""
    query = sql.SQL(
        "delete from {table} where {column} = %(value)s and ctid = any(array("
        "select ctid from {table} where {column} = %(value)s limit %(limit)s))"
        if limit is not None
        else "delete from {table} where {column} = %(value)s"
    ).format(table=sql.Identifier(table), column=sql.Identifier(column))
    return tx.execute(query, {"value": value, "limit": limit}).rowcount
