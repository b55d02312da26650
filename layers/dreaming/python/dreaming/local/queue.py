"""A FIFO queue in one SQLite file, with the semantics of SQS that the passes rely on.

Groups, the five-minute deduplication window, visibility time-outs, receipts and the redrive to a
dead-letter queue behave as in the Amazon SQS Developer Guide ("FIFO queue delivery logic", "Using
the message deduplication ID", "Dead-letter queues"), so that a drain that works here works there.
"""

from __future__ import annotations

import fcntl
import json
import sqlite3
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Self
from uuid import uuid4

from dreaming.errors import InvalidInput

DEDUPLICATION_WINDOW = timedelta(minutes=5)
MAX_RECEIVE_COUNT = 5
MAX_VISIBILITY_SECONDS = 43_200.0
MAX_ID_LENGTH = 128
MAX_BODY_BYTES = 1_048_576
BUSY_SECONDS = 30.0

_SCHEMA = """
create table if not exists messages (
    sequence integer primary key autoincrement,
    queue text not null,
    message_id text not null,
    group_id text not null,
    deduplication_id text not null,
    body text not null,
    sent_at real not null,
    visible_at real not null,
    receive_count integer not null default 0,
    first_received_at real,
    receipt text unique,
    holder text,
    dead_at real
);
create index if not exists messages_by_group on messages (queue, group_id, sequence) where dead_at is null;
create table if not exists deduplications (
    queue text not null,
    deduplication_id text not null,
    message_id text not null,
    accepted_at real not null,
    primary key (queue, deduplication_id)
);
"""

# The head of a group is its oldest live message; while the head is in flight the group waits.
_NEXT = """
select sequence from messages as head
where queue = :queue and dead_at is null and visible_at <= :now
  and (:groups is null or group_id in (select value from json_each(:groups)))
  and not exists (
      select 1 from messages as older
      where older.queue = head.queue and older.group_id = head.group_id
        and older.sequence < head.sequence and older.dead_at is null
  )
order by sequence limit 1
"""

_TAKE = """
update messages
set receipt = :receipt, holder = :holder, visible_at = :visible_at, receive_count = receive_count + 1,
    first_received_at = coalesce(first_received_at, :now)
where sequence = :sequence
returning *
"""

_HELD = "queue = :queue and receipt = :receipt and dead_at is null and visible_at > :now"


@dataclass(frozen=True, slots=True)
class Received:
    """A message in flight; `receipt` stands for this one receipt of it."""

    message_id: str
    receipt: str
    body: str
    group_id: str
    deduplication_id: str
    sequence: int
    receive_count: int
    sent_at: datetime
    first_received_at: datetime


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A message that was received `receive_count` times and never deleted."""

    message_id: str
    body: str
    group_id: str
    deduplication_id: str
    receive_count: int
    sent_at: datetime
    dead_at: datetime


@dataclass(frozen=True, slots=True)
class QueueCounts:
    """How many messages wait (those behind a busy group included), are in flight, and are dead."""

    visible: int
    in_flight: int
    dead: int


class LocalQueue:
    """One named queue of a file; several threads and several processes may use it at once.

    The file may hold many queues. Do not carry an open queue across a fork.
    """

    def __init__(
        self,
        path: Path,
        name: str,
        *,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        max_receive_count: int = MAX_RECEIVE_COUNT,
    ) -> None:
        """Open the queue `name` in the file `path`, creating either where it is missing.

        `clock` returns aware times. A message received `max_receive_count` times and not deleted
        becomes a dead letter.
        """
        self.name = name
        self._clock = clock
        self._max_receive_count = max_receive_count
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        self._connection.row_factory = sqlite3.Row
        with _turn(path):
            # NORMAL survives a killed process; after a power cut the next tick replaces a lost message.
            self._connection.executescript("pragma journal_mode = wal; pragma synchronous = normal;")
            with self._transaction() as connection:
                for statement in _SCHEMA.split(";\n"):
                    connection.execute(statement)

    def send(self, body: str, *, group_id: str, deduplication_id: str) -> str:
        """Append `body` to its group and return its message id.

        A `deduplication_id` accepted within the last five minutes is accepted again, adds nothing
        and returns the first message's id, even when that message was deleted meanwhile.

        Raises:
            InvalidInput: an id that is empty or longer than 128 characters, or a body above 1 MiB.
        """
        _check_id("group_id", group_id)
        _check_id("deduplication_id", deduplication_id)
        if len(body.encode()) > MAX_BODY_BYTES:
            raise InvalidInput("body", f"is larger than {MAX_BODY_BYTES} bytes", "send ids, not content")
        with self._transaction() as connection:
            now = self._now()
            connection.execute(
                "delete from deduplications where accepted_at <= ?", (now - DEDUPLICATION_WINDOW.total_seconds(),)
            )
            known = connection.execute(
                "select message_id from deduplications where queue = ? and deduplication_id = ?",
                (self.name, deduplication_id),
            ).fetchone()
            if known is not None:
                return str(known["message_id"])
            message_id = str(uuid4())
            connection.execute(
                "insert into deduplications values (?, ?, ?, ?)", (self.name, deduplication_id, message_id, now)
            )
            connection.execute(
                "insert into messages (queue, message_id, group_id, deduplication_id, body, sent_at, visible_at)"
                " values (?, ?, ?, ?, ?, ?, ?)",
                (self.name, message_id, group_id, deduplication_id, body, now, now),
            )
            return message_id

    def receive(
        self, *, holder: str, visibility_timeout: float, groups: Collection[str] | None = None
    ) -> Received | None:
        """Take the oldest message of a group that has none in flight, or nothing.

        For `visibility_timeout` seconds nobody else receives it, nor any other of its group.
        `holder` names the process at work, for `release`. With `groups` only messages of those are taken.
        """
        _check_visibility(visibility_timeout)
        with self._transaction() as connection:
            now = self._now()
            self._bury_exhausted(connection, now)
            head = connection.execute(_NEXT, {"queue": self.name, "now": now, "groups": _listed(groups)}).fetchone()
            if head is None:
                return None
            row = connection.execute(
                _TAKE,
                {
                    "sequence": head["sequence"],
                    "receipt": str(uuid4()),
                    "holder": holder,
                    "now": now,
                    "visible_at": now + visibility_timeout,
                },
            ).fetchone()
        return Received(
            message_id=row["message_id"],
            receipt=row["receipt"],
            body=row["body"],
            group_id=row["group_id"],
            deduplication_id=row["deduplication_id"],
            sequence=row["sequence"],
            receive_count=row["receive_count"],
            sent_at=_moment(row["sent_at"]),
            first_received_at=_moment(row["first_received_at"]),
        )

    def delete(self, receipt: str) -> bool:
        """Finish a message; a stale receipt (expired, or replaced by a later one) deletes nothing."""
        with self._transaction() as connection:
            deleted = connection.execute(f"delete from messages where {_HELD}", self._held(receipt))
            return deleted.rowcount == 1

    def change_visibility(self, receipt: str, seconds: float) -> bool:
        """Let a message in flight reappear `seconds` from now; false when the receipt is stale."""
        _check_visibility(seconds)
        with self._transaction() as connection:
            held = self._held(receipt)
            changed = connection.execute(
                f"update messages set visible_at = :visible_at where {_HELD}",
                {**held, "visible_at": float(held["now"]) + seconds},
            )
            return changed.rowcount == 1

    def held_by(self, holder_prefix: str) -> tuple[str, ...]:
        """Return the bodies of the messages that holders beginning with `holder_prefix` have in flight."""
        with self._transaction() as connection:
            rows = connection.execute(
                "select body from messages where queue = :queue and dead_at is null and visible_at > :now"
                " and substr(holder, 1, length(:prefix)) = :prefix",
                {"queue": self.name, "now": self._now(), "prefix": holder_prefix},
            ).fetchall()
        return tuple(row["body"] for row in rows)

    def release(self, holder_prefix: str) -> int:
        """Make visible at once what holders beginning with `holder_prefix` have in flight; count them.

        For the messages of a process that is known to be dead. The receipt still counts.
        """
        if not holder_prefix:
            raise InvalidInput("holder_prefix", "is empty and would match every holder", "name the dead process")
        with self._transaction() as connection:
            released = connection.execute(
                "update messages set visible_at = :now, receipt = null, holder = null"
                " where queue = :queue and dead_at is null and visible_at > :now"
                " and substr(holder, 1, length(:prefix)) = :prefix",
                {"queue": self.name, "now": self._now(), "prefix": holder_prefix},
            )
            return released.rowcount

    def dead_letters(self) -> tuple[DeadLetter, ...]:
        """List the dead letters, oldest message first."""
        with self._transaction() as connection:
            self._bury_exhausted(connection, self._now())
            rows = connection.execute(
                "select * from messages where queue = ? and dead_at is not null order by sequence", (self.name,)
            ).fetchall()
        return tuple(
            DeadLetter(
                message_id=row["message_id"],
                body=row["body"],
                group_id=row["group_id"],
                deduplication_id=row["deduplication_id"],
                receive_count=row["receive_count"],
                sent_at=_moment(row["sent_at"]),
                dead_at=_moment(row["dead_at"]),
            )
            for row in rows
        )

    def redrive(self, groups: Collection[str] | None = None) -> int:
        """Send every dead letter, or those of some groups, again: at the end of its group, with no receipts counted."""
        chosen = (
            " from messages where queue = :queue and dead_at is not null"
            " and (:groups is null or group_id in (select value from json_each(:groups)))"
        )
        with self._transaction() as connection:
            now = self._now()
            self._bury_exhausted(connection, now)
            moved = connection.execute(
                "insert into messages (queue, message_id, group_id, deduplication_id, body, sent_at, visible_at)"
                f" select queue, message_id, group_id, deduplication_id, body, :now, :now{chosen} order by sequence",
                {"queue": self.name, "now": now, "groups": _listed(groups)},
            )
            connection.execute(f"delete{chosen}", {"queue": self.name, "groups": _listed(groups)})
            return moved.rowcount

    def counts(self, groups: Collection[str] | None = None) -> QueueCounts:
        """Count the messages of this queue, or of some of its groups, by state."""
        with self._transaction() as connection:
            now = self._now()
            self._bury_exhausted(connection, now)
            row = connection.execute(
                "select count(*) filter (where dead_at is null and visible_at <= :now) as visible,"
                " count(*) filter (where dead_at is null and visible_at > :now) as in_flight,"
                " count(*) filter (where dead_at is not null) as dead"
                " from messages where queue = :queue"
                " and (:groups is null or group_id in (select value from json_each(:groups)))",
                {"queue": self.name, "now": now, "groups": _listed(groups)},
            ).fetchone()
        return QueueCounts(visible=row["visible"], in_flight=row["in_flight"], dead=row["dead"])

    def close(self) -> None:
        """Close the file; messages in flight stay in flight until their time-out."""
        with self._lock:
            self._connection.close()

    def __enter__(self) -> Self:
        """Use the queue in a `with` block, which closes it."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close the file."""
        self.close()

    def _bury_exhausted(self, connection: sqlite3.Connection, now: float) -> None:
        connection.execute(
            "update messages set dead_at = :now, receipt = null, holder = null"
            " where queue = :queue and dead_at is null and visible_at <= :now and receive_count >= :limit",
            {"queue": self.name, "now": now, "limit": self._max_receive_count},
        )

    def _held(self, receipt: str) -> dict[str, str | float]:
        return {"queue": self.name, "receipt": receipt, "now": self._now()}

    def _now(self) -> float:
        return self._clock().timestamp()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        # The write lock is taken first, so that two processes never choose the same head.
        with self._lock:
            self._connection.execute("begin immediate")
            try:
                yield self._connection
            except BaseException:
                self._connection.execute("rollback")
                raise
            self._connection.execute("commit")


@contextmanager
def _turn(path: Path) -> Iterator[None]:
    """One process at a time: SQLite does not wait for another that changes the journal's mode."""
    with path.with_name(f"{path.name}.opening").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _listed(groups: Collection[str] | None) -> str | None:
    return None if groups is None else json.dumps(sorted(groups))


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _check_id(field: str, value: str) -> None:
    if not 1 <= len(value) <= MAX_ID_LENGTH:
        raise InvalidInput(field, f"has {len(value)} characters", f"use 1 to {MAX_ID_LENGTH}")


def _check_visibility(seconds: float) -> None:
    if not 0 <= seconds <= MAX_VISIBILITY_SECONDS:
        raise InvalidInput("visibility_timeout", f"is {seconds} seconds", f"use 0 to {MAX_VISIBILITY_SECONDS:.0f}")
