"""Scores: moved by evidence, once for each piece of news, never without a record, and by people with a reason."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from dreaming.autonomy import service
from dreaming.autonomy.records import ChangeKind
from dreaming.autonomy.rules import BlockKind
from dreaming.errors import InvalidInput
from dreaming.passes.autonomy import run as autonomy_run
from tests.autonomy_world import BOT, ORG, AutonomyWorld, judgement
from tests.world import NOON

SECOND = timedelta(seconds=1)


def blocks(agents: AutonomyWorld) -> list[BlockKind]:
    return [block.kind for block in agents.standing().assessment.blocks]


def test_thirty_actions_move_a_score_and_twenty_nine_do_not(agents: AutonomyWorld) -> None:
    agents.log_many(["approved"] * 29)
    agents.run()
    assert agents.score() == 75
    assert blocks(agents) == [BlockKind.TOO_FEW_ACTIONS]
    agents.log_many(["approved"])
    agents.run()
    assert agents.score() == 80
    (change,) = agents.changes()
    assert (change.action, change.old_score, change.new_score, change.actor) == ("adjusted", 75, 80, "autonomy")
    assert change.evidence["actions"] == 30
    assert change.evidence["capability"] == 1.0
    agents.check()


def test_an_idle_month_changes_nothing(agents: AutonomyWorld) -> None:
    agents.log_many(["approved"] * 30)
    agents.run()
    before = agents.agent()
    for _ in range(31):
        agents.later(days=1)
        agents.run()
        assert agents.agent() == before
    assert agents.rows("select count(*) from dream_runs") == [(1,)]  # not even a run was needed


def test_an_idle_month_with_runs_forced_changes_nothing(agents: AutonomyWorld) -> None:
    agents.log_many(["approved"] * 30)
    agents.run()
    before = agents.agent()
    slice_id = agents.rows("select slice_id from slices")[0][0]
    for _ in range(31):
        agents.later(days=1)
        assert agents.engine.tick(only=slice_id).started
        agents.run()
    assert agents.agent() == before


def test_each_piece_of_news_moves_a_score_once(agents: AutonomyWorld) -> None:
    agents.log_many(["approved"] * 30)
    for expected in (80, 80, 80):
        agents.run()
        assert agents.score() == expected
    agents.log_many(["approved"])
    agents.run()
    assert agents.score() == 85
    agents.check()


def test_news_that_asks_for_nothing_is_used_up(agents: AutonomyWorld) -> None:
    agents.log_many(["approved"] * 30)
    agents.set_score(100)
    agents.later(days=8)
    agents.log_many(["approved"])
    agents.run()
    assert agents.score() == 100
    assert not agents.agent().has_news
    assert len(agents.changes()) == 1


def test_a_run_of_many_batches_moves_a_score_by_one_step(
    agents: AutonomyWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(autonomy_run, "BATCH_DECIDED", 7)
    monkeypatch.setattr(autonomy_run, "BATCH_JUDGED", 3)
    agents.log_many(["approved", "success"] * 60)
    reports = agents.run()
    assert len(reports) > 15
    assert agents.score() == 80
    assert agents.agent().scorings == 120
    agents.check()


def test_many_agents_are_looked_at_over_several_batches(agents: AutonomyWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(autonomy_run, "BATCH_AGENTS", 3)
    for number in range(10):
        agents.log_many(["approved" if number % 2 else "denied"] * 30, agent_id=f"bot{number}")
    agents.run()
    assert [agents.score(f"bot{number}") for number in range(10)] == [70, 80] * 5
    agents.check()


def test_only_nulls_are_no_evidence(agents: AutonomyWorld) -> None:
    agents.log_many(["pending"] * 40)
    agents.log_many(["approved"] * 29)
    agents.run()
    assert agents.score() == 75


@pytest.mark.parametrize(("errors", "score"), [(6, 55), (7, 50)])
def test_an_error_rate_of_exactly_a_fifth_lets_a_score_rise(agents: AutonomyWorld, errors: int, score: int) -> None:
    agents.set_score(50)
    agents.later(days=8)
    agents.log_many(["approved"] * (30 - errors) + ["rejected"] * errors)
    agents.run()
    assert agents.score() == score
    assert blocks(agents) == ([BlockKind.ERROR_RATE] if errors == 7 else [BlockKind.NO_NEWS])


def test_a_blocked_rise_keeps_its_news_and_a_fall_comes_at_once(agents: AutonomyWorld) -> None:
    agents.set_score(60)
    agents.later(days=8)
    agents.log_many(["rejected"] * 15 + ["approved"] * 15)  # asks for 78
    agents.run()
    assert (agents.score(), agents.agent().has_news) == (60, True)
    agents.log_many(["denied"] * 100)  # asks for 43
    agents.run()
    assert agents.score() == 55
    agents.check()


def test_a_factual_error_ends_its_block_by_itself(agents: AutonomyWorld) -> None:
    agents.judge._function = lambda request: judgement(factual_error=True)
    agents.log_many(["approved"] * 30)
    agents.log(agents.action("success"))
    agents.run()
    assert agents.score() == 75
    assert blocks(agents) == [BlockKind.FACTUAL_ERROR]
    agents.later(days=30, seconds=-1)
    agents.run()
    assert agents.score() == 75
    agents.later(seconds=1)
    agents.run()
    assert agents.score() == 80
    agents.check()


def test_a_factual_error_is_remembered_beyond_the_newest_five_hundred(agents: AutonomyWorld) -> None:
    agents.judge._function = lambda request: judgement(factual_error=True)
    agents.log(agents.action("success", acted_at=agents.now - timedelta(days=1)))
    agents.log_many(["approved"] * 500)
    agents.run()
    assert blocks(agents) == [BlockKind.FACTUAL_ERROR]


def test_overconfidence_blocks_a_rise_and_only_that(agents: AutonomyWorld) -> None:
    agents.set_score(50)
    agents.later(days=8)
    agents.log_many(["approved"] * 24 + ["rejected"] * 6, stated_confidence=0.96)
    agents.run()
    assert agents.score() == 50
    assert blocks(agents) == [BlockKind.OVERCONFIDENCE]
    agents.log_many(["approved"] * 2, stated_confidence=0.96)  # now 26 of 32: a gap of 0.1475
    agents.run()
    assert agents.score() == 55


def test_evidence_ages_by_half_life(agents: AutonomyWorld) -> None:
    agents.log_many(["denied"] * 30, acted_at=NOON - timedelta(days=60))
    agents.log_many(["approved"] * 30)
    agents.run()
    value = agents.standing().assessment.capability.dimensions[0].value
    assert value == pytest.approx(0.8)


def test_the_newest_five_hundred_are_chosen_by_when_they_were_done(agents: AutonomyWorld) -> None:
    agents.log_many(["approved"] * 500)
    agents.log_many(["denied"] * 100, acted_at=NOON - timedelta(hours=1))  # logged later, done earlier
    agents.run()
    assert agents.standing().assessment.capability.value == 1.0


@pytest.mark.parametrize(("since", "score"), [(-SECOND, 50), (timedelta(0), 55), (SECOND, 55)])
def test_a_score_set_by_hand_stays_until_its_cool_down_ends(
    agents: AutonomyWorld, since: timedelta, score: int
) -> None:
    agents.log_many(["approved"] * 30)
    agents.set_score(50)
    agents.run()
    assert agents.score() == 50
    agents.now = NOON + timedelta(days=7) + since
    agents.run()
    assert agents.score() == score
    agents.check()


def test_a_cool_down_holds_back_a_fall_as_well(agents: AutonomyWorld) -> None:
    agents.log_many(["denied"] * 30)
    agents.set_score(90)
    agents.run()
    assert agents.score() == 90
    agents.later(days=7)
    agents.run()
    assert agents.score() == 85


def test_a_score_set_by_hand_is_recorded_with_reason_and_actor(agents: AutonomyWorld) -> None:
    change = agents.set_score(62, reason="too eager")
    assert agents.changes() == [change]
    assert (change.action, change.old_score, change.new_score) == (ChangeKind.SET, 75, 62)
    assert (change.reason, change.actor) == ("too eager", "mia")
    agents.check()


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("score", {"score": 101}),
        ("score", {"score": -1}),
        ("reason", {"reason": " "}),
        ("reason", {"reason": "x" * 2_001}),
        ("actor", {"actor": ""}),
        ("agent", {"agent_id": "\x00"}),
        ("agent", {"agent_id": "mistyped", "new": False}),
    ],
)
def test_a_score_is_not_set_without_a_value_a_reason_and_an_actor(
    agents: AutonomyWorld, field: str, values: dict[str, Any]
) -> None:
    given: dict[str, Any] = {"agent_id": BOT, "score": 50, "reason": "r", "actor": "mia", **values}
    agent_id, score = given.pop("agent_id"), given.pop("score")
    with pytest.raises(InvalidInput) as caught:
        service.set_score(agents.database, ORG, agent_id, score, now=agents.now, **{"new": True, **given})
    assert caught.value.field == field
    assert agents.rows("select * from autonomy_agents") == []


def test_what_an_organization_sets_is_obeyed(agents: AutonomyWorld) -> None:
    agents.set("autonomy_min_actions", 3)
    agents.set("autonomy_max_step", 9)
    agents.set("autonomy_cool_down_days", 1.0)
    agents.set("autonomy_half_life_days", 1.0)
    agents.log_many(["approved"] * 2)
    agents.log_many(["expired"], acted_at=NOON - timedelta(days=1))
    agents.set_score(40)
    agents.later(days=1)
    agents.run()
    (_, change) = agents.changes()
    assert change.new_score == 49
    assert change.evidence["dimensions"]["compatibility"]["value"] == 0.8  # type: ignore[index,call-overload]
