"""A half-life or a threshold that changes leaves no stale moment of fading, whoever writes meanwhile."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from dreaming.beliefs.rules import Ageing
from dreaming.database import Database
from dreaming.notes.records import Scope, SliceKey
from dreaming.passes.decay import store
from tests.ageing_world import AgeingWorld, open_ageing_world
from tests.world import NOON, note

TEA = "Ines drinks green tea in the morning"
BIKE = "Tariq keeps his bicycle in the cellar"
FAST: dict[str, Any] = {"confidence": 1.0, "decay_class": "fast_decay"}
WORKS: dict[str, Any] = {"relations": [{"type": "works_at", "target": "Orbit"}]}


def fades(ageing: AgeingWorld, statement: str) -> float:
    """Days from `NOON` until it fades."""
    moment: datetime = ageing.column("fades_at", statement)
    return (moment - NOON) / timedelta(days=1)


@pytest.mark.parametrize("batch_rows", [1, 10_000])
def test_a_change_recomputes_beliefs_and_relationships_before_anything_is_archived(
    database: Database, tmp_path: Path, batch_rows: int
) -> None:
    ageing = open_ageing_world(database, tmp_path, batch_rows=batch_rows)
    ageing.say("Ines works at Orbit", "Tariq works at Orbit", **FAST, **WORKS)
    ageing.say(TEA, **FAST)
    ageing.set("fast_decay_days", 42.0)
    ageing.at(91).run_pass()
    assert len(ageing.live()) == 4
    assert len(ageing.edges()) == 2
    assert fades(ageing, TEA) == pytest.approx(2 * 90.76, abs=0.01)
    ageing.check()
    ageing.set("archive_threshold", 0.5)
    ageing.run_pass()
    assert ageing.live() == ["Orbit"]
    assert ageing.edges() == []
    ageing.check()


def test_a_shorter_half_life_is_due_at_once(ageing: AgeingWorld) -> None:
    ageing.say(TEA, **FAST)
    ageing.at(10)
    assert ageing.messages() == []
    ageing.set("fast_decay_days", 1.0)
    ageing.run_pass()
    assert ageing.archived() == {TEA: "faded"}


def test_a_change_in_the_deployments_environment_is_due_at_once(ageing: AgeingWorld) -> None:
    ageing.say(TEA, **FAST)
    ageing.world.environment["DREAMING_FAST_DECAY_DAYS"] = "1.5"
    ageing.at(10).run_pass()
    assert ageing.archived() == {TEA: "faded"}
    ageing.check()


def test_the_slices_of_all_owners_are_recomputed(ageing: AgeingWorld) -> None:
    ageing.say(TEA, **FAST)
    keys = [SliceKey("acme", Scope.PRIVATE, owner) for owner in ("mia", "tom")]
    for key in keys:
        ageing.world.ingest(note("n1", TEA, occurred_at=ageing.now), key=key)
    ageing.consolidate()
    ageing.set("fast_decay_days", 1.0)
    ageing.at(10).run_pass()
    for key in keys:
        own = "select archive_reason from beliefs join slices using (slice_id) where owner_user_id = %s"
        assert ageing.world.rows(own, (key.owner_user_id,), key=key) == [("faded",)]


def test_another_organizations_slices_are_left_alone(ageing: AgeingWorld) -> None:
    ageing.say(TEA, **FAST)
    other = SliceKey("bakery")
    ageing.world.enrol("bakery")
    ageing.world.ingest(note("n1", TEA, occurred_at=ageing.now), key=other)
    ageing.consolidate()
    ageing.set("fast_decay_days", 1.0)
    ageing.at(10).run_pass()
    assert ageing.archived() == {TEA: "faded"}
    assert ageing.world.rows("select archived_at from beliefs", key=other) == [(None,)]


@pytest.mark.parametrize("passes", ["before the change", "before the batch", "after the batch"])
def test_a_change_while_consolidation_runs_leaves_no_stale_moment(ageing: AgeingWorld, passes: str) -> None:
    """The batch has read its settings; then they change, and a pass may recompute before the batch applies."""
    ageing.say(TEA, **FAST)
    if passes == "before the change":
        ageing.run_pass()
    model = ageing.world.model

    class Slow:
        name, metered = model.name, model.metered

        def __getattr__(self, name: str) -> Any:
            return getattr(model, name)

        def answer(self, request: Any) -> Any:
            ageing.set("fast_decay_days", 42.0)
            if passes == "before the batch":
                ageing.run_pass()
            return model.answer(request)

    ageing.world.model = Slow()
    ageing.say(BIKE, **FAST)
    ageing.check()
    ageing.run_pass()
    for statement in (TEA, BIKE):
        assert fades(ageing, statement) == pytest.approx(2 * 90.76, abs=0.01)
    ageing.check()
    assert ageing.messages() == []


def test_a_batch_between_two_steps_of_a_recomputation_is_under_the_new_half_life(
    database: Database, tmp_path: Path
) -> None:
    ageing = open_ageing_world(database, tmp_path, batch_rows=1)
    ageing.say(TEA, **FAST)
    ageing.say("Ines works at Orbit", **FAST, **WORKS)
    ageing.set("fast_decay_days", 42.0)
    [message] = ageing.messages()
    for step in range(20):
        report = ageing.batch(message)
        if step < 4:
            ageing.say(f"{('Ines', 'Tariq', 'Lena', 'Noor')[step]} rides a red bicycle", **FAST)
        if report.sent is None:
            break
        message = report.sent
    ageing.run_pass()
    assert {
        round(row[0])
        for row in ageing.rows(
            "select extract(epoch from fades_at - confirmed_at) / 86400 from beliefs where decay_class = 'fast_decay'"
        )
    } == {182}
    ageing.check()


def test_a_warning_is_taken_back_when_fading_moves_out_of_its_reach(ageing: AgeingWorld) -> None:
    ageing.say(TEA, **FAST, importance="high")
    ageing.at(85).run_pass()
    assert ageing.column("warned_at", TEA) == ageing.now
    ageing.set("fast_decay_days", 42.0)
    ageing.run_pass()
    assert ageing.column("warned_at", TEA) is None
    ageing.at(176).run_pass()
    assert ageing.column("warned_at", TEA) == ageing.now
    ageing.at(183).run_pass()
    assert ageing.archived() == {TEA: "faded"}


def test_earlier_warnings_are_due_when_they_are_set(ageing: AgeingWorld) -> None:
    ageing.say(TEA, **FAST, importance="high")
    ageing.at(70).run_pass()
    ageing.set("warn_days", 30.0)
    ageing.run_pass()
    assert ageing.column("warned_at", TEA) == ageing.now


def test_a_setting_that_is_no_number_stops_no_other_slice(ageing: AgeingWorld) -> None:
    ageing.say(TEA, **FAST)
    with ageing.world.transaction() as tx:
        tx.execute("""
            insert into settings (org_id, name, value, updated_at, updated_by)
            values ('acme', 'fast_decay_days', '"soon"', now(), 'x'), ('acme', 'slow_decay_days', '1e400', now(), 'x')
        """)
    with ageing.database.planner() as planner:
        found = store.slices_to_visit(planner, Ageing(), now=NOON, stalled_after=timedelta(minutes=20))
    assert found == []
    tick = ageing.at(91).engine.tick()
    assert [reason for _, reason in tick.refused] == ["settings_unreadable"]
