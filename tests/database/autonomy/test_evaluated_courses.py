"""What `dream evaluate autonomy` simulates is what the pass does: the same actions give the same scores."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from dreaming.autonomy.rules import Policy
from dreaming.database import Database
from dreaming.local.evaluation.agents import KnownAgent, simulated
from dreaming.local.evaluation.autonomy import JudgeRow, follow
from dreaming.models.protocols import ChatRequest
from dreaming.models.scripted import Reply
from tests.autonomy_world import open_autonomy_world

ACTIONS = 70


def test_the_pass_gives_simulated_agents_the_scores_of_the_evaluation(database: Database, tmp_path: Path) -> None:
    agents = simulated(ACTIONS, seeds=1, qualities=[0.5, 0.75, 0.93])
    world = open_autonomy_world(database, tmp_path, judge_of(agents), now=agents[0].actions[0].acted_at)
    courses: dict[str, list[tuple[int, int]]] = {agent.name: [] for agent in agents}
    for day in range(ACTIONS // 10):
        start = datetime(2026, 1, 5, tzinfo=UTC) + timedelta(days=day)
        world.now = start + timedelta(days=1)
        for agent in agents:
            world.log(
                *(
                    world.action(
                        action.outcome,
                        agent_id=agent.name,
                        summary=f"{agent.name} {place}",
                        acted_at=action.acted_at,
                        stated_confidence=action.stated_confidence,
                    )
                    for place, action in enumerate(agent.actions)
                    if start <= action.acted_at < world.now
                )
            )
        world.run()
        for agent in agents:
            courses[agent.name].append((10 * (day + 1), world.score(agent.name)))
    followed = follow(agents, JudgeRow.RIGHT, Policy())
    assert {course.agent.name: list(course.scores) for course in followed} == courses
    assert len({course.scores[-1] for course in followed}) == len(agents)


def judge_of(agents: list[KnownAgent]) -> object:
    """A judge that knows what each action was worth, by what its summary names."""
    known = {f"{agent.name} {place}": action for agent in agents for place, action in enumerate(agent.actions)}

    def judge(request: ChatRequest) -> Reply:
        named = max((name for name in known if name in request.content), key=len)
        flags = known[named].flags
        return json.dumps(
            {
                "competence": flags.competence,
                "commitment": flags.commitment,
                "compatibility": flags.compatibility,
                "factual_error": flags.factual_error,
            }
        )

    return judge
