"""Transactions, and connections that died, sleep or cannot be had."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count
from typing import Any

import psycopg
import pytest
from psycopg.rows import TupleRow

from dreaming.database import Database, Role
from dreaming.database.address import DatabaseAddress
from dreaming.errors import DatabaseUnavailable, InvalidInput, Misconfigured
from dreaming.notes.records import Tenant
from tests.databases import at_database, created_login

ACME = Tenant("acme", "mia")


class Server:
    """Stands in for `psycopg.connect`: fails with each message in turn, then forever with the last or not at all."""

    def __init__(self, *messages: str, forever: bool = False) -> None:
        self.messages = list(messages)
        self.forever = forever
        self.tries = 0
        self.now = 0.0

    def connect(self, conninfo: str, **options: Any) -> psycopg.Connection[TupleRow]:
        self.tries += 1
        self.now += 0.5
        if self.messages:
            raise psycopg.OperationalError(self.messages[0] if self.forever else self.messages.pop(0))
        return psycopg.connect(conninfo, **options)

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def database(self, url: str, *, wait_seconds: float = 30) -> Database:
        return Database(url, wait_seconds=wait_seconds, connect=self.connect, clock=self.clock, sleep=self.sleep)


@pytest.fixture
def narrow(database_url: str) -> Iterator[Database]:
    """A database with one connection."""
    database = Database(database_url, pool_size=1)
    yield database
    database.close()


def backend(database: Database) -> int:
    with database.transaction(ACME) as tx:
        return tx.info.backend_pid


@pytest.mark.parametrize("role", [Role.WORKER, Role.API])
def test_a_transaction_has_its_role_its_tenant_and_a_known_environment(database: Database, role: Role) -> None:
    query = """
        select current_user, tenant_org(), tenant_user(), current_setting('search_path'), current_setting('timezone')
    """
    with database.transaction(ACME, role=role) as tx:
        assert tx.execute(query).fetchone() == (role, "acme", "mia", "dreaming, public", "UTC")
        assert tx.info.get_parameters()["application_name"] == "dreaming"
    with database.transaction(Tenant("acme")) as tx:
        assert tx.execute("select tenant_org(), tenant_user()").fetchone() == ("acme", None)


def test_commits_at_the_end_and_rolls_back_on_an_error(narrow: Database, admin: psycopg.Connection[TupleRow]) -> None:
    with narrow.transaction(ACME) as tx:
        tx.execute("insert into slices (org_id, scope) values ('acme', 'org')")
    with pytest.raises(KeyError), narrow.transaction(ACME) as tx:
        tx.execute("insert into slices (org_id, scope) values ('acme', 'shared')")
        raise KeyError
    assert admin.execute("select scope from slices").fetchall() == [("org",)]


def test_sql_errors_pass_unchanged_and_are_not_repeated(narrow: Database) -> None:
    runs = 0
    with pytest.raises(psycopg.errors.DivisionByZero), narrow.transaction(ACME) as tx:
        runs += 1
        tx.execute("select 1 / 0")
    assert runs == 1
    assert backend(narrow) > 0


def test_the_planner_cannot_write(database: Database) -> None:
    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction), database.planner() as tx:
        tx.execute("create temporary table t (n integer)")
    with pytest.raises(psycopg.errors.ActiveSqlTransaction), database.planner() as tx:
        tx.execute("set transaction read write")
    with database.transaction(ACME) as tx:
        assert tx.execute("show transaction_read_only").fetchone() == ("off",)


@pytest.mark.parametrize(
    ("tenant", "field"),
    [
        *((Tenant(""), "org_id"), (Tenant("a\0b"), "org_id"), (Tenant("a", "b\0"), "user_id")),
        *((Tenant("a\ud800"), "org_id"), (Tenant("a", "\udfff"), "user_id")),
    ],
)
def test_a_tenant_without_a_usable_organization_is_refused(narrow: Database, tenant: Tenant, field: str) -> None:
    with pytest.raises(InvalidInput) as refused, narrow.transaction(tenant):
        pytest.fail("the block ran")
    assert refused.value.field == field
    assert backend(narrow) > 0


def test_connections_are_reused_and_dead_ones_replaced(narrow: Database, admin: psycopg.Connection[TupleRow]) -> None:
    first = backend(narrow)
    assert backend(narrow) == first
    admin.execute("select pg_terminate_backend(%s, 10000)", [first])
    assert backend(narrow) != first


def test_a_reused_connection_is_not_asked_first_whether_it_answers(database_url: str) -> None:
    said: list[str] = []

    class Cursor(psycopg.Cursor[TupleRow]):
        def execute(self, query: Any, *arguments: Any, **options: Any) -> Any:
            said.append(str(query).split()[0])
            return super().execute(query, *arguments, **options)

    database = Database(database_url, pool_size=1, connect=partial(psycopg.connect, cursor_factory=Cursor))
    for _ in range(3):
        with database.transaction(ACME) as tx:
            tx.execute("values (1)")
    database.close()
    assert said == ["set", *3 * ["begin", "select", "values"]]


def test_a_role_that_cannot_be_taken_on_leaves_the_database_usable(server_url: str, database_url: str) -> None:
    with created_login(server_url, rights="in role dreaming_worker") as login:
        url = at_database(database_url, user=login.name, password=login.password)
        database = Database(url, pool_size=1)
        assert backend(database) > 0
        with pytest.raises(Misconfigured, match="may take on"), database.transaction(ACME, role=Role.API):
            pytest.fail("the block ran")
        assert backend(database) > 0
        database.close()


@pytest.mark.parametrize(("used_before", "place"), [(True, 1), (True, 2), (False, 2), (False, 3)])
def test_an_interrupt_at_the_begin_reaches_the_caller(
    narrow: Database, monkeypatch: pytest.MonkeyPatch, used_before: bool, place: int
) -> None:
    if used_before:
        assert backend(narrow) > 0
    wait, waits = psycopg.Connection.wait, count(1)

    def interrupted(connection: psycopg.Connection[TupleRow], generator: Any, *arguments: Any) -> Any:
        if next(waits) == place:
            next(generator)
            raise KeyboardInterrupt
        return wait(connection, generator, *arguments)

    with monkeypatch.context() as patched:
        patched.setattr(psycopg.Connection, "wait", interrupted)
        with pytest.raises(KeyboardInterrupt), narrow.transaction(ACME):
            pytest.fail("the block ran")
    assert backend(narrow) > 0


def test_a_connection_lost_in_a_transaction_holds(narrow: Database, admin: psycopg.Connection[TupleRow]) -> None:
    with pytest.raises(DatabaseUnavailable, match="was lost"), narrow.transaction(ACME) as tx:
        tx.execute("insert into slices (org_id, scope) values ('acme', 'org')")
        admin.execute("select pg_terminate_backend(%s, 10000)", [tx.info.backend_pid])
        tx.execute("select 1")
    with narrow.transaction(ACME) as tx:
        assert tx.execute("select count(*) from slices").fetchone() == (0,)


def test_a_connection_lost_at_the_commit_holds(narrow: Database, admin: psycopg.Connection[TupleRow]) -> None:
    with pytest.raises(DatabaseUnavailable, match="was lost"), narrow.transaction(ACME) as tx:
        admin.execute("select pg_terminate_backend(%s, 10000)", [tx.info.backend_pid])
    assert backend(narrow) > 0


def test_an_error_of_the_block_is_not_hidden_by_the_loss_of_the_connection(
    narrow: Database, admin: psycopg.Connection[TupleRow]
) -> None:
    with pytest.raises(KeyError), narrow.transaction(ACME) as tx:
        admin.execute("select pg_terminate_backend(%s, 10000)", [tx.info.backend_pid])
        raise KeyError
    assert backend(narrow) > 0


def test_a_server_that_wakes_up_is_waited_for(database_url: str) -> None:
    server = Server("FATAL:  the database system is starting up", "Aurora is resuming after being auto-paused")
    database = server.database(database_url)
    assert backend(database) > 0
    assert server.tries == 3
    database.close()


@pytest.mark.parametrize(
    "message", ["FATAL:  the database system is starting up", "connection refused", "could not translate host name"]
)
def test_a_server_that_never_wakes_up_holds_within_the_bound(message: str) -> None:
    server = Server(f"{message} (password was tops3cret)", forever=True)
    database = server.database("postgresql://mia:tops3cret@db.example.test:5433/memory", wait_seconds=20)
    with pytest.raises(DatabaseUnavailable) as held, database.transaction(ACME):
        pytest.fail("the block ran")
    assert message in str(held.value)
    assert "db.example.test:5433/memory did not answer within 20 seconds" in str(held.value)
    assert "tops3cret" not in str(held.value)
    assert server.tries > 5
    assert server.now <= 20.5


def test_a_refused_login_is_not_repeated(database_url: str) -> None:
    server = Server()
    database = server.database(at_database(database_url, "postgres", password="wr0ng-one"))
    with pytest.raises(Misconfigured, match="password authentication failed") as refused, database.transaction(ACME):
        pytest.fail("the block ran")
    assert server.tries == 1
    assert "wr0ng-one" not in str(refused.value)


def test_a_database_that_does_not_exist_is_named(database_url: str) -> None:
    database = Database(at_database(database_url, "no_such_database"))
    with pytest.raises(Misconfigured, match=r"no_such_database.* does not exist"), database.transaction(ACME):
        pytest.fail("the block ran")


def test_a_database_that_is_not_migrated_says_what_to_do(server_url: str, empty_database_url: str) -> None:
    with psycopg.connect(empty_database_url, autocommit=True) as connection:
        connection.execute("create role dreaming_test_nobody login password 'nobody'")
    try:
        url = at_database(empty_database_url, "postgres", user="dreaming_test_nobody", password="nobody")
        database = Database(url)
        with pytest.raises(Misconfigured, match="run `dream migrate`"), database.planner():
            pytest.fail("the block ran")
        database.close()
    finally:
        with psycopg.connect(server_url, autocommit=True) as connection:
            connection.execute("drop role dreaming_test_nobody")


def test_callers_wait_for_a_free_connection_but_not_forever(database_url: str) -> None:
    database = Database(database_url, pool_size=1, wait_seconds=0.05)
    with database.transaction(ACME), pytest.raises(DatabaseUnavailable, match="all 1 database connections"):
        backend(database)
    assert backend(database) > 0
    database.close()


def test_many_threads_share_few_connections(database_url: str) -> None:
    database = Database(database_url, pool_size=2)
    together = threading.Barrier(8)

    def pids(number: int) -> list[int]:
        together.wait()
        return [backend(database) for _ in range(5)]

    with ThreadPoolExecutor(8) as threads:
        assert len({pid for some in threads.map(pids, range(8)) for pid in some}) <= 2
    database.close()


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://mia:to@ps3cret@db/memory",
        "postgresql://mia:to/ps3cret@db/memory",
        "postgresql://mia:ps3cret@db:port/memory",
        "postgres//mia:ps3cret@db",
        "host=db password='ps3cret",
        "mysql://mia:ps3cret@db/memory",
    ],
)
def test_a_url_that_cannot_be_read_is_refused_without_being_quoted(url: str) -> None:
    with pytest.raises(Misconfigured, match="percent-encoded") as refused:
        Database(url)
    assert "ps3cret" not in str(refused.value)
    assert refused.value.__cause__ is None


def test_an_empty_url_is_refused() -> None:
    with pytest.raises(Misconfigured, match="set DATABASE_URL"):
        Database(" ")


def test_an_address_shows_everything_but_the_password() -> None:
    address = DatabaseAddress.parse("postgresql://mia:p%40ss3cret@db.example.test:5433/memory?sslmode=require")
    assert "db.example.test:5433/memory" in repr(address)
    assert "ss3cret" not in repr(address)
    assert "sslmode=require" in address.conninfo
    assert address.redact(ValueError("no p@ss3cret here\nsecond line")) == "no *** here"
