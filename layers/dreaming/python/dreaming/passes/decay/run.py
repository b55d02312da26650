"""The decay pass: one batch announces and archives what is due in a slice, all in one transaction."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from time import monotonic
from uuid import UUID

from dreaming.beliefs import store as beliefs_store
from dreaming.beliefs.ageing import store as ageing_store
from dreaming.beliefs.ageing.store import SliceAgeing
from dreaming.beliefs.rules import Ageing
from dreaming.beliefs.service import ageing
from dreaming.database import Database, Transaction
from dreaming.notes.records import Slice
from dreaming.passes import store as passes_store
from dreaming.passes.decay import store
from dreaming.passes.decay.records import Due
from dreaming.passes.outbox.records import EventSink
from dreaming.passes.outbox.service import send_waiting
from dreaming.passes.records import DECAY, BatchOutcome, Clock, Deadline, Lease
from dreaming.settings.resolution import Settings

BATCH_ROWS = 10_000
"""How many beliefs, and how many relationships by themselves, one transaction archives."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Step:
    """What one transaction of the pass came to; `counts` by the names of the run's record."""

    counts: Mapping[str, int]
    remaining: bool


@dataclass(frozen=True, slots=True)
class Decay:
    """The pass, with its ports; `events` is where announcements go after the commit."""

    database: Database
    events: EventSink
    clock: Clock
    batch_rows: int = BATCH_ROWS

    @property
    def name(self) -> str:
        """The pass's name."""
        return DECAY

    def due(
        self, planner: Transaction, settings: Settings, *, now: datetime, stalled_after: timedelta, only: int | None
    ) -> Sequence[Slice]:
        """Return the slices in which something fades, whose settings have changed, or whose events wait."""
        slices = passes_store.slices_due(planner, self.name, now=now, stalled_after=stalled_after, only=only)
        if only is None:
            slices += store.slices_to_visit(planner, ageing(settings), now=now, stalled_after=stalled_after)
        return list({one.slice_id: one for one in slices}.values())

    def run_batch(self, lease: Lease, settings: Settings, deadline: Deadline) -> BatchOutcome:
        """Do what is due in the slice, or as much of it as one transaction takes; then send its events."""
        began = monotonic()
        now = self.clock()
        slice_id = lease.slice.slice_id
        with self.database.transaction(lease.slice.key.tenant) as tx:
            step = take_step(
                tx,
                slice_id,
                lease.run_id,
                ageing(settings),
                relationships=least_relationships(settings),
                now=now,
                limit=self.batch_rows,
            )
            outcome = BatchOutcome(progressed=True, remaining=step.remaining, counts=dict(step.counts))
            passes_store.commit_batch(tx, lease, outcome, now=now)
        _log.info(
            DECAY,
            extra={
                **step.counts,
                "slice_id": slice_id,
                "run_id": str(lease.run_id),
                "drained": not step.remaining,
                "milliseconds": round((monotonic() - began) * 1000),
            },
        )
        send_waiting(self.database, lease.slice, self.events, deadline)
        return outcome


def least_relationships(settings: Settings) -> int:
    """Return from how many relationships on a belief matters enough to be announced."""
    return settings.integer("warn_relationships")


def take_step(
    tx: Transaction,
    slice_id: int,
    run_id: UUID,
    wanted: Ageing,
    *,
    relationships: int,
    now: datetime,
    limit: int,
) -> Step:
    """Recompute up to `limit` moments of fading when they are out of date, else announce and archive.

    `wanted`: what the organization's settings say. The slice's belief lock is held from here on.
    """
    state = ageing_store.lock(tx, slice_id)
    if state is None:
        return Step({}, remaining=False)
    if not state.fits(wanted):
        ageing_store.begin_recomputing(tx, slice_id, wanted)
        state = SliceAgeing(None, None, None, None, "beliefs", None, None)
    elif state.ageing != wanted:
        ageing_store.set_warn_ahead(tx, slice_id, wanted)
    if state.recomputing is not None:
        return Step({"moments_recomputed": recompute(tx, slice_id, state, wanted, now=now, limit=limit)}, True)
    faded = store.faded_beliefs(tx, slice_id, wanted, relationships=relationships, now=now, limit=limit)
    soon = []
    if len(faded) < limit:
        # Those that fade later are announced with the last batch: what has faded is in order before.
        soon = store.fading_soon(tx, slice_id, wanted, relationships=relationships, now=now, limit=limit)
    due = _Due(faded, soon)
    return _announce_and_archive(tx, slice_id, run_id, wanted, due, now=now, limit=limit)


def recompute(tx: Transaction, slice_id: int, state: SliceAgeing, ageing: Ageing, *, now: datetime, limit: int) -> int:
    """Bring up to `limit` rows' moments of fading under `ageing`; return how many rows were looked at.

    Beliefs first, then relationships; until the last of them nothing of the slice is archived.
    """
    if state.recomputing == "beliefs":
        rows, at, last_id = ageing_store.recompute_beliefs(tx, slice_id, state, ageing, now=now, limit=limit)
        if rows < limit:
            ageing_store.set_recomputed(tx, slice_id, recomputing="relationships", at=None, last_id=None)
        else:
            ageing_store.set_recomputed(tx, slice_id, recomputing="beliefs", at=at, last_id=last_id)
        return rows
    rows, last_id = ageing_store.recompute_relationships(tx, slice_id, state, ageing, limit=limit)
    stage = None if rows < limit else "relationships"
    ageing_store.set_recomputed(tx, slice_id, recomputing=stage, at=None, last_id=last_id if stage else None)
    return rows


@dataclass(frozen=True, slots=True)
class _Due:
    """Beliefs that have faded, and those that matter and fade soon."""

    faded: list[Due]
    soon: list[Due]


def _announce_and_archive(
    tx: Transaction, slice_id: int, run_id: UUID, ageing: Ageing, due: _Due, *, now: datetime, limit: int
) -> Step:
    to_warn = [one.belief_id for one in (*due.faded, *due.soon) if one.warns]
    to_archive = [one.belief_id for one in due.faded if not one.warns]
    warned = store.warn(tx, slice_id, to_warn, run_id=run_id, now=now)
    beliefs = store.archive_beliefs(tx, slice_id, to_archive, run_id=run_id, now=now)
    ends = store.archive_ends(tx, slice_id, to_archive, now=now)
    alone = store.archive_relationships(tx, slice_id, now=now, limit=limit)
    remaining = limit in (len(due.faded), len(due.soon), alone.rows)
    if not remaining:
        passes_store.set_due(tx, slice_id, DECAY, store.next_due(tx, slice_id, ageing, now=now))
    counters = Counter[str]()
    for one in (beliefs, ends, alone):
        counters.update(one.counters)
    beliefs_store.add_to_counters(tx, slice_id, {name: change for name, change in counters.items() if change})
    counts = {
        "beliefs_warned": warned,
        "beliefs_archived": beliefs.rows,
        "relationships_archived": ends.rows + alone.rows,
    }
    if not remaining:
        counts["beliefs_ageing"], counts["relationships_ageing"] = store.ageing_counters(tx, slice_id)
    return Step(counts, remaining)


@lru_cache(maxsize=1)
def log_totals(database: Database) -> None:
    """Log what ages in all slices, once for each database that this process opens."""
    with database.planner() as planner:
        found = store.totals(planner)
    _log.info(
        "ageing",
        extra={
            "slices": found.slices,
            "beliefs_ageing": found.beliefs,
            "relationships_ageing": found.relationships,
        },
    )
