"""The SQL that every pass shares: what is due, runs, leases with a fencing generation, holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal
from uuid import UUID

from psycopg import sql
from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from dreaming.database import Transaction
from dreaming.errors import DreamingError
from dreaming.notes.records import Scope, Slice, SliceKey
from dreaming.passes.records import RUN_COUNTS, BatchMessage, BatchOutcome, Lease, RunStatus


class LeaseLost(DreamingError):
    """Another run or another holder has taken over; what this invocation did must roll back."""


class LeaseBusy(DreamingError):
    """Another invocation is at work on this batch; the message must come again later."""


_LOST = "the lease of this batch has passed to another invocation"


@dataclass(frozen=True, slots=True)
class Cursor:
    """A slice's cursor of one pass, with its run and its lease."""

    position: int
    generation: int
    run_id: UUID | None
    batches_committed: int
    batches_started: int
    lease_holder: str | None
    lease_expires_at: datetime | None
    progressed_at: datetime | None
    held_reason: str | None
    timeouts_in_row: int
    last_timeout_note_id: UUID | None

    def in_progress(self, now: datetime, stalled_after: timedelta) -> bool:
        """Tell whether a run is under way; one that was silent for `stalled_after` is not."""
        return self.run_id is not None and self.progressed_at is not None and now - self.progressed_at < stalled_after


_CURSOR = """select position, generation, run_id, batches_committed, batches_started, lease_holder, lease_expires_at,
    progressed_at, held_reason, timeouts_in_row, last_timeout_note_id
    from dream_cursor where slice_id = %s and pass = %s"""


def find_slice(planner: Transaction, slice_id: int) -> Slice | None:
    """Return the slice that a message names, whoever its tenant is; planner role."""
    row = planner.execute("select org_id, scope, owner_user_id from slices where slice_id = %s", (slice_id,)).fetchone()
    return None if row is None else Slice(slice_id, SliceKey(row[0], Scope(row[1]), row[2]))


def slices_with_waiting_notes(
    planner: Transaction,
    pass_name: str,
    *,
    now: datetime,
    stalled_after: timedelta,
    private_slices: int,
    only: int | None = None,
) -> list[Slice]:
    """Return the slices due for a pass that follows the notes; planner role.

    Enrolled and consenting organizations only. Each organization's own slice and up to
    `private_slices` private ones, those planned longest ago first, so that neither the one past the
    limit nor those behind a held one starve. `only` asks for one slice by id; `shared` ones run in
    no other way.
    """
    query = """
        select slice_id, org_id, scope, owner_user_id from (
            select s.slice_id, s.org_id, s.scope, s.owner_user_id,
                row_number() over (
                    partition by s.org_id, s.scope order by c.planned_at nulls first, s.slice_id
                ) as turn
            from slices s
            join enrolment e on e.org_id = s.org_id and e.enrolled and e.model_consent
            left join dream_cursor c on c.slice_id = s.slice_id and c.pass = %(pass)s
            where case when %(only)s::bigint is null then s.scope <> 'shared' else s.slice_id = %(only)s end
              and s.last_seq > coalesce(c.position, 0)
              and (c.run_id is null or c.progressed_at <= %(now)s - %(stalled_after)s)
        ) due
        where scope = 'org' or turn <= %(private_slices)s
        order by slice_id
    """
    parameters = {
        "pass": pass_name,
        "now": now,
        "stalled_after": stalled_after,
        "private_slices": private_slices,
        "only": only,
    }
    rows = planner.execute(query, parameters).fetchall()
    return [Slice(row[0], SliceKey(row[1], Scope(row[2]), row[3])) for row in rows]


def slices_due(
    planner: Transaction,
    pass_name: str,
    *,
    now: datetime,
    stalled_after: timedelta,
    only: int | None = None,
    consent: Literal["model_consent", "embedding_consent"] | None = None,
) -> list[Slice]:
    """Return the slices whose due time for a pass has come, the longest due first; planner role.

    Of enrolled organizations only, and of those that gave `consent` where a pass needs one. `only`
    asks for one slice by id, due or not.
    """
    consented = sql.SQL("and e.{}").format(sql.Identifier(consent)) if consent else sql.SQL("")
    query = sql.SQL("""
        select s.slice_id, s.org_id, s.scope, s.owner_user_id
        from slices s
        join enrolment e on e.org_id = s.org_id and e.enrolled {consented}
        left join due_times d on d.slice_id = s.slice_id and d.pass = %(pass)s
        left join dream_cursor c on c.slice_id = s.slice_id and c.pass = %(pass)s
        where case when %(only)s::bigint is null then d.due_at <= %(now)s else s.slice_id = %(only)s end
          and (c.run_id is null or c.progressed_at <= %(now)s - %(stalled_after)s)
        order by d.due_at, s.slice_id
    """).format(consented=consented)
    parameters = {"pass": pass_name, "now": now, "stalled_after": stalled_after, "only": only}
    rows = planner.execute(query, parameters).fetchall()
    return [Slice(row[0], SliceKey(row[1], Scope(row[2]), row[3])) for row in rows]


def first_messages(
    planner: Transaction, pass_name: str, *, now: datetime, within: timedelta, only: int | None = None
) -> list[BatchMessage]:
    """Return the first messages of runs that began `within` this time and that no invocation took up; planner role."""
    rows = planner.execute(
        """
        select slice_id, run_id, generation from dream_cursor
        where pass = %(pass)s and run_id is not null and progressed_at = planned_at
          and progressed_at > %(now)s - %(within)s and (%(only)s::bigint is null or slice_id = %(only)s)
        order by slice_id
        """,
        {"pass": pass_name, "now": now, "within": within, "only": only},
    ).fetchall()
    return [BatchMessage(slice_id=row[0], run_id=row[1], generation=row[2], batch=1) for row in rows]


def make_due(tx: Transaction, slice_id: int, pass_name: str, at: datetime) -> None:
    """Let a pass come to the slice at `at`, or earlier when it was due earlier already."""
    tx.execute(
        """
        insert into due_times as d (slice_id, pass, due_at) values (%s, %s, %s)
        on conflict (slice_id, pass) do update set due_at = excluded.due_at where d.due_at > excluded.due_at
        """,
        (slice_id, pass_name, at),
    )


def set_due(tx: Transaction, slice_id: int, pass_name: str, at: datetime | None) -> None:
    """Set when a pass next has work in the slice, from what it has seen under lock; None: until it is made due."""
    if at is None:
        tx.execute("delete from due_times where slice_id = %s and pass = %s", (slice_id, pass_name))
        return
    tx.execute(
        """
        insert into due_times (slice_id, pass, due_at) values (%s, %s, %s)
        on conflict (slice_id, pass) do update set due_at = excluded.due_at
        """,
        (slice_id, pass_name, at),
    )


def read_cursor(tx: Transaction, slice_id: int, pass_name: str, *, lock: bool = False) -> Cursor | None:
    """Return a pass's cursor in a slice, locked until the end of the transaction on request."""
    with tx.cursor(row_factory=class_row(Cursor)) as cursor:
        return cursor.execute(_CURSOR + (" for update" if lock else ""), (slice_id, pass_name)).fetchone()


def start_run(
    tx: Transaction, slice_id: int, pass_name: str, *, run_id: UUID, now: datetime, stalled_after: timedelta
) -> BatchMessage | None:
    """Begin a run with the next generation and return its first message.

    None when one is under way, or when the slice was erased since it was found due.
    """
    # The lock waits for an erasure that is under way, whose end the foreign key would report as an error.
    tx.execute(
        """
        insert into dream_cursor (slice_id, pass)
        select slice_id, %s from slices where slice_id = %s for key share on conflict do nothing
        """,
        (pass_name, slice_id),
    )
    cursor = read_cursor(tx, slice_id, pass_name, lock=True)
    if cursor is None or cursor.in_progress(now, stalled_after):
        return None
    if cursor.run_id is not None:
        _finish_run(tx, slice_id, cursor.run_id, RunStatus.REPLACED, "no progress", now)
    tx.execute(
        """
        update dream_cursor
        set generation = generation + 1, run_id = %(run)s, batches_committed = 0, batches_started = 0,
            lease_holder = null, lease_expires_at = null, progressed_at = %(now)s, planned_at = %(now)s
        where slice_id = %(slice)s and pass = %(pass)s
        """,
        {"run": run_id, "now": now, "slice": slice_id, "pass": pass_name},
    )
    tx.execute(
        """
        insert into dream_runs (run_id, slice_id, pass, generation, status, started_at, progressed_at)
        values (%s, %s, %s, %s, 'running', %s, %s)
        """,
        (run_id, slice_id, pass_name, cursor.generation + 1, now, now),
    )
    return BatchMessage(slice_id=slice_id, run_id=run_id, generation=cursor.generation + 1, batch=1)


def take_lease(tx: Transaction, lease: Lease, *, now: datetime, expires_at: datetime) -> None:
    """Give the batch's lease to the holder; the caller has locked the cursor and checked it."""
    tx.execute(
        """
        update dream_cursor
        set lease_holder = %(holder)s, lease_expires_at = %(expires)s,
            batches_started = greatest(batches_started, %(batch)s), progressed_at = %(now)s
        where slice_id = %(slice)s and pass = %(pass)s
        """,
        {
            "holder": lease.holder,
            "expires": expires_at,
            "batch": lease.batch,
            "now": now,
            "slice": lease.slice.slice_id,
            "pass": lease.pass_name,
        },
    )


def require_lease(tx: Transaction, lease: Lease) -> Cursor:
    """Return the batch's cursor; raises `LeaseLost` when its lease is no longer the holder's."""
    cursor = read_cursor(tx, lease.slice.slice_id, lease.pass_name)
    if cursor is None or cursor.generation != lease.generation or cursor.lease_holder != lease.holder:
        raise LeaseLost(_LOST)
    return cursor


def release_lease(tx: Transaction, lease: Lease) -> None:
    """Give the lease back without a commit of the batch, so that the message can be taken up at once."""
    tx.execute(
        """
        update dream_cursor set lease_holder = null, lease_expires_at = null
        where slice_id = %s and pass = %s and generation = %s and lease_holder = %s
        """,
        (lease.slice.slice_id, lease.pass_name, lease.generation, lease.holder),
    )


def release_dead_holder(tx: Transaction, slice_id: int, pass_name: str, holder_prefix: str) -> None:
    """Free the lease when its holder's name begins with `holder_prefix`."""
    tx.execute(
        """
        update dream_cursor set lease_holder = null, lease_expires_at = null
        where slice_id = %s and pass = %s and starts_with(lease_holder, %s)
        """,
        (slice_id, pass_name, holder_prefix),
    )


def commit_batch(tx: Transaction, lease: Lease, outcome: BatchOutcome, *, now: datetime) -> None:
    """Record the batch as committed and the run's new state, in the transaction of its effects.

    Raises `LeaseLost` when the lease is no longer the holder's: the caller's transaction rolls back.
    """
    running = outcome.status is RunStatus.RUNNING
    updated = tx.execute(
        """
        update dream_cursor
        set batches_committed = %(batch)s, lease_holder = null, lease_expires_at = null, progressed_at = %(now)s,
            run_id = case when %(running)s then run_id end,
            held_reason = %(held)s, held_detail = %(detail)s,
            held_since = case when %(held)s::text is null then null else coalesce(held_since, %(now)s) end
        where slice_id = %(slice)s and pass = %(pass)s and generation = %(generation)s and run_id = %(run)s
          and lease_holder = %(holder)s and batches_committed = %(batch)s - 1
        """,
        {
            "batch": lease.batch,
            "now": now,
            "running": running,
            "held": outcome.held,
            "detail": outcome.held_detail,
            "slice": lease.slice.slice_id,
            "pass": lease.pass_name,
            "generation": lease.generation,
            "run": lease.run_id,
            "holder": lease.holder,
        },
    ).rowcount
    if updated != 1:
        raise LeaseLost(_LOST)
    add_to_run(tx, lease, outcome.counts, batches=1, now=now)
    if not running:
        _finish_run(tx, lease.slice.slice_id, lease.run_id, outcome.status, outcome.held, now)


def end_run(tx: Transaction, lease: Lease, status: RunStatus, reason: str, detail: str, *, now: datetime) -> None:
    """End the run before its batch did anything: a hold, or a stop by switch or consent."""
    updated = tx.execute(
        """
        update dream_cursor
        set run_id = null, lease_holder = null, lease_expires_at = null, held_reason = %(reason)s,
            held_detail = %(detail)s, held_since = coalesce(held_since, %(now)s)
        where slice_id = %(slice)s and pass = %(pass)s and generation = %(generation)s and run_id = %(run)s
        """,
        {
            "reason": reason,
            "detail": detail,
            "now": now,
            "slice": lease.slice.slice_id,
            "pass": lease.pass_name,
            "generation": lease.generation,
            "run": lease.run_id,
        },
    ).rowcount
    if updated:
        _finish_run(tx, lease.slice.slice_id, lease.run_id, status, reason, now)


def _finish_run(
    tx: Transaction, slice_id: int, run_id: UUID, status: RunStatus, reason: str | None, now: datetime
) -> None:
    tx.execute(
        """
        update dream_runs set status = %s, held_reason = %s, finished_at = %s
        where slice_id = %s and run_id = %s and status = 'running'
        """,
        (status.value, reason, now, slice_id, run_id),
    )


_ADD_PASS_COUNTS = """
    pass_counts = coalesce((
        select jsonb_object_agg(name, total) from (
            select name, sum(count::bigint) as total
            from (
                select * from jsonb_each_text(pass_counts)
                union all select * from jsonb_each_text(%(pass_counts)s)
            ) as counts (name, count)
            group by name
        ) totals
    ), '{}')
"""


def add_to_run(tx: Transaction, lease: Lease, counts: Mapping[str, int], *, batches: int = 0, now: datetime) -> None:
    """Add to the run's record: to columns of `dream_runs` where `counts` names them, else to its `pass_counts`."""
    columns = {name: count for name, count in counts.items() if name in RUN_COUNTS}
    others = {name: count for name, count in counts.items() if name not in RUN_COUNTS}
    assignments = [f"{name} = {name} + %({name})s" for name in ("batches", *sorted(columns))]
    assignments += [_ADD_PASS_COUNTS] if others else []
    tx.execute(
        f"update dream_runs set {', '.join(assignments)}, progressed_at = %(now)s "
        "where slice_id = %(slice_id)s and run_id = %(run_id)s",
        {
            **columns,
            "batches": batches,
            "pass_counts": Jsonb(others),
            "now": now,
            "slice_id": lease.slice.slice_id,
            "run_id": lease.run_id,
        },
    )
