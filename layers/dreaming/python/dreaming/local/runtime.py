"""The system on a laptop: the real handlers over embedded PostgreSQL and a queue in a file."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
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
from dreaming.lambdas.wiring import DATABASE_URL, Resources, engine, install
from dreaming.local.functions import Function, failed_items, queue_event, schedule_event
from dreaming.local.home import DeploymentEnvironment, make_home
from dreaming.local.presence import Presence
from dreaming.local.queue import LocalQueue, Received
from dreaming.models.keys import EnvironmentKeys, KeyResolver
from dreaming.passes.records import CONSOLIDATION, PASS_FUNCTIONS, BatchMessage, message_group

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
    """What a drain processed; `dead` counts all dead letters that it would process, had they not failed too often."""

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
        presence: Presence,
        environment: Mapping[str, str],
        sleep: Callable[[float], None],
    ) -> None:
        """Take over opened resources; `open` is the usual way."""
        self.home = home
        self.database = database
        self.environment = environment
        self.clock: Callable[[], datetime] = _now
        self.new_id: NewId = uuid7
        self._presence = presence
        self._sleep = sleep
        keys = KeyResolver(EnvironmentKeys(environment), clock=monotonic)
        install(Resources(database, self.queue, keys, environment, self.clock, self.new_id))
        self._queues: dict[str, LocalQueue] = {}
        self._functions: dict[str, Function] = {}

    @classmethod
    def open(cls, home: Path, environment: Mapping[str, str], *, keep_database: bool = False) -> Self:
        """Start or find the database, migrate it, and open the queue.

        `DATABASE_URL` names another database than the embedded one. Raises `Misconfigured` and
        `DatabaseUnavailable` with what to do.
        """
        from time import sleep

        make_home(home)
        variables = DeploymentEnvironment(home, environment)
        own = variables.get(DATABASE_URL)
        url = own or _embedded(home, keep=keep_database)
        migrate(url)
        return cls(
            home,
            database=Database(url) if own else Database(url, wait_seconds=_EMBEDDED_WAIT_SECONDS),
            presence=Presence(home / "workers"),
            environment=variables,
            sleep=sleep,
        )

    def queue(self, pass_name: str) -> LocalQueue:
        """Return the queue of a pass."""
        if pass_name not in self._queues:
            self._queues[pass_name] = LocalQueue(self.home / "queue.sqlite", pass_name)
        return self._queues[pass_name]

    def tick(self, pass_name: str = CONSOLIDATION, *, only: int | None = None) -> dict[str, Any]:
        """Invoke a pass's function as its schedule does; return its answer. `only` asks for one slice."""
        return self._function(pass_name).invoke(dict(schedule_event(only)), request_id=self._request_id())

    def drain(
        self,
        pass_name: str = CONSOLIDATION,
        on_batch: Callable[[BatchEvent], object] | None = None,
        *,
        slice_ids: Collection[int] | None = None,
    ) -> DrainReport:
        """Process a pass's queue until it is empty, including what other processes have in flight.

        With `slice_ids` only the messages of those slices, whatever else waits.
        Messages of processes that died are taken over at once. A failing message is tried as often
        as SQS would try it and then becomes a dead letter.
        """
        queue = self.queue(pass_name)
        groups = None if slice_ids is None else [message_group(slice_id) for slice_id in slice_ids]
        batches = failed = 0
        while True:
            self._take_over_dead()
            message = queue.receive(holder=self._presence.name, visibility_timeout=VISIBILITY_SECONDS, groups=groups)
            if message is None:
                counts = queue.counts(groups)
                if not counts.visible and not counts.in_flight:
                    return DrainReport(batches, failed, counts.dead)
                self._sleep(_POLL_SECONDS)
                continue
            answer = self._invoke(pass_name, message)
            is_failed = message.message_id in failed_items(answer)
            if is_failed:
                self._check_database(queue, message)
                queue.change_visibility(message.receipt, FAILED_VISIBILITY_SECONDS * 2 ** (message.receive_count - 1))
            else:
                queue.delete(message.receipt)
            batches += 1
            failed += is_failed
            if on_batch is not None:
                on_batch(BatchEvent(_slice_of(message.body), is_failed))

    def _function(self, pass_name: str) -> Function:
        if pass_name not in self._functions:
            log = self.home / "handlers.log"
            self._functions[pass_name] = Function(PASS_FUNCTIONS[pass_name], log=log, timeout_seconds=TIMEOUT_SECONDS)
        return self._functions[pass_name]

    def _invoke(self, pass_name: str, message: Received) -> dict[str, Any]:
        event = queue_event(PASS_FUNCTIONS[pass_name], message)
        try:
            return self._function(pass_name).invoke(event, request_id=self._request_id())
        except BaseException:
            # An interrupted drain leaves its message to the next one, at once.
            self.queue(pass_name).change_visibility(message.receipt, 0)
            raise

    def _check_database(self, queue: LocalQueue, message: Received) -> None:
        """End the drain when the database is gone, with the message left for the next one."""
        try:
            with self.database.planner():
                return
        except DatabaseUnavailable:
            queue.change_visibility(message.receipt, 0)
            raise

    def close(self) -> None:
        """Close what was opened; the embedded database stops with its last user."""
        for function in self._functions.values():
            function.close()
        self._presence.close()
        for queue in self._queues.values():
            queue.close()
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
            for pass_name in PASS_FUNCTIONS:
                for body in self.queue(pass_name).held_by(name):
                    engine(pass_name).release(BatchMessage.model_validate_json(body), holder_prefix=name)
                self.queue(pass_name).release(name)
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
