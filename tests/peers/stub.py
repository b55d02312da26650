"""A model server as OpenAI's, for comparing systems: it takes a fixed time, counts, and fails when told to.

    with StubModel(latency=0.1) as model:
        model.fault = Fault.UNAVAILABLE
        ...
        model.counts().prompt_tokens

Tokens are four characters each, for every system alike.
"""

from __future__ import annotations

import base64
import json
import math
import re
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2b
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from tests.peers.answers import UnknownPromptError, answer

DIMENSION = 384
CHARACTERS_A_TOKEN = 4
MALFORMED = "I am sorry, I would rather talk about something else."


class Fault(StrEnum):
    """How every second chat call fails."""

    NONE = "none"
    UNAVAILABLE = "unavailable"
    """HTTP status 500."""
    MALFORMED = "malformed"
    """Status 200, and prose in place of JSON."""


@dataclass(frozen=True, slots=True)
class Counts:
    """What the server was asked: calls, of them failed and not understood, tokens, texts embedded."""

    chat_calls: int = 0
    chat_failed: int = 0
    unknown_prompts: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    embedding_calls: int = 0
    texts_embedded: int = 0


class StubModel:
    """The server, on a free port of this machine."""

    def __init__(self, *, latency: float, embedding_latency: float = 0.0) -> None:
        self.latency = latency
        self.embedding_latency = embedding_latency
        self.fault = Fault.NONE
        self._counts: Counter[str] = Counter()
        self._asked: Counter[bytes] = Counter()
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self.close()

    def close(self) -> None:
        """Give the port back; leaving a `with` block does it too."""
        self._server.server_close()

    def counts(self) -> Counts:
        """What was asked since the last `reset`."""
        with self._lock:
            return Counts(**self._counts)

    def reset(self) -> None:
        """Count from zero."""
        with self._lock:
            self._counts.clear()
            self._asked.clear()

    def chat(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Answer a chat request after the latency."""
        time.sleep(self.latency)
        prompt = "".join(str(message["content"]) for message in body["messages"])
        fails = self.fault is not Fault.NONE and self._is_failing(prompt)
        try:
            text = MALFORMED if fails else answer(body["messages"])
        except UnknownPromptError as problem:
            self._add(chat_calls=1, unknown_prompts=1)
            return 400, _error(f"no known prompt: {problem}")
        used = {"prompt_tokens": tokens(prompt), "completion_tokens": tokens(text)}
        self._add(chat_calls=1, chat_failed=int(fails), prompt_tokens=used["prompt_tokens"])
        if fails and self.fault is Fault.UNAVAILABLE:
            return 500, _error("the server is not well")
        self._add(completion_tokens=used["completion_tokens"])
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
        return 200, _completion(body, [choice], used)

    def embed(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Answer an embedding request after its latency."""
        time.sleep(self.embedding_latency)
        texts = [body["input"]] if isinstance(body["input"], str) else list(body["input"])
        self._add(embedding_calls=1, texts_embedded=len(texts))
        packed = body.get("encoding_format") == "base64"
        data = [
            {"object": "embedding", "index": at, "embedding": _packed(one) if packed else one}
            for at, one in enumerate(map(vector, texts))
        ]
        used = sum(map(tokens, texts))
        return 200, {
            "object": "list",
            "model": body["model"],
            "data": data,
            "usage": {"prompt_tokens": used, "total_tokens": used},
        }

    def _is_failing(self, prompt: str) -> bool:
        """Half of all first calls fail, by the prompt's hash, and so does half of each repetition."""
        digest = blake2b(prompt.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        with self._lock:
            self._asked[digest] += 1
            turn = self._asked[digest]
        return bool(blake2b(digest + turn.to_bytes(4, "big"), digest_size=1).digest()[0] & 1)

    def _add(self, **numbers: int) -> None:
        with self._lock:
            self._counts.update(numbers)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


def _handler(model: StubModel) -> type[BaseHTTPRequestHandler]:
    routes: dict[str, Callable[[dict[str, Any]], tuple[int, dict[str, Any]]]] = {
        "/v1/chat/completions": model.chat,
        "/v1/embeddings": model.embed,
    }

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            known = routes.get(self.path)
            self._send(*(known(body) if known else (404, _error(f"no route {self.path}"))))

        def do_GET(self) -> None:
            self._send(200, {"object": "list", "data": [{"id": "stub", "object": "model"}]})

        def _send(self, status: int, answered: dict[str, Any]) -> None:
            content = json.dumps(answered).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Say nothing of each request."""

    return Handler


def tokens(text: str) -> int:
    """Return how many tokens a text counts as."""
    return math.ceil(len(text) / CHARACTERS_A_TOKEN)


def vector(text: str) -> list[float]:
    """Return a unit vector in which each word adds to one place, so that like texts are near."""
    values = [0.0] * DIMENSION
    for word in re.findall(r"\w+", text.casefold()) or [""]:
        digest = blake2b(word.encode("utf-8", "surrogatepass"), digest_size=4).digest()
        values[int.from_bytes(digest[:3], "big") % DIMENSION] += 1.0 if digest[3] & 1 else -1.0
    values[0] += 0.001
    length = math.sqrt(sum(value * value for value in values))
    return [round(value / length, 5) for value in values]


def _packed(values: list[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(values)}f", *values)).decode("ascii")


def _completion(body: dict[str, Any], choices: list[dict[str, Any]], used: dict[str, int]) -> dict[str, Any]:
    return {
        "id": "stub", "object": "chat.completion", "created": 0, "model": body["model"], "choices": choices,
        "usage": {**used, "total_tokens": sum(used.values())},
    }  # fmt: skip


def _error(message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "server_error", "code": None, "param": None}}
