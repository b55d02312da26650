"""What tests of erasure share: a search of the whole database, the rows of others, an eraser."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql
from psycopg.rows import TupleRow

from dreaming.database import Database
from dreaming.erasure.service import Eraser
from dreaming.identifiers import uuid7
from tests.world import World

Admin = psycopg.Connection[TupleRow]


def tables(admin: Admin) -> list[str]:
    """Every table of the schema, whoever's."""
    rows = admin.execute(
        "select relname from pg_class where relnamespace = 'dreaming'::regnamespace and relkind in ('r', 'p')"
    ).fetchall()
    return sorted(name for (name,) in rows)


def found(admin: Admin, phrases: Iterable[str]) -> dict[str, list[str]]:
    """In which tables each phrase occurs, in any case, in any column of any type; bytea also as text."""
    places: dict[str, list[str]] = {}
    for table in tables(admin):
        columns = admin.execute(
            "select attname, format_type(atttypid, atttypmod) from pg_attribute "
            "where attrelid = ('dreaming.' || quote_ident(%s))::regclass and attnum > 0 and not attisdropped",
            [table],
        ).fetchall()
        texts = [
            sql.SQL("coalesce(encode({}, 'escape'), '')" if kind == "bytea" else "coalesce({}::text, '')").format(
                sql.Identifier(name)
            )
            for name, kind in columns
        ]
        whole = sql.SQL(" || ' ' || ").join(texts)
        rows = admin.execute(sql.SQL("select lower({}) from {}").format(whole, sql.Identifier(table))).fetchall()
        for phrase in phrases:
            if any(phrase.lower() in text for (text,) in rows):
                places.setdefault(phrase, []).append(table)
    return places


def fingerprint(admin: Admin, org_id: str) -> dict[str, str]:
    """A hash of all rows of a tenant, table by table, whole rows in their bytes."""
    hashes = {}
    for table in tables(admin):
        columns = {
            name
            for (name,) in admin.execute(
                "select column_name from information_schema.columns where table_schema = 'dreaming'"
                " and table_name = %s",
                [table],
            ).fetchall()
        }
        owner = "org_id = %(org)s"
        if "slice_id" in columns and table != "slices":
            owner = "slice_id in (select slice_id from slices where org_id = %(org)s)"
        elif "org_id" not in columns:
            continue
        query = sql.SQL("select t::text || ' ' || t.xmin::text from {} t where " + owner).format(sql.Identifier(table))
        rows = sorted(row[0] for row in admin.execute(query, {"org": org_id}).fetchall())
        hashes[table] = hashlib.md5("\n".join(rows).encode()).hexdigest()  # noqa: S324 - compares, protects nothing
    return hashes


@dataclass(frozen=True)
class Erasing:
    """An eraser for a world's database."""

    world: World

    def eraser(self, database: Database | None = None, **changes: Any) -> Eraser:
        values = {"environment": self.world.environment, "actor": "api:boss", "clock": self.world.clock} | changes
        return Eraser(database or self.world.database, new_id=uuid7, **values)
