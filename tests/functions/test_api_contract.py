"""The running API keeps to its description: Schemathesis makes requests of every route, right ones and wrong ones."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

from tests.described import DOCUMENT
from tests.functions.http import call, jwt
from tests.functions.sandbox import Sandbox, load_sandbox
from tests.functions.story import tell, work, write_script
from tests.functions.wsgi import TOKEN, Gateway
from tests.world import World

ANA = jwt(org_id="acme", sub="ana", dreaming_admin="true")
UNKNOWN = "00000000-0000-7000-8000-000000000007"


@pytest.fixture
def api(installed: World, script: Path) -> Sandbox:
    installed.environment |= {"DREAMING_CONVERSATION_MEMORY": "true"}
    write_script(script, "acme", "ana")
    loaded = load_sandbox("api")
    tell(loaded, ANA, "acme")
    tell(loaded, ANA, "ana", scope="private")
    work(installed, "consolidate", "resolve_contradictions", "score_autonomy")
    return loaded


# Schemathesis leaves what it opened to the garbage collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")
@pytest.mark.slow
def test_no_request_meets_a_failure_or_an_answer_that_is_not_described(api: Sandbox) -> None:
    failures, requests = check(api)
    assert not failures, "\n".join(sorted(failures))
    assert requests > 1_000
    assert [line for line in api.lines if line.get("level") == "ERROR"] == []


def long_lists() -> list[tuple[str, str, str, int]]:
    """Path, method, field and bound of every list that a body may hold a hundred items of, or more."""
    found = []
    for path, methods in DOCUMENT["paths"].items():
        for method, described in methods.items():
            body = described.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
            named = DOCUMENT["components"]["schemas"].get(body.get("$ref", "").rpartition("/")[2], {})
            for field, schema in named.get("properties", {}).items():
                bound = max(one.get("maxItems", 0) for one in (schema, *schema.get("anyOf", ())))
                if bound >= 100:
                    found.append((path, method.upper(), field, bound))
    return found


def test_a_list_of_one_too_many_is_refused(installed: World) -> None:
    api = load_sandbox("api")
    assert len(long_lists()) >= 7
    for path, method, field, bound in long_lists():
        content = DOCUMENT["paths"][path][method.lower()]["requestBody"]["content"]["application/json"]
        example = content["example"]
        item = (example.get(field) or [UNKNOWN])[0]
        body = json.dumps({**example, field: [item] * (bound + 1)})
        answer = call(api, path, method=method, body=body, authorizer=ANA)
        assert answer.status == 422, (path, answer.body)
        told = {one["field"]: one["problem"] for one in answer.body["fields"]}
        assert told == {field: f"has too many entries; send at most {bound:,}"}, path


def check(api: Sandbox) -> tuple[set[str], int]:
    """Let Schemathesis try every route; return what it found, and how many requests it made."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import schemathesis
        from schemathesis.config import SchemathesisConfig
        from schemathesis.engine.core import Engine
        from schemathesis.engine.events import NonFatalError, ScenarioFinished

        config = SchemathesisConfig.from_dict(CONFIG)
        schema: Any = schemathesis.openapi.from_wsgi(
            "/openapi.json", Gateway(api, ANA), config=config, headers={"Authorization": TOKEN}
        )
        _bound_no_lists(schema.raw_schema)
        failures: set[str] = set()
        requests = 0
        for event in Engine(schema).execute():
            if isinstance(event, NonFatalError):
                failures.add(f"{event.label}: {event.info.format()}")
            if isinstance(event, ScenarioFinished):
                requests += len(event.recorder.interactions)
                failures |= {
                    f"{event.recorder.label}: {node.failure_info.failure.title}: {node.failure_info.failure.message} "
                    f"[{event.recorder.cases[case_id].value.as_curl_command()}]"
                    for case_id, nodes in event.recorder.checks.items()
                    for node in nodes
                    if node.failure_info is not None
                }
    return failures, requests


def _bound_no_lists(described: Any) -> None:
    """Take the bounds of long lists away: to go beyond them Schemathesis hashes each list for half of its time.

    That one too many is refused is a test of its own.
    """
    for value in described.values() if isinstance(described, dict) else described:
        if isinstance(value, dict | list):
            _bound_no_lists(value)
    if isinstance(described, dict) and isinstance(described.get("maxItems"), int) and described["maxItems"] >= 100:
        del described["maxItems"]


CONFIG = {
    "seed": 7,
    "headers": {"Authorization": TOKEN},
    "generation": {"max-examples": 3, "deterministic": True, "no-shrink": True, "with-security-parameters": False},
    # What fits the schema may still mean nothing, such as a cursor that no page ended with.
    "checks": {
        "positive_data_acceptance": {"enabled": False},
        "negative_data_rejection": {"expected-statuses": [400, 401, 403, 404, 405, 413, 415, 422]},
        "ignored_auth": {"enabled": False},  # cannot be asked over WSGI; the test of isolation asks every route
    },
    "phases": {"stateful": {"enabled": False}, "coverage": {"unexpected-methods": ["PATCH", "OPTIONS"]}},
}
