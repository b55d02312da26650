"""Embedding a batch of texts when single ones of them can fail."""

from __future__ import annotations

from collections.abc import Sequence

from dreaming.errors import Hold, RefusedText, UnusableVector
from dreaming.models.protocols import Embedder
from dreaming.passes.embedding.records import Answers, Embedded, Refused, Text
from dreaming.passes.embedding.rules import mean_direction
from dreaming.passes.records import Deadline

HARMLESS = "The bakery opens at eight."
"""Tells a text that the embedder does not take from an embedder that takes none."""

SPARE_SECONDS = 10.0
"""What is left of an invocation for its commit."""


def embed_texts(embedder: Embedder, texts: Sequence[Text], *, timeout: float, deadline: Deadline) -> Answers:
    """Embed the texts in one call, and in halves where the embedder refuses them, down to the single one.

    Before it is halved for the first time, a harmless sentence is tried: where that is refused too, it is
    the embedder that fails, and all texts wait. What was embedded before a hold is kept. `timeout` is in
    seconds and for each call; texts that the deadline leaves no time for are in neither list.

    Raises:
        Misconfigured: the embedder answers vectors of another dimension.
    """
    answers = Answers()
    tried_harmless = False
    waiting = [list(texts)] if texts else []
    try:
        while waiting and deadline.remaining() > SPARE_SECONDS:
            part = waiting.pop()
            problem = _call(embedder, part, answers, min(timeout, deadline.remaining() - SPARE_SECONDS))
            if problem is None:
                continue
            if not tried_harmless:
                tried_harmless = True
                answers.calls += 1
                embedder.embed([HARMLESS], timeout=timeout)
            if len(part) == 1:
                answers.refused.append(Refused(part[0], str(problem)))
            else:
                half = len(part) // 2
                waiting += [part[half:], part[:half]]
    except Hold as hold:
        answers.failed_calls += 1
        answers.hold = hold
    return answers


def _call(embedder: Embedder, texts: Sequence[Text], answers: Answers, timeout: float) -> Hold | None:
    """Embed the texts, or return why the embedder does not take one of them."""
    answers.calls += 1
    try:
        rows = embedder.embed([part for text in texts for part in text.parts], timeout=timeout)
    except (RefusedText, UnusableVector) as problem:
        answers.failed_calls += 1
        return problem
    start = 0
    for text in texts:
        vector = mean_direction(rows[start : start + len(text.parts)])
        start += len(text.parts)
        if vector is None:
            answers.refused.append(Refused(text, "its vectors have no direction"))
        else:
            answers.embedded.append(Embedded(text, vector))
    return None
