"""Ticks, leases and messages: whatever arrives twice, dies in between or runs twice at once has one effect."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from dreaming.database import Database
from dreaming.local.queue import LocalQueue
from dreaming.notes.records import Scope, SliceKey
from dreaming.passes.engine import STALLED_AFTER
from dreaming.passes.records import BatchMessage, BatchReport, Disposition
from dreaming.passes.store import LeaseBusy
from tests.world import KEY, World, note, open_world, verbatim

TEA = "Ines drinks green tea in the morning"


def many(count: int, start: int = 0) -> list[Any]:
    return [note(f"n{number}", f"Fact number {number} stands in the book") for number in range(start, start + count)]


def received(world: World) -> tuple[BatchMessage, str]:
    found = world.receive()
    assert found is not None
    return found


def test_two_ticks_start_one_run(world: World) -> None:
    world.ingest(*many(3))
    assert len(world.tick().started) == 1
    assert world.tick().started == ()
    world.process()
    assert world.rows("select count(*) from dream_runs") == [(1,)]
    assert world.counters().consolidated == 3


def test_ticks_at_the_same_moment_start_one_run(world: World) -> None:
    world.ingest(*many(3))
    gate = threading.Barrier(4)

    def tick() -> int:
        gate.wait()
        return len(world.tick().started)

    with ThreadPoolExecutor(4) as pool:
        started = [future.result() for future in [pool.submit(tick) for _ in range(4)]]
    assert sum(started) == 1
    world.process()
    assert world.rows("select status from dream_runs") == [("drained",)]


def test_a_run_is_batches_that_send_each_other(world: World) -> None:
    world.environment["DREAMING_BATCH_NOTES"] = "2"
    world.ingest(*many(7))
    world.tick()
    reports: list[BatchReport] = []
    assert world.process(reports.append) == 4
    assert [report.message.batch for report in reports] == [1, 2, 3, 4]
    assert [report.sent is not None for report in reports] == [True, True, True, False]
    assert world.counters().waiting == 0


def test_messages_hold_opaque_ids_only(world: World) -> None:
    world.ingest(note("n1", TEA))
    [message] = world.tick().started
    assert set(message.model_dump()) == {"slice_id", "run_id", "generation", "batch"}
    assert "acme" not in message.model_dump_json() + message.group_id + message.deduplication_id


def test_a_repeated_message_of_a_committed_batch_does_nothing(world: World) -> None:
    world.environment["DREAMING_BATCH_NOTES"] = "2"
    world.ingest(*many(6))
    world.tick()
    message, receipt = received(world)
    world.batch(message)
    world.queue.delete(receipt)
    second, second_receipt = received(world)
    world.batch(second)
    world.queue.delete(second_receipt)
    before = world.rows("select * from beliefs order by 1")
    assert world.batch(message).disposition is Disposition.REPEATED
    assert world.rows("select * from beliefs order by 1") == before
    world.process()
    assert world.counters().consolidated == 6
    assert world.rows("select status, batches from dream_runs") == [("drained", 3)]


def test_a_crash_between_commit_and_send_is_resumed_by_the_redelivery(database: Database, tmp_path: Path) -> None:
    class LosingQueue(LocalQueue):
        lose = False

        def send(self, body: str, *, group_id: str, deduplication_id: str) -> str:
            if self.lose:
                raise KeyboardInterrupt
            return super().send(body, group_id=group_id, deduplication_id=deduplication_id)

    world = open_world(database, tmp_path)
    queue = LosingQueue(tmp_path / "losing.sqlite", "consolidation", clock=world.clock)
    world.queue = queue
    world.environment["DREAMING_BATCH_NOTES"] = "2"
    world.ingest(*many(6))
    world.tick()
    message, receipt = received(world)
    queue.lose = True
    with pytest.raises(KeyboardInterrupt):
        world.batch(message)
    queue.lose = False
    queue.release("test")
    again, receipt = received(world)
    assert again == message
    report = world.batch(again)
    assert report.disposition is Disposition.REPEATED
    assert report.sent == message.next()
    queue.delete(receipt)
    world.process()
    assert world.counters().consolidated == 6
    world.check()


def test_the_same_message_twice_at_once_has_one_effect(database: Database, tmp_path: Path) -> None:
    calling, go_on = threading.Event(), threading.Event()

    def script(request: Any) -> Any:
        calling.set()
        assert go_on.wait(30)
        return verbatim(request)

    world = open_world(database, tmp_path, script)
    world.ingest(note("n1", TEA))
    [message] = world.tick().started
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(world.batch, message, "one")
        assert calling.wait(30)
        with pytest.raises(LeaseBusy):
            world.batch(message, "two")
        go_on.set()
        assert first.result().disposition is Disposition.DONE
    assert world.statements() == [TEA]
    assert world.rows("select sum(model_calls)::int from dream_runs") == [(1,)]


def test_a_dead_holders_lease_expires_and_its_late_commit_is_refused(database: Database, tmp_path: Path) -> None:
    calling, go_on = threading.Event(), threading.Event()
    slow = [True]

    def script(request: Any) -> Any:
        if slow:
            slow.clear()
            calling.set()
            assert go_on.wait(30)
        return verbatim(request)

    world = open_world(database, tmp_path, script)
    world.ingest(note("n1", TEA))
    [message] = world.tick().started
    with ThreadPoolExecutor(1) as pool:
        frozen = pool.submit(world.batch, message, "frozen")
        assert calling.wait(30)
        world.now += timedelta(seconds=186)
        assert world.batch(message, "fresh").disposition is Disposition.DONE
        go_on.set()
        assert frozen.result().disposition is Disposition.STALE
    assert world.beliefs() == [(TEA, 0.8, 1, 1)]
    world.check()


def test_a_stale_generation_is_dropped_and_a_silent_run_is_replaced(world: World) -> None:
    world.ingest(note("n1", TEA))
    [old] = world.tick().started
    world.now += STALLED_AFTER
    [new] = world.tick().started
    assert new.generation == old.generation + 1
    assert world.batch(old).disposition is Disposition.STALE
    assert world.statements() == []
    assert world.batch(new).disposition is Disposition.DONE
    assert world.statements() == [TEA]
    assert world.rows("select status from dream_runs order by generation") == [("replaced",), ("drained",)]


def test_a_message_about_a_slice_that_is_gone_is_finished(world: World) -> None:
    world.ingest(note("n1", TEA))
    [message] = world.tick().started
    assert world.batch(message.model_copy(update={"slice_id": 999})).disposition is Disposition.STALE


def test_an_unexpected_error_gives_the_lease_back(database: Database, tmp_path: Path) -> None:
    broken = [True]

    def script(request: Any) -> Any:
        if broken:
            raise ZeroDivisionError
        return verbatim(request)

    world = open_world(database, tmp_path, script)
    world.ingest(note("n1", TEA))
    [message] = world.tick().started
    with pytest.raises(ZeroDivisionError):
        world.batch(message)
    broken.clear()
    assert world.batch(message).disposition is Disposition.DONE
    assert world.statements() == [TEA]


def test_no_progress_sends_no_further_message(world: World) -> None:
    world.ingest(note("n1", TEA))
    world.remaining = lambda: 0.0
    world.tick()
    reports: list[BatchReport] = []
    assert world.process(reports.append) == 1
    assert world.rows("select status from dream_runs") == [("stalled",)]
    world.remaining = lambda: 180.0
    world.drain()
    assert world.statements() == [TEA]


def test_notes_that_arrive_during_a_run_are_part_of_it(world: World) -> None:
    world.environment["DREAMING_BATCH_NOTES"] = "2"
    world.ingest(*many(3))
    world.tick()
    message, receipt = received(world)
    world.batch(message)
    world.queue.delete(receipt)
    world.ingest(*many(3, start=3))
    world.process()
    assert world.counters().consolidated == 6
    assert world.rows("select count(*) from dream_runs") == [(1,)]


def test_an_organization_runs_up_to_its_limit_of_private_slices_those_planned_longest_ago_first(
    database: Database, tmp_path: Path
) -> None:
    world = open_world(database, tmp_path)
    world.environment["DREAMING_PRIVATE_SLICES_PER_RUN"] = "3"
    keys = [SliceKey("acme", Scope.PRIVATE, f"user-{number}") for number in range(5)]
    world.ingest(note("n1", TEA))
    for key in keys:
        world.ingest(note("n1", TEA), key=key)
    first = world.tick()
    assert len(first.started) == 4
    world.process()
    world.now += timedelta(hours=1)
    for key in keys:
        world.ingest(note("n2", f"{TEA} again"), key=key)
    second = {message.slice_id for message in world.tick().started}
    never_planned = {world.slice(key).slice_id for key in keys} - {message.slice_id for message in first.started}
    assert never_planned < second
    assert len(second) == 3
    world.process()
    world.now += timedelta(hours=1)
    world.drain()
    assert all(world.counters(key).waiting == 0 for key in keys)


def test_slices_behind_a_held_one_do_not_starve(database: Database, tmp_path: Path) -> None:
    from dreaming.errors import ProviderUnavailable

    world = open_world(
        database,
        tmp_path,
        lambda request: ProviderUnavailable("down") if "held" in request.content else verbatim(request),
    )
    world.environment["DREAMING_PRIVATE_SLICES_PER_RUN"] = "1"
    held, other = (SliceKey("acme", Scope.PRIVATE, name) for name in ("a", "b"))
    world.ingest(note("n1", "this one is held for long"), key=held)
    world.ingest(note("n1", TEA), key=other)
    for _ in range(2):
        world.drain()
        world.now += timedelta(hours=1)
    assert world.statements(other) == [TEA]
    assert world.counters(held).waiting == 1


def test_shared_slices_run_only_when_asked_for(world: World) -> None:
    shared = SliceKey("acme", Scope.SHARED)
    world.ingest(note("n1", TEA), key=shared)
    assert world.tick().started == ()
    assert len(world.tick(only=world.slice(shared).slice_id).started) == 1
    world.process()
    assert world.statements(shared) == [TEA]


def test_two_organizations_with_the_same_notes_do_not_meet(world: World) -> None:
    other = SliceKey("other")
    world.enrol("other")
    world.ingest(note("n1", TEA))
    world.ingest(note("n1", TEA), key=other)
    world.drain()
    assert world.beliefs() == world.beliefs(other) == [(TEA, 0.8, 1, 1)]
    assert world.rows("select count(*) from beliefs", key=KEY) == [(1,)]
