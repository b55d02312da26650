"""What the API answers about agents, settings, erasure, and how the passes go; as in `records`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class Health:
    """The service runs."""

    status: str
    version: str


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """How many notes stopped counting."""

    withdrawn: int


@dataclass(frozen=True, slots=True)
class Retried:
    """How many wait again."""

    retried: int


@dataclass(frozen=True, slots=True)
class BeliefGroup:
    """How many live beliefs of a kind share a tenth of aged confidence (0..9) and a band of ages."""

    kind: str
    tenth: int
    age_from_days: int
    beliefs: int


@dataclass(frozen=True, slots=True)
class BeliefSummary:
    """How the beliefs of a slice are spread; empty groups are left out."""

    at: datetime
    groups: tuple[BeliefGroup, ...]


@dataclass(frozen=True, slots=True)
class FadingBelief:
    """A belief that will fade; `archived_from` is the earliest moment at which a pass may archive it."""

    belief_id: str
    kind: str
    statement: str
    importance: str
    confidence: float
    aged: float
    fades_at: datetime
    archived_from: datetime
    warns: bool
    warned_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class FadingWeek:
    """How many beliefs fade from `start` on, for seven days."""

    start: datetime
    beliefs: int


@dataclass(frozen=True, slots=True)
class Forecast:
    """What fades in the next 12 weeks; `faded` wait for the next pass already."""

    at: datetime
    ageing: int
    faded: int
    weeks: tuple[FadingWeek, ...]
    next_ones: tuple[FadingBelief, ...]


@dataclass(frozen=True, slots=True)
class PassDay:
    """What the runs of a pass that started on one UTC day came to."""

    pass_name: str = field(metadata={"name": "pass"})
    day: date
    runs: int
    running: int
    drained: int
    held: int
    stalled: int
    stopped: int
    replaced: int
    notes_consolidated: int
    notes_retired: int
    beliefs_created: int
    beliefs_archived: int
    model_calls: int


@dataclass(frozen=True, slots=True)
class HeldPass:
    """A pass that does not go on in a slice, and what a person does about it."""

    pass_name: str = field(metadata={"name": "pass"})
    slice_id: int
    scope: str
    reason: str
    remedy: str = ""
    owner_user_id: str | None = None
    detail: str | None = None
    since: datetime | None = None
    setting: str | None = None


@dataclass(frozen=True, slots=True)
class Timeline:
    """The runs of every pass by day, days without one left out, and what is held now."""

    first: date
    last: date
    days: tuple[PassDay, ...]
    held: tuple[HeldPass, ...]


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent's score and band, what its evidence comes to, and what keeps the score from moving."""

    agent_id: str
    score: int
    band: str
    actions_scored: int
    actions_waiting: int
    actions_dead: int
    blocks: tuple[str, ...]
    capability: float | None = None


@dataclass(frozen=True, slots=True)
class ScoreChange:
    """An entry of an agent's audit record."""

    change_no: int
    happened_at: datetime
    action: str
    old_score: int
    new_score: int
    reason: str
    actor: str
    evidence: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class AgentHistory:
    """How an agent's score came about: its latest changes, the latest first."""

    agent: Agent
    changes: tuple[ScoreChange, ...]


@dataclass(frozen=True, slots=True)
class Action:
    """A logged action and where it stands on its way to being evidence."""

    action_id: str
    agent_id: str
    external_id: str
    tool: str
    summary: str
    risk: str
    acted_at: datetime
    outcome: str
    outcome_at: datetime
    scoring: str
    stated_confidence: float | None = None
    conversation_id: str | None = None
    judged_by: str | None = None
    scored_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class DeadAction:
    """An action that the judge could not score, and why."""

    action: Action
    reason: str
    attempts: int
    first_unreadable_at: datetime
    dead_at: datetime


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One change: who changed what, when, from and to; None stands for the default."""

    audit_id: int
    happened_at: datetime
    actor: str
    action: str
    subject: str
    old_value: Any = None
    new_value: Any = None


@dataclass(frozen=True, slots=True)
class Erased:
    """What was erased, in rows by table; call again, as a new call, when it is not `complete`."""

    deleted: Mapping[str, Any]
    rewritten: Mapping[str, Any]
    tombstones: int
    complete: bool


@dataclass(frozen=True, slots=True)
class Lifted:
    """How many erased notes may come in again."""

    lifted: int


@dataclass(frozen=True, slots=True)
class ExportRecord:
    """One row as it is stored, and the table it is of."""

    record: str
    row: Mapping[str, Any]
