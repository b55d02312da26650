"""What the client sends, what it tries again, and how it tells what went wrong."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from botocore.auth import SigV4Auth as BotocoreAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials as BotocoreCredentials

from dreaming_client import (
    ApiError,
    AsyncDreaming,
    ConnectionFailed,
    Credentials,
    Dreaming,
    InvalidRequest,
    NotAllowed,
    NotFound,
    NotRunning,
    NotVerified,
    Retries,
    SigV4Auth,
    TryLater,
    UnexpectedAnswer,
)
from dreaming_client.reading import read
from dreaming_client.records import Permission, Run

URL = "https://memory.test"
STORED = {"created": 1, "edited": 0, "reinstated": 0, "unchanged": 0}
Answers = list[httpx.Response | Exception]


class Server:
    """Answers requests one after another, and keeps them."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self.answers: Answers = list(answers)
        self.requests: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def ok(body: Any) -> httpx.Response:
    return httpx.Response(200, json=body)


def refused(status: int, **headers: str) -> httpx.Response:
    body = {"title": "Refused", "status": status, "detail": "why", "correlation_id": "r-1", "fields": []}
    return httpx.Response(status, json=body, headers=headers)


def client(server: Server, **options: Any) -> tuple[Dreaming, list[float]]:
    waits: list[float] = []
    options = {"retries": Retries(chance=lambda: 0.0), **options}
    return Dreaming(URL, "t", transport=httpx.MockTransport(server), sleep=waits.append, **options), waits


def test_a_note_is_sent_with_a_token_and_a_key() -> None:
    server = Server(ok(STORED))
    dreaming, _ = client(server)
    at = datetime(2026, 6, 1, 12, tzinfo=UTC)
    assert dreaming.remember("The shed is grün.", {"text": "b", "occurred_at": at}, scope="private").created == 1
    (request,) = server.requests
    assert (request.method, str(request.url)) == ("POST", f"{URL}/brain/notes?scope=private")
    assert request.headers["authorization"] == "Bearer t"
    assert request.headers["idempotency-key"]
    sent = json.loads(request.content)
    assert sent == {"notes": [{"text": "The shed is grün."}, {"text": "b", "occurred_at": "2026-06-01T12:00:00+00:00"}]}


def test_ids_are_no_paths() -> None:
    server = Server(ok({"allowed": False, "reason": "r", "agent_id": "a/b", "risk": "low", "floor": 60}))
    dreaming, _ = client(server)
    dreaming.permission("a/../b?x=1", "low")
    assert server.requests[0].url.raw_path == b"/brain/autonomy/agents/a%2F..%2Fb%3Fx%3D1/permission?risk=low"
    with pytest.raises(ValueError, match="empty"):
        dreaming.why("")


@pytest.mark.parametrize("status", [409, 429, 503])
def test_what_may_pass_is_tried_again_with_the_same_key_after_the_time_that_was_asked(status: int) -> None:
    server = Server(refused(status, **{"Retry-After": "7"}), refused(status), ok(STORED))
    dreaming, waits = client(server)
    assert dreaming.remember("a").created == 1
    assert waits == [7.0, 1.0]
    assert len({request.headers["idempotency-key"] for request in server.requests}) == 1


def test_it_gives_up_in_the_end() -> None:
    server = Server(*[refused(503, **{"Retry-After": "900"})] * 4)
    dreaming, waits = client(server)
    with pytest.raises(TryLater) as caught:
        dreaming.status()
    assert waits == [30.0] * 3
    assert caught.value.retry_after == 900


@pytest.mark.parametrize("failure", [httpx.ReadTimeout("slow"), httpx.ConnectError("down"), httpx.ReadError("cut")])
def test_a_connection_that_fails_is_tried_again(failure: Exception) -> None:
    server = Server(failure, ok(STORED), *[failure] * 4)
    dreaming, waits = client(server)
    assert dreaming.remember("a").created == 1
    assert waits == [0.5]
    with pytest.raises(ConnectionFailed):
        dreaming.remember("a")


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, NotVerified),
        (403, NotAllowed),
        (404, NotFound),
        (413, InvalidRequest),
        (422, InvalidRequest),
        (500, ApiError),
    ],
)
def test_an_error_tells_what_the_api_says(status: int, kind: type[ApiError]) -> None:
    body = {"title": "No", "detail": "d", "correlation_id": "r-1", "fields": [{"field": "query.q", "problem": "p"}]}
    dreaming, waits = client(Server(httpx.Response(status, json=body)))
    with pytest.raises(kind) as caught:
        dreaming.search("x")
    assert str(caught.value) == f"{status} No: d; query.q: p (request r-1)"
    assert (caught.value.status, caught.value.correlation_id) == (status, "r-1")
    assert waits == []


def test_an_error_says_a_sentence_once() -> None:
    problem = "is not one that a page ended with; use `next_cursor` unchanged"
    body = {
        "title": "Bad Request",
        "detail": f"the cursor {problem}",
        "fields": [{"field": "cursor", "problem": problem}],
    }
    dreaming, _ = client(Server(httpx.Response(400, json=body)))
    with pytest.raises(InvalidRequest) as caught:
        dreaming.search("x")
    assert str(caught.value) == f"400 Bad Request: the cursor {problem}"
    assert [one.field for one in caught.value.fields] == ["cursor"]


def test_the_gateways_own_answer_is_understood() -> None:
    answer = httpx.Response(401, json={"message": "Unauthorized"}, headers={"apigw-requestid": "g-1"})
    dreaming, _ = client(Server(answer))
    with pytest.raises(NotVerified, match=r"401 Unauthorized: Unauthorized \(request g-1\)"):
        dreaming.status()


@pytest.mark.parametrize(
    "answer", [httpx.Response(200, text="<html>"), ok([]), ok({"created": "1"}), ok({"created": 1})]
)
def test_what_is_not_the_apis_answer_is_told(answer: httpx.Response) -> None:
    dreaming, _ = client(Server(answer))
    with pytest.raises(UnexpectedAnswer):
        dreaming.remember("a")


def test_unknown_fields_are_ignored() -> None:
    given = {"allowed": True, "reason": "r", "agent_id": "a", "risk": "low", "floor": 60, "score": 75, "new": {"x": 1}}
    assert read(Permission, given) == Permission(True, "r", "a", "low", 60, 75)


def run(number: int) -> dict[str, Any]:
    return {"run_id": str(number), "pass": "decay", "status": "drained", "started_at": "2026-06-01T12:00:00Z"}


def test_lists_are_gone_through_page_by_page() -> None:
    server = Server(ok({"runs": [run(1), run(2)], "next_cursor": "c="}), ok({"runs": [run(3)], "next_cursor": None}))
    dreaming, _ = client(server)
    found = dreaming.runs(page=2)
    first = next(found)
    assert first == Run("1", "decay", "drained", datetime(2026, 6, 1, 12, tzinfo=UTC))
    assert len(server.requests) == 1
    assert [one.run_id for one in found] == ["2", "3"]
    assert dict(server.requests[1].url.params) == {"limit": "2", "cursor": "c="}


def test_the_asynchronous_client_does_the_same() -> None:
    async def talk() -> None:
        server = Server(
            refused(503),
            ok(STORED),
            ok({"runs": [run(1)], "next_cursor": "c"}),
            ok({"runs": [run(2)], "next_cursor": None}),
            refused(404),
        )
        waits: list[float] = []

        async def wait(seconds: float) -> None:
            waits.append(seconds)

        retries = Retries(chance=lambda: 0.0)
        async with AsyncDreaming(
            URL, lambda: "fresh", transport=httpx.MockTransport(server), sleep=wait, retries=retries
        ) as dreaming:
            assert (await dreaming.remember("a")).created == 1
            assert [one.run_id async for one in dreaming.runs()] == ["1", "2"]
            with pytest.raises(NotFound):
                await dreaming.why("x")
        assert waits == [0.5]
        assert {request.headers["authorization"] for request in server.requests} == {"Bearer fresh"}

    asyncio.run(talk())


def test_both_clients_have_the_same_methods() -> None:
    def public(kind: type) -> set[str]:
        return {name for name in vars(kind) if not name.startswith("_")}

    assert public(Dreaming) == public(AsyncDreaming) == {"local", "close", "ask", "go_through"}


@pytest.mark.parametrize("url", ["http://memory.test", "ftp://memory.test", "memory.test", ""])
def test_a_token_does_not_travel_in_the_clear(url: str) -> None:
    with pytest.raises(ValueError, match="https"):
        Dreaming(url, "t")
    Dreaming("http://127.0.0.1:8377/", "t").close()


def test_a_time_without_an_offset_is_refused() -> None:
    dreaming, _ = client(Server())
    with pytest.raises(ValueError, match="offset"):
        dreaming.remember({"text": "a", "occurred_at": datetime(2026, 6, 1)})  # noqa: DTZ001 - what is refused


@pytest.mark.parametrize(
    "call",
    [
        lambda dreaming: dreaming.remember("The shed is grün."),
        lambda dreaming: dreaming.search("a b+c/d~e ü&=", kind="fact"),
        lambda dreaming: dreaming.permission("a b/ü", "low"),
    ],
)
@pytest.mark.parametrize("token", [None, "session/token+="])
def test_a_signature_is_that_of_botocore(call: Callable[[Dreaming], Any], token: str | None) -> None:
    now = datetime.now(UTC)
    server = Server(refused(422))
    auth = SigV4Auth("eu-central-1", lambda: Credentials("AKIA", "secret", token), clock=lambda: now)
    dreaming = Dreaming(URL, auth=auth, transport=httpx.MockTransport(server))
    with pytest.raises(InvalidRequest):
        call(dreaming)
    (sent,) = server.requests
    theirs = AWSRequest(sent.method, str(sent.url), data=sent.content)
    theirs.context["timestamp"] = sent.headers["x-amz-date"]
    signer = BotocoreAuth(BotocoreCredentials("AKIA", "secret", token), "execute-api", "eu-central-1")
    theirs.headers["X-Amz-Date"] = sent.headers["x-amz-date"]
    if token:
        theirs.headers["X-Amz-Security-Token"] = token
    canonical = signer.canonical_request(theirs)
    signature = signer.signature(signer.string_to_sign(theirs, canonical), theirs)
    assert sent.headers["authorization"].endswith(f"Signature={signature}")


def test_credentials_are_not_shown() -> None:
    assert "secret" not in repr(Credentials("AKIA", "secret", "secret"))


def test_nothing_local_is_said_to_be_so(tmp_path: Any) -> None:
    with pytest.raises(NotRunning, match="dream up"):
        Dreaming.local(tmp_path)
