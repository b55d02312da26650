"""The API's function: who sees what, what it answers, and how it fails."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from dreaming.api.openapi import document
from dreaming.notes.records import Scope, SliceKey
from dreaming.passes.consolidation.reconsolidation import reconsolidate
from tests.architecture.modules import ROOT
from tests.functions.http import ANA, IAM, call, jwt
from tests.functions.sandbox import Sandbox, drain, load_sandbox
from tests.world import KEY, World, note

STATUS = "/brain/dream/status"
ANAS = SliceKey("acme", Scope.PRIVATE, "ana")
BENS = SliceKey("acme", Scope.PRIVATE, "ben")
BIRCH = SliceKey("birch")
UNKNOWN = UUID(int=7)


def scopes(answer: Any) -> list[tuple[str, str | None]]:
    return [(one["scope"], one["owner_user_id"]) for one in answer.body["slices"]]


def fill(world: World, *keys: SliceKey) -> None:
    for key in keys:
        world.ingest(note("n", "The shed is green."), key=key)


def test_status_tells_coverage_cursor_holds_and_runs(installed: World, api: Sandbox, script: Any) -> None:
    script.write_text('{"rules": [{"when": "poison", "fail": "malformed"}]}', "utf-8")
    installed.ingest(note("a", "The shed is green."), note("b", "poison"), note("c", " "))
    consolidation = load_sandbox("consolidate")
    consolidation.invoke({})
    drain(installed, consolidation)
    installed.ingest(note("d", "The shed is red."))

    answer = call(api, STATUS)
    assert answer.status == 200
    body = answer.body
    assert body["pass"] == "consolidation"
    assert body["coverage"] == {
        "total": 4, "consolidated": 1, "waiting": 1, "retired": 1, "empty": 1, "withdrawn": 0,
    }  # fmt: skip
    (one,) = body["slices"]
    assert one["coverage"] == body["coverage"]
    assert (one["cursor"]["position"], one["cursor"]["last_sequence"], one["cursor"]["running"]) == (3, 4, False)
    assert one["held"] is None
    assert body["last_run"] == body["recent_runs"][0]
    assert (body["last_run"]["status"], body["last_run"]["notes_retired"]) == ("drained", 1)
    assert len(body["recent_runs"]) == 1


def test_status_tells_why_a_slice_is_held(installed: World, api: Sandbox, script: Any) -> None:
    script.write_text('{"default": {"fail": "throttled"}}', "utf-8")
    installed.ingest(note("a", "The shed is green."))
    consolidation = load_sandbox("consolidate")
    consolidation.invoke({})
    drain(installed, consolidation)
    held = call(api, STATUS).body["slices"][0]["held"]
    assert held["reason"] == "throttled"
    assert held["detail"]
    assert held["since"] == "2026-06-01T12:00:00Z"


def test_status_of_an_organization_without_notes_is_empty(api: Sandbox) -> None:
    body = call(api, STATUS).body
    assert body["slices"] == []
    assert body["coverage"]["total"] == 0
    assert body["last_run"] is None


def test_the_number_of_runs_is_bounded_and_obeyed(installed: World, api: Sandbox) -> None:
    fill(installed, KEY)
    installed.tick()
    assert len(call(api, STATUS, query={"runs": "1"}).body["recent_runs"]) == 1
    none = call(api, STATUS, query={"runs": "0"}).body
    assert none["recent_runs"] == []
    assert none["last_run"]["status"] == "running"
    for wrong in ("-1", "101", "many"):
        answer = call(api, STATUS, query={"runs": wrong})
        assert answer.status == 422
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.body["fields"][0]["field"] == "runs"


def test_a_user_sees_the_organization_and_their_own_slice_only(installed: World, api: Sandbox) -> None:
    installed.enrol(BIRCH.org_id)
    fill(installed, KEY, ANAS, BENS, BIRCH)
    assert scopes(call(api, STATUS)) == [("org", None), ("private", "ana")]
    assert scopes(call(api, STATUS, authorizer=jwt(org_id="birch", sub="ana"))) == [("org", None)]
    assert scopes(call(api, STATUS, authorizer=jwt(org_id="acme"))) == [("org", None)]


@pytest.mark.parametrize(
    "widening",
    [
        {"headers": {"x-org-id": "birch", "x-user-id": "ben", "authorization": "Bearer birch"}},
        {"method": "GET", "body": '{"org_id": "birch", "requestContext": {"authorizer": {}}}'},
    ],
)
def test_nothing_in_a_request_widens_what_its_caller_sees(installed: World, api: Sandbox, widening: Any) -> None:
    installed.enrol(BIRCH.org_id)
    fill(installed, KEY, ANAS, BENS, BIRCH)
    assert scopes(call(api, STATUS, **widening)) == [("org", None), ("private", "ana")]


@pytest.mark.parametrize("name", ["org_id", "user_id", "sub", "org"])
def test_a_name_in_the_query_is_refused_and_widens_nothing(installed: World, api: Sandbox, name: str) -> None:
    installed.enrol(BIRCH.org_id)
    fill(installed, KEY, ANAS, BENS, BIRCH)
    answer = call(api, STATUS, query={name: "birch"})
    assert (answer.status, answer.body["fields"][0]["field"]) == (422, name)
    assert "slices" not in answer.body


def test_claims_have_configured_names(installed: World, api: Sandbox) -> None:
    installed.environment |= {"DREAMING_API_ORG_CLAIM": "https://id.test/org", "DREAMING_API_USER_CLAIM": "email"}
    fill(installed, KEY, ANAS)
    token = jwt(**{"https://id.test/org": "acme", "email": "ana", "org_id": "birch", "sub": "x"})
    assert scopes(call(api, STATUS, authorizer=token)) == [("org", None), ("private", "ana")]


def test_callers_with_aws_credentials_belong_to_the_configured_organization(installed: World, api: Sandbox) -> None:
    fill(installed, KEY, ANAS)
    refused = call(api, STATUS, authorizer=IAM)
    assert refused.status == 403
    assert "api_iam_organization" in refused.body["detail"]
    installed.environment["DREAMING_API_IAM_ORGANIZATION"] = "acme"
    assert scopes(call(api, STATUS, authorizer=IAM)) == [("org", None)]


@pytest.mark.parametrize(
    ("authorizer", "status"),
    [
        (None, 401),
        ({}, 401),
        ({"lambda": {"org_id": "acme"}}, 401),
        (jwt(sub="ana"), 403),
        (jwt(org_id="", sub="ana"), 403),
        (jwt(org_id="a\0cme", sub="ana"), 403),
        (jwt(org_id="x" * 201), 403),
    ],
)
@pytest.mark.parametrize("path", [STATUS, "/openapi.json"])
def test_a_caller_who_is_not_known_gets_nothing(
    installed: World, api: Sandbox, path: str, authorizer: Any, status: int
) -> None:
    fill(installed, KEY)
    answer = call(api, path, authorizer=authorizer)
    assert answer.status == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.body["correlation_id"] == "request-1"
    assert "slices" not in answer.body


def test_health_needs_neither_a_caller_nor_the_database(installed: World, api: Sandbox) -> None:
    def unreachable(*_: Any, **__: Any) -> Any:
        raise AssertionError("the database was asked")

    installed.database.transaction = unreachable  # type: ignore[method-assign]
    installed.database.planner = unreachable  # type: ignore[method-assign]
    answer = call(api, "/health", authorizer=None)
    assert answer.status == 200
    assert answer.body["status"] == "ok"


def test_what_is_not_there_is_a_problem_too(api: Sandbox) -> None:
    for path, method in (("/brain", "GET"), ("/brain/other", "POST"), ("/", "GET")):
        answer = call(api, path, method=method)
        assert (answer.status, answer.headers["content-type"]) == (404, "application/problem+json")
        assert answer.body["title"] == "Not Found"
        assert answer.body["correlation_id"] == "request-1"


def test_an_unexpected_error_says_nothing_but_its_correlation_id(installed: World, api: Sandbox) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("secret inside")

    installed.database.transaction = broken  # type: ignore[method-assign]
    answer = call(api, STATUS)
    assert answer.status == 500
    assert answer.body == {
        "type": "about:blank", "title": "Internal Server Error", "status": 500,
        "correlation_id": "request-1", "fields": [],
    }  # fmt: skip
    (line,) = [line for line in api.lines if line["level"] == "ERROR"]
    assert (line["correlation_id"], line["exception_name"]) == ("request-1", "RuntimeError")
    assert "secret inside" not in {line["message"], line.get("detail")}


def test_a_setting_that_cannot_be_read_is_never_taken_for_its_default(installed: World, api: Sandbox) -> None:
    installed.environment["DREAMING_ENABLED"] = "perhaps"
    fill(installed, KEY)
    assert call(api, STATUS).status == 500


def test_the_description_names_both_kinds_of_answer_of_every_route(api: Sandbox) -> None:
    body = call(api, "/openapi.json").body
    routes = {
        f"{method} {path}": route
        for path, methods in body["paths"].items()
        for method, route in methods.items()
        if path.startswith("/brain/")
    }
    assert f"get {STATUS}" in routes
    for name, route in routes.items():
        assert "schema" in route["responses"]["200"]["content"]["application/json"], name
        for code in ("401", "403", "422", "503"):
            assert "application/problem+json" in route["responses"][code]["content"], (name, code)
    assert "Problem" in body["components"]["schemas"]


def test_every_route_but_health_refuses_who_is_not_known(installed: World, api: Sandbox) -> None:
    paths = call(api, "/openapi.json").body["paths"]
    for path, methods in paths.items():
        for method, route in methods.items():
            named = path.replace("{name}", "enabled").replace("_id}", "}").replace("{note}", str(UNKNOWN))
            body = "{}" if "requestBody" in route else None
            answer = call(
                api, named.replace("{belief}", str(UNKNOWN)), method=method.upper(), authorizer=None, body=body
            )
            assert answer.status in ({200} if path == "/health" else {401, 422}), (method, path)


def test_the_caller_is_found_in_the_verified_part_alone(installed: World, api: Sandbox) -> None:
    fill(installed, KEY, ANAS)
    event_body = '{"requestContext": {"authorizer": {"jwt": {"claims": {"org_id": "acme"}}}}}'
    answer = call(api, STATUS, authorizer=None, body=event_body, headers={"x-amzn-claims": str(ANA)})
    assert answer.status == 401


def test_the_committed_description_is_up_to_date() -> None:
    assert (ROOT / "docs" / "openapi.json").read_text("utf-8") == document(), "run `make docs`"


def test_status_tells_why_no_run_starts_and_what_to_do(installed: World, api: Sandbox) -> None:
    installed.ingest(note("n", "The shed is green."))
    assert call(api, STATUS).body["stopped"] == []
    installed.environment["DREAMING_ENABLED"] = "false"
    fill(installed, BIRCH)
    stopped = call(api, STATUS, authorizer=jwt(org_id="cedar")).body["stopped"]
    assert [one["reason"] for one in stopped] == ["disabled", "not_enrolled", "no_model_consent"]
    assert stopped[1] == {
        "reason": "not_enrolled",
        "remedy": "an administrator enrols the organization: PUT /brain/settings/enrolled true",
        "setting": "enrolled",
    }
    decay = call(api, STATUS, query={"pass": "decay"}, authorizer=jwt(org_id="cedar")).body["stopped"]
    assert [one["reason"] for one in decay] == ["disabled", "not_enrolled"]


def test_status_tells_how_far_notes_are_read_again(installed: World, api: Sandbox) -> None:
    installed.ingest(note("a", "The shed is green."), note("b", "The mill is red."), note("c", "The gate is low."))
    installed.drain()
    assert call(api, STATUS).body["slices"][0]["rereading"] is None
    assert reconsolidate(installed.database, KEY, now=installed.now) == 3
    again = call(api, STATUS).body["slices"][0]["rereading"]
    assert (again["position"], again["goal"]) == (0, 3)
