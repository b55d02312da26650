"""One HTTP call to a model server, and what each way of failing means.

Neither key nor note text reaches a log or an error: servers echo both, so of an error body only the
machine words `code`, `type` and `param` are repeated.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import httpx

from dreaming.errors import MissingKey, ModelTimeout, ProviderMisconfigured, ProviderUnavailable, Throttled
from dreaming.models.keys import SecretKey
from dreaming.models.retry_after import retry_after
from dreaming.models.wire import Refusal

_MAX_BODY = 16 * 1024 * 1024  # bytes; the longest useful answers are a hundredth of it
_CONNECT_SECONDS = 10.0
_MACHINE_WORD = re.compile(r"[A-Za-z][\w.\[\]-]{0,59}\Z")
_TRANSIENT_CLIENT_ERRORS = frozenset((408, 409, 425))


def bearer(key: SecretKey | None) -> dict[str, str]:
    """Return the header of RFC 6750, or none without a key."""
    return {"Authorization": f"Bearer {key.reveal()}"} if key else {}


class Endpoint:
    """Posts JSON to one server; one `httpx.Client`, safe to call from several threads."""

    def __init__(
        self,
        base_url: str,
        key: Callable[[], SecretKey | None],
        *,
        headers: Callable[[SecretKey | None], Mapping[str, str]] = bearer,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        clock: Callable[[], float] = time.monotonic,
        max_body: int = _MAX_BODY,
    ) -> None:
        """Take the address, who gives the key at each call, the headers that carry it, and the clocks."""
        self._base_url = base_url.rstrip("/")
        self._key = key
        self._headers = headers
        self._now = now
        self._clock = clock
        self._max_body = max_body
        self._client = httpx.Client(follow_redirects=False, limits=httpx.Limits(max_connections=64))

    def __repr__(self) -> str:
        return f"Endpoint({self._base_url!r})"

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def post(self, path: str, body: Mapping[str, Any], timeout: float) -> dict[str, Any]:
        """Post `body` once and return the answered object; `timeout` in seconds bounds the whole call.

        Raises `Refusal`, and `Throttled`, `MissingKey`, `ProviderMisconfigured`, `ProviderUnavailable`
        or `ModelTimeout` for what is not about this request.
        """
        headers = dict(self._headers(self._key()))
        limits = httpx.Timeout(timeout, connect=min(timeout, _CONNECT_SECONDS))
        deadline = self._clock() + timeout
        try:
            request = self._client.build_request(
                "POST", f"{self._base_url}{path}", json=body, headers=headers, timeout=limits
            )
            response = self._client.send(request, stream=True)
            try:
                content = self._read(response, deadline)
            finally:
                response.close()
        except (httpx.ConnectTimeout, httpx.WriteTimeout, httpx.PoolTimeout):
            raise ProviderUnavailable("The model server does not take the request in time.") from None
        except httpx.TimeoutException:
            raise ModelTimeout(f"No answer within {timeout:g} seconds.") from None
        except (httpx.InvalidURL, httpx.UnsupportedProtocol):
            raise ProviderMisconfigured("The model server's address is not a usable URL.") from None
        except httpx.HTTPError as problem:
            raise ProviderUnavailable(f"The model server cannot be reached ({type(problem).__name__}).") from None
        return self._judge(response, content)

    def _read(self, response: httpx.Response, deadline: float) -> bytes:
        content = bytearray()
        for part in response.iter_bytes():
            content += part
            if len(content) > self._max_body:
                raise ProviderUnavailable(f"The model server's answer is larger than {self._max_body} bytes.")
            if self._clock() > deadline:
                raise ModelTimeout("The answer was still arriving when its time was over.")
        return bytes(content)

    def _judge(self, response: httpx.Response, content: bytes) -> dict[str, Any]:
        status = response.status_code
        answered = _parsed(content)
        if status == httpx.codes.OK:
            if answered is None:
                raise ProviderUnavailable("The model server's answer is not a JSON object.")
            if answered.get("error"):
                raise ProviderUnavailable(f"The model server answered an error ({_words(answered)}).")
            return answered
        words = _words(answered or {})
        said = f"HTTP {status}" + (f", {words}" if words else "")
        wait = retry_after(response.headers, self._now())
        if status == httpx.codes.TOO_MANY_REQUESTS:
            raise Throttled(f"The model server asks for fewer calls ({said}).", retry_after=wait)
        if status >= 500 or status in _TRANSIENT_CLIENT_ERRORS:
            raise ProviderUnavailable(f"The model server failed ({said}).", retry_after=wait)
        if status in (401, 403):
            raise MissingKey(f"The model server refuses the key ({said}).")
        if status in (400, 413, 422):
            raise Refusal(status, words, content.decode("utf-8", "replace").casefold())
        if status == httpx.codes.PAYMENT_REQUIRED:
            raise ProviderMisconfigured(f"The model server asks for payment ({said}): see to the account's billing.")
        raise ProviderMisconfigured(f"The model server knows no such model or address ({said}).")


def _parsed(content: bytes) -> dict[str, Any] | None:
    try:
        parsed = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return parsed if isinstance(parsed, dict) else None


def _words(answered: Mapping[str, Any]) -> str:
    error = answered.get("error")
    named = [error.get(field) for field in ("code", "type", "param")] if isinstance(error, dict) else []
    return " ".join(word for word in named if isinstance(word, str) and _MACHINE_WORD.match(word))
