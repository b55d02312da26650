"""The models of a story: one that turns its notes into claims, and a judge that knows its outcome."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

from dreaming.local.evaluation.stories import Story, StoryNote
from dreaming.models.offline import OfflineExtractor
from dreaming.models.protocols import ChatAnswer, ChatModel, ChatRequest, Passage, StopReason
from dreaming.notes.secrets import mask
from dreaming.notes.sentences import sentence_spans
from dreaming.passes.consolidation.parsing import parse_answer
from dreaming.passes.consolidation.prompt import build_request
from dreaming.passes.contradictions.records import Relation

SENTENCE_CONFIDENCE = 0.6
HEDGED_CONFIDENCE = 0.35

_HEDGED = re.compile(
    r"\b(?:maybe|perhaps|possibly|probably|might|may have|I think|I guess|I believe|not sure|apparently"
    r"|supposedly|allegedly|rumou?r|heard that|seems?|somebody said|someone said)\b",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(r"\b(?:I|I['’]m|my|we|our|me)\b", re.IGNORECASE)


class StoryModel:
    """A chat model that knows one story: its claims as they are given, its sentences, and how its notes relate.

    `errors` is the share of the judge's words that are wrong, always the same ones for the same `seed`.
    `extractor` reads notes without claims; every sentence that it passes over becomes a claim too.
    """

    name = "story:labels"
    metered = True
    context_tokens = 32_000

    def __init__(self, story: Story, *, errors: float = 0.0, seed: int = 7, extractor: ChatModel | None = None) -> None:
        """Take the story."""
        self._story = story
        self._errors = errors
        self._seed = seed
        self._extractor = extractor

    def answer(self, request: ChatRequest) -> ChatAnswer:
        """Extract, or judge where the passages are statements."""
        judging = bool(request.passages) and request.passages[0].label == "s0"
        text = json.dumps(self._judge(request.passages) if judging else {"claims": list(self._claims(request))})
        return ChatAnswer(text, StopReason.COMPLETE, self.name)

    def _judge(self, passages: tuple[Passage, ...]) -> dict[str, Any]:
        first, *others = passages
        relations = [{"candidate": one.label, "relation": self._said(first.text, one.text).value} for one in others]
        return {"relations": relations}

    def _said(self, left: str, right: str) -> Relation:
        right_one = self._story.relation(left, right)
        pair = "\n".join(sorted((left, right)))
        chance = random.Random(int.from_bytes(sha256(f"{self._seed}:{self._story.id}:{pair}".encode()).digest()[:8]))  # noqa: S311 - repeatable
        if chance.random() >= self._errors:
            return right_one
        return chance.choice([relation for relation in Relation if relation is not right_one])

    def _claims(self, request: ChatRequest) -> Iterator[dict[str, Any]]:
        for passage in request.passages:
            note = next(one for one in self._story.notes if mask(one.text).text.strip() == passage.text.strip())
            if note.claims is not None:
                for claim in note.claims:
                    yield (
                        {"kind": "fact", "confidence": note.confidence or 0.8, "quote": claim.get("statement")}
                        | claim
                        | {"note": passage.label}
                    )
            elif self._extractor is not None:
                asked = build_request([passage], max_tokens=request.max_tokens, timeout=request.timeout)
                yield from parse_answer(self._extractor.answer(asked).text, truncated=False).items
            else:
                yield from _sentences(note, passage)


def _sentences(note: StoryNote, passage: Passage) -> Iterator[dict[str, Any]]:
    """One claim for each sentence: as the offline rules read it, else as it stands."""
    read = json.loads(OfflineExtractor().answer(ChatRequest("", "", (passage,), 1, 1.0)).text)
    for start, end in sentence_spans(passage.text):
        sentence = passage.text[start:end].strip()
        found = next((claim for claim in read if claim["quote"] in sentence), None)
        hedged = _HEDGED.search(sentence) is not None
        confidence = (
            note.confidence if note.confidence is not None else HEDGED_CONFIDENCE if hedged else SENTENCE_CONFIDENCE
        )
        if found is not None:
            yield found | {"confidence": confidence}
        elif len(sentence) >= 8:
            spoken = note.author and _FIRST_PERSON.search(sentence)
            statement = f"{note.author} said: {sentence}" if spoken else sentence
            yield {
                "note": passage.label,
                "kind": "fact",
                "statement": statement,
                "quote": sentence,
                "confidence": confidence,
                "decay_class": "slow_decay",
            }
