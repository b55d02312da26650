"""The migration runner: once, in order, whole or not at all."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.rows import TupleRow

from dreaming.database import Database, Role, check_schema, migrate, status
from dreaming.database.migration import _LOCK, MIGRATIONS, read_migrations
from dreaming.errors import DatabaseUnavailable, Misconfigured
from dreaming.local.postgres import EmbeddedPostgres
from dreaming.notes.records import Tenant
from tests.databases import at_database, created_database, created_login
from tests.waiting import wait_until


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of two small migrations."""
    write(tmp_path, "001-first", "create table first (n integer);")
    write(tmp_path, "002-second", "create table second (n integer);")
    return tmp_path


def write(folder: Path, name: str, text: str) -> None:
    (folder / f"{name}.sql").write_text(text, encoding="utf-8")


def tables(url: str) -> set[str]:
    with psycopg.connect(url) as connection:
        rows = connection.execute("select tablename from pg_tables where schemaname = 'dreaming'").fetchall()
    return {name for (name,) in rows} - {"schema_migrations"}


def test_applies_each_file_once_in_order(empty_database_url: str, folder: Path) -> None:
    assert [migration.name for migration in migrate(empty_database_url, folder=folder)] == ["001-first", "002-second"]
    assert migrate(empty_database_url, folder=folder) == []
    write(folder, "003-third", "create table third (n integer);")
    assert [migration.name for migration in status(empty_database_url, folder=folder).pending] == ["003-third"]
    assert [migration.name for migration in migrate(empty_database_url, folder=folder)] == ["003-third"]
    assert tables(empty_database_url) == {"first", "second", "third"}


def test_status_and_check_name_what_is_missing_and_change_nothing(empty_database_url: str, folder: Path) -> None:
    assert status(empty_database_url, folder=folder).applied == ()
    with pytest.raises(Misconfigured, match="lacks migrations: 001-first, 002-second; run `dream migrate`"):
        check_schema(empty_database_url, folder=folder)
    assert tables(empty_database_url) == set()
    migrate(empty_database_url, folder=folder)
    check_schema(empty_database_url, folder=folder)
    assert [done.name for done in status(empty_database_url, folder=folder).applied] == ["001-first", "002-second"]


def test_refuses_an_edited_applied_file(empty_database_url: str, folder: Path) -> None:
    migrate(empty_database_url, folder=folder)
    write(folder, "001-first", "create table first (n integer); -- more")
    write(folder, "003-third", "create table third (n integer);")
    for run in (migrate, check_schema):
        with pytest.raises(Misconfigured, match="001-first was edited"):
            run(empty_database_url, folder=folder)
    assert tables(empty_database_url) == {"first", "second"}


def test_other_line_ends_are_not_an_edit(empty_database_url: str, folder: Path) -> None:
    write(folder, "001-first", "create table first (\n    n integer\n);\n")
    migrate(empty_database_url, folder=folder)
    (folder / "001-first.sql").write_bytes(b"create table first (\r\n    n integer\r\n);\r\n")
    assert migrate(empty_database_url, folder=folder) == []


@pytest.mark.parametrize("change", ["deleted", "renamed"])
def test_refuses_when_an_applied_file_is_gone(empty_database_url: str, folder: Path, change: str) -> None:
    migrate(empty_database_url, folder=folder)
    text = (folder / "002-second.sql").read_text(encoding="utf-8")
    (folder / "002-second.sql").unlink()
    if change == "renamed":
        write(folder, "002-other", text)
    with pytest.raises(Misconfigured, match="002-second, which this version does not know"):
        migrate(empty_database_url, folder=folder)


def test_refuses_a_new_file_below_an_applied_one(empty_database_url: str, folder: Path) -> None:
    write(folder, "004-fourth", "create table fourth (n integer);")
    migrate(empty_database_url, folder=folder)
    write(folder, "003-third", "create table third (n integer);")
    with pytest.raises(Misconfigured, match="003-third is numbered below 004"):
        migrate(empty_database_url, folder=folder)
    assert "third" not in tables(empty_database_url)


def test_refuses_two_files_of_one_number_and_other_names(folder: Path) -> None:
    write(folder, "002-twin", "select 1;")
    with pytest.raises(Misconfigured, match=r"002-twin\.sql: 002-second has the same number"):
        read_migrations(folder)
    (folder / "002-twin.sql").rename(folder / "3-third.sql")
    with pytest.raises(Misconfigured, match=r"3-third\.sql: is not named NNN-name.sql"):
        read_migrations(folder)


def test_a_failing_statement_takes_its_whole_file_back_and_only_it(empty_database_url: str, folder: Path) -> None:
    write(folder, "002-second", "create table second (n integer); select 1 / 0;")
    with pytest.raises(Misconfigured, match="002-second failed and was rolled back: division by zero"):
        migrate(empty_database_url, folder=folder)
    assert tables(empty_database_url) == {"first"}
    write(folder, "002-second", "create table second (n integer);")
    assert [migration.name for migration in migrate(empty_database_url, folder=folder)] == ["002-second"]


def test_refuses_a_file_that_ends_its_transaction(empty_database_url: str, folder: Path) -> None:
    write(folder, "002-second", "create table second (n integer); commit; begin; select 1;")
    with pytest.raises(Misconfigured, match="002-second: begins or ends a transaction"):
        migrate(empty_database_url, folder=folder)
    assert [done.name for done in status(empty_database_url, folder=folder).applied] == ["001-first"]


def test_percent_signs_and_dollar_quotes_reach_the_server_as_they_are(empty_database_url: str, tmp_path: Path) -> None:
    body = "create function odd() returns text language plpgsql as $$ begin return '%s %(a)s %% $1 {x}'; end $$;"
    write(tmp_path, "001-odd", body)
    migrate(empty_database_url, folder=tmp_path)
    with psycopg.connect(empty_database_url) as connection:
        assert connection.execute("select dreaming.odd()").fetchone() == ("%s %(a)s %% $1 {x}",)


def test_two_at_once_apply_everything_once(empty_database_url: str) -> None:
    start = threading.Barrier(2)

    def run(_: int) -> list[str]:
        start.wait()
        return [migration.name for migration in migrate(empty_database_url)]

    with ThreadPoolExecutor(2) as threads:
        results = sorted(threads.map(run, range(2)))
    assert results == [[], [migration.name for migration in read_migrations()]]


def test_waits_for_the_migration_that_is_running(empty_database_url: str, folder: Path) -> None:
    with psycopg.connect(empty_database_url, autocommit=True) as other, ThreadPoolExecutor(1) as thread:
        other.execute("select pg_advisory_lock(%s)", [_LOCK])
        waiting = thread.submit(migrate, empty_database_url, folder=folder)
        query = "select from pg_locks where locktype = 'advisory' and not granted"
        wait_until(lambda: other.execute(query).fetchone() is not None, "the second waits", within=60)
        assert tables(empty_database_url) == set()
        other.execute("select pg_advisory_unlock(%s)", [_LOCK])
        assert len(waiting.result()) == 2


def test_killed_in_the_middle_it_leaves_nothing_and_the_next_run_goes_on(empty_database_url: str, folder: Path) -> None:
    write(folder, "002-second", "create table second (n integer); select pg_sleep(600);")
    program = "import sys; from pathlib import Path; from dreaming.database import migrate; "
    program += "migrate(sys.argv[1], folder=Path(sys.argv[2]))"
    child = subprocess.Popen([sys.executable, "-c", program, empty_database_url, str(folder)])
    with psycopg.connect(empty_database_url, autocommit=True) as other:
        asleep = "select from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()"
        wait_until(lambda: other.execute(asleep).fetchone() is not None, "the migration is at work", within=60)
    child.send_signal(signal.SIGKILL)
    child.wait()
    write(folder, "002-second", "create table second (n integer);")
    assert [migration.name for migration in migrate(empty_database_url, folder=folder)] == ["002-second"]
    assert tables(empty_database_url) == {"first", "second"}


def test_a_server_that_is_gone_is_waited_for_within_the_bound() -> None:
    with pytest.raises(DatabaseUnavailable, match="did not answer within 0 seconds"):
        migrate("postgresql://someone:hidden@127.0.0.1:1/nowhere", wait_seconds=0)


def test_an_old_server_is_named(empty_database_url: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dreaming.database.migration.OLDEST_SERVER", 99)
    with pytest.raises(Misconfigured, match=r"the server is PostgreSQL \d+; use 99 or later"):
        migrate(empty_database_url, folder=folder)


def test_a_login_without_createrole_is_told_what_it_lacks(server_url: str) -> None:
    with (
        created_login(server_url, rights="nocreaterole") as login,
        created_database(server_url, owner=login.name) as name,
    ):
        url = at_database(server_url, name, user=login.name, password=login.password)
        with pytest.raises(
            Misconfigured, match=rf"001-tenancy: the login '{login.name}' lacks a right: permission denied"
        ):
            migrate(url)
        assert tables(url) == set()


def test_a_login_that_may_create_nothing_is_told_so(server_url: str, empty_database_url: str) -> None:
    with created_login(server_url) as login:
        url = at_database(empty_database_url, user=login.name, password=login.password)
        with pytest.raises(Misconfigured, match=r"may not create the schema 'dreaming'; .*GRANT CREATE ON DATABASE"):
            migrate(url)


def test_a_login_that_may_not_read_the_history_is_told_so(server_url: str, database_url: str) -> None:
    with created_login(server_url) as login:
        url = at_database(database_url, user=login.name, password=login.password)
        with pytest.raises(Misconfigured, match="may not read which migrations"):
            status(url)


@contextmanager
def fresh_server(folder: Path) -> Iterator[str]:
    server = EmbeddedPostgres(folder, durable=False)
    try:
        yield server.start()
    finally:
        server.remove()


def test_a_plain_login_creates_the_roles_and_takes_them_on(tmp_path: Path) -> None:
    """On a server of its own, because roles belong to the whole server; three databases at once race for them."""
    with fresh_server(tmp_path) as server_url:
        with psycopg.connect(server_url, autocommit=True) as connection:
            connection.execute("create role plain login createrole createdb password 'plain'")
            for number in range(3):
                connection.execute(f"create database d{number} owner plain".encode())
                with psycopg.connect(at_database(server_url, f"d{number}"), autocommit=True) as superuser:
                    superuser.execute("create extension vector")
        urls = [at_database(server_url, f"d{number}", user="plain", password="plain") for number in range(3)]
        with ThreadPoolExecutor(3) as threads:
            assert [len(applied) for applied in threads.map(migrate, urls)] == [len(read_migrations())] * 3
        database = Database(urls[0])
        for role in (Role.WORKER, Role.API):
            with database.transaction(Tenant("acme"), role=role) as tx:
                assert tx.execute("select current_user, count(*) from slices").fetchone() == (role, 0)
        with database.planner() as tx:
            assert tx.execute("select current_user").fetchone() == (Role.PLANNER,)
        database.close()


def test_our_migrations_neither_end_their_transaction_nor_drop_anything() -> None:
    for migration in read_migrations(MIGRATIONS):
        words = " ".join(line.partition("--")[0] for line in migration.text.lower().splitlines())
        for forbidden in ("commit;", "rollback;", "drop table", "drop column", "truncate "):
            assert forbidden not in words, migration.name


def test_migrations_apply_to_an_empty_database_and_match_the_template(admin: psycopg.Connection[TupleRow]) -> None:
    rows: list[tuple[Any, ...]] = admin.execute("select name from schema_migrations order by number").fetchall()
    assert [name for (name,) in rows] == [migration.name for migration in read_migrations()]
