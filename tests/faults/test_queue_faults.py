"""Queues deliver twice, in any order of groups, lose receipts, and bury: each pass ends as if they did not."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from dreaming.database import Database
from dreaming.local.queue import LocalQueue, Received
from dreaming.passes.engine import Engine
from dreaming.passes.records import BatchMessage, BatchReport, Deadline, Disposition
from tests.fault_scenarios import SCENARIOS, Ground, Run, start
from tests.faults.test_every_point import assert_whole

VISIBILITY = 1080.0
MOST_RECEIVES = 5


def deliver(engine: Engine, received: Received) -> BatchReport:
    message = BatchMessage.model_validate_json(received.body)
    return engine.batch(message, holder=received.receipt, deadline=Deadline(lambda: 180.0))


def receive(queue: LocalQueue) -> Received | None:
    return queue.receive(holder="sandbox", visibility_timeout=VISIBILITY)


def twice(run: Run, engine: Engine, queue: LocalQueue) -> None:
    """Each message comes twice, and all of them once more when everything is over."""
    seen = []
    while (received := receive(queue)) is not None:
        assert deliver(engine, received).disposition is Disposition.DONE
        assert deliver(engine, received).disposition in (Disposition.REPEATED, Disposition.STALE)
        queue.delete(received.receipt)
        seen.append(received)
    assert seen
    for received in reversed(seen):
        assert deliver(engine, received).disposition in (Disposition.REPEATED, Disposition.STALE)
    assert receive(queue) is None


def without_receipts(run: Run, engine: Engine, queue: LocalQueue) -> None:
    """No deletion arrives the first time: every message comes again when its time is up."""
    met = set()
    while queue.counts().visible or queue.counts().in_flight:
        received = receive(queue)
        if received is None:
            run.world.now += timedelta(seconds=VISIBILITY)
            continue
        deliver(engine, received)
        if received.message_id in met:
            assert queue.delete(received.receipt)
        met.add(received.message_id)
    assert met


def redriven(run: Run, engine: Engine, queue: LocalQueue) -> None:
    """The first message fails as often as it may, is buried, and a person sends the dead letters again."""
    for _ in range(MOST_RECEIVES):
        received = receive(queue)
        assert received is not None
        queue.change_visibility(received.receipt, 0)
    assert receive(queue) is None
    assert len(queue.dead_letters()) == 1
    assert queue.redrive() == 1
    drain(engine, queue)


def drain(engine: Engine, queue: LocalQueue) -> None:
    while (received := receive(queue)) is not None:
        deliver(engine, received)
        queue.delete(received.receipt)


FAULTS: dict[str, Callable[[Run, Engine, LocalQueue], None]] = {
    "duplicates": twice,
    "lost receipts": without_receipts,
    "redrive": redriven,
}


@pytest.fixture
def ground(database: Database, database_url: str, tmp_path: Path) -> Ground:
    return Ground(database, database_url, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_pass_is_done_once_whatever_its_queue_does(ground: Ground, name: str) -> None:
    undisturbed = start(ground, SCENARIOS[name], "undisturbed")
    undisturbed.go_on(undisturbed.engine())
    undisturbed.points.close()
    expected = undisturbed.state()
    assert any(expected.values())
    for fault, befall in FAULTS.items():
        run = start(ground, SCENARIOS[name], fault.replace(" ", "-"))
        engine = run.engine()
        engine.tick(run.world.slice(run.key).slice_id)
        befall(run, engine, small(run))
        assert_done(run, expected, fault)
    in_any_order_of_groups(ground, name, expected)


def in_any_order_of_groups(ground: Ground, name: str, expected: dict[str, list[tuple[object, ...]]]) -> None:
    """Two slices share a queue, and the one whose messages were sent last goes first, batch by batch."""
    runs = [start(ground, SCENARIOS[name], f"group-{place}") for place in range(2)]
    shared = LocalQueue(ground.folder / "shared.sqlite", name, clock=runs[0].world.clock)
    engines = []
    for run in runs:
        engine = run.engine()
        engines.append(
            Engine(engine.work, engine.database, shared, run.world.environment, run.world.clock, engine.new_id)
        )
        engines[-1].tick(run.world.slice(run.key).slice_id)
    while (first := receive(shared)) is not None:
        second = receive(shared)  # another group's: the first is in flight
        for received in (second, first):
            if received is not None:
                deliver(engines[0], received)
                shared.delete(received.receipt)
    for run in runs:
        assert_done(run, expected, "order of groups")


def small(run: Run) -> LocalQueue:
    """The run's queue as it is deployed: a message is buried after five receives."""
    queue = run.queue
    return LocalQueue(
        run.ground.folder / "queue.sqlite", queue.name, clock=run.world.clock, max_receive_count=MOST_RECEIVES
    )


def assert_done(run: Run, expected: dict[str, list[tuple[object, ...]]], fault: str) -> None:
    run.points.close()
    assert_whole(run)
    assert run.state() == expected, fault
    runs = run.world.rows("select pass, count(*) from dream_runs group by 1", key=run.key)
    assert all(count <= 2 for _, count in runs), fault  # its preparation, and the run itself
