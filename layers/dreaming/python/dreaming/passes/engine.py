"""What every pass shares: the tick that plans and enqueues, and the batch under a lease.

A tick starts a run for each slice that is due and sends its first message. A batch takes the lease,
asks the pass to do its work, and sends the next message after the commit. Whatever arrives twice,
dies in between or runs twice at once has one effect, because the pass records the batch as
committed in the transaction of its effects, against the lease and the run's generation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from dreaming.database import Database, Transaction
from dreaming.errors import DatabaseConflict, Hold, InvalidInput, Misconfigured
from dreaming.identifiers import NewId
from dreaming.notes.records import Slice
from dreaming.passes import store
from dreaming.passes.records import (
    BatchMessage,
    BatchOutcome,
    BatchReport,
    Clock,
    Deadline,
    Disposition,
    Lease,
    Queue,
    RunStatus,
    TickReport,
)
from dreaming.passes.rules import is_switched_on, refusal
from dreaming.settings.resolution import Settings, resolve
from dreaming.settings.service import load_organization

STALLED_AFTER = timedelta(minutes=20)
"""A run silent for longer is replaced by the next tick: the queue's visibility of 18 minutes, and some."""

SENT_AGAIN_WITHIN = timedelta(minutes=4)
"""A young run that no invocation took up has its first message sent again: the tick may have died before it.

Where it was sent, the queue drops the second one: it knows a deduplication id for five minutes.
"""

LEASE_GRACE = timedelta(seconds=5)
"""How long a lease outlives its invocation's deadline, for clocks that differ."""


class Pass(Protocol):
    """One kind of background work, as the engine drives it."""

    @property
    def name(self) -> str:
        """The pass's name, as cursors, runs and settings hold it."""
        ...

    def due(
        self, planner: Transaction, settings: Settings, *, now: datetime, stalled_after: timedelta, only: int | None
    ) -> Sequence[Slice]:
        """Return the slices with work to do and no run under way; planner role, so no text is visible.

        `only` asks for one slice by its id, of any scope.
        """
        ...

    def run_batch(self, lease: Lease, settings: Settings, deadline: Deadline) -> BatchOutcome:
        """Do one batch and record it with `store.commit_batch` in the transaction of its effects.

        Raises `Hold` when the infrastructure failed before anything was committed, and
        `store.LeaseLost` when another invocation has taken over.
        """
        ...


@dataclass(frozen=True, slots=True)
class Engine:
    """Drives one pass; `environment` holds the deployment's settings."""

    work: Pass
    database: Database
    queue: Queue
    environment: Mapping[str, str]
    clock: Clock
    new_id: NewId
    stalled_after: timedelta = field(default=STALLED_AFTER)

    def tick(self, only: int | None = None) -> TickReport:
        """Start a run for each slice that is due and send its first message.

        The first messages of runs that began minutes ago and that nobody took up are sent again. `only`
        asks for one slice by its id, of any scope; switch, enrolment and consent still count.
        """
        settings = resolve(self.environment, {})
        if not is_switched_on(settings):
            return TickReport(reason="disabled")
        with self.database.planner() as planner:
            now = self.clock()
            due = self.work.due(planner, settings, now=now, stalled_after=self.stalled_after, only=only)
            silent = store.first_messages(planner, self.work.name, now=now, within=SENT_AGAIN_WITHIN, only=only)
        for message in silent:
            self._send(message)
        started = []
        refused = []
        for slice_ in due:
            begun = self._start(slice_)
            if isinstance(begun, BatchMessage):
                self._send(begun)
                started.append(begun)
            elif begun is not None:
                refused.append((slice_.slice_id, begun))
        return TickReport(tuple(started), tuple(refused))

    def batch(self, message: BatchMessage, *, holder: str, deadline: Deadline) -> BatchReport:
        """Process one message.

        Raises `store.LeaseBusy` when another invocation is at work on the same batch: the message
        must come again. A hold is a report, not an error; the message is finished.
        """
        with self.database.planner() as planner:
            slice_ = store.find_slice(planner, message.slice_id)
        if slice_ is None:
            return BatchReport(message, Disposition.STALE, "unknown slice")
        lease = Lease(slice_, self.work.name, message.run_id, message.generation, message.batch, holder)
        opened = self._open(message, lease, deadline)
        if isinstance(opened, BatchReport):
            return opened
        return self._run(message, lease, opened, deadline)

    def release(self, message: BatchMessage, *, holder_prefix: str) -> None:
        """Free the lease on the message's slice when a holder that is known to be dead has it."""
        with self.database.planner() as planner:
            slice_ = store.find_slice(planner, message.slice_id)
        if slice_ is not None:
            with self.database.transaction(slice_.key.tenant) as tx:
                store.release_dead_holder(tx, slice_.slice_id, self.work.name, holder_prefix)

    def _start(self, slice_: Slice) -> BatchMessage | str | None:
        """Start the slice's run; return why it is refused, or None when a run is under way."""
        with self.database.transaction(slice_.key.tenant) as tx:
            reason, _ = self._refusal(tx, slice_)
            if reason is not None:
                return reason
            return store.start_run(
                tx,
                slice_.slice_id,
                self.work.name,
                run_id=self.new_id(),
                now=self.clock(),
                stalled_after=self.stalled_after,
            )

    def _open(self, message: BatchMessage, lease: Lease, deadline: Deadline) -> BatchReport | Settings:
        """Check the message against the cursor and take the lease, or say why there is nothing to do."""
        now = self.clock()
        with self.database.transaction(lease.slice.key.tenant) as tx:
            cursor = store.read_cursor(tx, message.slice_id, self.work.name, lock=True)
            if cursor is None or cursor.generation != message.generation or cursor.run_id != message.run_id:
                return BatchReport(message, Disposition.STALE, "of an earlier run")
            if message.batch <= cursor.batches_committed:
                resend = cursor.batches_started == cursor.batches_committed == message.batch
            elif message.batch > cursor.batches_committed + 1:
                return BatchReport(message, Disposition.STALE, "ahead of the run")
            elif cursor.lease_expires_at is not None and cursor.lease_expires_at > now:
                raise store.LeaseBusy("another invocation is at work on this batch")
            else:
                reason, settings = self._refusal(tx, lease.slice)
                if settings is None or reason is not None:
                    why = reason or "settings_unreadable"
                    store.end_run(tx, lease, RunStatus.STOPPED, why, _STOPPED.get(why, why), now=now)
                    return BatchReport(message, Disposition.STOPPED, why)
                expires = now + timedelta(seconds=max(deadline.remaining(), 0.0)) + LEASE_GRACE
                store.take_lease(tx, lease, now=now, expires_at=expires)
                return settings
        if resend:
            self._send(message.next())
        return BatchReport(message, Disposition.REPEATED, sent=message.next() if resend else None)

    def _run(self, message: BatchMessage, lease: Lease, settings: Settings, deadline: Deadline) -> BatchReport:
        try:
            outcome = self.work.run_batch(lease, settings, deadline)
        except DatabaseConflict:
            # The same batch again may well succeed: the queue brings it back, and the slice does not hold.
            self._release(lease)
            raise
        except Hold as hold:
            self._end(lease, RunStatus.HELD, hold.reason, str(hold))
            return BatchReport(message, Disposition.HELD, hold.reason)
        except (Misconfigured, InvalidInput) as error:
            # A setting that no provider can be built from: a person must change it, the notes are fine.
            self._end(lease, RunStatus.HELD, "misconfigured", str(error))
            return BatchReport(message, Disposition.HELD, "misconfigured")
        except store.LeaseLost:
            return BatchReport(message, Disposition.STALE, "lease lost")
        except BaseException:
            self._release(lease)
            raise
        if outcome.status is RunStatus.RUNNING:
            self._send(message.next())
            return BatchReport(message, Disposition.DONE, outcome=outcome, sent=message.next())
        disposition = Disposition.HELD if outcome.held else Disposition.DONE
        return BatchReport(message, disposition, outcome.held, outcome=outcome)

    def _release(self, lease: Lease) -> None:
        with self.database.transaction(lease.slice.key.tenant) as tx:
            store.release_lease(tx, lease)

    def _end(self, lease: Lease, status: RunStatus, reason: str, detail: str) -> None:
        with self.database.transaction(lease.slice.key.tenant) as tx:
            store.end_run(tx, lease, status, reason, detail, now=self.clock())

    def _refusal(self, tx: Transaction, slice_: Slice) -> tuple[str | None, Settings | None]:
        """Re-read switch, enrolment, consent and settings; whatever cannot be read means no."""
        try:
            settings, enrolment = load_organization(tx, slice_.key.org_id, self.environment)
        except (InvalidInput, ValueError):
            return "settings_unreadable", None
        return refusal(self.work.name, settings, enrolment), settings

    def _send(self, message: BatchMessage) -> None:
        self.queue.send(message.model_dump_json(), group_id=message.group_id, deduplication_id=message.deduplication_id)


_STOPPED = {
    "disabled": "the master switch is off; set DREAMING_ENABLED=true",
    "not_enrolled": "the organization is not enrolled",
    "no_model_consent": "the organization does not consent to sending text to the model",
    "settings_unreadable": "a stored setting cannot be read",
}
