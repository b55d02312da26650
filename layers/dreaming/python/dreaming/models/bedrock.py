"""Chat by Bedrock's Converse, for every model that Bedrock offers."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from enum import Enum
from typing import Any

from dreaming.errors import ProviderMisconfigured, ProviderUnavailable
from dreaming.models.bedrock_runtime import BedrockRuntime
from dreaming.models.protocols import ChatAnswer, ChatRequest, StopReason
from dreaming.models.wire import Refusal, answer_to_refusal, joined_text, object_rooted, token_count

_REFUSED = frozenset(("guardrail_intervened", "content_filtered", "refusal"))
_TRUNCATED = frozenset(("max_tokens", "model_context_window_exceeded"))


class _Feature(Enum):
    """What only some models can do; the value is how a refusal names it, in lower case."""

    CACHE_POINT = ("prompt caching", "cachepoint", "cache_control")
    TEXT_FORMAT = ("outputconfig", "output_config", "textformat", "structured output", "response_format")


# What the user guide says ("Prompt caching", "Structured output") of families that surely lack the feature.
# A model outside both patterns is asked once with the feature, and without it after it refused.
_WITHOUT: Mapping[_Feature, re.Pattern[str]] = {
    _Feature.CACHE_POINT: re.compile(
        r"(?:^|[./])(?:ai21|amazon\.titan|cohere|deepseek|google|meta|minimax|mistral|moonshotai?|nvidia|openai|qwen)\."
        r"|claude-(?:v2|instant|3-(?:opus|sonnet|haiku)|3-5-sonnet-20240620)"
    ),
    _Feature.TEXT_FORMAT: re.compile(r"(?:^|[./])(?:ai21|amazon|cohere|meta)\.|claude-(?:v2|instant|3-)"),
}


class BedrockChatModel:
    """A `ChatModel` over `Converse`.

    The fixed instructions end in a cache point and a request's schema is sent as the text's format,
    where the model can. A model that refuses one of the two by name is asked again without it, once in
    the life of this object: it refuses before it generates, so that costs nothing. Everything else is
    exactly one call, never repeated here.
    """

    def __init__(self, runtime: BedrockRuntime, model: str, *, context_tokens: int) -> None:
        """Answer with `model`, the id or ARN of a model or an inference profile."""
        self._runtime = runtime
        self._model = model
        self._context_tokens = context_tokens
        self._features = frozenset(
            feature for feature in _Feature if not _WITHOUT[feature].search(model.casefold().split("/")[-1])
        )

    def __repr__(self) -> str:
        return f"BedrockChatModel({self._model!r})"

    metered = True

    @property
    def name(self) -> str:
        """Provider and model."""
        return f"bedrock:{self._model}"

    @property
    def context_tokens(self) -> int:
        """The model's window."""
        return self._context_tokens

    def answer(self, request: ChatRequest) -> ChatAnswer:
        """Answer `request`.

        Raises as the protocol says, and `MalformedAnswer`, the note's own failure, when the request is
        longer than the model's window or the model failed over it.
        """
        features = self._features
        while True:
            try:
                answered = self._runtime.converse(self._request(request, features), request.timeout)
            except Refusal as refusal:
                lacking = {feature for feature in features if refusal.names(*feature.value)}
                if not lacking:
                    return self._refused(refusal)
                features -= lacking
                self._features -= lacking
            else:
                return _chat_answer(answered, self.name)

    def _request(self, request: ChatRequest, features: frozenset[_Feature]) -> dict[str, Any]:
        body: dict[str, Any] = {
            "modelId": self._model,
            "messages": [{"role": "user", "content": [{"text": request.content}]}],
            "inferenceConfig": {"maxTokens": request.max_tokens},
        }
        if request.instructions:
            body["system"] = [{"text": request.instructions}]
            if _Feature.CACHE_POINT in features:
                body["system"].append({"cachePoint": {"type": "default"}})
        if request.response_schema is not None and _Feature.TEXT_FORMAT in features:
            schema = json.dumps(object_rooted(request.response_schema))
            body["outputConfig"] = {
                "textFormat": {
                    "type": "json_schema",
                    "structure": {"jsonSchema": {"name": "claims", "schema": schema}},
                }
            }
        return body

    def _refused(self, refusal: Refusal) -> ChatAnswer:
        if refusal.words == "AccessDeniedException":
            raise ProviderMisconfigured(
                f"Bedrock denies access to {self._model!r} ({refusal}): allow bedrock:InvokeModel on it, "
                "and enable the model for this account and region."
            )
        return answer_to_refusal(refusal, self.name)


def _chat_answer(answered: Mapping[str, Any], name: str) -> ChatAnswer:
    message = (answered.get("output") or {}).get("message")
    if not isinstance(message, dict):
        raise ProviderUnavailable("Bedrock's answer is none of Converse.")
    reason = answered.get("stopReason")
    refused = reason in _REFUSED
    stop = StopReason.REFUSED if refused else StopReason.TRUNCATED if reason in _TRUNCATED else StopReason.COMPLETE
    usage = answered.get("usage") or {}
    cached = token_count(usage.get("cacheReadInputTokens"))
    # The API counts what was read from the cache, or written to it, beside `inputTokens`.
    written = token_count(usage.get("cacheWriteInputTokens"))
    return ChatAnswer(
        text="" if refused else joined_text(message.get("content")),
        stop_reason=stop,
        model=name,
        input_tokens=token_count(usage.get("inputTokens")) + cached + written,
        output_tokens=token_count(usage.get("outputTokens")),
        cached_input_tokens=cached,
    )
