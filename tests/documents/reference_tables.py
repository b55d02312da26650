"""The page of the tables, from the catalogue of a migrated database."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import psycopg

from dreaming.database import Role

_HEAD = """# Tables

Written from a migrated database by `make docs`. What a table is for stands in the database too, as its comment
(`\\d+` in psql): a migration puts it there. All tables are in the schema `dreaming`.

Nothing but the program is meant to write here. Reading with SQL is welcome, and no shape is promised from version to
version beyond this: migrations only add.

Each table has row-level security, also for its owner, and each transaction of the program names its tenant:

| rule | rows that a transaction sees and may write |
|---|---|
| by slice | those of the organization's own and shared slices, and with a user of that user's private one |
| by organization | those of the organization |
| by user | those of the organization and the user, or of no user when there is none |

| role | used by |
|---|---|
| `worker` | the passes, ingest and `dream` |
| `api` | the HTTP API |
| `planner` | ticks, which list the slices of all tenants: only the columns named, never a text |
| `eraser` | erasure: the only one that deletes notes and beliefs |
"""

_COLUMNS = """
select c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
       pg_get_expr(d.adbin, d.adrelid), a.attgenerated <> '', a.attidentity <> ''
from pg_attribute a
join pg_class c on c.oid = a.attrelid
left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
where c.relnamespace = 'dreaming'::regnamespace and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped
order by c.relname, a.attnum
"""
_CONSTRAINTS = """
select c.relname, o.contype, pg_get_constraintdef(o.oid),
       (select array_agg(a.attname::text order by k.place) from unnest(o.conkey) with ordinality k(number, place)
        join pg_attribute a on a.attrelid = c.oid and a.attnum = k.number),
       f.relname, o.confdeltype
from pg_constraint o
join pg_class c on c.oid = o.conrelid
left join pg_class f on f.oid = o.confrelid
where c.relnamespace = 'dreaming'::regnamespace and c.relkind = 'r' and o.contype in ('p', 'u', 'f', 'c')
order by c.relname, o.contype desc, pg_get_constraintdef(o.oid)
"""
_RIGHTS = """
select t.relname, right(r.rolname, -9), p.privilege,
       has_table_privilege(r.oid, t.oid, p.privilege),
       (select array_agg(a.attname::text order by a.attnum) from pg_attribute a
        where a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped and p.privilege <> 'DELETE'
          and has_column_privilege(r.oid, t.oid, a.attnum, p.privilege))
from pg_class t
cross join (values (1, 'SELECT'), (2, 'INSERT'), (3, 'UPDATE'), (4, 'DELETE')) p(place, privilege)
join pg_roles r on r.rolname = any(%s)
where t.relnamespace = 'dreaming'::regnamespace and t.relkind = 'r'
order by t.relname, array_position(%s, r.rolname::text), p.place
"""
_POLICIES = "select tablename, qual from pg_policies where schemaname = 'dreaming' and policyname = 'tenant'"
_PURPOSES = """
select relname, obj_description(oid, 'pg_class') from pg_class
where relnamespace = 'dreaming'::regnamespace and relkind = 'r' order by relname
"""
_ROLES = [str(role) for role in Role]
_CAST = re.compile(r"::[a-z][a-z ]*(\[\])?")


def tables_page(database_url: str) -> str:
    """Return the page, in Markdown."""
    with psycopg.connect(database_url, autocommit=True, options="-c search_path=dreaming,public") as connection:
        purposes = connection.execute(_PURPOSES).fetchall()
        columns = _by_table(connection.execute(_COLUMNS).fetchall())
        constraints = _by_table(connection.execute(_CONSTRAINTS).fetchall())
        rights = _by_table(connection.execute(_RIGHTS, [_ROLES, _ROLES]).fetchall())
        policies: dict[str, str] = dict(connection.execute(_POLICIES).fetchall())
    pieces = [_HEAD]
    for name, purpose in purposes:
        pieces.append(f"\n## {name}\n\n{purpose or 'No purpose is told.'}\n\n")
        pieces += _columns(columns[name])
        pieces += _rules(constraints[name])
        pieces.append(f"\nRows: {_rows(policies.get(name))}. {_who(rights[name])}\n")
    return "".join(pieces)


def _by_table(rows: list[tuple[Any, ...]]) -> dict[str, list[tuple[Any, ...]]]:
    found: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
    for name, *rest in rows:
        found[name].append(tuple(rest))
    return found


def _columns(columns: list[tuple[Any, ...]]) -> Iterator[str]:
    yield "| column | type | |\n|---|---|---|\n"
    for name, kind, required, default, generated, identity in columns:
        remarks = []
        if not required:
            remarks.append("may be null")
        if identity:
            remarks.append("given by the database")
        elif generated:
            remarks.append(f"always `{_plain(default)}`")
        elif default is not None:
            remarks.append(f"`{_plain(default)}` unless given")
        yield f"| `{name}` | {kind.replace('timestamp with time zone', 'timestamptz')} | {', '.join(remarks)} |\n"


def _rules(constraints: list[tuple[Any, ...]]) -> Iterator[str]:
    lines = []
    for kind, definition, columns, other, on_delete in constraints:
        names = ", ".join(f"`{column}`" for column in columns or ())
        if kind == "p":
            lines.append((0, f"- {names}: the key"))
        elif kind == "u":
            lines.append((1, f"- {names}: unique{' (null counts as a value)' if 'NULLS NOT' in definition else ''}"))
        elif kind == "f":
            lines.append((2, f"- {names}: of a row in `{other}`{', and goes with it' if on_delete == 'c' else ''}"))
        else:
            lines.append((3, f"- `{_plain(definition.removeprefix('CHECK '))}`"))
    if lines:
        yield "\n"
    yield from (f"{line}\n" for _, line in sorted(lines))


def _plain(expression: str) -> str:
    text = _CAST.sub("", " ".join(expression.split()))
    text = re.sub(r"= ANY \(\(ARRAY\[([^\]]*)\]\)\)|= ANY \(ARRAY\[([^\]]*)\]\)", _in, text)
    while text.startswith("(") and _is_wrapped(text):
        text = text[1:-1]
    return text


def _in(match: re.Match[str]) -> str:
    return f"in ({match[1] or match[2]})"


def _is_wrapped(text: str) -> bool:
    depth = 0
    for place, character in enumerate(text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth == 0 and place < len(text) - 1:
            return False
    return True


def _rows(policy: str | None) -> str:
    if policy is None:
        return "of no tenant; only the login that migrates reads and writes it"
    if "slice_id" in policy and "slices" in policy:
        return "by slice"
    if "user_id" in policy and "owner_user_id" not in policy:
        return "by user"
    return "by slice" if "owner_user_id" in policy else "by organization"


def _who(rights: list[tuple[Any, ...]]) -> str:
    verbs: dict[str, list[str]] = defaultdict(list)
    words = {"SELECT": "reads", "INSERT": "adds", "UPDATE": "changes", "DELETE": "deletes"}
    for role, privilege, whole, columns in rights:
        if whole:
            verbs[role].append(words[privilege])
        elif columns:
            verbs[role].append(f"{words[privilege]} {', '.join(f'`{column}`' for column in columns)}")
    return " ".join(f"`{role}` {_joined(done)}." for role, done in verbs.items())


def _joined(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
