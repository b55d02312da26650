"""Refusals of the API: unknown parameters, their words, and the line of the log that a correlation id leads to."""

from __future__ import annotations

import json
import re
from typing import Any

from dreaming.api.operations import OPERATIONS
from tests.architecture.modules import ROOT
from tests.described import DOCUMENT
from tests.functions.http import call, jwt, request
from tests.functions.sandbox import Sandbox

ANA = jwt(org_id="acme", sub="ana", dreaming_admin="true")
ID = "00000000-0000-7000-8000-000000000007"
SECRET = "rosebud is the sled"
PAGE = ROOT / "layers" / "dreaming" / "python" / "dreaming" / "api" / "dashboard"


def names_of(method: str, path: str) -> set[str]:
    """The parameters of a route's query, by the description; the page and the description take none."""
    described = DOCUMENT["paths"].get(path, {}).get(method.lower(), {})
    return {one["name"] for one in described.get("parameters", ()) if one["in"] == "query"}


def test_every_route_refuses_a_parameter_that_it_does_not_know(api: Sandbox) -> None:
    for method, path in OPERATIONS.keys() - {("GET", "/brain/dashboard")}:
        known = names_of(method, path)
        wrong = f"{min(known)}x" if known else "zebra"
        answer = call(api, re.sub(r"\{\w+\}", ID, path), method=method, query={wrong: "1"}, authorizer=ANA)
        assert answer.status == 422, (method, path)
        assert answer.headers["content-type"] == "application/problem+json"
        told = {one["field"]: one["problem"] for one in answer.body["fields"]}
        remedy = f"did you mean {min(known)}?" if known else "it takes none, leave it out"
        assert told[wrong] == f"is no parameter of this route; {remedy}", (method, path)


def test_a_misnamed_filter_is_told_beside_what_else_is_wrong(api: Sandbox) -> None:
    answer = call(api, "/brain/beliefs", query={"stat": "active", "limit": "0"}, authorizer=ANA)
    fields = {one["field"]: one["problem"] for one in answer.body["fields"]}
    assert set(fields) == {"stat", "limit"}
    assert fields["limit"] == "is too small; send at least 1"


def test_the_page_sends_what_its_routes_know() -> None:
    asked = re.findall(r'\bget(?:All)?\("(/brain/[^"]+)"(?:, "\w+")?, \{([^}]*)\}', "".join(
        one.read_text("utf-8") for one in sorted(PAGE.glob("*.js"))
    ))  # fmt: skip
    assert len(asked) > 8
    for path, given in asked:
        names = {one.partition(":")[0].strip() for one in given.split(",") if "..." not in one}
        assert names <= names_of("GET", path), (path, names)


REFUSED: tuple[tuple[str, dict[str, Any], int, str], ...] = (
    ("/brain/beliefs", {"query": {"kind": SECRET}}, 422, "GET /brain/beliefs"),
    ("/brain/beliefs", {"query": {SECRET: "1"}}, 422, "GET /brain/beliefs"),
    ("/brain/beliefs", {"query": {"cursor": "rosebud"}}, 400, "GET /brain/beliefs"),
    (f"/brain/beliefs/{ID}", {}, 404, "GET /brain/beliefs/{belief_id}"),
    ("/brain/rosebud", {"query": {"a": "1"}}, 404, "GET ?"),
    ("/brain/beliefs", {"method": "PATCH"}, 405, "PATCH ?"),
    ("/brain/autonomy/agents/rosebud", {}, 404, "GET /brain/autonomy/agents/{agent_id}"),
    ("/brain/beliefs", {"authorizer": None}, 401, "GET /brain/beliefs"),
    ("/brain/notes", {"method": "POST", "body": SECRET}, 422, "POST /brain/notes"),
    ("/brain/notes", {"method": "POST", "body": json.dumps({"notes": [{SECRET: SECRET}]})}, 422, "POST /brain/notes"),
    ("/brain/notes", {"method": "POST", "body": SECRET, "headers": {"content-type": "text/x"}}, 415, "POST ?"),
    ("/brain/notes", {"method": "POST", "body": "x" * 4_200_000}, 413, "POST ?"),
    ("/brain/settings/batch_notes", {"method": "PUT", "body": json.dumps({"value": SECRET})}, 422,
     "PUT /brain/settings/{name}"),
    ("/brain/autonomy/actions", {"method": "POST", "body": json.dumps({"actions": [
        {"agent_id": "rosebud", "external_id": "1", "tool": "t", "summary": SECRET, "risk": "low",
         "acted_at": "1969-01-01T00:00:00Z"}]})}, 422, "POST /brain/autonomy/actions"),
)  # fmt: skip


def test_a_correlation_id_leads_to_one_line_of_the_log_without_what_was_sent(api: Sandbox) -> None:
    for path, options, status, route in REFUSED:
        api.lines.clear()
        answer = call(api, path, **{"authorizer": ANA, **options})
        assert answer.status == status, answer.body
        (line,) = [one for one in api.lines if one["message"] == "request refused"]
        assert line["correlation_id"] == answer.body["correlation_id"] == "request-1"
        assert (line["status"], line["route"], line["level"]) == (status, route, "INFO")
        assert not re.search("rosebud|sled", json.dumps(line)), line
        assert len(line["fields"]) == len(answer.body["fields"])
        assert line["problem"]


def test_an_action_that_differs_is_logged_without_its_names(api: Sandbox) -> None:
    def log(tool: str) -> int:
        action = {"agent_id": "rosebud", "external_id": "sled", "tool": tool, "summary": "s", "risk": "low"}
        body = json.dumps({"actions": [action]})
        return call(api, "/brain/autonomy/actions", method="POST", body=body, authorizer=ANA).status

    assert [log("mail"), log("phone")] == [200, 422]
    (line,) = [one for one in api.lines if one["message"] == "request refused"]
    assert line["fields"][0]["field"] == "actions.0.external_id"
    assert not re.search("rosebud|sled", json.dumps(line))


def test_what_is_no_json_is_told_of_the_body(api: Sandbox) -> None:
    answer = call(api, "/brain/notes", method="POST", body='{"notes": [', authorizer=ANA)
    assert answer.body["fields"] == [
        {"field": "body", "problem": "is no JSON; send one JSON value, in UTF-8"}
    ]  # fmt: skip


def test_head_tells_the_length_that_get_has(api: Sandbox) -> None:
    for path in ("/health", "/brain/dream/status", "/brain/nothing", "/brain/dashboard"):
        whole = api.invoke(request(path, authorizer=ANA), seconds=29)
        head = api.invoke(request(path, authorizer=ANA, method="HEAD"), seconds=29)
        assert head["headers"]["Content-Length"] == str(len(whole["body"].encode())), path
        assert (head["statusCode"], head["body"]) == (whole["statusCode"], "")
