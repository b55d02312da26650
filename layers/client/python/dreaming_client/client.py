"""The synchronous client."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx

from dreaming_client import calls, records
from dreaming_client.calls import Call, Page
from dreaming_client.installation import local_api
from dreaming_client.sending import BearerAuth, Outcome, Prepared, Retries, checked_url, exchange

T = TypeVar("T")

TIMEOUT_SECONDS = 30.0
"""How long one attempt may take: API Gateway gives up after 30 seconds."""


class Dreaming:
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
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Connect to `url` with a token, or what gives one that is fresh, or with an `auth` such as `SigV4Auth`.

        Raises:
            ValueError: the address is none, or the token would travel in the clear.
        """
        self._url = checked_url(url)
        self._retries = retries or Retries()
        self._sleep = sleep
        self._http = httpx.Client(
            auth=auth if auth is not None or token is None else BearerAuth(token),
            timeout=timeout,
            transport=transport,
        )

    @classmethod
    def local(cls, home: str | os.PathLike[str] | None = None, **options: Any) -> Self:
        """Connect to what `dream up` serves on this machine; raises `NotRunning` where nothing does."""
        url, token = local_api(home, os.environ)
        return cls(url, token, **options)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def remember(self, *notes: str | Mapping[str, Any], scope: str = "org") -> records.Ingested:
        """Bring in notes, all or none; the next run of consolidation reads them.

        A note is its text, or an object with `text` and any of source, external_id, occurred_at, author,
        participants, origin, trust and metadata. The same external_id again is an edit.
        """
        return self._do(calls.remember(calls.as_notes(notes), scope))

    def note(self, note_id: str) -> records.NoteText:
        """Return a note with its text."""
        return self._do(calls.note(note_id))

    def notes(
        self, *, scope: str = "org", state: str | None = None, source: str | None = None, page: int = 100
    ) -> Iterator[records.Note]:
        """Go through notes, the latest brought in first, `page` at a time."""
        return self._all(lambda cursor: calls.notes(scope=scope, state=state, source=source, limit=page, cursor=cursor))

    def retired(self, *, scope: str = "org", limit: int = 50) -> tuple[records.RetiredNote, ...]:
        """Return the notes that were given up, the latest first."""
        return self._do(calls.retired(scope=scope, limit=limit)).items

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
    ) -> Iterator[records.Belief]:
        """Go through beliefs by aged confidence, `page` at a time.

        `as_of`: what held then, by all that is known today. `believed_at`: what was believed then.
        """
        asked: dict[str, Any] = {"scope": scope, "kind": kind, "min_confidence": min_confidence, "archived": archived}
        asked |= {"as_of": as_of, "believed_at": believed_at, "limit": page}
        return self._all(lambda cursor: calls.beliefs(**asked, cursor=cursor))

    def search(
        self, query: str, *, limit: int = 10, scope: str = "org", kind: str | None = None
    ) -> tuple[records.Belief, ...]:
        """Return the beliefs that fit a query best, by words and by meaning."""
        return self._do(calls.beliefs(q=query, limit=limit, scope=scope, kind=kind)).items

    def why(self, belief_id: str) -> records.Why:
        """Return the quotes, the arithmetic and the history behind a belief."""
        return self._do(calls.why(belief_id))

    def confirm(self, belief_id: str) -> records.BeliefChanged:
        """Vouch for a belief as of now."""
        return self._do(calls.act(belief_id, "confirm"))

    def archive(self, belief_id: str) -> records.BeliefChanged:
        """Take a belief out of sight, whatever notes say."""
        return self._do(calls.act(belief_id, "archive"))

    def restore(self, belief_id: str) -> records.BeliefChanged:
        """Bring an archived belief back."""
        return self._do(calls.act(belief_id, "restore"))

    def brief(self, *, scope: str | None = None) -> records.Brief:
        """Return what is believed now, in few words, for an agent's system prompt."""
        return self._do(calls.brief(scope))

    def conflicts(self, *, scope: str = "org", limit: int = 20) -> tuple[records.Conflict, ...]:
        """Return the pairs of beliefs that need a person."""
        return self._do(calls.conflicts(scope, limit)).items

    def resolve(self, left_id: str, right_id: str, keep: str) -> None:
        """Decide a conflict: `keep` is left, right, both or merge."""
        self._do(calls.resolve(left_id, right_id, keep))

    def capture(
        self,
        conversation_id: str,
        turns: Iterable[Mapping[str, Any]],
        *,
        agent: str | None = None,
        scope: str = "org",
    ) -> records.Captured:
        """Keep a conversation so far; a turn has `text` and may have `speaker` and `said_at`."""
        return self._do(calls.capture(conversation_id, turns, agent, scope))

    def recall(self, query: str, *, scope: str | None = None, limit: int = 10) -> records.Recalled:
        """Find past conversations from a paraphrase."""
        return self._do(calls.recall(query, scope, limit))

    def status(self, pass_name: str = "consolidation", *, runs: int = 5) -> records.Status:
        """Return how far a pass has come, and why it holds."""
        return self._do(calls.status(pass_name, runs))

    def runs(self, *, page: int = 100) -> Iterator[records.Run]:
        """Go through the runs of all passes, the latest start first, `page` at a time."""
        return self._all(lambda cursor: calls.runs(limit=page, cursor=cursor))

    def log_actions(self, *actions: Mapping[str, Any]) -> records.Logged:
        """Log what agents did: agent_id, external_id, tool, summary, risk, and the outcome where it is known."""
        return self._do(calls.log_actions(actions))

    def permission(self, agent_id: str, risk: str) -> records.Permission:
        """Ask whether an agent may do an action of a risk now; where it raises, it may not."""
        return self._do(calls.permission(agent_id, risk))

    def capabilities(self) -> records.Capabilities:
        """Return every setting and consent in force."""
        return self._do(calls.capabilities())

    def change_setting(self, name: str, value: Any) -> records.Changed:
        """Change a setting or a consent of the organization, from the next tick on. For administrators."""
        return self._do(calls.change_setting(name, value))

    def reset_setting(self, name: str) -> records.Changed:
        """Return a setting to its default. For administrators."""
        return self._do(calls.reset_setting(name))

    def _do(self, call: Call[T]) -> T:
        exchanging = exchange(call, self._url, self._retries)
        outcome: Outcome | None = None
        while True:
            try:
                step = exchanging.send(outcome)
            except StopIteration as finished:
                answer: T = finished.value
                return answer
            outcome = self._send(step) if isinstance(step, Prepared) else self._sleep(step)

    def _send(self, prepared: Prepared) -> Outcome:
        try:
            return self._http.send(prepared.build(self._http))
        except httpx.TransportError as error:
            return error

    def _all(self, call_of: Callable[[str | None], Call[Page[T]]]) -> Iterator[T]:
        cursor: str | None = None
        while True:
            page = self._do(call_of(cursor))
            yield from page.items
            cursor = page.next_cursor
            if cursor is None:
                return
