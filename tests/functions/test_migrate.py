"""The migrate function: what a deployment may ask of it, in which order, and how often."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from time import monotonic
from typing import Any

import psycopg
import pytest

from dreaming.database import status
from dreaming.database.migration import MIGRATIONS, NewerSchema, migrate, read_migrations
from dreaming.errors import DatabaseUnavailable, Misconfigured
from dreaming.lambdas.database import Login
from dreaming.lambdas.migration import apply_migrations
from dreaming.local.functions import LocalContext
from tests.functions.sandbox import Sandbox, load_sandbox

ALL = [migration.name for migration in read_migrations()]


@pytest.fixture
def migrator(empty_database_url: str, monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    monkeypatch.setenv("DATABASE_URL", empty_database_url)
    return load_sandbox("migrate")


def test_a_plain_event_applies_what_is_lacking_once(migrator: Sandbox, empty_database_url: str) -> None:
    assert migrator.invoke({}) == {"applied": ALL, "newer": False}
    assert migrator.invoke({}) == {"applied": [], "newer": False}
    assert status(empty_database_url).pending == ()


def test_the_event_of_a_custom_resource_is_answered_in_its_form(migrator: Sandbox) -> None:
    answer = migrator.invoke({"RequestType": "Create", "ResourceProperties": {}})
    assert answer["PhysicalResourceId"] == "dreaming-migrations"
    assert answer["Data"] == {"applied": ", ".join(ALL)}


def test_removing_the_custom_resource_touches_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://nobody:secret@127.0.0.1:1/nowhere")
    answer = load_sandbox("migrate").invoke({"RequestType": "Delete", "PhysicalResourceId": "dreaming-migrations"})
    assert answer["PhysicalResourceId"] == "dreaming-migrations"


def test_two_at_once_migrate_once(migrator: Sandbox, empty_database_url: str) -> None:
    together = threading.Barrier(2)

    def run(number: int) -> Any:
        context = LocalContext("migrate", str(number), monotonic() + 60)
        together.wait()
        return apply_migrations(Login(empty_database_url), {}, context, logger=migrator.module.logger)  # type: ignore[arg-type]

    with ThreadPoolExecutor(2) as threads:
        applied = sorted(answer["applied"] for answer in threads.map(run, range(2)))
    assert applied == [[], ALL]


def test_a_database_that_does_not_wake_up_in_time_fails_the_deployment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://nobody:secret@127.0.0.1:1/nowhere")
    with pytest.raises(DatabaseUnavailable, match="did not answer within 0"):
        load_sandbox("migrate").invoke({}, seconds=20)


def test_a_rollback_to_an_older_version_does_not_fail(
    migrator: Sandbox, empty_database_url: str, tmp_path: Any
) -> None:
    migrator.invoke({})
    newer = tmp_path / "migrations"
    newer.mkdir()
    for path in MIGRATIONS.glob("*.sql"):
        (newer / path.name).write_text(path.read_text("utf-8"), "utf-8")
    (newer / "999-later.sql").write_text("create table later (n integer);", "utf-8")
    migrate(empty_database_url, folder=newer)
    with pytest.raises(NewerSchema, match="999-later"):
        migrate(empty_database_url)
    assert migrator.invoke({}) == {"applied": [], "newer": True}
    assert [line["level"] for line in migrator.lines if line["message"] == "newer schema"] == ["WARNING"]


def test_another_history_is_no_newer_one(migrator: Sandbox, empty_database_url: str) -> None:
    migrator.invoke({})
    with psycopg.connect(empty_database_url) as connection:
        connection.execute("update dreaming.schema_migrations set name = '001-other' where number = 1")
    with pytest.raises(Misconfigured, match="001-other"):
        migrator.invoke({})
