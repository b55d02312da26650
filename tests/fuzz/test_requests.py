"""Requests of any path, query and body: a status of the API's own for each, never a failure within."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreaming.database import Database
from dreaming.identifiers import uuid7
from dreaming.lambdas import wiring
from dreaming.lambdas.wiring import Resources
from dreaming.models.keys import EnvironmentKeys, KeyResolver
from tests.architecture.modules import ROOT
from tests.functions.http import ANA, request
from tests.functions.sandbox import Sandbox, load_sandbox
from tests.fuzz.endurance import any_text, fuzzed, keep_going, no_hang
from tests.world import World, note, open_world

pytestmark = pytest.mark.fuzz

NAMES = (
    *("notes", "text", "external_id", "source", "occurred_at", "trust", "metadata", "participants", "author", "origin"),
    *("actions", "agent_id", "tool", "summary", "risk", "outcome", "acted_at", "confidence", "score", "reason"),
    *(
        "conversation_id",
        "turns",
        "speaker",
        "said_at",
        "agent",
        "external_ids",
        "note_ids",
        "value",
        "kept",
        "relation",
    ),
)
WORDS = (
    *(
        "trusted",
        "absolute",
        "2026-06-01T12:00:00Z",
        "2026-06-01T12:00:00",
        "9999-12-31T23:59:59-14:00",
        "low",
        "approved",
    ),
    *(
        "0",
        "-1",
        "1e400",
        "acme",
        "../../x",
        "null",
        "\x00",
        "\ud800",
        "org",
        "private",
        "00000000-0000-0000-0000-000000000000",
    ),
)
scalars = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), any_text(20), st.sampled_from(WORDS))
bodies = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(NAMES) | any_text(6), inner, max_size=8)
    ),
    max_leaves=25,
)
PARAMETERS = (
    "scope",
    "state",
    "source",
    "limit",
    "cursor",
    "q",
    "kind",
    "min_confidence",
    "archived",
    "agent",
    "as_of",
)


@pytest.fixture
def routes(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[World, Sandbox]:
    world = open_world(database, tmp_path)
    world.environment |= {"DREAMING_CONVERSATION_MEMORY": "true"}
    world.ingest(note("1", "Ada sails on Sundays."))
    world.drain()
    monkeypatch.setattr(wiring, "_installed", [])
    keys = KeyResolver(EnvironmentKeys(world.environment), clock=lambda: 0.0)
    wiring.install(Resources(world.database, lambda _: world.queue, keys, world.environment, world.clock, uuid7))
    return world, load_sandbox("api")


def test_requests_are_answered_or_refused_and_never_fail(routes: tuple[World, Sandbox]) -> None:
    _, api = routes
    described = json.loads((ROOT / "docs" / "openapi.json").read_text("utf-8"))
    known = sorted((method.upper(), path) for path, methods in described["paths"].items() for method in methods)

    @fuzzed(60)
    @given(
        route=st.sampled_from(known) | st.tuples(st.sampled_from(["GET", "POST", "PUT", "DELETE"]), any_text(20)),
        part=st.sampled_from(WORDS) | any_text(12),
        query=st.dictionaries(st.sampled_from(PARAMETERS), st.sampled_from(WORDS) | any_text(20), max_size=3),
        body=bodies.map(json.dumps) | any_text(80) | st.just("[" * 5_000),
        key=st.none() | any_text(10),
    )
    def check(route: tuple[str, str], part: str, query: dict[str, str], body: str, key: str | None) -> None:
        method, path = route
        for name in [piece for piece in path.split("/") if piece.startswith("{")]:
            path = path.replace(name, quote(part.encode("utf-8", "replace").decode(), safe=""))
        headers = {"content-type": "application/json"} | ({"idempotency-key": key} if key else {})
        event: dict[str, Any] = request(
            path, authorizer=ANA, method=method, query=query, headers=headers, body=body if method != "GET" else None
        )
        with no_hang():
            answer = api.invoke(event, seconds=29)
        assert 200 <= answer["statusCode"] < 500, (answer, api.lines[-1:])
        assert answer["headers"] or answer.get("multiValueHeaders")

    keep_going(check, "requests")
