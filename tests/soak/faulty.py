"""Models of which some calls fail, in every way that calls fail, each told in a file that survives the caller."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from random import Random
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from dreaming.errors import DreamingError, ModelTimeout, ProviderUnavailable, Throttled
from dreaming.models.offline import OfflineExtractor
from dreaming.models.protocols import ChatAnswer, ChatRequest, StopReason
from dreaming.models.scripted import failure
from dreaming.passes.autonomy.prompt import INSTRUCTIONS as SCORING
from dreaming.passes.contradictions.prompt import INSTRUCTIONS as JUDGING
from tests.autonomy_world import judgement

FAILING = 0.05
"""The part of all calls that fails."""

SPACE = ("openai:soak:16", 16)
"""Name and dimension of the embedder, as the settings name them."""

_ERRORS: Mapping[bytes, Callable[[], DreamingError]] = {
    b"t": lambda: Throttled("slow down", retry_after=1),
    b"u": lambda: ProviderUnavailable("502"),
    b"o": lambda: ModelTimeout("no answer"),
}
_MALFORMED = b"m"
_NAMES = {"c": "calls", "e": "embeddings", "t": "throttled", "u": "5xx", "o": "timed out", "m": "malformed"}


class Faults:
    """Decides which calls fail, and writes a byte for each call and each failure."""

    def __init__(self, path: Path, failing: float) -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._random = Random(os.getpid())
        self._failing = failing
        self._lock = Lock()

    def next(self, call: bytes, kinds: Sequence[bytes]) -> bytes | None:
        """Count a call; return how it is to fail, or None."""
        with self._lock:
            fault = self._random.choice(kinds) if self._random.random() < self._failing else None
        os.write(self._descriptor, call + (fault or b""))
        return fault


def told(path: Path) -> Counter[str]:
    """How many calls there were, and how many failed in which way."""
    return Counter(_NAMES[letter] for letter in path.read_text("ascii"))


class FaultyChat:
    """The offline extractor as if it were a provider; contradictions are left alone and actions found good."""

    metered = True

    def __init__(self, faults: Faults) -> None:
        self._faults = faults
        self._extractor = OfflineExtractor()
        self.name = "scripted:soak"
        self.context_tokens = self._extractor.context_tokens

    def answer(self, request: ChatRequest) -> ChatAnswer:
        fault = self._faults.next(b"c", (*_ERRORS, _MALFORMED))
        if fault == _MALFORMED:
            return ChatAnswer(str(failure("malformed")), StopReason.COMPLETE, self.name)
        if fault is not None:
            failed = _ERRORS[fault]()
            raise failed
        if request.instructions == SCORING:
            return ChatAnswer(judgement(), StopReason.COMPLETE, self.name)
        if request.instructions == JUDGING:
            return ChatAnswer('{"relations": []}', StopReason.COMPLETE, self.name)
        return self._extractor.answer(request)


class FaultyEmbedder:
    """The same text always gets the same direction."""

    name, dimension = SPACE

    def __init__(self, faults: Faults) -> None:
        self._faults = faults

    def embed(self, texts: Sequence[str], *, timeout: float) -> NDArray[np.float32]:
        fault = self._faults.next(b"e", (b"t", b"u"))
        if fault is not None:
            failed = _ERRORS[fault]()
            raise failed
        rows = [np.frombuffer(sha256(text.encode()).digest(), dtype=np.uint8)[: self.dimension] for text in texts]
        found = np.array(rows, dtype=np.float32).reshape(-1, self.dimension) - 127.5
        return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True), dtype=np.float32)
