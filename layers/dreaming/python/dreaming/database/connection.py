"""Transactions, each with a role and a tenant: there is no other way to the rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from copy import copy
from enum import StrEnum
from typing import TypeAlias

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.rows import TupleRow

from dreaming.database.address import DatabaseAddress
from dreaming.database.pool import Pool
from dreaming.database.waiting import Connect, Password, connect_within
from dreaming.errors import DatabaseConflict, DatabaseUnavailable, InvalidInput, Misconfigured
from dreaming.notes.records import Tenant

Transaction: TypeAlias = psycopg.Connection[TupleRow]
"""An open transaction; stores run their SQL on it and leave commit and rollback to its owner."""

# One statement, so that no code can run between the role and the tenant. Everything lasts until the
# end of the transaction (the third argument), also behind a pooler that shares connections.
_TAKE_ON = """
select set_config('role', %(role)s, true),
       set_config('dreaming.org_id', %(org_id)s, true),
       set_config('dreaming.user_id', %(user_id)s, true),
       set_config('transaction_read_only', %(read_only)s, true),
       set_config('search_path', 'dreaming, public', true),
       set_config('timezone', 'UTC', true),
       set_config('idle_in_transaction_session_timeout', '2min', true),
       set_config('statement_timeout', %(statement_timeout)s, true)
"""

_LOST = (psycopg.OperationalError, psycopg.InterfaceError, psycopg.errors.IdleInTransactionSessionTimeout)

_STATEMENT_MILLISECONDS = 150_000
"""Shorter than an invocation, so that what a killed sandbox left running does not hold its locks on and on."""

_READ_ONLY = frozenset({"25001", "25006"})
"""SQLSTATEs of a server that takes no writes: of a transaction that must begin with them, and of a write."""

_FAULTS = {
    "40": "gave the transaction up for another one's sake",
    "53": "has no room left",
    "57": "stopped the statement",
    "58": "cannot reach its files",
}
"""Classes of SQLSTATE that tell of the server's own state and not of what it was asked (PostgreSQL, Appendix A)."""

_UNDONE = "40"

# A frozen sandbox must neither keep locks nor keep a database awake that could pause.
_IDLE_SESSION = "set idle_session_timeout = '5min'"


class Role(StrEnum):
    """The database roles of the application; none of them owns a table or can log in."""

    WORKER = "dreaming_worker"
    API = "dreaming_api"
    PLANNER = "dreaming_planner"
    ERASER = "dreaming_eraser"


class Database:
    """The way to the rows of a tenant.

    Connections are opened when first needed, reused, and replaced when they died meanwhile.
    `wait_seconds` bounds the wait for a database that is waking up, and for a free connection;
    `statement_milliseconds` what one statement may take, waiting for locks included, except an eraser's.
    `password` makes the password of each new connection, where the URL holds none.

    Raises:
        Misconfigured: the URL cannot be read.
    """

    def __init__(
        self,
        url: str,
        *,
        pool_size: int = 4,
        wait_seconds: float = 30.0,
        statement_milliseconds: int = _STATEMENT_MILLISECONDS,
        password: Password | None = None,
        connect: Connect = psycopg.connect,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._role = Role.WORKER
        self._address = DatabaseAddress.parse(url)
        self._wait_seconds = wait_seconds
        self._statement_milliseconds = statement_milliseconds
        self._password = password
        self._connect = connect
        self._clock = clock
        self._sleep = sleep
        self._pool = Pool(self._open, pool_size)

    def as_role(self, role: Role) -> Database:
        """Return the same database, whose transactions take on `role` unless they name another."""
        other = copy(self)
        other._role = role  # noqa: SLF001 - one of its own kind
        return other

    @contextmanager
    def transaction(self, tenant: Tenant, *, role: Role | None = None) -> Iterator[Transaction]:
        """Run the block in one transaction that sees only the rows of `tenant`, as the worker or as `role`.

        Commits at the end of the block, rolls back on an error. Nothing is retried, and errors of the
        block's SQL pass unchanged unless they tell of the server's own state. When the connection is lost
        at the commit, its outcome is unknown: callers make their effect safe to repeat.

        Raises:
            InvalidInput: the tenant has no usable organization.
            DatabaseUnavailable: no connection within the bound, the connection was lost, or the server
                takes no writes, has no room left or stopped a statement that took too long.
            DatabaseConflict: it was given up for another transaction's sake.
            Misconfigured: the database is not migrated, or its login may not take on the role.
        """
        for field, value in (("org_id", tenant.org_id), ("user_id", tenant.user_id or "")):
            if "\0" in value:
                raise InvalidInput(field, "contains a NUL character", "remove it")
            if any("\ud800" <= character <= "\udfff" for character in value):
                raise InvalidInput(field, "contains a lone surrogate", "use text that UTF-8 can write")
        if not tenant.org_id:
            raise InvalidInput("org_id", "is empty", "name the organization whose rows are meant")
        settings = {
            "role": (taken := role or self._role).value,
            "org_id": tenant.org_id,
            "user_id": tenant.user_id or "",
            "read_only": "off",
            "statement_timeout": "0" if taken is Role.ERASER else str(self._statement_milliseconds),
        }
        with self._begin(settings) as transaction:
            yield transaction

    @contextmanager
    def planner(self) -> Iterator[Transaction]:
        """Run the block in a read-only transaction that may list slices of all tenants, but no text.

        Raises:
            DatabaseUnavailable: no connection within the bound, or the connection was lost.
            Misconfigured: the database is not migrated, or its login may not take on the role.
        """
        settings = {
            "role": Role.PLANNER.value,
            "org_id": "",
            "user_id": "",
            "read_only": "on",
            "statement_timeout": str(self._statement_milliseconds),
        }
        with self._begin(settings) as transaction:
            yield transaction

    def close(self) -> None:
        """Close the connections that are not in use."""
        self._pool.close()

    def _open(self) -> Transaction:
        connection = connect_within(
            self._address,
            wait_seconds=self._wait_seconds,
            password=self._password,
            connect=self._connect,
            clock=self._clock,
            sleep=self._sleep,
        )
        try:
            connection.execute(_IDLE_SESSION)
        except psycopg.OperationalError as error:
            raise self._lost(error) from error
        return connection

    def _lost(self, error: BaseException) -> DatabaseUnavailable:
        return DatabaseUnavailable(
            f"the connection to the database at {self._address.description} was lost: "
            f"{self._address.redact(error)}; try again"
        )

    @contextmanager
    def _begin(self, settings: dict[str, str]) -> Iterator[Transaction]:
        connection = self._pool.take(self._wait_seconds, lambda idle: _take_on(idle, settings))
        try:
            with _completed(connection):
                if connection.info.transaction_status is TransactionStatus.IDLE:
                    _take_on(connection, settings)
                yield connection
        except psycopg.Error as error:
            if connection.closed and isinstance(error, _LOST):
                raise self._lost(error) from error
            fault = self._fault(error.sqlstate or "", writes=settings["read_only"] == "off")
            if fault is None:
                raise
            if error.sqlstate in _READ_ONLY:
                connection.close()  # it leads to a server that was the writer
            raise fault from error
        finally:
            self._pool.give_back(connection)

    def _fault(self, sqlstate: str, *, writes: bool) -> DatabaseUnavailable | None:
        """Return the error for a SQLSTATE that tells of the server's own state; None for any other."""
        what = "takes no writes now" if writes and sqlstate in _READ_ONLY else _FAULTS.get(sqlstate[:2])
        if what is None:
            return None
        kind = DatabaseConflict if sqlstate[:2] == _UNDONE else DatabaseUnavailable
        return kind(f"the database at {self._address.description} {what} (SQLSTATE {sqlstate}); try again")


def _take_on(connection: Transaction, settings: dict[str, str]) -> None:
    """Begin a transaction with its role and tenant.

    Not in a pipeline, which would save a round trip: an interrupt that comes while one ends is lost.
    """
    try:
        connection.execute("begin")
        connection.execute(_TAKE_ON, settings)
    except (psycopg.errors.InvalidParameterValue, psycopg.errors.InsufficientPrivilege) as error:
        raise Misconfigured(
            f"the database has no role {settings['role']!r} that this login may take on; "
            "run `dream migrate`, or grant the role to the login"
        ) from error


@contextmanager
def _completed(connection: Transaction) -> Iterator[None]:
    """Commit at the end of the block; undo it on an error, which the loss of the connection does not hide."""
    try:
        yield
    except BaseException:
        with suppress(psycopg.Error):  # a connection that cannot go back is not used again
            connection.rollback()
        raise
    connection.commit()
