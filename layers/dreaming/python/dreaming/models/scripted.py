"""Models that answer from a script, for tests of your own: no network, no surprise, every call kept.

From a function:

    model = ScriptedChatModel(lambda request: '[{"kind": "fact", ...}]')
    model = ScriptedChatModel(lambda request: Throttled("slow down", retry_after=7))

From a file (JSON, or JSONL with one rule a line), see `Rule`:

    {"rules": [{"when": "greyhound", "claims": []},
               {"pattern": "(?i)postgres", "claims": [
                   {"kind": "decision", "statement": "...", "quote": "...", "confidence": 0.9}]},
               {"when": "poison", "answer": "not JSON at all"},
               {"when": "flaky", "fail": "throttled", "retry_after": 7, "times": 2}],
     "default": {"claims": []}}

    model = ScriptedChatModel.from_file(Path("script.json"))

For each passage of a call, the first rule that matches its text and has `times` left answers; without
a match the default does, which is an empty list of claims. Where several notes share a call, their claims
come in one answer, and one rule with `fail` or `answer` decides for the whole call, as with a real model.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from dreaming.errors import (
    DreamingError,
    InvalidInput,
    Misconfigured,
    MissingKey,
    ModelTimeout,
    ProviderMisconfigured,
    ProviderUnavailable,
    Throttled,
)
from dreaming.models.protocols import ChatAnswer, ChatRequest, Passage, StopReason

Failure = Literal[
    "throttled", "unavailable", "timeout", "missing_key", "misconfigured", "refused", "malformed", "truncated"
]
"""What a rule can make go wrong.

`throttled`, `unavailable`, `timeout`, `missing_key` and `misconfigured` raise the error of that name.
`refused` answers as a refusal, `malformed` with prose instead of claims, `truncated` with the rule's own
answer cut in its middle, as at a reached `max_tokens`.
"""

Reply = str | ChatAnswer | Sequence[dict[str, Any]] | DreamingError
"""What a script function may return: the answer's text, a whole answer, claims, or an error to raise."""

_MALFORMED = "I am sorry, but here is a poem about it instead."


class Rule(BaseModel):
    """One rule of a script.

    `when` is a part of the passage's text, `pattern` a regular expression searched in it; without
    either the rule matches everything. One of `answer` (the model's text as it is), `claims` or `fail`
    says what happens. A claim without `note` gets the label of the passage that matched. `times` limits
    how often the rule answers. `retry_after` is in seconds and belongs to `throttled`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    when: str | None = None
    pattern: str | None = None
    answer: str | None = None
    claims: list[dict[str, Any]] | None = None
    fail: Failure | None = None
    retry_after: float | None = Field(default=None, ge=0)
    times: int | None = Field(default=None, ge=1)

    @field_validator("pattern")
    @classmethod
    def _compiles(cls, pattern: str | None) -> str | None:
        try:
            re.compile(pattern or "")
        except re.error as problem:
            raise ValueError(f"not a regular expression: {problem}") from None
        return pattern

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        if self.answer is not None and self.claims is not None:
            raise ValueError("give 'answer' or 'claims', not both")
        if self.answer is None and self.claims is None and self.fail is None:
            raise ValueError("give 'answer', 'claims' or 'fail'")
        return self

    def matches(self, passage: Passage) -> bool:
        """Tell whether the rule speaks of the passage."""
        found = re.search(self.pattern, passage.text) if self.pattern else True
        return bool(found) and (self.when is None or self.when in passage.text)

    @property
    def whole(self) -> bool:
        """Whether the rule decides for the whole call: it fails, or says the answer's text as it is."""
        return self.fail is not None or self.answer is not None

    def claims_of(self, passage: Passage | None) -> list[dict[str, Any]]:
        """Return the rule's claims about `passage`, each with its label unless it has one."""
        label = {"note": passage.label} if passage else {}
        return [label | claim for claim in self.claims or []]

    def reply(self, passage: Passage | None) -> Reply:
        """Return what the rule answers about `passage` alone."""
        text = self.answer if self.answer is not None else json.dumps(self.claims_of(passage))
        if self.fail == "truncated":
            return ChatAnswer(text[: max(1, len(text) // 2)], StopReason.TRUNCATED, ScriptedChatModel.name)
        return failure(self.fail, self.retry_after) if self.fail else text


class Script(BaseModel):
    """A whole script: rules in order, and what answers when none matches."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rules: list[Rule] = Field(default_factory=list)
    default: Rule = Rule(claims=[])


_ERRORS: dict[str, DreamingError] = {
    "unavailable": ProviderUnavailable("The script makes the provider unavailable."),
    "timeout": ModelTimeout("The script lets this call time out."),
    "missing_key": MissingKey("The script has no key for this call."),
    "misconfigured": ProviderMisconfigured("The script makes the provider refuse every call."),
}


def failure(name: Failure, retry_after: float | None = None) -> Reply:
    """Return the reply of a failing model, by the name that scripts use."""
    if name == "throttled":
        return Throttled("The script throttles this call.", retry_after=retry_after)
    if name == "refused":
        return ChatAnswer("", StopReason.REFUSED, ScriptedChatModel.name)
    if name == "malformed":
        return _MALFORMED
    if name == "truncated":
        return ChatAnswer('[{"kind": "fact", "stat', StopReason.TRUNCATED, ScriptedChatModel.name)
    error = _ERRORS[name]
    return type(error)(*error.args)


def load_script(path: Path) -> Script:
    """Read a script file; raises `InvalidInput` naming the file, the line or field, and the remedy."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise InvalidInput("chat_script", f"{path} cannot be read ({problem})", "name a readable UTF-8 file") from None
    try:
        if path.suffix == ".jsonl":
            return Script(rules=list(_rules(text)))
        parsed = json.loads(text)
        return Script.model_validate({"rules": parsed} if isinstance(parsed, list) else parsed)
    except (ValueError, ValidationError) as problem:
        remedy = "see the documentation of dreaming.models.scripted for the format"
        raise InvalidInput("chat_script", f"{path} is not a script ({_shortly(problem)})", remedy) from None


def _rules(text: str) -> Iterable[Rule]:
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            try:
                yield Rule.model_validate_json(line)
            except ValidationError as problem:
                raise ValueError(f"line {number}: {_shortly(problem)}") from None


def _shortly(problem: ValueError) -> str:
    if not isinstance(problem, ValidationError):
        return str(problem)
    first = problem.errors(include_url=False)[0]
    return f"{'.'.join(str(part) for part in first['loc']) or 'top level'}: {first['msg']}"


class ScriptedChatModel:
    """A `ChatModel` that answers from a function or a script and keeps every request.

    `latency` in seconds is spent in `sleep` before each answer, so that a test can replace the clock.
    Safe to call from several threads; `requests` is in order of arrival.
    """

    name = "scripted:script"
    metered = True

    def __init__(
        self,
        script: Callable[[ChatRequest], Reply] | Script,
        *,
        context_tokens: int = 32_000,
        latency: float = 0.0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Answer from `script`; the function is called outside the lock and may block."""
        self._function = None if isinstance(script, Script) else script
        self._script = script if isinstance(script, Script) else Script()
        self._context_tokens = context_tokens
        self._latency = latency
        self._sleep = sleep
        self._lock = threading.Lock()
        self._used: dict[int, int] = {}
        self._requests: list[ChatRequest] = []

    @classmethod
    def from_file(cls, path: Path, *, context_tokens: int = 32_000) -> Self:
        """Answer from the script in `path`; raises `InvalidInput` when it is none."""
        return cls(load_script(path), context_tokens=context_tokens)

    @property
    def context_tokens(self) -> int:
        """The window by which long notes are split."""
        return self._context_tokens

    @property
    def calls(self) -> int:
        """How many calls were made so far, failed ones included."""
        with self._lock:
            return len(self._requests)

    @property
    def requests(self) -> tuple[ChatRequest, ...]:
        """Every request so far."""
        with self._lock:
            return tuple(self._requests)

    def answer(self, request: ChatRequest) -> ChatAnswer:
        """Answer by the script, or raise the error that the script names."""
        with self._lock:
            self._requests.append(request)
            planned = None if self._function else self._by_rule(request)
        if self._latency:
            self._sleep(self._latency)
        reply = self._function(request) if self._function else planned
        if isinstance(reply, DreamingError):
            raise reply
        if isinstance(reply, ChatAnswer):
            return reply
        text = reply if isinstance(reply, str) else json.dumps(list(reply or []))
        size = len(request.instructions) + len(request.content)
        return ChatAnswer(text, StopReason.COMPLETE, self.name, size // 4, len(text) // 4)

    def _by_rule(self, request: ChatRequest) -> Reply:
        """Answer each passage by its rule, unless one rule decides for the whole call."""
        claims = []
        used = dict(self._used)
        for passage in request.passages:
            place, rule = self._rule(passage, used)
            if rule.whole:
                self._used[place] = self._used.get(place, 0) + 1
                return rule.reply(passage)
            used[place] = used.get(place, 0) + 1
            claims += rule.claims_of(passage)
        self._used = used
        return claims if request.passages else self._script.default.reply(None)

    def _rule(self, passage: Passage, used: Mapping[int, int]) -> tuple[int, Rule]:
        """Return the rule for a passage and its place in the script; -1 is the default's."""
        for place, rule in enumerate(self._script.rules):
            if rule.matches(passage) and (rule.times is None or used.get(place, 0) < rule.times):
                return place, rule
        return -1, self._script.default


class ScriptedEmbedder:
    """An `Embedder` whose vectors follow from a hash of the text: equal texts, equal vectors.

    `vectors` gives chosen texts chosen vectors (scaled to unit length). `failures` are raised one per
    call, in order, before anything is embedded.
    """

    def __init__(
        self,
        dimension: int = 8,
        *,
        vectors: dict[str, Sequence[float]] | None = None,
        failures: Iterable[DreamingError] = (),
    ) -> None:
        """Refuse a chosen vector whose length is not `dimension`."""
        for text, vector in (vectors or {}).items():
            if len(vector) != dimension:
                raise Misconfigured(f"The vector of {text!r} has {len(vector)} dimensions, not {dimension}.")
        self._dimension = dimension
        self._vectors = dict(vectors or {})
        self._failures = list(failures)
        self._lock = threading.Lock()
        self._texts: list[tuple[str, ...]] = []

    @property
    def name(self) -> str:
        """The name of this space; it depends on the dimension only."""
        return f"scripted:hash-{self._dimension}"

    @property
    def dimension(self) -> int:
        """The length of every vector."""
        return self._dimension

    @property
    def calls(self) -> int:
        """How many calls were made so far, failed ones included."""
        with self._lock:
            return len(self._texts)

    @property
    def texts(self) -> tuple[tuple[str, ...], ...]:
        """The texts of every call so far."""
        with self._lock:
            return tuple(self._texts)

    def embed(self, texts: Sequence[str], *, timeout: float) -> NDArray[np.float32]:  # noqa: ARG002
        """Return one unit vector for each text, or raise the next failure; `timeout` plays no part."""
        with self._lock:
            self._texts.append(tuple(texts))
            planned = self._failures.pop(0) if self._failures else None
        if planned is not None:
            raise planned
        rows = [self._vector(text) for text in texts]
        return np.array(rows, dtype=np.float32).reshape(len(rows), self._dimension)

    def _vector(self, text: str) -> NDArray[np.float64]:
        if text in self._vectors:
            row = np.array(self._vectors[text], dtype=np.float64)
        else:
            seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])
            row = np.random.default_rng(seed).standard_normal(self._dimension)
        return row / np.linalg.norm(row)
