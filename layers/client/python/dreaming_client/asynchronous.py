"""The asynchronous client: the same methods, to be awaited, and lists to go through with `async for`."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx

from dreaming_client.calls import Call, Pages
from dreaming_client.client import TIMEOUT_SECONDS
from dreaming_client.installation import local_api
from dreaming_client.methods import Later, Methods
from dreaming_client.sending import BearerAuth, Outcome, Prepared, Retries, checked_url, exchange

T = TypeVar("T")


class AsyncDreaming(Methods, Later):
    """A client of one deployment, for as long as it is open.

    Every method raises `ApiError` where the API refuses, `ConnectionFailed` where no answer comes.
    """

    def __init__(
        self,
        url: str,
        token: str | Callable[[], str] | None = None,
        *,
        auth: httpx.Auth | None = None,
        timeout: float = TIMEOUT_SECONDS,
        retries: Retries | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Connect to `url` with a token, or what gives one that is fresh, or with an `auth` such as `SigV4Auth`.

        Raises:
            ValueError: the address is none, or the token would travel in the clear.
        """
        self._url = checked_url(url)
        self._retries = retries or Retries()
        self._sleep = sleep
        self._http = httpx.AsyncClient(
            auth=auth if auth is not None or token is None else BearerAuth(token),
            timeout=timeout,
            transport=transport,
        )

    @classmethod
    def local(cls, home: str | os.PathLike[str] | None = None, **options: Any) -> Self:
        """Connect to what `dream up` serves on this machine; raises `NotRunning` where nothing does."""
        url, token = local_api(home, os.environ)
        return cls(url, token, **options)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def ask(self, call: Call[T]) -> T:
        """Return the answer to a call; the methods do."""
        exchanging = exchange(call, self._url, self._retries)
        outcome: Outcome | None = None
        while True:
            try:
                step = exchanging.send(outcome)
            except StopIteration as finished:
                answer: T = finished.value
                return answer
            outcome = await (self._send(step) if isinstance(step, Prepared) else self._sleep(step))

    async def _send(self, prepared: Prepared) -> Outcome:
        try:
            return await self._http.send(prepared.build(self._http))
        except httpx.TransportError as error:
            return error

    async def go_through(self, pages: Pages[T]) -> AsyncIterator[T]:
        """Yield a list; the next page is asked for when one is used up."""
        cursor: str | None = None
        while True:
            page = await self.ask(pages.page(cursor))
            for item in page.items:
                yield item
            cursor = page.next_cursor
            if cursor is None:
                return
