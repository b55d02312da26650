"""Opening a connection to a database that may still be waking up, with a bound on the wait."""

from __future__ import annotations

import time
from collections.abc import Callable

import psycopg
from psycopg.rows import TupleRow

from dreaming.database.address import DatabaseAddress
from dreaming.errors import DatabaseUnavailable, Misconfigured

Connect = Callable[..., psycopg.Connection[TupleRow]]
"""What opens one connection: `psycopg.connect`, or a test's stand-in with the same arguments."""

Password = Callable[[], str]
"""Makes the password of one connection: a token that expires is made anew for each."""

_FIRST_DELAY = 0.25  # seconds; doubles up to the longest
_LONGEST_DELAY = 2.0
_CONNECT_TIMEOUT = 10  # seconds for one try, so that a host that swallows packets does not eat the whole bound
_UNACKNOWLEDGED = 15_000  # milliseconds until a dead peer counts as gone, after a sandbox was frozen

# libpq tells a refused login from a sleeping server only by its message.
_NEEDS_A_PERSON = (
    "password authentication failed",
    "no password supplied",
    "no pg_hba.conf entry",
    "does not exist",
    "is not permitted to log in",
    "certificate verify failed",
    "permission denied for database",
)


def connect_within(
    address: DatabaseAddress,
    *,
    wait_seconds: float,
    password: Password | None = None,
    connect: Connect = psycopg.connect,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> psycopg.Connection[TupleRow]:
    """Return an autocommit connection, trying again for at most `wait_seconds`.

    A server that starts up, resumes from zero capacity or cannot be reached is tried again; one that
    refuses the login, or has no such database, is not. Every try asks `password` anew, so a token that
    expired on the way is replaced by the next try.

    Raises:
        DatabaseUnavailable: it did not answer within the bound.
        Misconfigured: it answered, and waiting will not help.
    """
    deadline = clock() + wait_seconds
    delay = _FIRST_DELAY
    while True:
        credentials = {} if password is None else {"password": password()}
        try:
            return connect(
                address.conninfo,
                autocommit=True,
                connect_timeout=_CONNECT_TIMEOUT,
                tcp_user_timeout=_UNACKNOWLEDGED,
                **credentials,
            )
        except psycopg.OperationalError as error:
            reason = address.redact(error, *credentials.values())
            if any(phrase in str(error) for phrase in _NEEDS_A_PERSON):
                raise Misconfigured(
                    f"the database at {address.description} refuses the connection: {reason}; correct DATABASE_URL"
                ) from error
            if clock() + delay > deadline:
                raise DatabaseUnavailable(
                    f"the database at {address.description} did not answer within {wait_seconds:g} seconds: "
                    f"{reason}; start it, or correct DATABASE_URL"
                ) from error
        sleep(delay)
        delay = min(delay * 2, _LONGEST_DELAY)
