"""The Messages API: what is sent, and what each answer of the server means.

The exchanges are written from Anthropic's public documentation ("Messages", "Errors", "Stop reasons",
"Structured outputs", "Prompt caching").
"""

import json
import logging
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
from dreaming.models.anthropic import AnthropicChatModel, anthropic_headers
from dreaming.models.endpoint import Endpoint
from dreaming.models.keys import SecretKey
from dreaming.models.protocols import ChatAnswer, ChatRequest, StopReason
from dreaming.passes.consolidation.prompt import RESPONSE_SCHEMA

URL = "https://api.anthropic.test/v1/messages"
KEY = "sk-ant-very-secret-4711"
NOTE = "<note>text</note>"
NOW = datetime(2024, 2, 9, 10, 0, tzinfo=UTC)


def model(**options: Any) -> AnthropicChatModel:
    endpoint = Endpoint(
        "https://api.anthropic.test", lambda: SecretKey(KEY), headers=anthropic_headers, now=lambda: NOW
    )
    return AnthropicChatModel(endpoint, "claude-1", context_tokens=1_000, **options)


def request(schema: dict[str, Any] | None = None) -> ChatRequest:
    return ChatRequest("fixed part", NOTE, (), max_tokens=77, timeout=5, response_schema=schema)


def message(*blocks: dict[str, Any], reason: str | None = "end_turn", usage: object = None) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "content": list(blocks),
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": usage,
    }


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def problem(kind: str, words: str = "") -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": words}, "request_id": "req_1"}


def answer_to(server: respx.MockRouter, body: object, status: int = 200, **headers: str) -> ChatAnswer:
    server.post(URL).mock(return_value=httpx.Response(status, json=body, headers=headers))
    return model().answer(request())


def test_the_request_holds_cacheable_instructions_content_bound_and_schema(server: respx.MockRouter) -> None:
    route = server.post(URL).mock(return_value=httpx.Response(200, json=message(text("[]"))))
    model().answer(request(RESPONSE_SCHEMA))
    sent = route.calls.last.request
    assert sent.headers["x-api-key"] == KEY
    assert sent.headers["anthropic-version"] == "2023-06-01"
    assert "authorization" not in sent.headers
    assert json.loads(sent.content) == {
        "model": "claude-1",
        "max_tokens": 77,
        "system": [{"type": "text", "text": "fixed part", "cache_control": {"type": "ephemeral"}}],
        "messages": [{"role": "user", "content": NOTE}],
        "output_config": {"format": {"type": "json_schema", "schema": RESPONSE_SCHEMA}},
    }


def test_without_instructions_or_schema_neither_is_sent(server: respx.MockRouter) -> None:
    route = server.post(URL).mock(return_value=httpx.Response(200, json=message(text("[]"))))
    model().answer(ChatRequest("", NOTE, (), max_tokens=1, timeout=5))
    assert set(json.loads(route.calls.last.request.content)) == {"model", "max_tokens", "messages"}


def test_without_a_key_none_is_sent() -> None:
    assert anthropic_headers(None) == {"anthropic-version": "2023-06-01"}


@pytest.mark.parametrize(
    "words", ["output_config: Extra inputs are not permitted", "This model does not support structured outputs."]
)
def test_a_model_without_structured_output_is_asked_plainly_from_then_on(server: respx.MockRouter, words: str) -> None:
    refused = httpx.Response(400, json=problem("invalid_request_error", words))
    fine = httpx.Response(200, json=message(text("[1]")))
    route = server.post(URL).mock(side_effect=[refused, fine, fine])
    asked = model()
    assert asked.answer(request(RESPONSE_SCHEMA)).text == "[1]"
    asked.answer(request(RESPONSE_SCHEMA))
    assert ["output_config" in json.loads(call.request.content) for call in route.calls] == [True, False, False]


def test_a_second_refusal_is_final(server: respx.MockRouter) -> None:
    refused = httpx.Response(400, json=problem("invalid_request_error", "output_config: prompt is too long"))
    route = server.post(URL).mock(return_value=refused)
    with pytest.raises(MalformedAnswer):
        model().answer(request(RESPONSE_SCHEMA))
    assert route.call_count == 2


def test_tokens_are_counted_with_those_of_the_cache(server: respx.MockRouter) -> None:
    usage = {
        "input_tokens": 20,
        "output_tokens": 8,
        "cache_read_input_tokens": 100,
        "cache_creation_input_tokens": 10,
    }
    answer = answer_to(server, message(text("[]"), usage=usage))
    assert (answer.input_tokens, answer.output_tokens, answer.cached_input_tokens) == (130, 8, 100)
    assert (answer.text, answer.stop_reason, answer.model) == ("[]", StopReason.COMPLETE, "anthropic:claude-1")


@pytest.mark.parametrize("usage", [None, [], {"input_tokens": None, "cache_read_input_tokens": "x"}])
def test_missing_usage_counts_nothing(server: respx.MockRouter, usage: object) -> None:
    assert answer_to(server, message(text("[]"), usage=usage)).input_tokens == 0


@pytest.mark.parametrize(
    ("reason", "words", "stop"),
    [
        ("end_turn", "ab", StopReason.COMPLETE),
        ("stop_sequence", "ab", StopReason.COMPLETE),
        (None, "ab", StopReason.COMPLETE),
        ("max_tokens", "ab", StopReason.TRUNCATED),
        ("model_context_window_exceeded", "ab", StopReason.TRUNCATED),
        ("pause_turn", "ab", StopReason.TRUNCATED),
        ("refusal", "", StopReason.REFUSED),
    ],
)
def test_the_end_of_an_answer_is_told(
    server: respx.MockRouter, reason: str | None, words: str, stop: StopReason
) -> None:
    thought = {"type": "thinking", "thinking": "let me see", "signature": "s"}
    answer = answer_to(server, message(thought, text("a"), text("b"), reason=reason))
    assert (answer.text, answer.stop_reason) == (words, stop)


@pytest.mark.parametrize("reason", ["end_turn", "max_tokens"])
def test_no_content_is_an_empty_text(server: respx.MockRouter, reason: str) -> None:
    assert answer_to(server, message(reason=reason)).text == ""


@pytest.mark.parametrize("body", [{}, {"content": None}, {"content": "text"}])
def test_an_answer_without_blocks_is_the_notes_failure(server: respx.MockRouter, body: object) -> None:
    with pytest.raises(MalformedAnswer):
        answer_to(server, body)


@pytest.mark.parametrize(
    ("status", "kind", "words", "fate", "named"),
    [
        (400, "invalid_request_error", "", ProviderMisconfigured, "refuses the request"),
        (400, "invalid_request_error", "Your credit balance is too low.", ProviderMisconfigured, "no credit left"),
        (
            400,
            "invalid_request_error",
            "max_tokens: 9 > 8, which is the maximum allowed number of output tokens for claude-1",
            ProviderMisconfigured,
            "max_output_tokens",
        ),
        (400, "invalid_request_error", "prompt is too long: 9 tokens > 8 maximum", MalformedAnswer, "longer"),
        (
            400,
            "invalid_request_error",
            "input length and `max_tokens` exceed context limit: 6 + 3 > 8",
            MalformedAnswer,
            "chat_context_tokens",
        ),
        (401, "authentication_error", "", MissingKey, "refuses the key"),
        (402, "billing_error", "", ProviderMisconfigured, "billing"),
        (403, "permission_error", "", MissingKey, "refuses the key"),
        (404, "not_found_error", "", ProviderMisconfigured, "no such model"),
        (409, "conflict_error", "", ProviderUnavailable, "failed"),
        (413, "request_too_large", "", MalformedAnswer, "longer"),
        (429, "rate_limit_error", "", Throttled, "fewer calls"),
        (500, "api_error", "", ProviderUnavailable, "HTTP 500"),
        (504, "timeout_error", "", ProviderUnavailable, "HTTP 504"),
        (529, "overloaded_error", "", ProviderUnavailable, "overloaded_error"),
    ],
)
def test_a_status_decides_the_fate_and_is_never_repeated(
    server: respx.MockRouter, status: int, kind: str, words: str, fate: type[DreamingError], named: str
) -> None:
    body = problem(kind, f"{words} {NOTE} {KEY}")
    route = server.post(URL).mock(return_value=httpx.Response(status, json=body))
    with pytest.raises(fate) as raised:
        model().answer(request(RESPONSE_SCHEMA))
    assert type(raised.value) is fate
    assert named in str(raised.value)
    assert kind in str(raised.value)
    assert NOTE not in str(raised.value)
    assert KEY not in str(raised.value)
    assert route.call_count == 1


def test_a_large_request_stopped_before_the_api_is_the_notes_failure(server: respx.MockRouter) -> None:
    server.post(URL).mock(return_value=httpx.Response(413, content=b"<html>413</html>"))
    with pytest.raises(MalformedAnswer):
        model().answer(request())


@pytest.mark.parametrize(("status", "fate"), [(429, Throttled), (529, ProviderUnavailable)])
def test_a_busy_server_says_how_long_to_wait(
    server: respx.MockRouter, status: int, fate: type[Throttled | ProviderUnavailable]
) -> None:
    with pytest.raises(fate) as raised:
        answer_to(server, problem("rate_limit_error"), status, **{"retry-after": "7"})
    assert raised.value.retry_after == 7.0


def test_a_filter_that_refuses_with_400_is_a_refusal(server: respx.MockRouter) -> None:
    body = problem("invalid_request_error", "Output blocked by content filtering policy")
    assert answer_to(server, body, 400).stop_reason is StopReason.REFUSED


def test_an_error_inside_a_200_is_an_outage(server: respx.MockRouter) -> None:
    with pytest.raises(ProviderUnavailable, match="overloaded_error"):
        answer_to(server, problem("overloaded_error"))


@pytest.mark.parametrize(
    ("raised", "fate"),
    [
        (httpx.ReadTimeout, ModelTimeout),
        (httpx.ConnectTimeout, ProviderUnavailable),
        (httpx.ConnectError, ProviderUnavailable),
        (httpx.RemoteProtocolError, ProviderUnavailable),
    ],
)
def test_a_broken_connection_decides_the_fate(
    server: respx.MockRouter, raised: type[httpx.TransportError], fate: type[DreamingError]
) -> None:
    route = server.post(URL).mock(side_effect=raised)
    with pytest.raises(fate):
        model().answer(request(RESPONSE_SCHEMA))
    assert route.call_count == 1


def test_the_key_is_in_no_log_and_no_repr(server: respx.MockRouter, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    server.post(URL).mock(return_value=httpx.Response(200, json=message(text("[]"))))
    asked = model()
    asked.answer(request())
    assert KEY not in caplog.text
    assert KEY not in repr(asked)
    assert (asked.metered, asked.context_tokens) == (True, 1_000)
