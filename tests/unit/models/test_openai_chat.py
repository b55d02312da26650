"""The wire format of chat completions: what is sent, and what each answer of a server means."""

import json
import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
import respx

from dreaming.errors import (
    DreamingError,
    MalformedAnswer,
    MissingKey,
    ModelTimeout,
    ProviderMisconfigured,
    ProviderUnavailable,
    Throttled,
)
from dreaming.models.endpoint import Endpoint
from dreaming.models.keys import SecretKey
from dreaming.models.openai_compatible import OpenAIChatModel
from dreaming.models.protocols import ChatAnswer, ChatRequest, StopReason
from dreaming.models.retry_after import retry_after

URL = "https://model.test/v1/chat/completions"
KEY = "sk-very-secret-4711"
NOW = datetime(2024, 2, 9, 10, 0, tzinfo=UTC)
SCHEMA = {"type": "array", "items": {"type": "object"}}


def model(**options: Any) -> OpenAIChatModel:
    endpoint = Endpoint("https://model.test/v1/", lambda: SecretKey(KEY), now=lambda: NOW, max_body=10_000)
    return OpenAIChatModel(endpoint, "m-1", context_tokens=1_000, **options)


def request(schema: dict[str, Any] | None = None) -> ChatRequest:
    return ChatRequest("fixed part", "<note>text</note>", (), max_tokens=77, timeout=5, response_schema=schema)


def choice(content: object = "[]", finish: str = "stop", **message: object) -> dict[str, Any]:
    return {"choices": [{"message": {"role": "assistant", "content": content, **message}, "finish_reason": finish}]}


def answer_to(server: respx.MockRouter, body: object, status: int = 200, **headers: str) -> ChatAnswer:
    server.post(URL).mock(return_value=httpx.Response(status, json=body, headers=headers))
    return model().answer(request())


def test_the_request_holds_instructions_content_and_bound(server: respx.MockRouter) -> None:
    route = server.post(URL).mock(return_value=httpx.Response(200, json=choice()))
    model().answer(request())
    sent = route.calls.last.request
    assert sent.headers["authorization"] == f"Bearer {KEY}"
    assert json.loads(sent.content) == {
        "model": "m-1",
        "messages": [
            {"role": "system", "content": "fixed part"},
            {"role": "user", "content": "<note>text</note>"},
        ],
        "max_completion_tokens": 77,
    }


def test_without_a_key_no_authorization_is_sent(server: respx.MockRouter) -> None:
    route = server.post(URL).mock(return_value=httpx.Response(200, json=choice()))
    OpenAIChatModel(Endpoint("https://model.test/v1", lambda: None), "m-1", context_tokens=1_000).answer(request())
    assert "authorization" not in route.calls.last.request.headers


def test_a_schema_becomes_a_response_format_with_an_object_at_its_root(server: respx.MockRouter) -> None:
    route = server.post(URL).mock(return_value=httpx.Response(200, json=choice()))
    model().answer(request(SCHEMA))
    sent = json.loads(route.calls.last.request.content)["response_format"]
    assert sent["type"] == "json_schema"
    assert sent["json_schema"]["schema"]["properties"]["claims"] == SCHEMA
    model(structured_output=False).answer(request(SCHEMA))
    assert "response_format" not in json.loads(route.calls.last.request.content)


def test_a_server_without_structured_output_is_asked_plainly_from_then_on(server: respx.MockRouter) -> None:
    refused = httpx.Response(400, json={"error": {"message": "response_format is not supported"}})
    fine = httpx.Response(200, json=choice("[1]"))
    route = server.post(URL).mock(side_effect=[refused, fine, fine])
    asked = model()
    assert asked.answer(request(SCHEMA)).text == "[1]"
    asked.answer(request(SCHEMA))
    assert ["response_format" in json.loads(call.request.content) for call in route.calls] == [True, False, False]


def test_the_other_name_of_the_bound_is_learnt(server: respx.MockRouter) -> None:
    message = "Unsupported parameter: 'max_tokens' is not supported, use 'max_completion_tokens' instead."
    refused = httpx.Response(400, json={"error": {"message": message, "code": "unsupported_parameter"}})
    route = server.post(URL).mock(side_effect=[refused, httpx.Response(200, json=choice())])
    model(bound_field="max_tokens").answer(request())
    assert json.loads(route.calls.last.request.content)["max_completion_tokens"] == 77


def test_tokens_are_counted(server: respx.MockRouter) -> None:
    usage = {"prompt_tokens": 120, "completion_tokens": 8, "prompt_tokens_details": {"cached_tokens": 100}}
    answer = answer_to(server, choice() | {"usage": usage})
    assert (answer.input_tokens, answer.output_tokens, answer.cached_input_tokens) == (120, 8, 100)
    assert (answer.text, answer.stop_reason, answer.model) == ("[]", StopReason.COMPLETE, "openai:m-1")


@pytest.mark.parametrize("usage", [None, [], {"prompt_tokens": None, "prompt_tokens_details": None}])
def test_missing_usage_counts_nothing(server: respx.MockRouter, usage: object) -> None:
    assert answer_to(server, choice() | {"usage": usage}).input_tokens == 0


@pytest.mark.parametrize(
    ("body", "text", "stop"),
    [
        (choice('[{"a', "length"), '[{"a', StopReason.TRUNCATED),
        (choice(None, "length"), "", StopReason.TRUNCATED),
        (choice(None, "content_filter"), "", StopReason.REFUSED),
        (choice("half of it", "content_filter"), "", StopReason.REFUSED),
        (choice(None, "stop", refusal="I cannot help with that."), "", StopReason.REFUSED),
        (choice(None, "stop"), "", StopReason.COMPLETE),
        (choice([{"type": "text", "text": "[]"}]), "[]", StopReason.COMPLETE),
    ],
)
def test_the_end_of_an_answer_is_told(server: respx.MockRouter, body: object, text: str, stop: StopReason) -> None:
    answer = answer_to(server, body)
    assert (answer.text, answer.stop_reason) == (text, stop)


@pytest.mark.parametrize("body", [{"choices": []}, {"choices": None}, {}, {"choices": ["x"]}])
def test_an_answer_without_a_choice_is_the_notes_failure(server: respx.MockRouter, body: object) -> None:
    with pytest.raises(MalformedAnswer):
        answer_to(server, body)


def test_a_filter_that_refuses_with_400_is_a_refusal(server: respx.MockRouter) -> None:
    answer = answer_to(server, {"error": {"code": "content_filter", "message": "policy"}}, 400)
    assert answer.stop_reason is StopReason.REFUSED


@pytest.mark.parametrize(
    ("status", "error", "named"),
    [
        (401, MissingKey, "refuses the key"),
        (403, MissingKey, "refuses the key"),
        (404, ProviderMisconfigured, "no such model"),
        (301, ProviderMisconfigured, "no such model"),
        (400, ProviderMisconfigured, "refuses the request"),
        (422, ProviderMisconfigured, "refuses the request"),
        (408, ProviderUnavailable, "failed"),
        (429, Throttled, "fewer calls"),
        (500, ProviderUnavailable, "HTTP 500"),
        (503, ProviderUnavailable, "HTTP 503"),
    ],
)
def test_a_status_decides_the_fate(
    server: respx.MockRouter, status: int, error: type[DreamingError], named: str
) -> None:
    body = {"error": {"message": f"secret note text and {KEY}", "code": "some_code", "type": "has spaces in it"}}
    with pytest.raises(error) as raised:
        answer_to(server, body, status)
    assert named in str(raised.value)
    assert "some_code" in str(raised.value)
    assert "secret note" not in str(raised.value)
    assert KEY not in str(raised.value)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, {"error": {"code": "context_length_exceeded", "message": "x"}}),
        (400, {"error": {"message": "This model's maximum context length is 4096 tokens."}}),
        (413, {"error": "payload"}),
    ],
)
def test_a_request_over_the_window_is_the_notes_failure(server: respx.MockRouter, status: int, body: object) -> None:
    with pytest.raises(MalformedAnswer, match="chat_context_tokens"):
        answer_to(server, body, status)


@pytest.mark.parametrize("content", [b"<html>bad gateway</html>", b"[1]", b"null", b"", b"\xff\xfe", b"[" * 9_000])
def test_a_body_that_is_no_json_object_is_an_outage(server: respx.MockRouter, content: bytes) -> None:
    server.post(URL).mock(return_value=httpx.Response(200, content=content))
    with pytest.raises(ProviderUnavailable):
        model().answer(request())


def test_an_error_inside_a_200_is_an_outage(server: respx.MockRouter) -> None:
    with pytest.raises(ProviderUnavailable, match="overloaded"):
        answer_to(server, {"error": {"type": "overloaded"}})


def test_a_gigantic_body_is_not_read_to_its_end(server: respx.MockRouter) -> None:
    sent = 0

    def endless() -> Iterator[bytes]:
        nonlocal sent
        for _ in range(1_000):
            sent += 1_000
            yield b"x" * 1_000

    server.post(URL).mock(return_value=httpx.Response(200, content=endless()))
    with pytest.raises(ProviderUnavailable, match="larger than 10000 bytes"):
        model().answer(request())
    assert sent < 20_000


def test_an_answer_that_trickles_past_its_time_is_a_timeout(server: respx.MockRouter) -> None:
    ticks = iter(range(100))
    endpoint = Endpoint("https://model.test/v1", lambda: None, clock=lambda: float(next(ticks)))
    server.post(URL).mock(return_value=httpx.Response(200, content=iter([b"x"] * 50)))
    with pytest.raises(ModelTimeout):
        OpenAIChatModel(endpoint, "m-1", context_tokens=1_000).answer(request())


@pytest.mark.parametrize(
    ("raised", "error"),
    [
        (httpx.ReadTimeout, ModelTimeout),
        (httpx.ConnectTimeout, ProviderUnavailable),
        (httpx.PoolTimeout, ProviderUnavailable),
        (httpx.ConnectError, ProviderUnavailable),
        (httpx.RemoteProtocolError, ProviderUnavailable),
        (httpx.UnsupportedProtocol, ProviderMisconfigured),
    ],
)
def test_a_broken_connection_decides_the_fate(
    server: respx.MockRouter, raised: type[httpx.TransportError], error: type[DreamingError]
) -> None:
    route = server.post(URL).mock(side_effect=raised)
    with pytest.raises(error):
        model().answer(request())
    assert route.call_count == 1


@pytest.mark.parametrize("status", [401, 404, 429, 500])
def test_nothing_is_repeated(server: respx.MockRouter, status: int) -> None:
    route = server.post(URL).mock(return_value=httpx.Response(status, json={}))
    with pytest.raises(DreamingError):
        model().answer(request(SCHEMA))
    assert route.call_count == 1


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("7", 7.0),
        ("1.5", 1.5),
        ("Fri, 09 Feb 2024 10:02:00 GMT", 120.0),
        ("Fri, 09 Feb 2024 09:00:00 GMT", 0.0),
        ("999999999", 86_400.0),
        ("-5", None),
        ("soon", None),
        ("nan", None),
        ("", None),
    ],
)
def test_retry_after_is_read_as_seconds_or_date(header: str, seconds: float | None) -> None:
    assert retry_after({"retry-after": header}, NOW) == seconds


def test_the_key_is_in_no_log_and_no_repr(server: respx.MockRouter, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    server.post(URL).mock(return_value=httpx.Response(200, json=choice()))
    asked = model()
    asked.answer(request())
    assert KEY not in caplog.text
    assert KEY not in repr(asked)


def test_one_model_serves_several_threads(server: respx.MockRouter) -> None:
    def echo(sent: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json=choice(json.loads(sent.content)["messages"][1]["content"]))

    server.post(URL).mock(side_effect=echo)
    asked = model()
    requests = [ChatRequest("", str(place), (), max_tokens=1, timeout=5) for place in range(40)]
    with ThreadPoolExecutor(8) as pool:
        assert [answer.text for answer in pool.map(asked.answer, requests)] == [str(place) for place in range(40)]
