"""What an agent may do: its score against the floor of the risk, and no when in doubt."""

from __future__ import annotations

from typing import Any

import pytest

from dreaming.autonomy import service
from dreaming.autonomy.records import Band, Risk
from dreaming.autonomy.rules import FLOORS
from dreaming.database import Database
from dreaming.errors import DatabaseUnavailable
from tests.autonomy_world import BOT, ORG, AutonomyWorld


def test_a_risk_needs_its_floor(agents: AutonomyWorld) -> None:
    for risk, floor in FLOORS.items():
        for score in {max(floor - 1, 0), floor}:
            agents.set_score(score)
            found = service.may_act(agents.database, ORG, BOT, risk)
            assert (found.allowed, found.score, found.floor) == (score >= floor, score, floor)


def test_an_agent_without_a_record_stands_where_all_start(agents: AutonomyWorld) -> None:
    found = service.may_act(agents.database, ORG, "new", Risk.MEDIUM)
    assert (found.allowed, found.score, found.band) == (True, 75, Band.APPROVAL_REQUIRED)
    assert not service.may_act(agents.database, ORG, "new", Risk.HIGH).allowed


def test_the_answer_is_no_when_the_score_cannot_be_read(
    agents: AutonomyWorld, admin: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def allowed() -> set[bool]:
        found = [service.may_act(agents.database, ORG, BOT, risk) for risk in Risk]
        assert all("cannot be read" in one.reason and one.score is None for one in found if not one.allowed)
        return {one.allowed for one in found}

    agents.set_score(100)
    admin.execute("alter table autonomy_agents rename to gone")
    assert allowed() == {False}
    admin.execute("alter table gone rename to autonomy_agents")
    assert allowed() == {True}

    def asleep(*arguments: Any, **named: Any) -> Any:
        raise DatabaseUnavailable("asleep")

    monkeypatch.setattr(Database, "transaction", asleep)
    assert allowed() == {False}


def test_switch_and_enrolment_are_needed_and_consent_for_the_judge_only(agents: AutonomyWorld) -> None:
    agents.log_many(["approved"] * 30 + ["success"])
    agents.consent("enrolled", False)
    agents.run()
    assert agents.agent().scorings == 0
    agents.consent("enrolled", True)
    agents.consent("model_consent", False)
    agents.run()
    assert (agents.score(), agents.agent().scorings, agents.judge.calls) == (80, 30, 0)
    agents.consent("model_consent", True)
    agents.run()
    assert (agents.score(), agents.agent().scorings, agents.judge.calls) == (85, 31, 1)
