"""How functions log in to a cluster: a fresh token for each connection, over verified TLS."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import botocore.auth
import psycopg
import pytest
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials as BotocoreCredentials
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import TupleRow

from dreaming.database import Database
from dreaming.errors import DatabaseUnavailable, Misconfigured
from dreaming.lambdas.database import Login
from dreaming.lambdas.database_token import Credentials, database_token
from dreaming.notes.records import Tenant
from tests.databases import at_database

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
HOST = "memory.cluster-abc.eu-west-1.rds.amazonaws.com"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """What a deployed function has around it."""
    certificates = tmp_path / "certificates of the cluster.pem"
    certificates.write_text("-----BEGIN CERTIFICATE-----", "utf-8")
    return {
        "DATABASE_HOST": HOST,
        "DATABASE_PORT": "5432",
        "DATABASE_NAME": "dreaming",
        "DATABASE_USER": "dreaming_api",
        "DATABASE_SSLROOTCERT": str(certificates),
        "AWS_REGION": "eu-west-1",
        "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
        "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
        "AWS_SESSION_TOKEN": "token/with+signs==",
    }


@pytest.mark.parametrize("session_token", [None, "IQoJb3JpZ2luX2VjE/+=="])
def test_the_token_is_the_one_that_botocore_signs(monkeypatch: pytest.MonkeyPatch, session_token: str | None) -> None:
    monkeypatch.setattr(botocore.auth, "get_current_datetime", lambda: NOON.replace(tzinfo=None))
    request = AWSRequest("GET", f"https://{HOST}:5432/?Action=connect&DBUser=dreaming_api")
    signer = botocore.auth.SigV4QueryAuth(
        BotocoreCredentials("AKID", "secret/key+", session_token), "rds-db", "eu-west-1", expires=900
    )
    signer.add_auth(request)
    credentials = Credentials("eu-west-1", "AKID", "secret/key+", session_token)
    token = database_token(credentials, host=HOST, port=5432, user="dreaming_api", now=NOON)
    theirs, ours = urlsplit(request.url), urlsplit(f"https://{token}")
    assert dict(parse_qsl(ours.query)) == dict(parse_qsl(theirs.query))
    assert (ours.netloc, ours.path) == (theirs.netloc, theirs.path)


def test_nothing_secret_is_shown(environment: dict[str, str]) -> None:
    shown = repr(Credentials.from_environment(environment))
    assert "EXAMPLEKEY" not in shown
    assert "signs" not in shown


def test_a_cluster_is_reached_over_verified_tls_without_a_stored_password(environment: dict[str, str]) -> None:
    parts = conninfo_to_dict(Login.from_environment(environment, lambda: NOON).url)
    assert (parts["host"], parts["port"], parts["dbname"], parts["user"]) == (HOST, "5432", "dreaming", "dreaming_api")
    assert (parts["sslmode"], parts["sslrootcert"]) == ("verify-full", environment["DATABASE_SSLROOTCERT"])
    assert "password" not in parts


@pytest.mark.parametrize(
    "name",
    ["DATABASE_NAME", "DATABASE_USER", "DATABASE_SSLROOTCERT", "AWS_REGION", "AWS_ACCESS_KEY_ID"],
)
def test_a_missing_variable_is_named(environment: dict[str, str], name: str) -> None:
    del environment[name]
    with pytest.raises(Misconfigured, match=f"{name} is not set"):
        Login.from_environment(environment, lambda: NOON)


def test_a_wrong_variable_is_named(environment: dict[str, str]) -> None:
    with pytest.raises(Misconfigured, match="DATABASE_PORT is 'many'"):
        Login.from_environment(environment | {"DATABASE_PORT": "many"}, lambda: NOON)
    with pytest.raises(Misconfigured, match="which is no file"):
        Login.from_environment(environment | {"DATABASE_SSLROOTCERT": "/nowhere.pem"}, lambda: NOON)


def test_each_new_connection_gets_a_new_token(database_url: str, admin: psycopg.Connection[TupleRow]) -> None:
    tokens = iter(f"token-{number}" for number in range(10))
    used: list[str] = []

    def connect(conninfo: str, *, password: str, **options: Any) -> psycopg.Connection[TupleRow]:
        used.append(password)
        return psycopg.connect(database_url, **options)

    database = Database(at_database(database_url), password=lambda: next(tokens), connect=connect)

    def backend() -> int:
        with database.transaction(Tenant("acme")) as tx:
            return tx.info.backend_pid

    first = backend()
    assert backend() == first
    assert used == ["token-0"]
    # The sandbox was frozen: its connection died, and its token expired long ago.
    admin.execute("select pg_terminate_backend(%s, 10000)", [first])
    assert backend() != first
    assert used == ["token-0", "token-1"]
    database.close()


def test_a_token_that_is_refused_is_replaced_within_the_bound(database_url: str) -> None:
    now = 0.0
    tokens: list[str] = []

    def token() -> str:
        tokens.append(f"token-{len(tokens)}")
        return tokens[-1]

    def connect(conninfo: str, *, password: str, **options: Any) -> psycopg.Connection[TupleRow]:
        if password in {"token-0", "token-1"}:
            raise psycopg.OperationalError('FATAL:  PAM authentication failed for user "dreaming_api"')
        return psycopg.connect(database_url, **options)

    def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds

    options: Any = {"password": token, "connect": connect, "clock": lambda: now, "sleep": sleep}
    database = Database(at_database(database_url), **options)
    with database.transaction(Tenant("acme")) as tx:
        assert tx.execute("select 1").fetchone() == (1,)
    assert tokens == ["token-0", "token-1", "token-2"]
    database.close()

    def refuse(conninfo: str, *, password: str, **_: Any) -> psycopg.Connection[TupleRow]:
        raise psycopg.OperationalError("FATAL:  PAM authentication failed")

    never = Database(at_database(database_url), **(options | {"connect": refuse}))
    before = now
    with pytest.raises(DatabaseUnavailable, match="did not answer within 30 seconds"), never.transaction(Tenant("a")):
        pytest.fail("the block ran")
    assert now - before <= 30


def test_a_refused_token_is_not_quoted(database_url: str) -> None:
    def refuse(conninfo: str, *, password: str, **_: Any) -> psycopg.Connection[TupleRow]:
        raise psycopg.OperationalError(f"FATAL:  PAM authentication failed for {password}")

    database = Database(at_database(database_url), password=lambda: "t0ken", connect=refuse, wait_seconds=0)
    with pytest.raises(DatabaseUnavailable, match=r"failed for \*\*\*") as held, database.transaction(Tenant("a")):
        pytest.fail("the block ran")
    assert "t0ken" not in str(held.value)
