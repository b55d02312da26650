"""A bounded set of connections without threads of its own.

A Lambda sandbox freezes between invocations, and a background thread with it: so connections are
opened, checked and closed only by the caller's thread, which also gives it the error at once.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.rows import TupleRow

from dreaming.errors import DatabaseUnavailable

Begin = Callable[[psycopg.Connection[TupleRow]], object]
"""Begins a transaction on a connection."""


class Pool:
    """At most `size` connections, the most recently used first."""

    def __init__(self, open_connection: Callable[[], psycopg.Connection[TupleRow]], size: int) -> None:
        self._open_connection = open_connection
        self._free = threading.BoundedSemaphore(size)
        self._size = size
        self._idle: deque[psycopg.Connection[TupleRow]] = deque()

    def take(self, wait_seconds: float, begin: Begin) -> psycopg.Connection[TupleRow]:
        """Return a connection that has begun a transaction, or a new one, waiting for a free place in the pool.

        An idle connection on which `begin` fails is closed and the next one tried, so that nobody needs to ask a
        connection first whether it still answers. A new one just did, and what it is asked next is the caller's.

        Raises:
            DatabaseUnavailable: every place stayed taken, or no connection could be opened.
        """
        if not self._free.acquire(timeout=wait_seconds):
            raise DatabaseUnavailable(
                f"all {self._size} database connections were in use for {wait_seconds:g} seconds; "
                "try again, or raise the pool size"
            )
        try:
            return self._idle_one(begin) or self._open_connection()
        except BaseException:
            self._free.release()
            raise

    def give_back(self, connection: psycopg.Connection[TupleRow]) -> None:
        """Keep a connection for the next caller, unless it is broken or still in a transaction."""
        if connection.info.transaction_status is TransactionStatus.IDLE:
            self._idle.append(connection)
        else:
            connection.close()
        self._free.release()

    def close(self) -> None:
        """Close the idle connections; the pool can be used again afterwards."""
        while self._idle:
            self._idle.pop().close()

    def _idle_one(self, begin: Begin) -> psycopg.Connection[TupleRow] | None:
        while True:
            try:
                connection = self._idle.pop()
            except IndexError:
                return None
            try:
                begin(connection)
            except BaseException as error:
                connection.close()
                if not isinstance(error, psycopg.Error):
                    raise
            else:
                return connection
