"""A durable PostgreSQL of a benchmark's own, and a world on it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from dreaming.database import Database, migrate
from dreaming.local.postgres import EmbeddedPostgres


@contextmanager
def benchmark_address() -> Iterator[tuple[str, Path]]:
    """Start a server, give the URL of a migrated database and a folder, and remove everything at the end."""
    with TemporaryDirectory(prefix="dreaming-bench-") as name:
        folder = Path(name)
        folder.chmod(0o711)
        server = EmbeddedPostgres(folder)
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
