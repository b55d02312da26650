"""Row-level security on every table, read from the catalog so that no new table can be forgotten."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from psycopg import sql
from psycopg.rows import TupleRow

from dreaming.database import Database, Role
from dreaming.notes.records import Scope, SliceKey, Tenant
from tests.rows import insert_every_row, insert_row, insert_slice, rows_of_every_table

NOT_OF_A_TENANT = {"schema_migrations"}
ACME, BAKERY = SliceKey("acme"), SliceKey("bakery")
PLANNER_READS = {
    "slices": {"slice_id", "org_id", "scope", "owner_user_id", "last_seq"},
    "dream_cursor": {
        *("slice_id", "pass", "position", "generation", "run_id"),
        *("progressed_at", "planned_at", "lease_expires_at", "held_since"),
    },
    "due_times": {"slice_id", "pass", "due_at"},
    "belief_lock": {
        *("slice_id", "slow_half_life", "fast_half_life", "archive_threshold", "warn_ahead", "recomputing"),
    },
    "settings": {"org_id", "name", "value"},
    "outbox": {"slice_id", "sent_at"},
    "slice_counters": {"slice_id", "beliefs_ageing", "relationships_ageing"},
    "enrolment": {"org_id", "enrolled", "model_consent", "embedding_consent", "updated_at"},
    "vector_spaces": {"slice_id", "active_model", "target_model", "consent_at"},
}
APPLICATION = [Role.WORKER, Role.API]
Admin = psycopg.Connection[TupleRow]


@pytest.fixture
def tables(admin: Admin) -> list[str]:
    """The tables that hold rows of tenants."""
    rows = admin.execute(
        "select relname from pg_class where relnamespace = 'dreaming'::regnamespace and relkind in ('r', 'p')"
    ).fetchall()
    return sorted({name for (name,) in rows} - NOT_OF_A_TENANT)


@pytest.fixture
def planted(admin: Admin) -> int:
    """The id of the organization acme's slice, with a row in every table."""
    slice_id = insert_slice(admin, ACME)
    insert_every_row(admin, slice_id, "acme")
    return slice_id


@pytest.fixture
def as_role(admin: Admin) -> Iterator[Admin]:
    """The admin's connection, for tests that take on a role without any tenant."""
    yield admin
    admin.execute("reset role")


def readable(admin: Admin, role: Role, tables: list[str]) -> list[str]:
    return [
        table
        for table in tables
        if admin.execute("select has_table_privilege(%s, %s, 'select')", [role, table]).fetchone() == (True,)
    ]


def count(connection: Admin, table: str) -> int:
    row = connection.execute(sql.SQL("select count(*) from {}").format(sql.Identifier(table))).fetchone()
    assert row is not None
    return int(row[0])


def test_every_table_forces_row_security(admin: Admin, tables: list[str]) -> None:
    query = """
        select relname from pg_class
        where relnamespace = 'dreaming'::regnamespace and relkind in ('r', 'p')
          and relrowsecurity and relforcerowsecurity
    """
    assert sorted(name for (name,) in admin.execute(query).fetchall()) == tables


def test_every_table_has_one_policy_that_checks_reads_and_writes(admin: Admin, tables: list[str]) -> None:
    query = """
        select tablename, roles::text[], cmd, permissive, qual is not null and qual = with_check from pg_policies
        where schemaname = 'dreaming' and policyname = 'tenant' order by tablename
    """
    expected = [(table, ["dreaming_api", "dreaming_worker"], "ALL", "PERMISSIVE", True) for table in tables]
    rows = admin.execute(query).fetchall()
    assert [(table, sorted(roles), *rest) for table, roles, *rest in rows] == expected


def test_the_eraser_has_a_policy_on_every_table_that_checks_reads_and_writes(admin: Admin, tables: list[str]) -> None:
    query = """
        select tablename, roles::text[], cmd, permissive, qual is not null and qual = with_check from pg_policies
        where schemaname = 'dreaming' and policyname = 'eraser' order by tablename
    """
    assert admin.execute(query).fetchall() == [
        (table, ["dreaming_eraser"], "ALL", "PERMISSIVE", True) for table in tables
    ]
    others = "select distinct policyname from pg_policies where schemaname = 'dreaming' order by 1"
    assert admin.execute(others).fetchall() == [("eraser",), ("planner",), ("tenant",)]


def test_the_eraser_alone_deletes_what_was_told(admin: Admin, tables: list[str]) -> None:
    may = "select t from unnest(%s::text[]) t where has_table_privilege(%s, t, 'delete') order by 1"
    assert [name for (name,) in admin.execute(may, [tables, Role.ERASER]).fetchall()] == tables
    told = ["slices", "notes", "note_versions", "beliefs", "sources", "belief_history", "merges", "relationships"]
    told += ["audit", "autonomy_actions", "erasure_keys", "tombstones", "enrolment", "dream_runs"]
    for role in (*APPLICATION, Role.PLANNER):
        assert admin.execute(may, [told, role]).fetchall() == []


def test_the_eraser_sees_one_organization_and_with_a_user_what_that_user_sees(
    database: Database, admin: Admin, tables: list[str], planted: int
) -> None:
    for owner in ("mia", "tom"):
        insert_every_row(admin, insert_slice(admin, SliceKey("acme", Scope.PRIVATE, owner)), f"{owner}s")
    in_slices = tables_by_slice(admin)
    with database.transaction(ACME.tenant, role=Role.ERASER) as tx:
        assert {table for table in in_slices if count(tx, table) < 3} == set()
    with database.transaction(Tenant("acme", "mia"), role=Role.ERASER) as tx:
        assert tx.execute("select owner_user_id from slices order by 1 nulls last").fetchall() == [("mia",), (None,)]
        assert {table: count(tx, table) for table in in_slices - {"beliefs"}} == dict.fromkeys(
            in_slices - {"beliefs"}, 2
        )
    for other in (BAKERY.tenant, Tenant("ACME"), Tenant("bakery", "mia")):
        with database.transaction(other, role=Role.ERASER) as tx:
            assert {table: count(tx, table) for table in tables} == dict.fromkeys(tables, 0)


def test_no_eraser_deletes_or_changes_across_tenants(
    database: Database, admin: Admin, planted: int, tables: list[str]
) -> None:
    """With every right on the tables, so that only the policies stand in the way."""
    admin.execute("grant insert, update, delete on all tables in schema dreaming to dreaming_eraser")
    theirs = insert_slice(admin, BAKERY)
    for table in tables:
        by_slice = table in tables_by_slice(admin) - {"slices"}
        column, value = ("slice_id", str(theirs)) if by_slice else ("org_id", "bakery")
        move = sql.SQL("update {} set {} = {}").format(sql.Identifier(table), sql.Identifier(column), value)
        with (
            pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"),
            database.transaction(ACME.tenant, role=Role.ERASER) as tx,
        ):
            tx.execute(move)
        with database.transaction(Tenant("carpenter"), role=Role.ERASER) as tx:
            assert tx.execute(sql.SQL("delete from {}").format(sql.Identifier(table))).rowcount == 0


@pytest.mark.parametrize("role", [*APPLICATION, Role.ERASER])
def test_a_table_to_come_lets_the_eraser_in_and_nobody_else_by_itself(admin: Admin, role: Role) -> None:
    admin.execute("create table to_come (slice_id bigint primary key); call protect_by_slice('to_come')")
    admin.execute("create table of_all (org_id text primary key); call protect_by_org('of_all')")
    for table in ("to_come", "of_all"):
        may = admin.execute("select has_table_privilege(%s, %s, 'select, delete')", [role, table]).fetchone()
        assert may == (role is Role.ERASER,)


def test_no_policy_but_the_planners_lets_anyone_else_in(admin: Admin) -> None:
    query = """
        select tablename, roles::text[], cmd from pg_policies
        where schemaname = 'dreaming' and policyname = 'planner' order by tablename
    """
    expected = [(table, ["dreaming_planner"], "SELECT") for table in sorted(PLANNER_READS)]
    assert admin.execute(query).fetchall() == expected


def test_no_application_role_owns_anything_or_has_powers(admin: Admin) -> None:
    owners = "select distinct pg_get_userbyid(relowner) from pg_class where relnamespace = 'dreaming'::regnamespace"
    assert not {name for (name,) in admin.execute(owners).fetchall()} & set(Role)
    powers = """
        select rolname from pg_roles where rolname = any(%s) and not
            (rolsuper or rolinherit or rolcreaterole or rolcreatedb or rolcanlogin or rolreplication or rolbypassrls)
    """
    assert {name for (name,) in admin.execute(powers, [list(Role)]).fetchall()} == set(Role)
    creates = "select has_schema_privilege(r, 'dreaming', 'create') from unnest(%s::text[]) as r"
    assert admin.execute(creates, [list(Role)]).fetchall() == [(False,)] * len(Role)


def test_no_application_role_may_truncate_or_touch_the_history_of_migrations(admin: Admin, tables: list[str]) -> None:
    query = "select t, r from unnest(%s::text[]) t, unnest(%s::text[]) r where has_table_privilege(r, t, 'truncate')"
    assert admin.execute(query, [tables, list(Role)]).fetchall() == []
    query = (
        "select r from unnest(%s::text[]) r where has_any_column_privilege(r, 'schema_migrations', 'select, insert')"
    )
    assert admin.execute(query, [list(Role)]).fetchall() == []


def test_the_rows_of_these_tests_cover_every_table(tables: list[str]) -> None:
    names = {name for name in rows_of_every_table(1, "acme") if " " not in name}
    assert sorted(names | {"slices"}) == tables


@pytest.mark.parametrize("role", APPLICATION)
def test_a_tenant_sees_its_rows_and_no_other_tenant_does(
    database: Database, admin: Admin, tables: list[str], planted: int, role: Role
) -> None:
    mine = readable(admin, role, tables)
    assert len(mine) >= len(tables) - 1
    with database.transaction(ACME.tenant, role=role) as tx:
        assert [table for table in mine if count(tx, table) == 0] == []
    for other in (BAKERY.tenant, Tenant("ACME"), Tenant("acme "), Tenant("%"), Tenant("bakery", "acme")):
        with database.transaction(other, role=role) as tx:
            assert {table: count(tx, table) for table in mine} == dict.fromkeys(mine, 0)


@pytest.mark.parametrize("org_id", [None, ""])
@pytest.mark.parametrize("role", APPLICATION)
def test_without_a_tenant_nothing_is_seen(
    as_role: Admin, tables: list[str], planted: int, role: Role, org_id: str | None
) -> None:
    mine = readable(as_role, role, tables)
    if org_id is not None:
        as_role.execute("select set_config('dreaming.org_id', %s, false)", [org_id])
    as_role.execute(f"set role {role}".encode())
    assert {table: count(as_role, table) for table in mine} == dict.fromkeys(mine, 0)


def test_a_private_slice_needs_its_owner(database: Database, admin: Admin, tables: list[str]) -> None:
    slice_id = insert_slice(admin, SliceKey("acme", Scope.PRIVATE, "mia"))
    insert_every_row(admin, slice_id, "acme")
    in_slices = tables_by_slice(admin)
    for user, expected in (("mia", True), ("tom", False), ("", False), (None, False)):
        with database.transaction(Tenant("acme", user)) as tx:
            assert {table: count(tx, table) > 0 for table in in_slices} == dict.fromkeys(in_slices, expected)


@pytest.mark.parametrize("role", APPLICATION)
def test_no_row_enters_another_tenants_slice(
    database: Database, admin: Admin, planted: int, tables: list[str], role: Role
) -> None:
    """As a role with every right on the tables, so that only the policies stand in the way."""
    admin.execute(f"grant insert, update on all tables in schema dreaming to {role}".encode())
    refused = set()
    for table, row in rows_of_every_table(planted, "acme").items():
        if " " not in table:
            with (
                pytest.raises(psycopg.errors.InsufficientPrivilege) as error,
                database.transaction(BAKERY.tenant, role=role) as tx,
            ):
                insert_row(tx, table, row)
            assert "row-level security policy" in str(error.value)
            refused.add(table)
    for key in (ACME, SliceKey("bakery", Scope.PRIVATE, "mia")):
        with (
            pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"),
            database.transaction(Tenant("bakery", "tom"), role=role) as tx,
        ):
            insert_slice(tx, key)
    assert sorted(refused | {"slices"}) == tables


@pytest.mark.parametrize("role", APPLICATION)
def test_no_row_is_moved_or_changed_across_tenants(
    database: Database, admin: Admin, planted: int, tables: list[str], role: Role
) -> None:
    admin.execute(f"grant update, delete on all tables in schema dreaming to {role}".encode())
    theirs = insert_slice(admin, BAKERY)
    in_slices = tables_by_slice(admin)
    for table in tables:
        column, value = ("slice_id", str(theirs)) if table in in_slices - {"slices"} else ("org_id", "bakery")
        move = sql.SQL("update {} set {} = {}").format(sql.Identifier(table), sql.Identifier(column), value)
        with (
            pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"),
            database.transaction(ACME.tenant, role=role) as tx,
        ):
            tx.execute(move)
        erase = sql.SQL("delete from {}").format(sql.Identifier(table))
        with database.transaction(Tenant("carpenter"), role=role) as tx:
            assert tx.execute(move).rowcount == 0
            assert tx.execute(erase).rowcount == 0


def tables_by_slice(admin: Admin) -> set[str]:
    query = (
        "select table_name from information_schema.columns where table_schema = 'dreaming' and column_name = 'slice_id'"
    )
    return {name for (name,) in admin.execute(query).fetchall()}


def test_the_planner_reads_exactly_its_columns(admin: Admin) -> None:
    query = """
        select table_name, array_agg(column_name::text) from information_schema.column_privileges
        where table_schema = 'dreaming' and grantee = 'dreaming_planner' and privilege_type = 'SELECT'
        group by table_name
    """
    assert {table: set(columns) for table, columns in admin.execute(query).fetchall()} == PLANNER_READS
    others = """
        select privilege_type from information_schema.column_privileges
        where grantee = 'dreaming_planner' and privilege_type <> 'SELECT'
        union all select privilege_type from information_schema.table_privileges where grantee = 'dreaming_planner'
    """
    assert admin.execute(others).fetchall() == []


def test_the_planner_sees_all_tenants_but_none_of_their_text(
    database: Database, admin: Admin, planted: int, tables: list[str]
) -> None:
    insert_slice(admin, BAKERY)
    with database.planner() as tx:
        assert tx.execute("select org_id from slices order by 1").fetchall() == [("acme",), ("bakery",)]
        assert tx.execute("select org_id, enrolled, model_consent from enrolment").fetchall() == [
            ("acme", False, False)
        ]
        # Of the settings only those that ageing depends on: they are numbers.
        assert tx.execute("select name from settings").fetchall() == []
    columns = admin.execute(
        "select table_name, column_name from information_schema.columns where table_schema = 'dreaming'"
    ).fetchall()
    for table, column in columns:
        if column not in PLANNER_READS.get(table, set()):
            query = sql.SQL("select {} from {}").format(sql.Identifier(column), sql.Identifier(table))
            with pytest.raises(psycopg.errors.InsufficientPrivilege), database.planner() as tx:
                tx.execute(query)
    assert ("notes", "text") in columns


@pytest.mark.parametrize("role", APPLICATION)
def test_the_policy_of_slices_uses_the_index_for_one_owner_among_many(
    database: Database, admin: Admin, role: Role
) -> None:
    admin.execute(
        "insert into slices (org_id, scope, owner_user_id) "
        "select 'acme', 'private', 'u' || n from generate_series(1, 9000) n"
    )
    admin.execute("analyze slices")
    with database.transaction(Tenant("acme", "u77"), role=role) as tx:
        plan = "\n".join(line for (line,) in tx.execute("explain select * from slices").fetchall())
    assert "Seq Scan" not in plan
    assert plan.count("Index Cond") == 2
