"""Converse: requests that the service model accepts, and what each answer and failure means."""

import json
import logging
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from botocore.exceptions import (
    ConnectionClosedError,
    ConnectTimeoutError,
    EndpointConnectionError,
    ReadTimeoutError,
)

from dreaming.errors import (
    DreamingError,
    MalformedAnswer,
    MissingKey,
    ModelTimeout,
    ProviderMisconfigured,
    ProviderUnavailable,
    Throttled,
)
from dreaming.models import aws
from dreaming.models.bedrock import BedrockChatModel
from dreaming.models.bedrock_runtime import BedrockRuntime
from dreaming.models.protocols import ChatAnswer, ChatRequest, StopReason
from dreaming.passes.consolidation.prompt import RESPONSE_SCHEMA
from tests.aws_exchange import Answer, Exchange, take_on_credentials

CLAUDE = "us.anthropic.claude-haiku-4-5-20251001-v1:0"
PROFILE = "arn:aws:bedrock:eu-central-1:123456789012:application-inference-profile/abc123"
NOTE = "<note>text</note>"


@pytest.fixture(autouse=True)
def _credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    take_on_credentials(monkeypatch)


def message(*blocks: dict[str, Any], reason: str = "end_turn", usage: dict[str, int] | None = None) -> Answer:
    usage = usage or {"inputTokens": 0, "outputTokens": 0, "totalTokens": 0}
    output = {"message": {"role": "assistant", "content": list(blocks)}}
    return Answer({"output": output, "stopReason": reason, "usage": usage, "metrics": {"latencyMs": 1}})


def error(code: str, status: int, text: str = "", **more: Any) -> Answer:
    return Answer({"message": text, **more}, status, code)


def asked(answers: Sequence[Answer | Exception], model: str = CLAUDE) -> tuple[BedrockChatModel, Exchange]:
    exchange = Exchange("bedrock-runtime", answers)
    return BedrockChatModel(BedrockRuntime(exchange.connect), model, context_tokens=1_000), exchange


def request(schema: dict[str, Any] | None = None, timeout: float = 5) -> ChatRequest:
    return ChatRequest("fixed part", NOTE, (), max_tokens=77, timeout=timeout, response_schema=schema)


def answer_to(answer: Answer | Exception) -> ChatAnswer:
    return asked([answer])[0].answer(request())


def test_the_request_holds_instructions_a_cache_point_content_bound_and_schema() -> None:
    model, exchange = asked([message({"text": "[]"})])
    model.answer(request(RESPONSE_SCHEMA))
    (body,) = exchange.bodies
    schema = json.loads(body["outputConfig"]["textFormat"]["structure"]["jsonSchema"].pop("schema"))
    assert schema == RESPONSE_SCHEMA
    assert exchange.paths == [f"model/{CLAUDE}/converse"]
    assert body == {
        "system": [{"text": "fixed part"}, {"cachePoint": {"type": "default"}}],
        "messages": [{"role": "user", "content": [{"text": NOTE}]}],
        "inferenceConfig": {"maxTokens": 77},
        "outputConfig": {"textFormat": {"type": "json_schema", "structure": {"jsonSchema": {"name": "claims"}}}},
    }


def test_an_array_is_wrapped_in_an_object() -> None:
    model, exchange = asked([message({"text": "[]"})])
    model.answer(request({"type": "array", "items": {"type": "object"}}))
    sent = json.loads(exchange.bodies[0]["outputConfig"]["textFormat"]["structure"]["jsonSchema"]["schema"])
    assert (sent["type"], sent["properties"]["claims"]["type"]) == ("object", "array")


def test_without_instructions_there_is_no_system_block() -> None:
    model, exchange = asked([message({"text": "[]"})])
    model.answer(ChatRequest("", NOTE, (), max_tokens=1, timeout=5))
    assert "system" not in exchange.bodies[0]


@pytest.mark.parametrize(
    ("model", "caches", "formats"),
    [
        (CLAUDE, True, True),
        ("anthropic.claude-3-5-sonnet-20241022-v2:0", True, False),
        ("anthropic.claude-3-5-sonnet-20240620-v1:0", False, False),
        ("anthropic.claude-3-haiku-20240307-v1:0", False, False),
        ("arn:aws:bedrock:eu-central-1:123456789012:inference-profile/eu.amazon.nova-lite-v1:0", True, False),
        ("us.meta.llama3-3-70b-instruct-v1:0", False, False),
        ("qwen.qwen3-32b-v1:0", False, True),
        ("openai.gpt-oss-120b-1:0", False, True),
        (PROFILE, True, True),
    ],
)
def test_a_family_is_asked_only_for_what_it_can(model: str, caches: bool, formats: bool) -> None:
    chosen, exchange = asked([message({"text": "[]"})], model)
    chosen.answer(request(RESPONSE_SCHEMA))
    (body,) = exchange.bodies
    assert ("cachePoint" in json.dumps(body["system"]), "outputConfig" in body) == (caches, formats)


def test_what_a_model_refuses_by_name_is_left_out_from_then_on() -> None:
    no_cache = "You invoked an unsupported model or your request did not allow prompt caching."
    no_format = "The model returned the following errors: output_config.format: Extra inputs are not permitted"
    model, exchange = asked(
        [
            error("AccessDeniedException", 403, no_cache),
            error("ValidationException", 400, no_format),
            message({"text": "[1]"}),
        ],
        PROFILE,
    )
    assert model.answer(request(RESPONSE_SCHEMA)).text == "[1]"
    model.answer(request(RESPONSE_SCHEMA))
    sent = [("cachePoint" in json.dumps(body["system"]), "outputConfig" in body) for body in exchange.bodies]
    assert sent == [(True, True), (False, True), (False, False), (False, False)]


def test_a_model_that_keeps_refusing_is_asked_once_for_each_field_at_most() -> None:
    model, exchange = asked([error("ValidationException", 400, "cachePoint and outputConfig are not supported")])
    with pytest.raises(ProviderMisconfigured):
        model.answer(request(RESPONSE_SCHEMA))
    assert len(exchange.requests) == 2


def test_tokens_are_counted_with_those_of_the_cache() -> None:
    usage = {
        "inputTokens": 20,
        "outputTokens": 8,
        "totalTokens": 138,
        "cacheReadInputTokens": 100,
        "cacheWriteInputTokens": 10,
    }
    answer = answer_to(message({"text": "[]"}, usage=usage))
    assert (answer.input_tokens, answer.output_tokens, answer.cached_input_tokens) == (130, 8, 100)
    assert (answer.text, answer.stop_reason, answer.model) == ("[]", StopReason.COMPLETE, f"bedrock:{CLAUDE}")


@pytest.mark.parametrize(
    ("reason", "text", "stop"),
    [
        ("end_turn", "ab", StopReason.COMPLETE),
        ("stop_sequence", "ab", StopReason.COMPLETE),
        ("malformed_model_output", "ab", StopReason.COMPLETE),
        ("max_tokens", "ab", StopReason.TRUNCATED),
        ("model_context_window_exceeded", "ab", StopReason.TRUNCATED),
        ("guardrail_intervened", "", StopReason.REFUSED),
        ("content_filtered", "", StopReason.REFUSED),
    ],
)
def test_the_end_of_an_answer_is_told(reason: str, text: str, stop: StopReason) -> None:
    thought = {"reasoningContent": {"reasoningText": {"text": "let me see", "signature": "s"}}}
    answer = answer_to(message(thought, {"text": "a"}, {"text": "b"}, reason=reason))
    assert (answer.text, answer.stop_reason) == (text, stop)


def test_no_content_is_an_empty_text() -> None:
    assert answer_to(message()).text == ""


@pytest.mark.parametrize("output", [{}, None, {"picture": {}}])
def test_an_answer_without_a_message_is_an_outage(output: object) -> None:
    with pytest.raises(ProviderUnavailable):
        answer_to(Answer({"output": output, "stopReason": "end_turn"}))


@pytest.mark.parametrize(
    ("answer", "fate", "named"),
    [
        (error("ThrottlingException", 429), Throttled, "fewer calls"),
        (error("TooManyRequestsException", 429), Throttled, "fewer calls"),
        (error("ServiceQuotaExceededException", 400), Throttled, "fewer calls"),
        (error("ModelNotReadyException", 429), ProviderUnavailable, "not ready"),
        (error("InternalServerException", 500), ProviderUnavailable, "failed"),
        (error("ServiceUnavailableException", 503), ProviderUnavailable, "HTTP 503"),
        (Answer(b"<html>bad gateway</html>", 502), ProviderUnavailable, "HTTP 502"),
        (error("ModelTimeoutException", 408), ModelTimeout, "longer than"),
        (error("ModelErrorException", 424, originalStatusCode=500), ProviderUnavailable, "originally 500"),
        (error("ModelErrorException", 424), ProviderUnavailable, "not said"),
        (error("ModelErrorException", 424, originalStatusCode=429), Throttled, "originally 429"),
        (error("ModelErrorException", 424, originalStatusCode=400), MalformedAnswer, "originally 400"),
        (error("AccessDeniedException", 403), ProviderMisconfigured, "bedrock:InvokeModel"),
        (error("ResourceNotFoundException", 404), ProviderMisconfigured, "no such model"),
        (error("ValidationException", 400), ProviderMisconfigured, "refuses the request"),
        (
            error("ValidationException", 400, "Invocation with on-demand throughput isn't supported."),
            ProviderMisconfigured,
            "inference profile",
        ),
        (
            error("ValidationException", 400, "The maximum tokens you requested exceeds the model limit of 4096."),
            ProviderMisconfigured,
            "max_output_tokens",
        ),
        (error("ValidationException", 400, "Input is too long for requested model."), MalformedAnswer, "longer"),
        (
            error("ValidationException", 400, "The model returned: prompt is too long: 9 tokens > 8 maximum"),
            MalformedAnswer,
            "chat_context_tokens",
        ),
        (error("RequestEntityTooLargeException", 413), MalformedAnswer, "longer"),
        (error("UnrecognizedClientException", 403), MissingKey, "credentials"),
        (error("ExpiredTokenException", 403), MissingKey, "credentials"),
        (Answer(b"no json"), ProviderUnavailable, "none of Converse"),
        (ReadTimeoutError(endpoint_url="https://x"), ModelTimeout, "within 5 seconds"),
        (ConnectTimeoutError(endpoint_url="https://x"), ProviderUnavailable, "ConnectTimeoutError"),
        (EndpointConnectionError(endpoint_url="https://x"), ProviderUnavailable, "EndpointConnectionError"),
        (ConnectionClosedError(endpoint_url="https://x"), ProviderUnavailable, "ConnectionClosedError"),
    ],
)
def test_a_failure_decides_the_fate_and_is_never_repeated(
    answer: Answer | Exception, fate: type[DreamingError], named: str
) -> None:
    if isinstance(answer, Answer) and isinstance(answer.body, dict):
        answer.body["message"] = f"{answer.body['message']} {NOTE} AKIDEXAMPLE"
    model, exchange = asked([answer])
    with pytest.raises(fate) as raised:
        model.answer(request())
    assert type(raised.value) is fate
    assert named in str(raised.value)
    assert NOTE not in str(raised.value)
    assert "AKID" not in str(raised.value)
    assert len(exchange.requests) == 1


def test_a_filter_that_refuses_with_400_is_a_refusal() -> None:
    answer = answer_to(error("ValidationException", 400, "Output blocked by content filtering policy"))
    assert (answer.text, answer.stop_reason) == ("", StopReason.REFUSED)


def test_a_throttled_call_says_how_long_to_wait() -> None:
    with pytest.raises(Throttled) as raised:
        answer_to(Answer({"message": ""}, 429, "ThrottlingException", {"Retry-After": "7"}))
    assert raised.value.retry_after == 7.0


def test_without_credentials_the_key_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    aws._session.cache_clear()
    with pytest.raises(MissingKey, match="a role, a profile or keys"):
        answer_to(message())


def test_without_a_region_it_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_REGION")
    with pytest.raises(ProviderMisconfigured, match="set AWS_REGION"):
        answer_to(message())


def test_the_region_is_the_environments() -> None:
    model, exchange = asked([message({"text": "[]"})])
    model.answer(request())
    assert exchange.requests[0].url.startswith("https://bedrock-runtime.eu-central-1.amazonaws.com/")


def test_a_request_that_the_service_model_refuses_is_never_sent() -> None:
    model, exchange = asked([message()])
    with pytest.raises(ProviderMisconfigured, match="ParamValidationError") as raised:
        model.answer(ChatRequest("fixed", NOTE, (), max_tokens=0, timeout=5))
    assert not exchange.requests
    assert NOTE not in str(raised.value)


def test_clients_are_kept_by_rounded_time_out_and_not_for_ever() -> None:
    model, exchange = asked([message({"text": "[]"})])
    for timeout in (60, 60.9, 64.2, 0.2, 9.9, 10, 11, 600, 60):
        model.answer(request(timeout=timeout))
    assert exchange.timeouts == [60.0, 1.0, 9.0, 10.0, 600.0, 60.0]


def test_no_text_reaches_the_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    answer_to(message({"text": "what the model said"}))
    assert NOTE not in caplog.text
    assert "what the model said" not in caplog.text


def test_one_model_serves_several_threads() -> None:
    model, exchange = asked([message({"text": "[]"})])
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(model.answer, [request()] * 40))
    assert [answer.text for answer in answers] == ["[]"] * 40
    assert (len(exchange.requests), exchange.timeouts) == (40, [5.0])
    assert (model.metered, model.context_tokens, repr(model)) == (True, 1_000, f"BedrockChatModel({CLAUDE!r})")
