"""A tenant must not outlive its transaction, whatever happens on the connection it used."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from psycopg.rows import TupleRow

from dreaming.database import Database, Role, Transaction
from dreaming.notes.records import SliceKey, Tenant
from tests.rows import insert_every_row, insert_slice, rows_of_every_table

ACME, BAKERY = Tenant("acme"), Tenant("bakery")


@pytest.fixture
def pooled(database_url: str, admin: psycopg.Connection[TupleRow]) -> Iterator[Database]:
    """A database with a single pooled connection and one slice full of rows for each of two tenants."""
    for key in (SliceKey("acme"), SliceKey("bakery")):
        insert_every_row(admin, insert_slice(admin, key), key.org_id)
    database = Database(database_url, pool_size=1)
    yield database
    database.close()


def seen(tx: Transaction) -> list[str]:
    """The organizations whose slices and settings are visible, and the session's connection must be the pool's one."""
    rows = tx.execute("select org_id from slices union all select org_id from settings order by 1").fetchall()
    return [org_id for (org_id,) in rows]


def outside(database: Database) -> tuple[object, ...]:
    """What the pooled connection is left with between two transactions."""
    connection = database._pool.take(1)
    try:
        row = connection.execute(
            "select current_user = session_user, coalesce(current_setting('dreaming.org_id', true), ''), "
            "coalesce(current_setting('dreaming.user_id', true), ''), current_setting('transaction_read_only')"
        ).fetchone()
    finally:
        database._pool.give_back(connection)
    assert row is not None
    return row


CLEAN = (True, "", "", "off")


def test_one_pooled_connection_serves_two_tenants_without_mixing_them(pooled: Database) -> None:
    backends = set()
    for tenant in (ACME, BAKERY, ACME, Tenant("carpenter"), BAKERY):
        with pooled.transaction(tenant) as tx:
            backends.add(tx.info.backend_pid)
            assert seen(tx) == [tenant.org_id] * (2 if tenant in (ACME, BAKERY) else 0)
        assert outside(pooled) == CLEAN
    assert len(backends) == 1


def test_the_planner_and_the_roles_do_not_mix_either(pooled: Database) -> None:
    with pooled.transaction(Tenant("acme", "mia"), role=Role.API) as tx:
        assert len(seen(tx)) == 2
    with pooled.planner() as tx:
        assert tx.execute("select current_user, tenant_org(), tenant_user()").fetchone() == (Role.PLANNER, None, None)
    with pooled.transaction(BAKERY) as tx:
        assert tx.execute("select current_user, tenant_user()").fetchone() == (Role.WORKER, None)
        assert tx.execute("show transaction_read_only").fetchone() == ("off",)
    assert outside(pooled) == CLEAN


@pytest.mark.parametrize("failure", ["select 1 / 0", "insert into slices (org_id, scope) values ('bakery', 'shared')"])
def test_a_failed_transaction_leaves_no_tenant_behind(pooled: Database, failure: str) -> None:
    with pytest.raises(psycopg.Error), pooled.transaction(ACME) as tx:
        tx.execute(failure.encode())
    assert outside(pooled) == CLEAN
    with pooled.transaction(BAKERY) as tx:
        assert seen(tx) == ["bakery"] * 2


def test_a_session_wide_setting_does_not_decide_the_next_transaction(pooled: Database) -> None:
    with pooled.transaction(ACME) as tx:
        tx.execute("set dreaming.org_id = 'bakery'")
        tx.execute("set role dreaming_worker")
    with pooled.transaction(Tenant("carpenter"), role=Role.API) as tx:
        assert seen(tx) == []
        assert tx.execute("select current_user").fetchone() == (Role.API,)
    with pooled.planner() as tx:
        assert tx.execute("select tenant_org()").fetchone() == (None,)


def test_resetting_the_tenant_shows_nothing(pooled: Database) -> None:
    with pooled.transaction(ACME) as tx:
        tx.execute("reset dreaming.org_id")
        assert seen(tx) == []
    with pooled.transaction(ACME) as tx:
        tx.execute("reset all")
        assert tx.execute("select count(*) from dreaming.notes").fetchone() == (0,)
    with pooled.transaction(BAKERY) as tx:
        assert seen(tx) == ["bakery"] * 2


def test_resetting_the_role_shows_nothing_to_the_owner_of_the_tables(plain_login_url: str) -> None:
    """The owner is no superuser here, as in a deployment: forced row-level security holds for it too."""
    database = Database(plain_login_url, pool_size=1)
    with database.transaction(ACME) as tx:
        slice_id = insert_slice(tx, SliceKey("acme"))
        tx.execute("insert into slice_counters (slice_id) values (%s)", [slice_id])
    tables = [table for table in rows_of_every_table(1, "acme") if " " not in table]
    with database.transaction(ACME) as tx:
        assert tx.execute("select count(*) from slice_counters").fetchone() == (1,)
        tx.execute("reset role")
        owner = tx.execute("select tableowner from pg_tables where tablename = 'slices'").fetchone()
        assert tx.execute("select current_user").fetchone() == owner
        for table in ["slices", *tables]:
            assert tx.execute(f"select count(*) from {table}".encode()).fetchone() == (0,)
    assert outside(database) == CLEAN
    database.close()


def test_a_connection_left_in_a_transaction_is_not_given_to_the_next_tenant(pooled: Database) -> None:
    with pooled.transaction(ACME) as tx:
        first = tx.info.backend_pid
    connection = pooled._pool.take(1)
    connection.execute("begin")
    pooled._pool.give_back(connection)
    with pooled.transaction(BAKERY) as tx:
        assert tx.info.backend_pid != first
        assert seen(tx) == ["bakery"] * 2
