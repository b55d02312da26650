"""Chat by Anthropic's Messages API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dreaming.errors import MalformedAnswer
from dreaming.models.endpoint import Endpoint
from dreaming.models.keys import SecretKey
from dreaming.models.protocols import ChatAnswer, ChatRequest, StopReason
from dreaming.models.wire import Refusal, answer_to_refusal, joined_text, object_rooted, token_count

_VERSION = "2023-06-01"
_TRUNCATED = frozenset(("max_tokens", "model_context_window_exceeded", "pause_turn"))


def anthropic_headers(key: SecretKey | None) -> dict[str, str]:
    """Return the headers of the API: its version, and the key where there is one."""
    headers = {"anthropic-version": _VERSION}
    return headers | {"x-api-key": key.reveal()} if key else headers


class AnthropicChatModel:
    """A `ChatModel` over `POST /v1/messages`.

    The fixed instructions are one cacheable system block, and a request's schema is sent as
    `output_config.format`. A model that refuses that field by name is asked again without it, once in
    the life of this object: it refuses before it generates, so that costs nothing. Everything else is
    exactly one HTTP call, never repeated here.
    """

    def __init__(self, endpoint: Endpoint, model: str, *, context_tokens: int, structured_output: bool = True) -> None:
        """Answer with `model` at `endpoint`, which sends `anthropic_headers`."""
        self._endpoint = endpoint
        self._model = model
        self._context_tokens = context_tokens
        self._structured_output = structured_output

    def __repr__(self) -> str:
        return f"AnthropicChatModel({self._model!r}, {self._endpoint!r})"

    metered = True

    @property
    def name(self) -> str:
        """Provider and model."""
        return f"anthropic:{self._model}"

    @property
    def context_tokens(self) -> int:
        """The model's window."""
        return self._context_tokens

    def answer(self, request: ChatRequest) -> ChatAnswer:
        """Answer `request`.

        Raises as the protocol says, and `MalformedAnswer`, the note's own failure, when the request is
        longer than the model's window or the answer holds no list of blocks.
        """
        structured = self._structured_output and request.response_schema is not None
        try:
            return self._call(request, structured=structured)
        except Refusal as refusal:
            if not structured or not refusal.names("output_config", "structured output"):
                return answer_to_refusal(refusal, self.name)
        self._structured_output = False
        try:
            return self._call(request, structured=False)
        except Refusal as refusal:
            return answer_to_refusal(refusal, self.name)

    def _call(self, request: ChatRequest, *, structured: bool) -> ChatAnswer:
        body: dict[str, Any] = {
            "model": self._model,
            "max_tokens": request.max_tokens,
            "messages": [{"role": "user", "content": request.content}],
        }
        if request.instructions:
            cached = {"type": "ephemeral"}
            body["system"] = [{"type": "text", "text": request.instructions, "cache_control": cached}]
        if structured and request.response_schema is not None:
            schema = object_rooted(request.response_schema)
            body["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
        return _chat_answer(self._endpoint.post("/v1/messages", body, request.timeout), self.name)


def _chat_answer(answered: Mapping[str, Any], name: str) -> ChatAnswer:
    content = answered.get("content")
    if not isinstance(content, list):
        raise MalformedAnswer("The model server answered without a list of content blocks.")
    reason = answered.get("stop_reason")
    refused = reason == "refusal"
    stop = StopReason.REFUSED if refused else StopReason.TRUNCATED if reason in _TRUNCATED else StopReason.COMPLETE
    usage = answered.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    cached = token_count(usage.get("cache_read_input_tokens"))
    # The API counts what was read from the cache, or written to it, beside `input_tokens`.
    written = token_count(usage.get("cache_creation_input_tokens"))
    return ChatAnswer(
        text="" if refused else joined_text(content),
        stop_reason=stop,
        model=name,
        input_tokens=token_count(usage.get("input_tokens")) + cached + written,
        output_tokens=token_count(usage.get("output_tokens")),
        cached_input_tokens=cached,
    )
