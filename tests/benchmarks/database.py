"""A durable PostgreSQL of a benchmark's own, and a world on it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

import psycopg

from dreaming.database import Database, migrate
from dreaming.local.postgres import EmbeddedPostgres
from tests.databases import at_database, created_database


@contextmanager
def benchmark_address(*, durable: bool = True) -> Iterator[tuple[str, Path]]:
    """Start a server, give the URL of a migrated database and a folder, and remove everything at the end.

    `DREAMING_BENCH_SERVER` names a server that runs already; then it is a database on that one.
    """
    with TemporaryDirectory(prefix="dreaming-bench-") as name:
        folder = Path(name)
        folder.chmod(0o711)
        if running := os.environ.get("DREAMING_BENCH_SERVER"):
            with created_database(running) as made:
                url = at_database(running, made)
                migrate(url)
                yield url, folder
            return
        server = EmbeddedPostgres(folder, durable=durable)
        url = server.start()
        try:
            migrate(url)
            yield url, folder
        finally:
            server.remove()


@contextmanager
def benchmark_database() -> Iterator[tuple[Database, Path]]:
    """Give the database itself in place of its URL."""
    with benchmark_address() as (url, folder):
        database = Database(url)
        yield database, folder
        database.close()


def commit_milliseconds(url: str, commits: int = 200) -> float:
    """Return the median time of committing one row: what this machine and its disk are like right now."""
    taken = []
    with psycopg.connect(url) as connection:
        connection.execute("create table if not exists public.committed (number integer)")
        connection.commit()
        for number in range(commits):
            start = perf_counter()
            connection.execute("insert into public.committed values (%s)", (number,))
            connection.commit()
            taken.append(1000 * (perf_counter() - start))
    return median(taken)
