"""The logins of a deployment: each function gets in as itself alone, and can do its work with no more."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from dreaming.database import Database, Role
from dreaming.errors import Misconfigured
from dreaming.identifiers import uuid7
from dreaming.lambdas import wiring
from dreaming.lambdas.wiring import Resources
from dreaming.local.postgres import EmbeddedPostgres
from dreaming.models.keys import EnvironmentKeys, KeyResolver
from dreaming.notes.records import Tenant
from tests.architecture.modules import ROOT
from tests.databases import at_database
from tests.functions.http import IAM, call
from tests.functions.sandbox import drain, load_sandbox
from tests.world import World, note, open_world

SCRIPT = (ROOT / "infra" / "constructs" / "database_logins.sql").read_text("utf-8")
LOGINS = ("dreaming_worker", "dreaming_api", "dreaming_migrator")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of its own, as its administrator (no superuser) sees it; `rds_iam` is Aurora's, here without power."""
    folder = tmp_path_factory.mktemp("cluster")
    server = EmbeddedPostgres(folder, durable=False)
    url = server.start()
    try:
        with psycopg.connect(url, autocommit=True) as superuser:
            superuser.execute(
                "create role rds_iam nologin; create role admin login password 'admin' createrole createdb"
            )
            superuser.execute("grant rds_iam to admin with admin option")
            superuser.execute("create database memory owner admin")
        with psycopg.connect(at_database(url, "memory"), autocommit=True) as superuser:
            superuser.execute("create extension vector")
        address = at_database(url, "memory", user="admin", password="admin")
        with psycopg.connect(address, autocommit=True) as admin:
            for _ in range(2):  # a deployment may run it again
                admin.execute(SCRIPT.encode())
            for login in LOGINS:
                # Stands in for the token, which only Aurora can check.
                admin.execute(f"alter role {login} password 'token'".encode())
        yield address
    finally:
        server.remove()


@pytest.fixture
def migrated(cluster: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The cluster after the migrate function ran as its own login."""
    monkeypatch.setenv("DATABASE_URL", as_login(cluster, "dreaming_migrator"))
    load_sandbox("migrate").invoke({})
    return cluster


def as_login(url: str, login: str) -> str:
    return at_database(url, user=login, password="token")


def test_the_functions_work_as_their_logins(migrated: str, tmp_path: Path) -> None:
    worker, api = (Database(as_login(migrated, login)) for login in ("dreaming_worker", "dreaming_api"))
    world = open_world(worker, tmp_path)
    world.ingest(note("n", "The shed is green."))
    install(world, worker)
    consolidate = load_sandbox("consolidate")
    assert len(consolidate.invoke({})["started"]) == 1
    assert drain(world, consolidate) == 1
    assert world.counters().consolidated == 1

    install(world, api)
    answer = call(load_sandbox("api"), "/brain/dream/status")
    assert answer.body["coverage"]["consolidated"] == 1
    worker.close()
    api.close()


def test_the_migrate_function_does_nothing_the_second_time(migrated: str) -> None:
    assert load_sandbox("migrate").invoke({}) == {"applied": [], "newer": False}


def test_the_api_cannot_become_a_worker_or_list_tenants(migrated: str) -> None:
    api = Database(as_login(migrated, "dreaming_api"))
    with pytest.raises(Misconfigured, match="dreaming_worker"), api.transaction(Tenant("acme"), role=Role.WORKER):
        pytest.fail("the block ran")
    with pytest.raises(Misconfigured, match="dreaming_planner"), api.planner():
        pytest.fail("the block ran")
    api.close()


@pytest.mark.parametrize("login", ["dreaming_worker", "dreaming_api"])
def test_a_login_owns_nothing_and_sees_no_row_without_a_tenant(migrated: str, login: str) -> None:
    with psycopg.connect(as_login(migrated, login), autocommit=True) as connection:
        assert connection.execute("select count(*) from dreaming.slices").fetchone() == (0,)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("create table dreaming.mine (n integer)")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("drop table dreaming.notes")
        owned = connection.execute("select count(*) from pg_class where relowner = current_user::regrole").fetchone()
        assert owned == (0,)


def install(world: World, database: Database) -> None:
    keys = KeyResolver(EnvironmentKeys(world.environment), clock=lambda: 0.0)
    wiring.install(Resources(database, lambda _: world.queue, keys, world.environment, world.clock, uuid7))


def test_the_first_run_is_as_the_deployment_page_says(migrated: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each `brain` command of the page, at the API's own function and login."""
    page = (ROOT / "docs" / "deploy.md").read_text("utf-8")
    commands = [shlex.split(line) for line in re.findall(r"^brain (/.+)$", page, re.MULTILINE)]
    monkeypatch.setenv("DATABASE_URL", as_login(migrated, "dreaming_api"))
    monkeypatch.setenv("DREAMING_API_IAM_ORGANIZATION", "first-run")
    api = load_sandbox("api")
    answers = {}
    for path, *options in commands:
        method = options[options.index("-X") + 1] if "-X" in options else "GET"
        body = options[options.index("-d") + 1] if "-d" in options else None
        answer = call(api, path, authorizer=IAM, method=method, body=body, headers={"content-type": "application/json"})
        assert answer.status in {200, 201}, (path, answer.body)
        answers[path] = answer.body
    assert answers["/brain/notes"]["created"] == 1
    assert answers["/brain/dream/status"]["coverage"]["waiting"] == 1
    told = call(api, "/brain/capabilities", authorizer=IAM).body["consents"]
    assert (told["enrolled"], told["model_consent"]) == (True, True)
    wiring.resources().database.close()
