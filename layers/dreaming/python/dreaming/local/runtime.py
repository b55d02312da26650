"""The system on a laptop: the real handlers over embedded PostgreSQL and a queue in a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Any, Self
from uuid import uuid4

from dreaming.database import Database
from dreaming.database.migration import migrate
from dreaming.errors import DatabaseUnavailable
from dreaming.identifiers import NewId, uuid7
from dreaming.lambdas.wiring import DATABASE_URL, Resources, consolidation_engine, install
from dreaming.local.functions import Function, failed_items, queue_event, schedule_event
from dreaming.local.home import deployment_environment, make_home
from dreaming.local.presence import Presence
from dreaming.local.queue import LocalQueue, Received
from dreaming.models.keys import EnvironmentKeys, KeyResolver
from dreaming.passes.records import BatchMessage

TIMEOUT_SECONDS = 180.0
"""The time-out of a pass's function, as in AWS (design, section 14)."""

VISIBILITY_SECONDS = 6 * TIMEOUT_SECONDS
"""At least six times the function's time-out, as AWS asks of an event source."""

FAILED_VISIBILITY_SECONDS = 2.0
"""How soon a failed message comes again; doubled with each receive."""

_POLL_SECONDS = 0.2

_EMBEDDED_WAIT_SECONDS = 5.0  # a server on this machine is there or it is not; the next command starts it again


@dataclass(frozen=True, slots=True)
class BatchEvent:
    """One message of a drain, after its invocation."""

    slice_id: int | None
    failed: bool


@dataclass(frozen=True, slots=True)
class DrainReport:
    """What a drain processed; `dead` counts all dead letters of the queue."""

    batches: int
    failed: int
    dead: int


class LocalRuntime:
    """An installation in a home folder, opened by one process among others."""

    def __init__(
        self,
        home: Path,
        *,
        database: Database,
        queue: LocalQueue,
        presence: Presence,
        environment: Mapping[str, str],
        sleep: Callable[[float], None],
    ) -> None:
        """Take over opened resources; `open` is the usual way."""
        self.home = home
        self.database = database
        self.environment = environment
        self.queue = queue
        self.clock: Callable[[], datetime] = _now
        self.new_id: NewId = uuid7
        self._presence = presence
        self._sleep = sleep
        keys = KeyResolver(EnvironmentKeys(environment), clock=monotonic)
        install(Resources(database, queue, keys, environment, self.clock, self.new_id))
        self._consolidate = Function("consolidate", log=home / "handlers.log", timeout_seconds=TIMEOUT_SECONDS)

    @classmethod
    def open(cls, home: Path, environment: Mapping[str, str], *, keep_database: bool = False) -> Self:
        """Start or find the database, migrate it, and open the queue.

        `DATABASE_URL` names another database than the embedded one. Raises `Misconfigured` and
        `DatabaseUnavailable` with what to do.
        """
        from time import sleep

        make_home(home)
        variables = deployment_environment(home, environment)
        own = variables.get(DATABASE_URL)
        url = own or _embedded(home, keep=keep_database)
        migrate(url)
        return cls(
            home,
            database=Database(url) if own else Database(url, wait_seconds=_EMBEDDED_WAIT_SECONDS),
            queue=LocalQueue(home / "queue.sqlite", "consolidation"),
            presence=Presence(home / "workers"),
            environment=variables,
            sleep=sleep,
        )

    def tick(self, only: int | None = None) -> dict[str, Any]:
        """Invoke the consolidation function as its schedule does; return its answer."""
        return self._consolidate.invoke(dict(schedule_event(only)), request_id=self._request_id())

    def drain(self, on_batch: Callable[[BatchEvent], object] | None = None) -> DrainReport:
        """Process the queue until it is empty, including what other processes have in flight.

        Messages of processes that died are taken over at once. A failing message is tried as often
        as SQS would try it and then becomes a dead letter.
        """
        batches = failed = 0
        while True:
            self._take_over_dead()
            message = self.queue.receive(holder=self._presence.name, visibility_timeout=VISIBILITY_SECONDS)
            if message is None:
                counts = self.queue.counts()
                if not counts.visible and not counts.in_flight:
                    return DrainReport(batches, failed, counts.dead)
                self._sleep(_POLL_SECONDS)
                continue
            answer = self._invoke(message)
            is_failed = message.message_id in failed_items(answer)
            if is_failed:
                self._check_database(message)
                self.queue.change_visibility(
                    message.receipt, FAILED_VISIBILITY_SECONDS * 2 ** (message.receive_count - 1)
                )
            else:
                self.queue.delete(message.receipt)
            batches += 1
            failed += is_failed
            if on_batch is not None:
                on_batch(BatchEvent(_slice_of(message.body), is_failed))

    def _invoke(self, message: Received) -> dict[str, Any]:
        try:
            return self._consolidate.invoke(queue_event("consolidate", message), request_id=self._request_id())
        except BaseException:
            # An interrupted drain leaves its message to the next one, at once.
            self.queue.change_visibility(message.receipt, 0)
            raise

    def _check_database(self, message: Received) -> None:
        """End the drain when the database is gone, with the message left for the next one."""
        try:
            with self.database.planner():
                return
        except DatabaseUnavailable:
            self.queue.change_visibility(message.receipt, 0)
            raise

    def close(self) -> None:
        """Close what was opened; the embedded database stops with its last user."""
        self._consolidate.close()
        self._presence.close()
        self.queue.close()
        self.database.close()

    def __enter__(self) -> Self:
        """Use the runtime in a `with` block, which closes it."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close the runtime."""
        self.close()

    def _request_id(self) -> str:
        return f"{self._presence.name}-{uuid4().hex[:12]}"

    def _take_over_dead(self) -> None:
        """Free the messages and leases of workers that were killed."""
        for name in self._presence.dead():
            for body in self.queue.held_by(name):
                consolidation_engine().release(BatchMessage.model_validate_json(body), holder_prefix=name)
            self.queue.release(name)
            self._presence.bury(name)


def _embedded(home: Path, *, keep: bool) -> str:
    from dreaming.local.postgres import ensure_running

    return ensure_running(home, keep=keep)


def _slice_of(body: str) -> int | None:
    try:
        return BatchMessage.model_validate_json(body).slice_id
    except ValueError:
        return None


def _now() -> datetime:
    return datetime.now(UTC)
