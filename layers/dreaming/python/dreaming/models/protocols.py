"""What a chat model and an embedder are to the rest of the package."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of note text given to a model as data.

    `label` is how an answer names the passage. `occurred_at` is aware and carries the note's own
    offset, against which relative times resolve.
    """

    label: str
    text: str
    occurred_at: datetime
    source: str
    author: str | None = None
    participants: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One call: fixed `instructions` first (cacheable), then `content` with the passages rendered.

    `passages` repeats the data of `content` in structured form for models that are not language
    models. `max_tokens` bounds the answer, `timeout` is in seconds.
    """

    instructions: str
    content: str
    passages: tuple[Passage, ...]
    max_tokens: int
    timeout: float
    response_schema: Mapping[str, Any] | None = None


class StopReason(StrEnum):
    """Why the model stopped."""

    COMPLETE = "complete"
    TRUNCATED = "truncated"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class ChatAnswer:
    """A model's answer, with what it cost in tokens; `text` is empty when the model refused."""

    text: str
    stop_reason: StopReason
    model: str
    input_tokens: int = 0
    output_tokens: int = 0
    cached_input_tokens: int = 0


class ChatModel(Protocol):
    """Answers requests; safe to call from several threads at once."""

    @property
    def name(self) -> str:
        """Provider and model, as stored beside each extraction, e.g. `openai:gpt-5-mini`."""
        ...

    @property
    def context_tokens(self) -> int:
        """The model's window: instructions, content and answer together."""
        ...

    @property
    def metered(self) -> bool:
        """Whether a call costs anything, and so counts against the organization's budget."""
        ...

    def answer(self, request: ChatRequest) -> ChatAnswer:
        """Answer `request`, making exactly one call.

        Raises `Hold` (`Throttled`, `ProviderUnavailable`, `MissingKey`, `ProviderMisconfigured`)
        when the infrastructure failed and `ModelTimeout` when no answer came within
        `request.timeout`. A refusal is an answer, not an error.
        """
        ...


class Embedder(Protocol):
    """Turns texts into vectors of one space; safe to call from several threads at once."""

    @property
    def name(self) -> str:
        """Provider and model, stored beside each vector; two names are two spaces."""
        ...

    @property
    def dimension(self) -> int:
        """The length of every vector."""
        ...

    def embed(self, texts: Sequence[str], *, timeout: float) -> NDArray[np.float32]:
        """Return one unit-length row for each text, shape `(len(texts), dimension)`.

        Raises `Hold` when the infrastructure failed, of its kinds `RefusedText` and `UnusableVector`
        where the cause can lie in one of the texts, and `Misconfigured` when the provider answers with
        another dimension, naming both numbers.
        """
        ...
