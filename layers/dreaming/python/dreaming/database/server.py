"""What a launcher asks of the server it started: is it the right one, and can it do what we need."""

from __future__ import annotations

import psycopg
from psycopg import sql

from dreaming.database.address import DatabaseAddress
from dreaming.database.waiting import connect_within
from dreaming.errors import DreamingError

_PROBE = (
    "create extension if not exists vector",
    "select '[1,2]'::vector <=> '[2,1]'",
    "create temporary table probe as select array[n, 1, 2]::real[]::vector(3) as v from generate_series(1, 20) as n",
    "create index on probe using hnsw (v vector_cosine_ops)",
    "set local enable_seqscan = off",
    "select v from probe order by v <=> '[1,2,3]' limit 1",
)


def data_folder_of(url: str, *, wait_seconds: float) -> str | None:
    """Return the data folder of the server at `url`, or None when no server there lets us in."""
    try:
        with connect_within(DatabaseAddress.parse(url), wait_seconds=wait_seconds) as connection:
            row = connection.execute("show data_directory").fetchone()
    except (DreamingError, psycopg.Error):
        return None
    return str(row[0]) if row else None


def create_database(url: str, name: str, *, wait_seconds: float) -> None:
    """Create a database on the server at `url` unless it exists."""
    with connect_within(DatabaseAddress.parse(url), wait_seconds=wait_seconds) as connection:
        if connection.execute("select from pg_database where datname = %s", [name]).fetchone() is None:
            connection.execute(sql.SQL("create database {}").format(sql.Identifier(name)))


def vectors_work(url: str, *, wait_seconds: float) -> bool:
    """Whether pgvector computes a distance and searches an index; False when that kills the server process.

    A build for another processor dies with an illegal instruction, which the client sees as a lost
    connection. Nothing of the probe stays.
    """
    with connect_within(DatabaseAddress.parse(url), wait_seconds=wait_seconds) as connection:
        try:
            with connection.transaction(force_rollback=True):
                for statement in _PROBE:
                    connection.execute(statement.encode())
        except psycopg.OperationalError:
            if connection.closed:
                return False
            raise
    return True
