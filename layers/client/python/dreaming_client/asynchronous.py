"""The asynchronous client: the same methods, to be awaited, and lists to go through with `async for`."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from datetime import datetime
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx

from dreaming_client import calls, records
from dreaming_client.calls import Call, Page
from dreaming_client.client import TIMEOUT_SECONDS
from dreaming_client.installation import local_api
from dreaming_client.sending import BearerAuth, Outcome, Prepared, Retries, checked_url, exchange

T = TypeVar("T")


class AsyncDreaming:
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

    async def remember(self, *notes: str | Mapping[str, Any], scope: str = "org") -> records.Ingested:
        """Bring in notes, all or none; the next run of consolidation reads them.

        A note is its text, or an object with `text` and any of source, external_id, occurred_at, author,
        participants, origin, trust and metadata. The same external_id again is an edit.
        """
        return await self._do(calls.remember(calls.as_notes(notes), scope))

    async def note(self, note_id: str) -> records.NoteText:
        """Return a note with its text."""
        return await self._do(calls.note(note_id))

    def notes(
        self, *, scope: str = "org", state: str | None = None, source: str | None = None, page: int = 100
    ) -> AsyncIterator[records.Note]:
        """Go through notes, the latest brought in first, `page` at a time."""
        return self._all(lambda cursor: calls.notes(scope=scope, state=state, source=source, limit=page, cursor=cursor))

    async def retired(self, *, scope: str = "org", limit: int = 50) -> tuple[records.RetiredNote, ...]:
        """Return the notes that were given up, the latest first."""
        return (await self._do(calls.retired(scope=scope, limit=limit))).items

    def beliefs(
        self,
        *,
        scope: str = "org",
        kind: str | None = None,
        min_confidence: float = 0.0,
        archived: bool = False,
        as_of: datetime | None = None,
        believed_at: datetime | None = None,
        page: int = 100,
    ) -> AsyncIterator[records.Belief]:
        """Go through beliefs by aged confidence, `page` at a time.

        `as_of`: what held then, by all that is known today. `believed_at`: what was believed then.
        """
        asked: dict[str, Any] = {"scope": scope, "kind": kind, "min_confidence": min_confidence, "archived": archived}
        asked |= {"as_of": as_of, "believed_at": believed_at, "limit": page}
        return self._all(lambda cursor: calls.beliefs(**asked, cursor=cursor))

    async def search(
        self, query: str, *, limit: int = 10, scope: str = "org", kind: str | None = None
    ) -> tuple[records.Belief, ...]:
        """Return the beliefs that fit a query best, by words and by meaning."""
        return (await self._do(calls.beliefs(q=query, limit=limit, scope=scope, kind=kind))).items

    async def why(self, belief_id: str) -> records.Why:
        """Return the quotes, the arithmetic and the history behind a belief."""
        return await self._do(calls.why(belief_id))

    async def confirm(self, belief_id: str) -> records.BeliefChanged:
        """Vouch for a belief as of now."""
        return await self._do(calls.act(belief_id, "confirm"))

    async def archive(self, belief_id: str) -> records.BeliefChanged:
        """Take a belief out of sight, whatever notes say."""
        return await self._do(calls.act(belief_id, "archive"))

    async def restore(self, belief_id: str) -> records.BeliefChanged:
        """Bring an archived belief back."""
        return await self._do(calls.act(belief_id, "restore"))

    async def brief(self, *, scope: str | None = None) -> records.Brief:
        """Return what is believed now, in few words, for an agent's system prompt."""
        return await self._do(calls.brief(scope))

    async def conflicts(self, *, scope: str = "org", limit: int = 20) -> tuple[records.Conflict, ...]:
        """Return the pairs of beliefs that need a person."""
        return (await self._do(calls.conflicts(scope, limit))).items

    async def resolve(self, left_id: str, right_id: str, keep: str) -> None:
        """Decide a conflict: `keep` is left, right, both or merge."""
        await self._do(calls.resolve(left_id, right_id, keep))

    async def capture(
        self,
        conversation_id: str,
        turns: Iterable[Mapping[str, Any]],
        *,
        agent: str | None = None,
        scope: str = "org",
    ) -> records.Captured:
        """Keep a conversation so far; a turn has `text` and may have `speaker` and `said_at`."""
        return await self._do(calls.capture(conversation_id, turns, agent, scope))

    async def recall(self, query: str, *, scope: str | None = None, limit: int = 10) -> records.Recalled:
        """Find past conversations from a paraphrase."""
        return await self._do(calls.recall(query, scope, limit))

    async def status(self, pass_name: str = "consolidation", *, runs: int = 5) -> records.Status:
        """Return how far a pass has come, and why it holds."""
        return await self._do(calls.status(pass_name, runs))

    def runs(self, *, page: int = 100) -> AsyncIterator[records.Run]:
        """Go through the runs of all passes, the latest start first, `page` at a time."""
        return self._all(lambda cursor: calls.runs(limit=page, cursor=cursor))

    async def log_actions(self, *actions: Mapping[str, Any]) -> records.Logged:
        """Log what agents did: agent_id, external_id, tool, summary, risk, and the outcome where it is known."""
        return await self._do(calls.log_actions(actions))

    async def permission(self, agent_id: str, risk: str) -> records.Permission:
        """Ask whether an agent may do an action of a risk now; where it raises, it may not."""
        return await self._do(calls.permission(agent_id, risk))

    async def capabilities(self) -> records.Capabilities:
        """Return every setting and consent in force."""
        return await self._do(calls.capabilities())

    async def change_setting(self, name: str, value: Any) -> records.Changed:
        """Change a setting or a consent of the organization, from the next tick on. For administrators."""
        return await self._do(calls.change_setting(name, value))

    async def reset_setting(self, name: str) -> records.Changed:
        """Return a setting to its default. For administrators."""
        return await self._do(calls.reset_setting(name))

    async def _do(self, call: Call[T]) -> T:
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

    async def _all(self, call_of: Callable[[str | None], Call[Page[T]]]) -> AsyncIterator[T]:
        cursor: str | None = None
        while True:
            page = await self._do(call_of(cursor))
            for item in page.items:
                yield item
            cursor = page.next_cursor
            if cursor is None:
                return
