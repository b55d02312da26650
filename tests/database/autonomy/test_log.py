"""The log of actions: what is logged once stays, what comes twice or late changes nothing."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from dreaming.autonomy import service
from dreaming.autonomy.records import IncomingAction, LogCounts, Outcome, Risk, Scoring
from dreaming.autonomy.rules import next_outcomes
from dreaming.database import Database
from dreaming.errors import InvalidInput
from dreaming.identifiers import uuid7
from tests.autonomy_world import BOT, ORG, AutonomyWorld

MINUTE = timedelta(minutes=1)


def outcome(agents: AutonomyWorld, external_id: str, outcome: str, at: Any = None, *, agent_id: str = BOT) -> bool:
    at = at or agents.now
    return service.record_outcome(agents.database, ORG, agent_id, external_id, Outcome(outcome), at=at, now=agents.now)


def logged(agents: AutonomyWorld) -> Any:
    (action,) = service.read_log(agents.database, ORG)
    return action


def test_an_action_is_logged_with_all_that_is_known_of_it(agents: AutonomyWorld) -> None:
    at = agents.now - timedelta(hours=1)
    given = agents.action(
        "approved",
        tool="deploy",
        risk=Risk.HIGH,
        stated_confidence=0.9,
        conversation_id="c1",
        acted_at=at,
        approval_requested_at=at + MINUTE,
        outcome_at=at + 2 * MINUTE,
    )
    assert agents.log(given) == LogCounts(logged=1)
    action = logged(agents)
    for name in ("agent_id", "external_id", "tool", "summary", "risk", "stated_confidence", "conversation_id"):
        assert getattr(action, name) == getattr(given, name)
    assert (action.acted_at, action.approval_requested_at) == (at, at + MINUTE)
    assert action.decided_at == action.outcome_at == at + 2 * MINUTE
    assert (action.outcome, action.scoring, action.flags.carries_evidence) == ("approved", Scoring.WAITING, False)
    agents.check()


def test_a_pending_action_waits_for_nobody(agents: AutonomyWorld) -> None:
    agents.log(agents.action("pending"))
    assert logged(agents).scoring is Scoring.NONE
    agents.run()
    assert logged(agents).scoring is Scoring.NONE
    assert agents.agent().scorings == 0
    assert agents.rows("select * from due_times") == []


def test_the_same_action_again_changes_nothing(agents: AutonomyWorld) -> None:
    given = agents.action("approved")
    agents.log(given)
    agents.run()
    assert agents.log(given, given) == LogCounts(unchanged=2)
    assert agents.run() == []
    assert agents.agent().scorings == 1


def test_an_action_twice_in_one_call_is_one(agents: AutonomyWorld) -> None:
    given = agents.action("approved")
    assert agents.log(given, given, agents.action()) == LogCounts(logged=2, unchanged=1)


def test_the_whole_life_of_an_action_in_one_call(agents: AutonomyWorld) -> None:
    at = agents.now - timedelta(hours=1)
    stages = [("pending", None), ("approved", at + MINUTE), ("success", at + 2 * MINUTE)]
    steps = [agents.action(name, external_id="x", acted_at=at, outcome_at=when) for name, when in stages]
    assert agents.log(*steps) == LogCounts(logged=1, changed=2)
    action = logged(agents)
    assert (action.outcome, action.decided_at, action.outcome_no) == ("success", at + MINUTE, 3)


def test_an_id_names_one_action(agents: AutonomyWorld) -> None:
    agents.log(agents.action(external_id="x"))
    differences: list[dict[str, Any]] = [{"tool": "other"}, {"summary": "Else."}, {"risk": Risk.HIGH}]
    for difference in (*differences, {"stated_confidence": 0.5}):
        with pytest.raises(InvalidInput, match="names a different action"):
            agents.log(agents.action(), agents.action(external_id="x", **difference))
    assert len(service.read_log(agents.database, ORG)) == 1  # all or none
    assert agents.log(agents.action(external_id="x", agent_id="other")) == LogCounts(logged=1)


def test_every_order_of_reports_ends_with_the_latest(agents: AutonomyWorld) -> None:
    at = agents.now - timedelta(hours=1)
    reports = [("pending", None), ("approved", at + MINUTE), ("success", at + 2 * MINUTE), ("failure", at + 3 * MINUTE)]
    for number, order in enumerate(itertools.permutations(reports)):
        for name, when in (*order, *order):  # and each of them twice
            agents.log(agents.action(name, external_id=f"x{number}", acted_at=at, outcome_at=when))
    outcomes = {action.outcome for action in service.read_log(agents.database, ORG)}
    assert outcomes == {Outcome.FAILURE}


def test_a_repeated_report_without_a_time_does_not_undo_a_later_one(agents: AutonomyWorld) -> None:
    first = agents.action("success")
    agents.log(first)
    agents.later(minutes=1)
    assert outcome(agents, first.external_id, "failure")
    assert agents.log(first) == LogCounts(unchanged=1)
    assert logged(agents).outcome is Outcome.FAILURE


def test_an_outcome_follows_another_only_where_it_can(agents: AutonomyWorld) -> None:
    pairs = list(itertools.permutations(Outcome, 2))
    agents.log(*(agents.action(before, external_id=f"{before}-{after}") for before, after in pairs))
    agents.later(minutes=1)
    for before, after in pairs:
        name = f"{before}-{after}"
        if after in next_outcomes(before):
            assert outcome(agents, name, after)
            assert not outcome(agents, name, after)  # the same report again
        elif after is Outcome.PENDING:
            assert not outcome(agents, name, after)
        else:
            with pytest.raises(InvalidInput, match="cannot follow"):
                outcome(agents, name, after)
    found = {action.external_id: action.outcome for action in service.read_log(agents.database, ORG, limit=100)}
    for before, after in pairs:
        assert found[f"{before}-{after}"] is (after if after in next_outcomes(before) else before)
    agents.check()


def test_another_outcome_is_scored_anew_and_is_news(agents: AutonomyWorld) -> None:
    agents.log(agents.action("denied", external_id="x"))
    agents.run()
    assert logged(agents).flags.competence == 0
    agents.later(minutes=1)
    outcome(agents, "x", "approved")
    assert not logged(agents).flags.carries_evidence  # what is no longer so says nothing
    agents.run()
    assert logged(agents).flags.competence == 1
    assert agents.agent().scorings == 2
    agents.check()


def test_an_outcome_of_an_unknown_action_makes_no_agent(agents: AutonomyWorld) -> None:
    agents.log(agents.action(external_id="x"))
    for agent_id, external_id in ((BOT, "y"), ("other", "x")):
        with pytest.raises(InvalidInput, match="has no action"):
            outcome(agents, external_id, "denied", agent_id=agent_id)
    assert agents.rows("select agent_id from autonomy_agents") == [(BOT,)]


def test_a_time_in_the_future_is_refused_unless_a_clock_can_be_blamed(agents: AutonomyWorld) -> None:
    for field in ("acted_at", "outcome_at"):
        changes: dict[str, Any] = {field: agents.now + timedelta(hours=1)}
        with pytest.raises(InvalidInput, match="in the future"):
            agents.log(agents.action(**changes))
    for odd in (datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14))), datetime(1969, 12, 31, tzinfo=UTC)):
        with pytest.raises(InvalidInput, match="before 1970"):
            agents.log(agents.action(acted_at=odd))
    agents.log(agents.action(acted_at=agents.now + MINUTE, outcome_at=agents.now + MINUTE))
    assert logged(agents).acted_at == logged(agents).outcome_at == agents.now
    with pytest.raises(InvalidInput, match="offset"):
        outcome(agents, "a5", "denied", agents.now.replace(tzinfo=None))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("stated_confidence", 1.01),
        ("stated_confidence", -0.01),
        ("stated_confidence", float("nan")),
        ("stated_confidence", True),
        ("stated_confidence", "0.5"),
        ("summary", "x" * 4_001),
        ("tool", ""),
        ("external_id", ""),
        ("external_id", "\x00"),
        ("agent_id", ""),
        ("risk", "huge"),
        ("outcome", "fine"),
        ("acted_at", "2026-01-01T00:00:00"),
        ("unknown", 1),
    ],
)
def test_what_is_no_action_is_refused(field: str, value: Any) -> None:
    values = {
        "agent_id": "bot",
        "external_id": "x",
        "tool": "t",
        "summary": "s",
        "risk": "low",
        "acted_at": "2026-01-01T00:00:00+00:00",
    }
    IncomingAction.model_validate(values)
    with pytest.raises(ValidationError):
        IncomingAction.model_validate({**values, field: value})


def test_strings_are_cleaned_at_the_door(agents: AutonomyWorld) -> None:
    agents.log(agents.action(summary="Rent\x00 due \ud800Monday", tool="ma\x00il", conversation_id="c\x00"))
    action = logged(agents)
    assert (action.summary, action.tool, action.conversation_id) == ("Rent due Monday", "mail", "c")


def test_too_many_at_once_are_refused(agents: AutonomyWorld) -> None:
    with pytest.raises(InvalidInput, match="at most 1000"):
        agents.log(*[agents.action(external_id="x")] * 1_001)
    assert agents.log() == LogCounts()


def test_eight_callers_at_once_log_each_action_once(agents: AutonomyWorld) -> None:
    shared = [agents.action(agent_id=f"bot{number % 3}", external_id=f"x{number}") for number in range(30)]

    def log(turn: int) -> LogCounts:
        given = shared if turn % 2 else shared[::-1]
        return service.log_actions(agents.database, ORG, given, now=agents.now, new_id=uuid7)

    with ThreadPoolExecutor(8) as pool:
        counts = list(pool.map(log, range(8)))
    assert sum(count.logged for count in counts) == 30
    assert sum(count.unchanged for count in counts) == 210
    agents.run()
    assert sum(agents.agent(f"bot{number}").scorings for number in range(3)) == 30
    agents.check()


def test_a_name_that_no_agent_can_have_is_refused(agents: AutonomyWorld) -> None:
    for name in ("", "\x00", " ", "x" * 201):
        for ask in (
            lambda name: service.read_log(agents.database, ORG, agent_id=name),
            lambda name: service.read_dead_letters(agents.database, ORG, agent_id=name),
            lambda name: service.read_standings(agents.database, ORG, agents.settings, agent_id=name, now=agents.now),
            lambda name: service.may_act(agents.database, ORG, name, Risk.NONE),
            lambda name: outcome(agents, "x", "denied", agent_id=name),
        ):
            with pytest.raises(InvalidInput):
                ask(name)


def test_an_organization_sees_its_own_agents_only(agents: AutonomyWorld, database: Database) -> None:
    agents.log(agents.action(external_id="x"))
    other = agents.action("denied", external_id="x")
    service.log_actions(database, "birch", [other], now=agents.now, new_id=uuid7)
    service.set_score(database, "birch", BOT, 10, reason="theirs", actor="kai", now=agents.now, new=True)
    assert agents.score() == 75
    assert logged(agents).outcome is Outcome.APPROVED
    assert service.may_act(database, ORG, BOT, Risk.MEDIUM).allowed
    assert not service.may_act(database, "birch", BOT, Risk.LOW).allowed


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from(list(Outcome)), st.integers(0, 3)), min_size=1, max_size=8))
def test_reports_in_any_order_never_break_the_log(agents: AutonomyWorld, reports: list[tuple[Outcome, int]]) -> None:
    name = f"h{agents.logged}"
    start = agents.now - timedelta(hours=1)
    agents.logged += 1
    for kind, minutes in reports:
        given = agents.action(kind, external_id=name, acted_at=start, outcome_at=start + minutes * MINUTE)
        before = {action.external_id: action for action in service.read_log(agents.database, ORG, limit=1_000)}
        with suppress(InvalidInput):
            agents.log(given)
        after = {action.external_id: action for action in service.read_log(agents.database, ORG, limit=1_000)}
        if name in before and after[name] != before[name]:
            assert after[name].outcome in next_outcomes(before[name].outcome)
            assert after[name].outcome_at >= before[name].outcome_at
    agents.check()
