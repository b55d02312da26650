"""The default chat model: rules instead of a language model, so that everything works without a key."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from dreaming.models.offline_rules import Finding, judge, opens_commit
from dreaming.models.offline_sentences import sentences
from dreaming.models.offline_values import triple
from dreaming.models.protocols import ChatAnswer, ChatRequest, Passage, StopReason

_COMMIT_SOURCE = re.compile(r"git(?::|\Z)|(?:.*[:_/\- ])?commits?(?:[:_.\- ]|\Z)", re.IGNORECASE)
_SUBJECT_LINE = re.compile(r"\s*[A-Z][^\n]{5,99}(?:\n\s*\n|\s*\Z)")


class OfflineExtractor:
    """Picks the sentences of a passage that state something durable, quoted exactly as they stand.

    It reads English by word lists, resolves "I" and "we" only by a speaker label or the note's author,
    and prefers to say nothing over saying something wrong. Confidence never exceeds 0.6. It answers in
    the form a language model must answer: a JSON array of claims. `max_tokens` and `timeout` do not
    apply; an answer is always complete and costs no tokens.
    """

    name = "offline:rules-1"
    metered = False

    def __init__(self, context_tokens: int = 32_000) -> None:
        """Take the window to report; the rules themselves read any length in linear time."""
        self._context_tokens = context_tokens

    @property
    def context_tokens(self) -> int:
        """The window by which long notes are split, as for any other model."""
        return self._context_tokens

    def answer(self, request: ChatRequest) -> ChatAnswer:
        """Return the claims of all passages as JSON; raises nothing."""
        claims = [claim for passage in request.passages for claim in _claims(passage)]
        return ChatAnswer(json.dumps(claims, ensure_ascii=False), StopReason.COMPLETE, self.name)


def _claims(passage: Passage) -> Iterator[dict[str, Any]]:
    stated: set[str] = set()
    for sentence in sentences(passage, commit=_is_commit(passage)):
        finding = judge(sentence, passage.occurred_at.date())
        if finding and finding.statement not in stated:
            stated.add(finding.statement)
            yield _claim(passage, finding)


def _is_commit(passage: Passage) -> bool:
    if _COMMIT_SOURCE.match(passage.source):
        return True
    if not _SUBJECT_LINE.match(passage.text):
        return False
    first = next(sentences(passage), None)
    return first is not None and opens_commit(first)


def _claim(passage: Passage, finding: Finding) -> dict[str, Any]:
    stated = triple(finding.statement)
    return {
        "note": passage.label,
        "kind": finding.kind.value,
        "statement": finding.statement,
        "quote": passage.text[finding.start : finding.end],
        "confidence": finding.confidence,
        "importance": finding.importance.value,
        "decay_class": finding.decay_class.value,
        "subject": stated.subject if stated else None,
        "attribute": stated.attribute if stated else None,
        "value": stated.value if stated else None,
        "multi_valued": stated.multi_valued if stated else False,
        "valid_from": None,
        "valid_until": None,
    }
