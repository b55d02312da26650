"""A tenant must not outlive its transaction, whatever happens on the connection it used."""

from __future__ import annotations

import gc
import signal
import threading
from collections.abc import Callable, Iterator

import psycopg
import pytest
from psycopg.rows import TupleRow

from dreaming.database import Database, Role, Transaction, connection
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
    connection = database._pool.take(1, lambda idle: idle.execute("select 1"))
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
    connection = pooled._pool.take(1, lambda idle: idle.execute("select 1"))
    connection.execute("begin")
    pooled._pool.give_back(connection)
    with pooled.transaction(BAKERY) as tx:
        assert tx.info.backend_pid != first
        assert seen(tx) == ["bakery"] * 2


def _cancelled(tx: Transaction) -> None:
    """Another thread cancels the statement."""
    canceller = threading.Timer(0.05, tx.cancel_safe)
    canceller.start()
    try:
        tx.execute("select pg_sleep(60)")
    finally:
        canceller.join()


def _interrupted(tx: Transaction) -> None:
    """A signal interrupts the thread that waits for its statement, as Ctrl-C does."""

    def interrupt(_signal: int, _frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        tx.execute("select pg_sleep(60)")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _timed_out(tx: Transaction) -> None:
    tx.execute("set local statement_timeout = 1")
    tx.execute("select pg_sleep(60)")


def _killed(tx: Transaction) -> None:
    tx.execute("select pg_terminate_backend(pg_backend_pid())")


def _closed(tx: Transaction) -> None:
    tx.close()
    tx.execute("select 1")


def _failed_in_a_savepoint(tx: Transaction) -> None:
    with tx.transaction():
        tx.execute("set local dreaming.org_id = 'bakery'")
        tx.execute("select 1 / 0")


def _died(tx: Transaction) -> None:
    raise RuntimeError("nothing was done with the tenant yet")


def _left(tx: Transaction) -> None:
    tx.execute("set session dreaming.org_id = 'acme'")
    raise SystemExit


def _in_the_middle_of_rows(tx: Transaction) -> None:
    for _ in tx.cursor().stream("select generate_series(1, 100000)"):
        raise KeyError


@pytest.mark.parametrize(
    "befall",
    [
        _cancelled,
        _interrupted,
        _timed_out,
        _killed,
        _closed,
        _failed_in_a_savepoint,
        _died,
        _left,
        _in_the_middle_of_rows,
    ],
)
def test_a_disturbed_transaction_leaves_the_next_tenant_alone(
    pooled: Database, befall: Callable[[Transaction], None]
) -> None:
    for _ in range(3):
        with pytest.raises(BaseException) as raised, pooled.transaction(ACME) as tx:  # noqa: PT011 - of any kind
            assert seen(tx) == ["acme"] * 2
            befall(tx)
        assert not isinstance(raised.value, AssertionError)
        assert outside(pooled) == CLEAN
        with pooled.transaction(BAKERY, role=Role.API) as tx:
            assert seen(tx) == ["bakery"] * 2
        with pooled.transaction(Tenant("carpenter")) as tx:
            assert seen(tx) == []


def test_an_abandoned_block_leaves_the_next_tenant_alone(pooled: Database) -> None:
    block = pooled.transaction(ACME)
    assert seen(block.__enter__()) == ["acme"] * 2
    del block  # nobody ends it: the collector does
    gc.collect()
    assert outside(pooled) == CLEAN
    with pooled.transaction(BAKERY) as tx:
        assert seen(tx) == ["bakery"] * 2


def test_what_fails_between_the_tenant_and_the_block_leaves_no_tenant(
    pooled: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    take_on = connection._take_on

    def take_on_and_die(opened: Transaction, settings: dict[str, str]) -> None:
        take_on(opened, settings)
        raise MemoryError

    monkeypatch.setattr(connection, "_take_on", take_on_and_die)
    with pytest.raises(MemoryError), pooled.transaction(ACME):
        pytest.fail("the block ran")
    monkeypatch.undo()
    assert outside(pooled) == CLEAN
    with pooled.transaction(BAKERY) as tx:
        assert seen(tx) == ["bakery"] * 2
