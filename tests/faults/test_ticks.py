"""Ticks that die between a run and its message, and ticks that meet an erasure."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import psycopg
import pytest

from dreaming.passes.engine import SENT_AGAIN_WITHIN, STALLED_AFTER
from tests.fault_points import PointQueue, Points, QueueLost
from tests.waiting import wait_until
from tests.world import World, note


@pytest.fixture
def waiting(world: World) -> World:
    world.ingest(note("a", "The shed has two windows."))
    return world


def lose_a_message(world: World) -> None:
    """A tick that commits its run and dies before the message arrives."""
    points = Points(wrong=0)
    with pytest.raises(QueueLost):
        replace(world.engine, queue=PointQueue(world.queue, points)).tick()
    assert points.seen == ["send"]
    assert world.queue.counts().visible == 0


def runs(world: World) -> list[tuple[str, int]]:
    return world.rows("select status, batches from dream_runs order by started_at")


def test_a_message_that_a_tick_did_not_send_is_sent_by_the_next(waiting: World) -> None:
    lose_a_message(waiting)
    waiting.now += timedelta(minutes=1)
    assert waiting.tick().started == ()
    assert waiting.process() == 1
    assert runs(waiting) == [("drained", 1)]
    assert waiting.statements() == ["The shed has two windows."]


def test_a_message_that_was_sent_is_there_once(waiting: World) -> None:
    (message,) = waiting.tick().started
    for _ in range(3):
        waiting.now += timedelta(minutes=1)
        waiting.tick()
        assert waiting.queue.counts().visible == 1
    received = waiting.receive()
    assert received is not None
    assert received[0] == message
    waiting.tick()
    assert waiting.queue.counts().visible == 0
    waiting.batch(message, holder=received[1])
    waiting.queue.delete(received[1])
    waiting.tick()
    assert waiting.queue.counts().visible == 0
    assert runs(waiting) == [("drained", 1)]


def test_a_message_is_not_sent_again_once_the_queue_may_have_forgotten_it(waiting: World) -> None:
    lose_a_message(waiting)
    waiting.now += SENT_AGAIN_WITHIN
    waiting.tick()
    assert waiting.queue.counts().visible == 0
    waiting.now += STALLED_AFTER
    assert len(waiting.tick().started) == 1
    assert waiting.process() == 1
    assert runs(waiting) == [("replaced", 0), ("drained", 1)]


def test_a_run_that_was_taken_up_gets_no_first_message_again(waiting: World) -> None:
    (message,) = waiting.tick().started
    received = waiting.receive()
    assert received is not None
    waiting.now += timedelta(seconds=10)
    waiting.queue.delete(received[1])
    waiting.environment["DREAMING_BATCH_NOTES"] = "1"
    waiting.ingest(note("b", "The mill opens at dawn."))
    assert waiting.batch(message, holder=received[1]).sent == message.next()
    waiting.tick()
    assert waiting.queue.counts().visible == 1
    assert waiting.process() == 1


@pytest.mark.parametrize("committed", [True, False])
def test_a_tick_that_meets_an_erasure_leaves_the_slice_alone(
    waiting: World, database_url: str, admin: psycopg.Connection[tuple[object, ...]], committed: bool
) -> None:
    with psycopg.connect(database_url, options="-c search_path=dreaming") as erasing, ThreadPoolExecutor(1) as pool:
        erasing.execute("delete from slices")
        tick = pool.submit(waiting.tick)
        wait_until(
            lambda: admin.execute(
                "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
            ).fetchall(),
            "the tick waits for the erasure", within=60,
        )  # fmt: skip
        (erasing.commit if committed else erasing.rollback)()
        assert len(tick.result(timeout=60).started) == (0 if committed else 1)
