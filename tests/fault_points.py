"""Points at which a process can fail or die, found by counting and not by luck.

Everything that reaches outside a pass passes a point: each SQL statement, each commit (before it and
after it), each send (before and after), each call of a model or an embedder (before and after), each
look at the clock. A run counts them; then each is made to go wrong in a run of its own.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

import numpy as np
import psycopg
from numpy.typing import NDArray

from dreaming.errors import ProviderUnavailable
from dreaming.models.protocols import ChatAnswer, ChatModel, ChatRequest, Embedder
from dreaming.passes.records import Queue

Way = Literal["fail", "kill"]


class Killed(BaseException):
    """The process is dead: nothing that it still tries reaches anything."""


class QueueLost(ProviderUnavailable):
    """The queue cannot be reached."""


@dataclass
class Points:
    """Counts points; the one at `wrong` fails once, or kills the process for good.

    A statement or a commit fails by what `break_by` does to the connection; by default it is lost.
    """

    wrong: int | None = None
    way: Way = "fail"
    seen: list[str] = field(default_factory=list)
    dead: bool = False
    break_by: Callable[[psycopg.Connection[Any]], None] = field(default_factory=lambda: _lose)
    connections: list[psycopg.Connection[Any]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def reach(self, kind: str) -> bool:
        """Count a point; True when it is the one that fails."""
        with self._lock:
            if self.dead:
                raise Killed(kind)
            self.seen.append(kind)
            if len(self.seen) - 1 != self.wrong:
                return False
            if self.way == "kill":
                self.dead = True
                raise Killed(kind)
            return True

    def close(self) -> None:
        """Close what a dead process has left open, as the server does in the end."""
        for connection in self.connections:
            connection.close()

    @property
    def counts(self) -> Counter[str]:
        return Counter(self.seen)


def connect_through(points: Points) -> Callable[..., psycopg.Connection[Any]]:
    """Return what opens connections whose statements and commits are points."""

    class Cursor(psycopg.Cursor[Any]):
        def execute(self, *args: Any, **options: Any) -> Any:
            if points.reach("statement"):
                points.break_by(self.connection)
            return super().execute(*args, **options)

    class Connection(psycopg.Connection[Any]):
        def commit(self) -> None:
            if points.reach("commit"):
                points.break_by(self)
            super().commit()
            if points.reach("committed"):
                # It holds, and nobody was told.
                _lose(self)

    def connect(conninfo: str, **options: Any) -> psycopg.Connection[Any]:
        opened = Connection.connect(conninfo, cursor_factory=Cursor, **options)
        points.connections.append(opened)
        return opened

    return connect


def refuse(sqlstate: str) -> Callable[[psycopg.Connection[Any]], None]:
    """Return what lets the server itself refuse with an error of its own, which leaves the connection usable."""

    def break_(connection: psycopg.Connection[Any]) -> None:
        psycopg.Cursor(connection).execute(
            f"do $$ begin raise exception 'made up' using errcode = '{sqlstate}'; end $$".encode()
        )

    return break_


def take_no_writes(connection: psycopg.Connection[Any]) -> None:
    """From here on the transaction is one of a server that was the writer until now."""
    psycopg.Cursor(connection).execute("set transaction read only")


def _lose(connection: psycopg.Connection[Any]) -> None:
    connection.close()
    raise psycopg.OperationalError("server closed the connection unexpectedly")


@dataclass
class PointQueue:
    """A queue whose sends are points: lost before they arrive, or arrived and not acknowledged."""

    queue: Queue
    points: Points

    def send(self, body: str, *, group_id: str, deduplication_id: str) -> object:
        if self.points.reach("send"):
            raise QueueLost("the queue does not answer")
        sent = self.queue.send(body, group_id=group_id, deduplication_id=deduplication_id)
        if self.points.reach("sent"):
            raise QueueLost("the queue did not acknowledge")
        return sent

    def change_visibility(self, receipt: str, seconds: float) -> object:
        return self.queue.change_visibility(receipt, seconds)


@dataclass
class PointModel:
    """A chat model whose calls are points."""

    model: ChatModel
    points: Points

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def context_tokens(self) -> int:
        return self.model.context_tokens

    @property
    def metered(self) -> bool:
        return True

    def answer(self, request: ChatRequest) -> ChatAnswer:
        if self.points.reach("call"):
            raise ProviderUnavailable("the model does not answer")
        answer = self.model.answer(request)
        if self.points.reach("answered"):
            raise ProviderUnavailable("the answer was lost")
        return answer


@dataclass
class PointEmbedder:
    """An embedder whose calls are points."""

    embedder: Embedder
    points: Points

    @property
    def name(self) -> str:
        return self.embedder.name

    @property
    def dimension(self) -> int:
        return self.embedder.dimension

    def embed(self, texts: Sequence[str], *, timeout: float) -> NDArray[np.float32]:
        if self.points.reach("embed"):
            raise ProviderUnavailable("the embedder does not answer")
        vectors = self.embedder.embed(texts, timeout=timeout)
        if self.points.reach("embedded"):
            raise ProviderUnavailable("the vectors were lost")
        return vectors


def clock_through(points: Points, clock: Callable[[], datetime]) -> Callable[[], datetime]:
    """Return a clock at which a process can die; a look at the clock does not fail."""

    def look() -> datetime:
        if points.way == "kill" or points.dead:
            points.reach("clock")
        return clock()

    return look
