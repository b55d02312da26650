"""Methods, sizes and forms of requests that no route names."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import Any

import pytest

from dreaming.api.requests import MAX_BODY_BYTES
from tests.functions.http import call, jwt, request
from tests.functions.sandbox import Sandbox
from tests.world import World, note

STATUS = "/brain/dream/status"
NOTES = "/brain/notes"


def test_head_is_get_without_the_body(installed: World, api: Sandbox) -> None:
    installed.ingest(note("a", "The shed is green."))
    raw = api.invoke(request(STATUS, method="HEAD"), seconds=29)
    assert (raw["statusCode"], raw["body"]) == (200, "")
    assert raw["headers"]["Content-Type"] == "application/json"
    assert api.invoke(request(STATUS, method="HEAD", authorizer=None), seconds=29)["statusCode"] == 401
    assert api.invoke(request("/brain/nothing", method="HEAD"), seconds=29)["statusCode"] == 404


@pytest.mark.parametrize(
    ("path", "methods"),
    [
        (STATUS, "GET, HEAD, OPTIONS"),
        (NOTES, "GET, HEAD, OPTIONS, POST"),
        ("/brain/settings/enabled", "DELETE, OPTIONS, PUT"),
    ],
)
def test_a_path_tells_its_methods(api: Sandbox, path: str, methods: str) -> None:
    raw = api.invoke(request(path, method="OPTIONS"), seconds=29)
    assert raw["statusCode"] == 204
    assert raw["headers"]["Allow"] == methods
    assert not raw.get("body")
    answer = call(api, path, method="PATCH")
    assert (answer.status, answer.headers["allow"]) == (405, methods)
    assert answer.headers["content-type"] == "application/problem+json"
    for method in ("OPTIONS", "PATCH"):
        assert call(api, "/brain/nothing", method=method).status == 404


def test_a_body_has_a_bound(api: Sandbox) -> None:
    long = json.dumps({"notes": [{"text": "ä" * (MAX_BODY_BYTES // 2)}]}, ensure_ascii=False)
    answer = call(api, NOTES, method="POST", body=long)
    assert answer.status == 413
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.body["correlation_id"] == "request-1"
    assert call(api, NOTES).body["notes"] == []


def test_a_body_in_base64_is_read(api: Sandbox) -> None:
    body = json.dumps({"notes": [{"text": "The shed is grün."}]}, ensure_ascii=False)
    event = request(NOTES, method="POST", body=b64encode(body.encode()).decode())
    assert api.invoke(event | {"isBase64Encoded": True}, seconds=29)["statusCode"] == 200
    for wrong in (b64encode(b"\xff\xfe").decode(), "no base64!"):
        event = request(NOTES, method="POST", body=wrong) | {"isBase64Encoded": True}
        assert api.invoke(event, seconds=29)["statusCode"] == 415


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])
def test_a_body_is_json(api: Sandbox, kind: str) -> None:
    body = '{"notes": [{"text": "The shed is green."}]}'
    assert call(api, NOTES, method="POST", body=body, headers={"Content-Type": kind}).status == 415
    kind = "Application/JSON; charset=utf-8"
    assert call(api, NOTES, method="POST", body=body, headers={"Content-Type": kind}).status == 200


@pytest.mark.parametrize(
    "body",
    [
        "[" * 200_000,
        '{"notes": [{"text": "a", "metadata": ' + '{"a":' * 90_000 + "1" + "}" * 90_000 + "}]}",
        '{"notes": [{"text": "a", "metadata": {"n": ' + "9" * 5_000 + "}}]}",
        '{"notes": [{"text": "a", "metadata": {"n": NaN}}]}',
        '{"notes": [{"text": "a", "metadata": {"n": -Infinity}}]}',
        '{"notes": [{"text": "a", "source": "\\ud800"}]}',
        '{"notes": [{"text": "a", "source": "\\u0000"}]}',
        '{"notes": [{"text": "a", "external_id": "\\u0000"}]}',
        '{"notes": [{"text": "a", "author": "\\u0000"}]}',
        '{"notes": [{"text": "a", "origin": "\\u0000"}]}',
        '{"notes": [{"text": "a", "participants": ["\\u0000"]}]}',
        '{"notes": [{"text": "a", "metadata": {"n": "\\u0000"}}]}',
        '{"notes": [{"text": "a", "metadata": {"\\u0000": 1}}]}',
        '{"notes": [{"text": "a", "metadata": {"n": "\\ud800"}}]}',
        '{"notes": [{"text": "a", "occurred_at": "0001-01-01T00:00:00+14:00"}]}',
        '{"notes": [{"text": "a", "occurred_at": "9999-12-31T23:59:59-14:00"}]}',
        "null",
        "[]",
        '"text"',
        "{",
    ],
)
def test_what_cannot_be_read_is_refused_and_nothing_fails(api: Sandbox, body: str) -> None:
    answer = call(api, NOTES, method="POST", body=body)
    assert answer.status in (200, 422)
    if answer.status == 422:
        assert answer.headers["content-type"] == "application/problem+json"
        assert call(api, NOTES).body["notes"] == []
    assert [line for line in api.lines if line.get("level") == "ERROR"] == []


def test_the_same_answers_for_what_is_missing_and_what_is_somebody_elses(installed: World, api: Sandbox) -> None:
    installed.ingest(note("a", "The shed is green."))
    ours = call(api, NOTES).body["notes"][0]["note_id"]
    birch: Any = jwt(org_id="birch", sub="ana")
    unknown = "00000000-0000-7000-8000-000000000007"
    assert call(api, f"{NOTES}/{ours}", authorizer=birch).body == call(api, f"{NOTES}/{unknown}", authorizer=birch).body
    assert call(api, f"{NOTES}/{ours}", authorizer=birch).status == 404
    assert call(api, f"{NOTES}/no-id").status == 422
    assert call(api, f"{NOTES}/{ours}", authorizer=jwt(sub="ana")).status == 403


def test_a_setting_that_there_is_not_is_not_found(api: Sandbox) -> None:
    admin: Any = jwt(org_id="acme", sub="ana", dreaming_admin="true")
    for method, body in (("PUT", '{"value": 1}'), ("DELETE", None)):
        answer = call(api, "/brain/settings/no_such_setting", method=method, body=body, authorizer=admin)
        assert answer.status == 404
        # A path that a route names as it stands is no setting either.
        assert call(api, "/brain/settings/audit", method=method, body=body, authorizer=admin).status == 405


@pytest.mark.parametrize("time", ["0", "1717243200", "2026-06-01", "noon"])
def test_a_time_is_written_out(api: Sandbox, time: str) -> None:
    assert call(api, "/brain/beliefs", query={"as_of": time}).status == 422
    body = json.dumps({"notes": [{"text": "a", "occurred_at": time}]})
    assert call(api, NOTES, method="POST", body=body).status == 422
    assert call(api, "/brain/beliefs", query={"as_of": "2026-06-01T12:00:00Z"}).status == 200
