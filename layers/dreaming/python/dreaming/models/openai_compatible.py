"""Chat and embeddings by the OpenAI wire format: OpenAI itself, vLLM, Ollama, LiteLLM and their like."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dreaming.errors import MalformedAnswer, ModelTimeout, ProviderUnavailable, RefusedText
from dreaming.models.endpoint import Endpoint
from dreaming.models.protocols import ChatAnswer, ChatRequest, StopReason
from dreaming.models.vectors import unit_rows
from dreaming.models.wire import Refusal, answer_to_refusal, joined_text, object_rooted, token_count


class OpenAIChatModel:
    """A `ChatModel` over `POST /chat/completions`.

    With `structured_output` a request's schema is sent as `response_format`; `bound_field` is how the
    server calls the answer's bound. A server that refuses one of the two fields by name is asked again
    without it, once in the life of this object: it refuses before it generates, so that costs nothing.
    Everything else is exactly one HTTP call, never repeated here.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        model: str,
        *,
        context_tokens: int,
        structured_output: bool = True,
        bound_field: str = "max_completion_tokens",
    ) -> None:
        """Answer with `model` at `endpoint`, whose window is `context_tokens`."""
        self._endpoint = endpoint
        self._model = model
        self._context_tokens = context_tokens
        self._structured_output = structured_output
        self._bound_field = bound_field

    def __repr__(self) -> str:
        return f"OpenAIChatModel({self._model!r}, {self._endpoint!r})"

    metered = True

    @property
    def name(self) -> str:
        """Provider and model."""
        return f"openai:{self._model}"

    @property
    def context_tokens(self) -> int:
        """The model's window."""
        return self._context_tokens

    def answer(self, request: ChatRequest) -> ChatAnswer:
        """Answer `request`.

        Raises as the protocol says, and `MalformedAnswer`, the note's own failure, when the server
        finds the request longer than the model's window or answers without any choice.
        """
        try:
            answered = self._post(request)
        except Refusal as refusal:
            return answer_to_refusal(refusal, self.name)
        return _chat_answer(answered, self.name)

    def _post(self, request: ChatRequest) -> dict[str, Any]:
        structured, field = self._structured_output, self._bound_field
        try:
            return self._call(request, structured=structured, field=field)
        except Refusal as refusal:
            names_format = structured and request.response_schema is not None and refusal.names("response_format")
            names_bound = refusal.names(field) and refusal.names("unsupported")
            if not names_format and not names_bound:
                raise
        if names_format:
            self._structured_output = structured = False
        else:
            self._bound_field = field = "max_tokens" if field == "max_completion_tokens" else "max_completion_tokens"
        return self._call(request, structured=structured, field=field)

    def _call(self, request: ChatRequest, *, structured: bool, field: str) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self._model,
            "messages": [
                {"role": "system", "content": request.instructions},
                {"role": "user", "content": request.content},
            ],
            field: request.max_tokens,
        }
        if structured and request.response_schema is not None:
            body["response_format"] = _response_format(request.response_schema)
        return self._endpoint.post("/chat/completions", body, request.timeout)


def _response_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "claims", "schema": object_rooted(schema)}}


def _chat_answer(answered: Mapping[str, Any], name: str) -> ChatAnswer:
    choices = answered.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, dict):
        raise MalformedAnswer("The model server answered without a choice.")
    message = choice.get("message")
    message = message if isinstance(message, dict) else {}
    finish = choice.get("finish_reason")
    refused = finish == "content_filter" or bool(message.get("refusal"))
    stop = StopReason.REFUSED if refused else StopReason.TRUNCATED if finish == "length" else StopReason.COMPLETE
    usage = answered.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    details = usage.get("prompt_tokens_details")
    return ChatAnswer(
        text="" if refused else _text(message.get("content")),
        stop_reason=stop,
        model=name,
        input_tokens=token_count(usage.get("prompt_tokens")),
        output_tokens=token_count(usage.get("completion_tokens")),
        cached_input_tokens=token_count(details.get("cached_tokens")) if isinstance(details, dict) else 0,
    )


def _text(content: object) -> str:
    """Return the text of a message: a string, a list of parts, or nothing."""
    return content if isinstance(content, str) else joined_text(content)


class OpenAIEmbedder:
    """An `Embedder` over `POST /embeddings`, `batch` texts a call."""

    def __init__(
        self,
        endpoint: Endpoint,
        model: str,
        *,
        dimension: int,
        batch: int = 128,
        ask_dimension: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Embed with `model`; `ask_dimension` sends `dimensions` to a model that can shorten."""
        self._endpoint = endpoint
        self._model = model
        self._dimension = dimension
        self._batch = batch
        self._ask_dimension = ask_dimension
        self._clock = clock

    @property
    def name(self) -> str:
        """Provider, model and dimension: another length, another space."""
        return f"openai:{self._model}:{self._dimension}"

    @property
    def dimension(self) -> int:
        """The length of every vector."""
        return self._dimension

    def embed(self, texts: Sequence[str], *, timeout: float) -> NDArray[np.float32]:
        """Return one unit vector for each text; `timeout` in seconds is for all calls together.

        Raises `RefusedText` or `UnusableVector` for what lies with one of the texts, another `Hold` when
        the server fails, and `Misconfigured` when its vectors have another length.
        """
        deadline = self._clock() + timeout
        rows = np.zeros((len(texts), self._dimension), dtype=np.float32)
        for start in range(0, len(texts), self._batch):
            part = list(texts[start : start + self._batch])
            rows[start : start + len(part)] = self._part(part, max(deadline - self._clock(), 0.001))
        return rows

    def _part(self, texts: list[str], timeout: float) -> NDArray[np.float32]:
        body: dict[str, Any] = {"model": self._model, "input": texts, "encoding_format": "float"}
        if self._ask_dimension:
            body["dimensions"] = self._dimension
        try:
            answered = self._endpoint.post("/embeddings", body, timeout)
        except ModelTimeout as problem:
            raise ProviderUnavailable(str(problem)) from None
        except Refusal as refusal:
            raise RefusedText(f"The embedding server refuses the request: {refusal}.") from None
        return unit_rows(_in_order(answered, len(texts)), self._dimension)


def _in_order(answered: Mapping[str, Any], expected: int) -> list[Any]:
    """Return the vectors in the order of the texts, by each entry's `index`."""
    data = answered.get("data")
    entries = [entry for entry in data if isinstance(entry, dict)] if isinstance(data, list) else []
    numbered = [(entry.get("index", place), entry.get("embedding")) for place, entry in enumerate(entries)]
    by_index = {index: embedding for index, embedding in numbered if isinstance(index, int)}
    if len(entries) != expected or set(by_index) != set(range(expected)):
        raise ProviderUnavailable(f"The embedding server answered {len(entries)} vectors for {expected} texts.")
    return [by_index[place] for place in range(expected)]
