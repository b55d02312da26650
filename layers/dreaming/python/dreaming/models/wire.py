"""What the wire formats of several chat providers share: schemas, token counts, refused requests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dreaming.errors import MalformedAnswer, ProviderMisconfigured
from dreaming.models.protocols import ChatAnswer, StopReason

_TOO_LONG = (
    "context_length",
    "context length",
    "context limit",
    "context window",
    "input tokens exceed",
    "maximum length",
    "too long",
    "too many input tokens",
    "too many tokens",
)
_FILTERED = (
    "content_filter",
    "content_policy",
    "content filtering policy",
    "content management policy",
    "responsibleaipolicy",
)
_REMEDIES = {
    "maximum tokens you requested": "lower the setting max_output_tokens",
    "maximum allowed number of output tokens": "lower the setting max_output_tokens",
    "on-demand throughput": "set chat_model to the id of an inference profile, such as us. and the model's id",
    "model identifier is invalid": "set chat_model to the id of a model that this region has",
    "credit balance": "the account has no credit left",
}


class Refusal(Exception):
    """The server refused the request itself (400, 403, 413, 422): `words` are its machine words.

    `text` is its whole message in lower case, to look for causes in; it is never shown.
    """

    def __init__(self, status: int, words: str, text: str) -> None:
        """Keep the status and the words; only those are in the message."""
        super().__init__(f"HTTP {status} ({words or 'no reason given'})")
        self.status = status
        self.words = words
        self.text = text

    def names(self, *marks: str) -> bool:
        """Whether the server's message holds one of `marks`, given in lower case."""
        return any(mark in self.text for mark in marks)


def answer_to_refusal(refusal: Refusal, name: str) -> ChatAnswer:
    """Return the answer of a content filter that spoke before the model `name` did.

    Raises `MalformedAnswer`, the note's own failure, for a request longer than the model's window, and
    `ProviderMisconfigured` for any other refusal.
    """
    if refusal.names(*_FILTERED):
        return ChatAnswer("", StopReason.REFUSED, name)
    if refusal.status == 413 or refusal.names(*_TOO_LONG):
        raise MalformedAnswer(
            f"The request is longer than the model's window ({refusal}); lower the setting chat_context_tokens."
        )
    remedy = next((f"; {remedy}" for mark, remedy in _REMEDIES.items() if refusal.names(mark)), "")
    raise ProviderMisconfigured(f"The model server refuses the request: {refusal}{remedy}.")


def object_rooted(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return `schema` with an object at its root, as structured output asks: an array is wrapped."""
    if schema.get("type") != "array":
        return dict(schema)
    return {
        "type": "object",
        "properties": {"claims": dict(schema)},
        "required": ["claims"],
        "additionalProperties": False,
    }


def joined_text(parts: object) -> str:
    """Return the text of a list of content blocks, without those that hold none; "" for anything else."""
    if not isinstance(parts, list):
        return ""
    texts = (part.get("text") for part in parts if isinstance(part, dict))
    return "".join(text for text in texts if isinstance(text, str))


def token_count(tokens: object) -> int:
    """Return a count of tokens as a server reports it, 0 for anything that is none."""
    return tokens if isinstance(tokens, int) and tokens > 0 else 0
