"""Agents' actions, scores and what they may do."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from pydantic import Field, JsonValue, StrictBool, StrictFloat, StrictInt

from dreaming.api.schemas.schema import Moment, Name, Schema
from dreaming.autonomy.records import Band, ChangeKind, Outcome, Risk, Scoring

MAX_ACTIONS = 500


class NewAction(Schema):
    """An action to log; logging it again changes nothing, except that another outcome is recorded."""

    agent_id: Name = Field(min_length=1, max_length=200)
    external_id: Name = Field(min_length=1, max_length=512, description="Its name among the agent's actions.")
    tool: Name = Field(min_length=1, max_length=200)
    summary: Name = Field(max_length=4_000, description="What was done and what came of it.")
    risk: Risk
    acted_at: Moment | None = Field(default=None, description="Now by default.")
    stated_confidence: StrictFloat | None = Field(
        default=None, ge=0, le=1, description="How sure the agent said it was."
    )
    conversation_id: Name | None = Field(default=None, min_length=1, max_length=512)
    approval_requested_at: Moment | None = None
    outcome: Outcome = Outcome.PENDING
    outcome_at: Moment | None = None


class NewActions(Schema):
    """Actions to log, all or none."""

    actions: tuple[NewAction, ...] = Field(min_length=1, max_length=MAX_ACTIONS)


class Logged(Schema):
    """What logging came to."""

    logged: int
    changed: int
    unchanged: int


class Action(Schema):
    """A logged action and where it stands on its way to being evidence."""

    action_id: UUID
    agent_id: str
    external_id: str
    tool: str
    summary: str
    risk: Risk
    stated_confidence: float | None
    conversation_id: str | None
    acted_at: datetime
    outcome: Outcome
    outcome_at: datetime
    scoring: Scoring
    judged_by: str | None
    scored_at: datetime | None


class Actions(Schema):
    """Some logged actions, the latest first."""

    actions: tuple[Action, ...]
    next_cursor: str | None


class DeadAction(Schema):
    """An action that the judge could not score, and why."""

    action: Action
    reason: str
    attempts: int
    first_unreadable_at: datetime
    dead_at: datetime


class DeadActions(Schema):
    """Actions that were given up, the latest first; they count for nothing until they are judged."""

    actions: tuple[DeadAction, ...]
    next_cursor: str | None


class JudgeAgain(Schema):
    """Which given-up actions are to be judged again; null: all of them."""

    action_ids: tuple[UUID, ...] | None = Field(default=None, max_length=MAX_ACTIONS)


class JudgedAgain(Schema):
    """How many actions wait for the judge again; those that were not given up are left alone."""

    retried: int


class AgentReading(Schema):
    """An agent's score, its band, and what its evidence comes to."""

    agent_id: str
    score: int
    band: Band
    capability: float | None = Field(description="0..1 over the newest scored actions; null without evidence.")
    actions_scored: int
    actions_waiting: int
    actions_dead: int
    blocks: tuple[str, ...] = Field(description="What keeps the score from moving now.")


class Agents(Schema):
    """Some of the organization's agents, by name."""

    agents: tuple[AgentReading, ...]
    next_cursor: str | None


class ScoreChange(Schema):
    """An entry of an agent's audit record."""

    change_no: int
    happened_at: datetime
    action: ChangeKind
    old_score: int
    new_score: int
    reason: str
    actor: str
    evidence: dict[str, JsonValue]


class AgentHistory(Schema):
    """How an agent's score came about: some of its changes, the latest first."""

    agent: AgentReading
    changes: tuple[ScoreChange, ...]
    next_cursor: str | None


class NewScore(Schema):
    """A score set by hand."""

    score: StrictInt = Field(ge=0, le=100)
    reason: Name = Field(min_length=1, max_length=2_000)
    new: StrictBool = Field(default=False, description="The agent has no record yet.")


class Permission(Schema):
    """Whether an agent may do an action of a risk now; `score` is null when it cannot be read: then it may not."""

    allowed: bool
    reason: str
    agent_id: str
    risk: Risk
    floor: int
    score: int | None
    band: Band | None
