"""The API's server on this machine: who is answered, and what reaches the function."""

from __future__ import annotations

import http.client
import json
import socket
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partialmethod
from pathlib import Path
from socketserver import BaseServer
from typing import Any

import httpx
import pytest

from dreaming.errors import InvalidInput
from dreaming.local.logs import LOG_FILE, log_into
from dreaming.local.web import MAX_BODY_BYTES, LocalApi, api_token
from dreaming.notes.records import Tenant

TOKEN = {"authorization": "Bearer key"}


class Recorder:
    """Stands in for the function: keeps each event and answers with its path."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.at_once = 0

    def invoke(self, event: dict[str, Any], *, request_id: str) -> dict[str, Any]:
        self.at_once += 1
        assert self.at_once == 1
        self.events.append(event)
        self.at_once -= 1
        return {"statusCode": 200, "headers": {"Content-Type": "text/plain"}, "body": f"{event['rawPath']} ü"}


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
def api(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalApi]:
    # By itself it looks each half second whether it is to stop.
    monkeypatch.setattr(BaseServer, "serve_forever", partialmethod(BaseServer.serve_forever, 0.01))
    served = LocalApi(recorder, tenant=Tenant("acme", "ana"), token="key", environment={}, port=0)  # type: ignore[arg-type]
    served.start()
    yield served
    served.stop()


def test_who_holds_the_token_is_the_tenant(api: LocalApi, recorder: Recorder) -> None:
    answer = httpx.get(f"{api.url}/brain/beliefs?q=a%20b&kind=", headers=TOKEN)
    assert (answer.status_code, answer.text) == (200, "/brain/beliefs ü")
    (event,) = recorder.events
    assert event["queryStringParameters"] == {"q": "a b", "kind": ""}
    claims = event["requestContext"]["authorizer"]["jwt"]["claims"]
    assert claims == {"org_id": "acme", "sub": "ana", "dreaming_admin": "true"}
    assert "authorization" not in event["headers"]


@pytest.mark.parametrize("headers", [{}, {"authorization": "Bearer other"}, {"authorization": "key"}])
def test_nobody_else_is_answered(api: LocalApi, recorder: Recorder, headers: dict[str, str]) -> None:
    answer = httpx.get(f"{api.url}/brain/beliefs", headers=headers)
    assert (answer.status_code, answer.headers["content-type"]) == (401, "application/problem+json")
    assert answer.json()["title"] == "Unauthorized"
    assert answer.json()["correlation_id"]
    assert answer.headers["www-authenticate"] == 'Bearer realm="dreaming"'
    assert answer.headers["cache-control"] == "no-store"
    assert recorder.events == []


@pytest.mark.parametrize("given", ["bearer key", "BEARER key", "Bearer   key"])
def test_the_scheme_is_known_in_any_case(api: LocalApi, given: str) -> None:
    assert httpx.get(f"{api.url}/brain/beliefs", headers={"authorization": given}).status_code == 200


@pytest.mark.parametrize("given", ["Basic key", "key", "Bearer", "Bearer key key"])
def test_another_scheme_is_none(api: LocalApi, given: str) -> None:
    assert httpx.get(f"{api.url}/brain/beliefs", headers={"authorization": given}).status_code == 401


@pytest.mark.parametrize("path", ["/health", "/brain/dashboard"])
def test_what_holds_nothing_of_anybody_is_open_and_unverified(api: LocalApi, recorder: Recorder, path: str) -> None:
    assert httpx.get(f"{api.url}{path}").status_code == 200
    assert "authorizer" not in recorder.events[0]["requestContext"]


def test_a_path_reaches_the_function_decoded_as_an_http_api_does_it(api: LocalApi, recorder: Recorder) -> None:
    httpx.get(f"{api.url}/brain/autonomy/agents/mail%20bot%C3%A9/permission", headers=TOKEN)
    assert recorder.events[-1]["rawPath"] == "/brain/autonomy/agents/mail boté/permission"
    assert recorder.events[-1]["requestContext"]["http"]["path"] == recorder.events[-1]["rawPath"]


def test_a_name_of_another_site_that_points_here_is_not_served(api: LocalApi, recorder: Recorder) -> None:
    for host in ("evil.test", "evil.test:80", "", "127.0.0.1.evil.test"):
        answer = httpx.get(f"{api.url}/brain/dashboard", headers=TOKEN | {"host": host})
        assert answer.status_code == 421
    assert recorder.events == []


def test_a_body_reaches_the_function_and_one_too_large_does_not(api: LocalApi, recorder: Recorder) -> None:
    body = {"text": "schön"}
    httpx.post(f"{api.url}/brain/notes", headers=TOKEN, content=json.dumps(body, ensure_ascii=False))
    assert json.loads(recorder.events[0]["body"]) == body
    assert recorder.events[0]["requestContext"]["http"]["method"] == "POST"
    connection = http.client.HTTPConnection("127.0.0.1", api.port)
    connection.request("POST", "/brain/notes", headers={**TOKEN, "content-length": str(MAX_BODY_BYTES + 1)})
    assert connection.getresponse().status == 413
    connection.close()
    assert len(recorder.events) == 1


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"GET /health HTTP/1.1\r\nHost: [::bad\r\n", 400),
        (b"GET http://[bad HTTP/1.1\r\nHost: 127.0.0.1\r\n", 400),
        (b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: \xb2\r\n", 411),
        (b"POST /health HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n", 411),
        (b"POST /health HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: " + b"9" * 5_000 + b"\r\n", 413),
        (b"BREW /health HTTP/1.1\r\nHost: 127.0.0.1\r\n", 501),
        (b"nonsense\r\n", 400),
    ],
)
def test_what_is_no_proper_request_is_refused(api: LocalApi, recorder: Recorder, head: bytes, status: int) -> None:
    with socket.create_connection(("127.0.0.1", api.port), timeout=10) as connection:
        connection.sendall(head + b"Connection: close\r\n\r\n")
        answer = b"".join(iter(lambda: connection.recv(10_000), b""))
    assert answer.startswith(b"HTTP/1.1 %d " % status)
    problem = json.loads(answer.partition(b"\r\n\r\n")[2])
    assert (problem["status"], bool(problem["detail"]), bool(problem["correlation_id"])) == (status, True, True)
    assert recorder.events == []


def test_a_body_that_is_no_utf_8_is_refused(api: LocalApi, recorder: Recorder) -> None:
    assert httpx.post(f"{api.url}/brain/notes", headers=TOKEN, content=b"\xff").status_code == 415
    assert recorder.events == []


def test_requests_at_once_reach_the_function_one_by_one(api: LocalApi, recorder: Recorder) -> None:
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda _: httpx.get(f"{api.url}/health").status_code, range(40)))
    assert answers == [200] * 40
    assert len(recorder.events) == 40


def test_a_port_in_use_is_named(api: LocalApi) -> None:
    with pytest.raises(InvalidInput, match=f"{api.port} cannot be had"):
        LocalApi(Recorder(), tenant=Tenant("acme"), token="key", environment={}, port=api.port)  # type: ignore[arg-type]


def test_the_token_is_made_once_and_is_its_owners_alone(tmp_path: Path) -> None:
    home = tmp_path / "home"
    token = api_token(home)
    assert len(token) >= 32
    assert api_token(home) == token
    assert stat.S_IMODE((home / "api-token").stat().st_mode) == 0o600


def test_head_tells_what_get_would_without_a_body(api: LocalApi, recorder: Recorder) -> None:
    answer = httpx.head(f"{api.url}/brain/beliefs", headers=TOKEN)
    assert (answer.status_code, answer.content) == (200, b"")
    assert recorder.events[0]["requestContext"]["http"]["method"] == "HEAD"
    assert httpx.head(f"{api.url}/brain/beliefs").status_code == 401


def test_what_the_gateway_refuses_is_in_the_log_under_the_id_that_is_told(api: LocalApi, tmp_path: Path) -> None:
    log_into(tmp_path)
    answer = httpx.get(f"{api.url}/brain/beliefs?q=rosebud", headers={"authorization": "Bearer other"})
    written = [json.loads(line) for line in (tmp_path / LOG_FILE).read_text("utf-8").splitlines()]
    (line,) = [one for one in written if one["correlation_id"] == answer.json()["correlation_id"]]
    assert (line["status"], line["message"], line["level"]) == (401, "request refused", "WARNING")
    assert "rosebud" not in json.dumps(written)
    assert stat.S_IMODE((tmp_path / LOG_FILE).stat().st_mode) == 0o600


def test_a_parameter_that_comes_twice_is_joined_as_an_http_api_does_it(api: LocalApi, recorder: Recorder) -> None:
    httpx.get(f"{api.url}/brain/beliefs?limit=1&limit=2&q=", headers=TOKEN)
    assert recorder.events[0]["queryStringParameters"] == {"limit": "1,2", "q": ""}


def test_head_has_the_length_that_the_function_tells(api: LocalApi, recorder: Recorder) -> None:
    answer = {"statusCode": 200, "headers": {"Content-Length": "17"}, "body": ""}
    recorder.invoke = lambda event, *, request_id: answer  # type: ignore[method-assign]
    answered = httpx.head(f"{api.url}/brain/beliefs", headers=TOKEN)
    assert answered.headers.get_list("content-length") == ["17"]
