"""Passes, loggers and people at work at once, and a judge that is missing: nothing is lost or done twice."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from dreaming.autonomy import service
from dreaming.autonomy.records import LogCounts, Outcome
from dreaming.errors import Misconfigured
from dreaming.models.protocols import ChatModel
from dreaming.notes.records import Scope, SliceKey
from dreaming.notes.store import create_slice
from dreaming.passes import store as passes_store
from dreaming.passes.records import BatchMessage, Deadline, Lease
from dreaming.settings.resolution import Settings
from tests.autonomy_world import BOT, ORG, AutonomyWorld
from tests.waiting import wait_until

PRIVATE = SliceKey(ORG, Scope.PRIVATE, "ana")


def test_two_passes_at_once_adjust_once(agents: AutonomyWorld) -> None:
    agents.log_many(["approved"] * 30)
    (message,) = agents.engine.tick().started
    lease = _lease(agents, message)
    barrier = threading.Barrier(2)

    def work(_: int) -> str:
        barrier.wait(timeout=30)
        try:
            agents.work.run_batch(lease, agents.settings, Deadline(agents.remaining))
        except passes_store.LeaseLost:
            return "lost"
        return "done"

    with ThreadPoolExecutor(2) as pool:
        ended = sorted(pool.map(work, range(2)))
    assert ended == ["done", "lost"]
    assert (agents.score(), len(agents.changes()), agents.agent().scorings) == (80, 1, 30)
    agents.check()


def test_a_run_that_replaces_another_adjusts_once(agents: AutonomyWorld) -> None:
    agents.log_many(["approved"] * 30)
    (first,) = agents.engine.tick().started
    lease = _lease(agents, first)
    agents.later(minutes=30)
    agents.run()
    with pytest.raises(passes_store.LeaseLost):
        agents.work.run_batch(lease, agents.settings, Deadline(agents.remaining))
    assert (agents.score(), len(agents.changes())) == (80, 1)


def test_people_loggers_and_passes_at_once_leave_score_and_record_equal(agents: AutonomyWorld) -> None:
    agents.log_many(["approved"] * 30)

    def work(turn: int) -> None:
        for number in range(4):
            if turn == 0:
                agents.engine.tick()
                agents.run()
            elif turn == 1:
                service.set_score(
                    agents.database, ORG, BOT, 20 * number, reason="r", actor="mia", now=agents.now - timedelta(days=8)
                )
            else:
                agents.log(agents.action("denied", external_id=f"t{turn}n{number}"))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    agents.check()
    agents.later(minutes=30)
    agents.run()
    agents.check()
    assert agents.agent().scorings == 38


def test_a_logger_that_commits_while_a_pass_ends_is_not_forgotten(
    agents: AutonomyWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The action is logged between the pass's last look at the log and its commit."""
    agents.log_many(["approved"] * 2)
    (message,) = agents.engine.tick().started
    lease = _lease(agents, message)
    commit_batch = passes_store.commit_batch
    with ThreadPoolExecutor(1) as pool:
        started = []

        def commit_late(*arguments: Any, **named: Any) -> None:
            started.append(pool.submit(agents.log, agents.action("denied", agent_id="other")))
            wait_until(
                lambda: started[0].done() or _waits_for_a_lock(agents), "the logger has got as far as it can", within=30
            )
            commit_batch(*arguments, **named)

        monkeypatch.setattr(passes_store, "commit_batch", commit_late)
        agents.work.run_batch(lease, agents.settings, Deadline(agents.remaining))
        assert started[0].result(timeout=30) == LogCounts(logged=1)
    agents.check()
    monkeypatch.undo()
    agents.run()
    assert agents.agent("other").scorings == 1


def test_a_judge_that_cannot_be_built_holds_up_nothing_but_its_own(agents: AutonomyWorld) -> None:
    agents.log_many(["approved"] * 30 + ["success"])
    (message,) = agents.engine.tick().started

    def broken(settings: Settings, org_id: str) -> ChatModel:
        raise Misconfigured("set chat_model")

    work = replace(agents.work, chat_model=broken)
    outcome = work.run_batch(_lease(agents, message), agents.settings, Deadline(agents.remaining))
    assert (outcome.held, outcome.held_detail) == ("provider_misconfigured", "set chat_model")
    assert (agents.score(), agents.agent().scorings) == (80, 30)
    agents.check()


def test_a_private_slice_carries_no_second_run(agents: AutonomyWorld) -> None:
    agents.log_many(["approved"] * 30)
    with agents.transaction(PRIVATE) as tx:
        private = create_slice(tx, PRIVATE)
    assert agents.engine.tick(only=private.slice_id).started == ()
    agents.run()
    assert agents.score() == 80


def test_the_offline_provider_judges_nothing(agents: AutonomyWorld) -> None:
    agents.environment["DREAMING_CHAT_PROVIDER"] = "offline"
    agents.log_many(["approved"] * 30 + ["failure"])
    agents.run()
    assert (agents.score(), agents.judge.calls) == (80, 0)
    waiting = {outcome: count for outcome, state, count in agents.standing().outcomes if state == "waiting"}
    assert waiting == {Outcome.FAILURE: 1}


def _lease(agents: AutonomyWorld, message: BatchMessage) -> Lease:
    """Take the lease of a message by hand."""
    with agents.transaction() as tx:
        found = passes_store.read_cursor(tx, message.slice_id, "autonomy")
        assert found is not None
        with agents.database.planner() as planner:
            slice_ = passes_store.find_slice(planner, message.slice_id)
        assert slice_ is not None
        lease = Lease(slice_, "autonomy", message.run_id, message.generation, message.batch, "me")
        passes_store.take_lease(tx, lease, now=agents.now, expires_at=agents.now + timedelta(minutes=3))
    return lease


def _waits_for_a_lock(agents: AutonomyWorld) -> bool:
    return bool(agents.rows("select 1 from pg_locks where not granted"))
