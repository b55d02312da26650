"""Numbered SQL migrations: each applied once, in order, in a transaction of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from pathlib import Path

import psycopg
from psycopg.rows import TupleRow, class_row

from dreaming.database.address import DatabaseAddress
from dreaming.database.waiting import Password, connect_within
from dreaming.errors import DatabaseUnavailable, Misconfigured

MIGRATIONS = Path(__file__).with_name("migrations")
OLDEST_SERVER = 16  # the first with `SET` as a grant of its own, which the roles need

_FILE_NAME = re.compile(r"(?P<number>[0-9]{3})-[a-z0-9-]+\.sql")
_LOCK = 4_831_702_650_918_337_251  # any constant of our own; advisory locks are per database
_HISTORY = """
create table if not exists dreaming.schema_migrations (
    number integer primary key,
    name text not null,
    sha256 text not null,
    applied_at timestamptz not null default now()
)
"""


@dataclass(frozen=True, slots=True)
class Migration:
    """One file of the migrations folder; `sha256` is that of its text, whatever its line ends."""

    number: int
    name: str
    sha256: str
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Applied:
    """A migration that the database has had."""

    number: int
    name: str
    sha256: str
    applied_at: datetime


class NewerSchema(Misconfigured):
    """The database has had migrations of a later version; since they only add, this version still runs on it."""


@dataclass(frozen=True, slots=True)
class SchemaStatus:
    """What a database has had, and what it lacks."""

    applied: tuple[Applied, ...]
    pending: tuple[Migration, ...]


def read_migrations(folder: Path = MIGRATIONS) -> list[Migration]:
    """Return the folder's migrations in order of their numbers.

    Raises:
        Misconfigured: a file is not named `NNN-name.sql`, or two have the same number.
    """
    migrations: dict[int, Migration] = {}
    for path in sorted(folder.glob("*.sql")):
        match = _FILE_NAME.fullmatch(path.name)
        if match is None:
            raise Misconfigured(f"migration {path.name}: is not named NNN-name.sql; rename it")
        number = int(match["number"])
        if number in migrations:
            raise Misconfigured(f"migration {path.name}: {migrations[number].name} has the same number; renumber it")
        text = path.read_text(encoding="utf-8")
        migrations[number] = Migration(number, path.stem, sha256(text.encode()).hexdigest(), text)
    return list(migrations.values())


def pending_migrations(files: Sequence[Migration], applied: Sequence[Applied]) -> list[Migration]:
    """Return the files that are still to be applied.

    Raises:
        NewerSchema: the database has had all the files, and later ones.
        Misconfigured: an applied file was edited or is gone, or a new one is numbered below an applied one.
    """
    by_number = {migration.number: migration for migration in files}
    last = max(by_number, default=-1)
    for done in sorted(applied, key=lambda one: one.number):
        file = by_number.get(done.number)
        if file is None or file.name != done.name:
            kind = NewerSchema if done.number > last else Misconfigured
            raise kind(
                f"the database has had migration {done.name}, which this version does not know; "
                "install the version of Dreaming that migrated it"
            )
        if file.sha256 != done.sha256:
            raise Misconfigured(
                f"migration {done.name} was edited after it was applied; restore the file and add a new one"
            )
    latest = max((done.number for done in applied), default=-1)
    had = {done.number for done in applied}
    pending = [migration for migration in files if migration.number not in had]
    for migration in pending:
        if migration.number < latest:
            raise Misconfigured(
                f"migration {migration.name} is numbered below {latest:03d}, which is applied already; renumber it"
            )
    return pending


def migrate(
    url: str, *, wait_seconds: float = 60.0, password: Password | None = None, folder: Path = MIGRATIONS
) -> list[Migration]:
    """Apply what the database lacks and return it; an up-to-date database is left alone.

    `password` makes the password of the connection, where the URL holds none.

    Two at once wait for each other: the session holds an advisory lock, which the server drops when
    the process dies. A killed migration leaves nothing, since each file is one transaction.

    Raises:
        Misconfigured: see `pending_migrations`; or the server is too old, the login lacks a right,
            or a statement of a migration failed.
        DatabaseUnavailable: no answer within `wait_seconds`, or the connection was lost.
    """
    files = read_migrations(folder)
    with _session(url, wait_seconds, password) as connection:
        _notice_a_killed_client(connection)
        connection.execute("select pg_advisory_lock(%s)", [_LOCK])
        _create_history(connection)
        pending = pending_migrations(files, _applied(connection))
        for migration in pending:
            _apply(connection, migration)
        return pending


def status(url: str, *, wait_seconds: float = 30.0, folder: Path = MIGRATIONS) -> SchemaStatus:
    """Return which migrations a database has had and which it lacks, changing nothing.

    Raises:
        Misconfigured: see `pending_migrations`; or the server is too old.
        DatabaseUnavailable: no answer within `wait_seconds`, or the connection was lost.
    """
    files = read_migrations(folder)
    with _session(url, wait_seconds) as connection:
        applied = _applied(connection) if _has_history(connection) else []
        return SchemaStatus(tuple(applied), tuple(pending_migrations(files, applied)))


def check_schema(url: str, *, wait_seconds: float = 30.0, folder: Path = MIGRATIONS) -> None:
    """Make sure that the database has had exactly the migrations of this version.

    Raises:
        Misconfigured: it lacks some, or has had others; the message names the remedy.
        DatabaseUnavailable: no answer within `wait_seconds`, or the connection was lost.
    """
    pending = status(url, wait_seconds=wait_seconds, folder=folder).pending
    if pending:
        names = ", ".join(migration.name for migration in pending)
        raise Misconfigured(f"the database lacks migrations: {names}; run `dream migrate`")


@contextmanager
def _session(url: str, wait_seconds: float, password: Password | None = None) -> Iterator[psycopg.Connection[TupleRow]]:
    address = DatabaseAddress.parse(url)
    with connect_within(address, wait_seconds=wait_seconds, password=password) as connection:
        version = connection.info.server_version // 10_000
        if version < OLDEST_SERVER:
            raise Misconfigured(f"the server is PostgreSQL {version}; use {OLDEST_SERVER} or later")
        try:
            yield connection
        except (psycopg.OperationalError, psycopg.InterfaceError) as error:
            if not connection.closed:
                raise
            raise DatabaseUnavailable(
                f"the connection to the database at {address.description} was lost: {address.redact(error)}; "
                "run the migration again"
            ) from error


def _notice_a_killed_client(connection: psycopg.Connection[TupleRow]) -> None:
    """Have the server give up a running statement when we are gone, where its system can tell."""
    with suppress(psycopg.errors.InvalidParameterValue):
        connection.execute("set client_connection_check_interval = '1s'")


def _create_history(connection: psycopg.Connection[TupleRow]) -> None:
    try:
        connection.execute("create schema if not exists dreaming")
        connection.execute(_HISTORY)
    except psycopg.errors.InsufficientPrivilege as error:
        raise Misconfigured(
            f"the login {connection.info.user!r} may not create the schema 'dreaming'; "
            f"as the database's owner: GRANT CREATE ON DATABASE {connection.info.dbname} TO {connection.info.user}"
        ) from error


def _has_history(connection: psycopg.Connection[TupleRow]) -> bool:
    query = """
        select coalesce(has_table_privilege(c.oid, 'select'), false) from pg_class c
        join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = 'dreaming' and c.relname = 'schema_migrations'
    """
    row = connection.execute(query).fetchone()
    if row == (False,):
        raise Misconfigured(
            f"the login {connection.info.user!r} may not read which migrations the database has had; "
            "use the login that migrates it"
        )
    return row is not None


def _applied(connection: psycopg.Connection[TupleRow]) -> list[Applied]:
    cursor = connection.cursor(row_factory=class_row(Applied))
    query = "select number, name, sha256, applied_at from dreaming.schema_migrations order by number"
    return cursor.execute(query).fetchall()


def _apply(connection: psycopg.Connection[TupleRow], migration: Migration) -> None:
    login = connection.info.user
    try:
        with connection.transaction():
            _run(connection, migration)
    except psycopg.errors.InsufficientPrivilege as error:
        raise Misconfigured(
            f"migration {migration.name}: the login {login!r} lacks a right: {error.diag.message_primary}; migrate as "
            "a login with CREATEROLE that owns the database, and where the roles dreaming_worker, dreaming_api, "
            f"dreaming_planner and dreaming_eraser exist already, as a superuser: GRANT each of them TO {login}; "
            "where pgvector is not installed in the database, as a superuser: CREATE EXTENSION vector"
        ) from error
    except psycopg.Error as error:
        if connection.closed:
            raise
        raise Misconfigured(
            f"migration {migration.name} failed and was rolled back: {error.diag.message_primary or error}"
        ) from error


def _run(connection: psycopg.Connection[TupleRow], migration: Migration) -> None:
    connection.execute("set local search_path to dreaming, public")
    before = connection.execute("select pg_current_xact_id()::text").fetchone()
    # Without parameters the text goes to the server as it is: `%` and `$$` mean nothing here.
    connection.execute(migration.text.encode())
    if connection.execute("select pg_current_xact_id()::text").fetchone() != before:
        raise Misconfigured(
            f"migration {migration.name}: begins or ends a transaction; take that out, and undo by hand what it did"
        )
    connection.execute(
        "insert into dreaming.schema_migrations (number, name, sha256) values (%s, %s, %s)",
        [migration.number, migration.name, migration.sha256],
    )
