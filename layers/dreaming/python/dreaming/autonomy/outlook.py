"""What would change a score, in sentences for people."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from dreaming.autonomy.records import Agent, Evidence
from dreaming.autonomy.rules import (
    MAX_OVERCONFIDENCE,
    Assessment,
    Block,
    BlockKind,
    Policy,
    good_actions_to_unblock,
    rise_blocks,
)


def next_step(agent: Agent, assessment: Assessment, now: datetime) -> str:
    """Say what the next run does to the score, or what it waits for."""
    kinds = {block.kind for block in assessment.blocks}
    if assessment.adjustment:
        return f"the next run moves it by {assessment.adjustment:+d}, to {agent.score + assessment.adjustment}"
    if not assessment.wanted and BlockKind.TOO_FEW_ACTIONS not in kinds:
        return "it is where the evidence is"
    if kinds == {BlockKind.NO_NEWS} and not (assessment.wanted > 0 and rise_blocks(assessment, now)):
        step = f"{assessment.wanted:+d}, to {agent.score + assessment.wanted}"
        return f"it waits for news: after one more scored action, a run moves it by about {step}"
    return "it stays"


def outlook(assessment: Assessment, evidence: Evidence, policy: Policy, now: datetime) -> list[str]:
    """Return what would move the score or let it move, the most pressing first."""
    blocks = list(assessment.blocks)
    if assessment.wanted > 0:
        known = {block.kind for block in blocks}
        blocks += [block for block in rise_blocks(assessment, now) if block.kind not in known]
    found = [_ends(block, assessment, evidence, policy) for block in blocks]
    return [*(sentence for sentence in found if sentence), *_costs(assessment)]


def _ends(block: Block, assessment: Assessment, evidence: Evidence, policy: Policy) -> str:
    until = block.until.strftime("%Y-%m-%d %H:%M UTC") if block.until else ""
    match block.kind:
        case BlockKind.TOO_FEW_ACTIONS:
            missing = policy.min_actions - assessment.capability.actions
            return f"{missing} more scored {'action' if missing == 1 else 'actions'}: then the evidence counts"
        case BlockKind.NO_NEWS:
            return "one more scored action: evidence that was used once moves nothing again"
        case BlockKind.COOL_DOWN:
            return f"time: what a person has set stays until {until}"
        case BlockKind.ERROR_RATE:
            needed = good_actions_to_unblock(assessment.error_rate, evidence.actions)
            return f"{needed} competent {'action' if needed == 1 else 'actions'} in a row, and it may rise again"
        case BlockKind.FACTUAL_ERROR:
            return f"no further factual error until {until}, and it may rise again"
        case BlockKind.OVERCONFIDENCE:
            most = assessment.calibration.succeeded + MAX_OVERCONFIDENCE
            return f"saying at most {most:.2f} on average, or succeeding more often, and it may rise again"


def _costs(assessment: Assessment) -> Iterator[str]:
    """Yield what each dimension keeps from the full score, the costliest first."""
    costs = [
        (100 * one.weight * (1 - one.value), one) for one in assessment.capability.dimensions if one.value is not None
    ]
    for points, one in sorted(costs, key=lambda cost: -cost[0]):
        if points >= 1:
            yield f"better {one.name}: it costs {points:.0f} of 100 points, with {one.good} of {one.actions} good"
