"""What sending a call takes, for both clients: the request, whether to try again and when, the answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from random import random
from typing import Any, TypeVar
from urllib.parse import quote, urlencode
from uuid import uuid4

import httpx

from dreaming_client.calls import Call
from dreaming_client.errors import ConnectionFailed, DreamingError, UnexpectedAnswer, error_of, seconds

T = TypeVar("T")

_LATER = frozenset({409, 429, 503})
_SUCCESS = range(200, 300)
_LONGEST_WAIT = 30.0


@dataclass(frozen=True, slots=True)
class Retries:
    """How often and how long a call is tried again.

    Answers 409, 429 and 503 are tried again after their `Retry-After`, or after `first_wait` seconds,
    doubled each time, with up to half of it left out at random. So are connections that fail: every call
    can be repeated, by what it does or by its `Idempotency-Key`.
    """

    attempts: int = 4
    first_wait: float = 0.5
    chance: Callable[[], float] = random

    def wait(self, attempt: int, asked: float | None) -> float:
        """Return the seconds to wait after the attempt of this number, from 0."""
        if asked is not None:
            return min(asked, _LONGEST_WAIT)
        return min(self.first_wait * 2.0**attempt, _LONGEST_WAIT) * (1 - self.chance() / 2)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request as it is sent, but for what the client adds."""

    method: str
    url: str
    headers: Mapping[str, str]
    params: Mapping[str, str]
    content: bytes | None

    def build(self, client: httpx.Client | httpx.AsyncClient) -> httpx.Request:
        """Return it as a request of `client`, under its time-outs."""
        # A blank as %20: a plus would be signed as one.
        query = f"?{urlencode(self.params, quote_via=quote)}" if self.params else ""
        return client.build_request(self.method, self.url + query, headers=self.headers, content=self.content)


Outcome = httpx.Response | httpx.TransportError
"""What became of one attempt."""


def exchange(call: Call[T], base_url: str, retries: Retries) -> Generator[Prepared | float, Outcome | None, T]:
    """Run a call without touching a network: yields requests to send and seconds to wait, returns the answer.

    Whoever drives it sends back the outcome of a request, and None after waiting.

    Raises:
        ApiError: the API refused.
        ConnectionFailed: no answer came.
        UnexpectedAnswer: the answer is not the API's.
    """
    key = str(uuid4()) if call.method == "POST" else None
    for attempt in range(retries.attempts):
        outcome = yield _request(call, base_url, key)
        last = attempt + 1 == retries.attempts
        if isinstance(outcome, httpx.TransportError):
            if last:
                told = str(outcome) or type(outcome).__name__
                raise ConnectionFailed(f"{call.method} {call.path}: {told}") from outcome
            yield retries.wait(attempt, None)
        elif outcome is not None:
            if outcome.status_code not in _LATER or last:
                return _answer(call, outcome)
            yield retries.wait(attempt, seconds(outcome.headers.get("retry-after")))
    raise DreamingError("retries.attempts is less than 1")


def _request(call: Call[Any], base_url: str, key: str | None) -> Prepared:
    headers = {"Accept": "application/json, application/problem+json"}
    if key is not None:
        headers["Idempotency-Key"] = key
    content = None
    if call.body is not None:
        headers["Content-Type"] = "application/json"
        content = json.dumps(call.body, ensure_ascii=False, allow_nan=False).encode("utf-8", "backslashreplace")
    return Prepared(call.method, base_url + call.path, headers, call.query, content)


def _answer(call: Call[T], response: httpx.Response) -> T:
    if response.status_code not in _SUCCESS:
        raise error_of(response.status_code, response.reason_phrase, response.content, response.headers)
    try:
        answer = json.loads(response.content)
    except ValueError as error:
        raise UnexpectedAnswer(f"{call.method} {call.path} answered no JSON") from error
    return call.read(answer)


def checked_url(url: str) -> str:
    """Return an address without a slash at its end.

    Raises:
        ValueError: it is no address, or would carry credentials in the clear over a network.
    """
    parts = httpx.URL(url)
    local = parts.host in ("127.0.0.1", "localhost", "::1")
    if parts.scheme not in ("https", "http") or not parts.host or (parts.scheme == "http" and not local):
        raise ValueError(f"{url!r} is no https address")
    return url.rstrip("/")


class BearerAuth(httpx.Auth):
    """Sends a token, or one that a function gives for each request."""

    def __init__(self, token: str | Callable[[], str]) -> None:
        """Take the token or its giver."""
        self._token = token

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Add the token."""
        token = self._token if isinstance(self._token, str) else self._token()
        request.headers["Authorization"] = f"Bearer {token}"
        yield request
