"""What a path or a body names and is not there answers 404, in words of the API: made of the description."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.described import DOCUMENT
from tests.functions.http import Answer, call, jwt
from tests.functions.sandbox import Sandbox
from tests.functions.story import post, tell, work, write_script
from tests.world import World

ANA = jwt(org_id="acme", sub="ana", dreaming_admin="true")
UNKNOWN = "00000000-0000-7000-8000-000000000007"
BODIES: dict[str, Any] = {
    "set_score": {"score": 80, "reason": "because"},
    "change_setting": {"value": 3},
    "resolve_conflict": {"left_id": UNKNOWN, "right_id": "00000000-0000-7000-8000-000000000008", "keep": "left"},
}
FOUND_WITHOUT_A_RECORD = {"get_permission"}
"""An agent that nobody has seen yet has the starting score."""


def routes() -> list[tuple[str, str]]:
    """Every route whose description says that something may not be there."""
    return sorted(
        (path, method.upper())
        for path, methods in DOCUMENT["paths"].items()
        for method, described in methods.items()
        if "404" in described["responses"]
    )


def ask(api: Sandbox, path: str, method: str, names: dict[str, str]) -> Answer:
    described = DOCUMENT["paths"][path][method.lower()]
    for name, value in names.items():
        path = path.replace(f"{{{name}}}", value)
    assert "{" not in path
    query = {
        one["name"]: one["example"] for one in described["parameters"] if one["in"] == "query" and one.get("required")
    }
    body = BODIES.get(described["operationId"])
    return call(api, path, method=method, query=query or None, body=body and json.dumps(body), authorizer=ANA)


def test_every_route_that_names_something_answers_404_where_it_is_not(installed: World, api: Sandbox) -> None:
    assert {path for path, _ in routes()} >= {path for path in DOCUMENT["paths"] if "{" in path}
    for path, method in routes():
        described = DOCUMENT["paths"][path][method.lower()]
        names = {
            one["name"]: UNKNOWN if one["schema"].get("format") == "uuid" else "nobody-knows"
            for one in described.get("parameters", ())
            if one["in"] == "path"
        }
        answer = ask(api, path, method, names)
        if described["operationId"] in FOUND_WITHOUT_A_RECORD:
            assert answer.status == 200
            continue
        assert answer.status == 404, (method, path, answer.body)
        assert answer.headers["content-type"] == "application/problem+json"
        told = json.dumps(answer.body)
        assert "dream " not in told
        assert "BELIEF" not in told


def test_a_second_id_that_is_not_there_answers_404_too(installed: World, script: Path, api: Sandbox) -> None:
    write_script(script, "acme")
    tell(api, ANA, "acme")
    work(installed, "consolidate")
    (belief, *_) = call(api, "/brain/beliefs", authorizer=ANA).body["beliefs"]
    known = belief["belief_id"]
    for left, right in ((known, UNKNOWN), (UNKNOWN, known)):
        body = {"left_id": left, "right_id": right, "keep": "both"}
        assert post(api, "/brain/conflicts/resolve", body, authorizer=ANA).status == 404
    assert post(api, f"/brain/beliefs/{known}/sources/{UNKNOWN}/split", authorizer=ANA).status == 404
    same = post(api, "/brain/conflicts/resolve", {"left_id": known, "right_id": known, "keep": "both"}, authorizer=ANA)
    assert (same.status, same.body["fields"][0]["field"]) == (422, "right_id")


def test_a_form_is_told_how_json_is_sent(api: Sandbox) -> None:
    form = {"content-type": "application/x-www-form-urlencoded"}
    answer = call(api, "/brain/notes", method="POST", body='{"notes": []}', headers=form, authorizer=ANA)
    assert answer.status == 415
    assert "send Content-Type: application/json" in answer.body["detail"]


def test_an_export_of_nobody_says_what_to_send(api: Sandbox) -> None:
    answer = call(api, "/brain/export", authorizer=jwt(org_id="acme", dreaming_admin="true"))
    assert (answer.status, answer.body["fields"][0]["field"]) == (422, "scope")
    assert "use org or shared, or a user's token" in answer.body["fields"][0]["problem"]
