"""Whole histories: whatever happens in whatever order, a score is what its audit record says."""

from __future__ import annotations

import random
from contextlib import suppress
from datetime import timedelta
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dreaming.autonomy import service
from dreaming.autonomy.records import Band, Outcome
from dreaming.autonomy.rules import band
from dreaming.errors import InvalidInput, Throttled
from dreaming.models.protocols import ChatRequest
from dreaming.models.scripted import Reply, ScriptedChatModel
from tests.autonomy_world import ORG, AutonomyWorld, judgement

outcomes = st.sampled_from(["approved", "denied", "rejected", "expired", "resolved_externally", "success", "failure"])
names = st.sampled_from(["ada", "bo", "cy"])

steps = st.one_of(
    st.tuples(st.just("log"), names, outcomes, st.integers(1, 40), st.none() | st.floats(0, 1)),
    st.tuples(st.just("report"), names, outcomes, st.integers(0, 40)),
    st.tuples(st.just("set"), names, st.integers(0, 100)),
    st.tuples(st.just("run")),
    st.tuples(st.just("later"), st.sampled_from([1, 24, 24 * 8, 24 * 40])),
    st.tuples(st.just("judge"), st.sampled_from(["good", "bad", "wrong", "poem", "throttled"])),
)

REPLIES: dict[str, Reply] = {
    "good": judgement(),
    "bad": judgement(0, 0, 0),
    "wrong": judgement(1, 1, 1, factual_error=True),
    "poem": "a poem",
    "throttled": Throttled("slow down"),
}


def take(agents: AutonomyWorld, example: int, step: tuple[Any, ...]) -> None:
    kind, *values = step
    if kind == "log":
        name, outcome, count, stated = values
        agents.log_many([outcome] * count, agent_id=f"{name}{example}", stated_confidence=stated)
    elif kind == "report":
        name, outcome, number = values
        log = service.read_log(agents.database, ORG, agent_id=f"{name}{example}", limit=1_000)
        if log:
            action = log[number % len(log)]
            with suppress(InvalidInput):
                service.record_outcome(
                    agents.database, ORG, action.agent_id, action.external_id, Outcome(outcome),
                    at=agents.now, now=agents.now,
                )  # fmt: skip
    elif kind == "set":
        agents.set_score(values[1], f"{values[0]}{example}")
    elif kind == "run":
        agents.run()
    elif kind == "later":
        agents.later(hours=values[0])
    else:
        agents.judge = ScriptedChatModel(lambda request: REPLIES[values[0]])


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(steps, min_size=3, max_size=14))
def test_a_score_always_equals_the_replay_of_its_audit_record(
    agents: AutonomyWorld, history: list[tuple[Any, ...]]
) -> None:
    agents.logged += 1
    example = agents.logged
    for step in history:
        before = {row[0]: row[1:] for row in agents.rows("select agent_id, score, scorings_used from autonomy_agents")}
        take(agents, example, step)
        agents.check()
        rows = agents.rows("select agent_id, score, scorings_used from autonomy_agents")
        if step[0] == "run":
            for name, score, used in rows:
                old, old_used = before[name]
                assert abs(score - old) <= 5
                assert score == old or used > old_used  # never without news


def test_a_thousand_actions_by_agents_of_known_quality_bring_each_to_its_band(agents: AutonomyWorld) -> None:
    qualities = {"ada": 0.97, "bo": 0.85, "cy": 0.75, "di": 0.65, "ed": 0.40}
    chance = random.Random(7)

    def judge(request: ChatRequest) -> Reply:
        good = int("well" in request.passages[0].text)
        return judgement(good, good, good)

    agents.judge = ScriptedChatModel(judge)
    for _ in range(20):
        for name, quality in qualities.items():
            good = [chance.random() < quality for _ in range(50)]
            # Where an outcome decides the flags itself, one that is all good or all bad.
            decided = ["approved" for one in good[:45] if one]
            judged = [one for one in good if one][len(decided) :] + [one for one in good if not one]
            agents.log_many(decided, agent_id=name)
            for one in judged:
                summary = "It went well." if one else "It went wrong."
                agents.log(agents.action("success" if one else "failure", agent_id=name, summary=summary))
        agents.run()
        agents.later(days=5)
        agents.check()
    agents.now += timedelta(days=1)
    scores = {name: agents.score(name) for name in qualities}
    assert sorted(scores, key=lambda name: scores[name], reverse=True) == list(qualities)
    assert [band(score) for score in scores.values()] == [
        Band.FULL,
        Band.SPOT_CHECK,
        Band.APPROVAL_REQUIRED,
        Band.DRAFT_ONLY,
        Band.RESTRICTED,
    ]
    assert all(agents.agent(name).scorings == 1_000 for name in qualities)
