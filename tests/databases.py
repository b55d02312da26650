"""Databases and logins that a test makes on the suite's server and drops again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import uuid4

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import TupleRow

from tests.waiting import wait_until


@dataclass(frozen=True, slots=True)
class Login:
    """A role that can log in."""

    name: str
    password: str


@contextmanager
def created_database(server_url: str, *, template: str = "template0", owner: str | None = None) -> Iterator[str]:
    """Create a database, give its name to the block, and drop it with whoever is still connected."""
    name = f"dreaming_test_{uuid4().hex}"
    with psycopg.connect(server_url, autocommit=True) as connection:
        suffix = f' owner "{owner}"' if owner else ""
        # Copying files takes half as long as writing each block through the log.
        connection.execute(f'create database "{name}" template "{template}" strategy file_copy{suffix}'.encode())
        if owner:
            # Only a superuser may install it, as a deployment's administrator does.
            with psycopg.connect(at_database(server_url, name), autocommit=True) as administrator:
                administrator.execute("create extension if not exists vector")
        try:
            yield name
        finally:
            _end_sessions(connection, name)
            connection.execute(f'drop database "{name}" with (force)'.encode())


def _end_sessions(connection: psycopg.Connection[TupleRow], name: str) -> None:
    """End whoever is connected; dropping the database meanwhile would look again only each tenth of a second."""
    sessions = "select from pg_stat_activity where datname = %s"
    connection.execute("select pg_terminate_backend(pid) from pg_stat_activity where datname = %s", (name,))
    gone = f"the sessions of {name} end"
    wait_until(lambda: connection.execute(sessions, (name,)).fetchone() is None, gone, within=10)


def at_database(url: str, name: str | None = None, **changes: str) -> str:
    """Return the connection string of another database of the same server, or for another login."""
    known = conninfo_to_dict(url)
    return make_conninfo("", **{**known, "dbname": name or known["dbname"], **changes})


@contextmanager
def created_login(server_url: str, *, rights: str = "createrole") -> Iterator[Login]:
    """Create a login with these rights and no others; what it owns must be gone at the end of the block."""
    login = Login(f"dreaming_test_{uuid4().hex}", f"secret{uuid4().hex}")
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(f"create role \"{login.name}\" login password '{login.password}' {rights}".encode())
        try:
            yield login
        finally:
            connection.execute(f'drop owned by "{login.name}"; drop role "{login.name}"'.encode())
