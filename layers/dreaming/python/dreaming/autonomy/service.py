"""What agents' runtimes and people do: log actions, report outcomes, ask for permission, set and read a score."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from dreaming.autonomy import store
from dreaming.autonomy.records import (
    Action,
    Agent,
    Band,
    ChangeKind,
    DeadLetter,
    Evidence,
    IncomingAction,
    LogCounts,
    Outcome,
    Permission,
    Risk,
    ScoreChange,
    Scoring,
)
from dreaming.autonomy.rules import FLOORS, START_SCORE, Assessment, Policy, assess, band, next_outcomes
from dreaming.database import Database, Role, Transaction
from dreaming.errors import InvalidInput, NotFound
from dreaming.identifiers import NewId
from dreaming.notes.cleaning import clean
from dreaming.notes.records import SliceKey, Tenant
from dreaming.notes.store import create_slice
from dreaming.passes.records import AUTONOMY
from dreaming.passes.store import make_due
from dreaming.settings.resolution import Settings

MAX_ACTIONS = 1_000
"""How many actions one call may log."""

MAX_REASON_LENGTH = 2_000
MAX_ACTOR_LENGTH = 200
_MAX_AGENT_LENGTH = 200
_MAX_EXTERNAL_ID_LENGTH = 512
_MAX_PAGE = 1_000

_EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)

_CLOCK_SKEW = timedelta(minutes=5)
"""How far ahead of ours a caller's clock may be; a time that is no further ahead counts as now."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Standing:
    """An agent's score as of now, what its evidence asks of it, and how it came about."""

    agent: Agent
    band: Band
    assessment: Assessment
    evidence: Evidence
    outcomes: tuple[tuple[Outcome, Scoring, int], ...]
    changes: tuple[ScoreChange, ...]

    def count(self, scoring: Scoring) -> int:
        """Return how many logged actions are in a state of scoring."""
        return sum(count for _, state, count in self.outcomes if state is scoring)


def policy(settings: Settings) -> Policy:
    """Return how fast the organization lets evidence age and scores move."""
    return Policy(
        half_life=timedelta(days=settings.number("autonomy_half_life_days")),
        min_actions=settings.integer("autonomy_min_actions"),
        max_step=settings.integer("autonomy_max_step"),
        cool_down=timedelta(days=settings.number("autonomy_cool_down_days")),
    )


def log_actions(
    database: Database, org_id: str, actions: Sequence[IncomingAction], *, now: datetime, new_id: NewId
) -> LogCounts:
    """Log actions, all or none; those with an outcome wait to be scored.

    An action that is logged already stays as it is. Another outcome of it is recorded when
    `outcome_at` says that it is the later one, so that a message may arrive twice and in any order.

    Raises:
        InvalidInput: too many actions, a time in the future, an external id that names a different
            action already, or an outcome that cannot follow the one there is.
    """
    if len(actions) > MAX_ACTIONS:
        raise InvalidInput("actions", f"are {len(actions)}", f"log at most {MAX_ACTIONS} at once")
    checked = []
    for number, action in enumerate(actions):
        with _of(number):
            checked.append(_timely(action, now))
    if not checked:
        return LogCounts()
    with database.transaction(Tenant(org_id)) as tx:
        slice_ = create_slice(tx, SliceKey(org_id))
        store.lock_agents(tx, org_id, [action.agent_id for action in checked], now=now)
        counts = LogCounts()
        for distinct in _rounds(list(enumerate(checked))):
            counts = _log_distinct(tx, org_id, distinct, counts, now=now, new_id=new_id)
        if counts.logged or counts.changed:
            make_due(tx, slice_.slice_id, AUTONOMY, now)
    return counts


def record_outcome(
    database: Database, org_id: str, agent_id: str, external_id: str, outcome: Outcome, *, at: datetime, now: datetime
) -> bool:
    """Record what became of an action at `at`; False when that is known, or something later is.

    Raises:
        InvalidInput: no such action, a time in the future, or an outcome that cannot follow the one there is.
    """
    name = (_named("agent", agent_id, _MAX_AGENT_LENGTH), _named("external_id", external_id, _MAX_EXTERNAL_ID_LENGTH))
    at = _past("outcome_at", at, now)
    with database.transaction(Tenant(org_id)) as tx:
        slice_ = create_slice(tx, SliceKey(org_id))
        # Not locked before it is known to exist: a mistyped name must not become an agent.
        if name not in store.find_actions(tx, org_id, [name]):
            remedy = "log the action first, or list those that are logged"
            raise InvalidInput("external_id", f"{name[0]} has no action {name[1][:60]!r}", remedy)
        store.lock_agents(tx, org_id, [name[0]], now=now)
        stored = store.find_actions(tx, org_id, [name])[name]
        if not _is_news(stored, outcome, at):
            return False
        store.change_outcomes(tx, org_id, [store.NewOutcome(stored.action_id, outcome, at)], now=now)
        make_due(tx, slice_.slice_id, AUTONOMY, now)
    return True


def set_score(
    database: Database,
    org_id: str,
    agent_id: str,
    score: int,
    *,
    reason: str,
    actor: str,
    now: datetime,
    new: bool = False,
) -> ScoreChange:
    """Set an agent's score by hand, with a reason; evidence moves it again after the cool-down.

    `new` lets an agent be set that has no record yet: without it, a mistyped name must not leave the
    one that was meant as it is.

    Raises:
        InvalidInput: a score outside 0..100, no reason, no actor, or an agent without a record.
    """
    agent_id = _named("agent", agent_id, _MAX_AGENT_LENGTH)
    if not 0 <= score <= 100:
        raise InvalidInput("score", f"is {str(score)[:60]}", "use a whole number from 0 to 100")
    reason = _named("reason", reason, MAX_REASON_LENGTH)
    actor = _named("actor", actor, MAX_ACTOR_LENGTH)
    with database.transaction(Tenant(org_id)) as tx:
        slice_ = create_slice(tx, SliceKey(org_id))
        if not new and not store.read_agents(tx, org_id, [agent_id]):
            raise NotFound("agent", f"{agent_id[:60]!r} has no record", "check the name, or say that it is `new`")
        agent = store.lock_agents(tx, org_id, [agent_id], now=now)[agent_id]
        store.change_score(
            tx,
            org_id,
            agent,
            score,
            kind=ChangeKind.SET,
            reason=reason,
            actor=actor,
            evidence={},
            now=now,
            # The pass then finds out when the cool-down ends.
            consider_at=now if agent.has_news else None,
        )
        if agent.has_news:
            make_due(tx, slice_.slice_id, AUTONOMY, now)
    return ScoreChange(agent_id, agent.changes + 1, now, ChangeKind.SET, agent.score, score, reason, actor, {})


def may_act(database: Database, org_id: str, agent_id: str, risk: Risk, *, role: Role = Role.WORKER) -> Permission:
    """Tell whether an agent may do an action of a risk now; an agent without any record has the starting score.

    The answer is no, with the reason, when the score cannot be read, whatever the risk.

    Raises:
        InvalidInput: the agent's name is none.
    """
    agent_id = _named("agent", agent_id, _MAX_AGENT_LENGTH)
    floor = FLOORS[risk]
    try:
        with database.transaction(Tenant(org_id), role=role) as tx:
            found = store.read_agents(tx, org_id, [agent_id])
    except InvalidInput:
        raise
    except Exception as error:  # noqa: BLE001 - whatever fails, the answer is no
        _log.warning("autonomy score unreadable", extra={"exception_name": type(error).__name__})
        return Permission(False, f"the score cannot be read ({type(error).__name__})", agent_id, risk, floor)
    score = found[0].score if found else START_SCORE
    allowed = score >= floor
    reason = f"{risk} risk needs {floor}, the score is {score}" + ("" if found else ", where every agent starts")
    return Permission(allowed, reason, agent_id, risk, floor, score, band(score))


def read_standings(
    database: Database,
    org_id: str,
    settings: Settings,
    *,
    agent_id: str | None = None,
    now: datetime,
    after: str | None = None,
    limit: int | None = None,
    changes: int | None = None,
    before: int | None = None,
) -> list[Standing]:
    """Return how each of the organization's agents stands, by id, or the one that is named.

    Up to `limit` of them, and those that follow the agent `after`. The one that is named comes with its changes in
    order, or with the latest `changes` of them, those `before` a change's number.

    Raises:
        InvalidInput: there is no agent of that name.
    """
    agent_id = None if agent_id is None else _named("agent", agent_id, _MAX_AGENT_LENGTH)
    with database.transaction(Tenant(org_id)) as tx:
        agents = store.read_agents(tx, org_id, None if agent_id is None else [agent_id], after=after, limit=limit)
        if agent_id is not None and not agents:
            raise NotFound("agent", f"{agent_id[:60]!r} has no record", "list those that have one")
        ids = [agent.agent_id for agent in agents]
        evidence = store.read_evidence(tx, org_id, ids)
        counts = store.count_outcomes(tx, org_id, ids)
        found = [] if agent_id is None else store.read_changes(tx, org_id, agent_id, limit=changes, before=before)
    return [
        Standing(
            agent,
            band(agent.score),
            assess(agent, evidence[agent.agent_id], policy(settings), now=now),
            evidence[agent.agent_id],
            tuple((outcome, scoring, count) for who, outcome, scoring, count in counts if who == agent.agent_id),
            tuple(found),
        )
        for agent in agents
    ]


def read_log(
    database: Database,
    org_id: str,
    *,
    agent_id: str | None = None,
    scoring: Scoring | None = None,
    limit: int = 50,
    after: tuple[datetime, UUID] | None = None,
) -> list[Action]:
    """Return logged actions, the latest first; `after` an action, given by when it was taken and its id."""
    agent_id = None if agent_id is None else _named("agent", agent_id, _MAX_AGENT_LENGTH)
    with database.transaction(Tenant(org_id)) as tx:
        return store.read_actions(tx, org_id, agent_id=agent_id, scoring=scoring, limit=_page(limit), after=after)


def read_dead_letters(
    database: Database,
    org_id: str,
    *,
    agent_id: str | None = None,
    limit: int = 50,
    after: tuple[datetime, UUID] | None = None,
) -> list[DeadLetter]:
    """Return the actions that the judge could not score, the latest given up first; `after` one, by time and id."""
    agent_id = None if agent_id is None else _named("agent", agent_id, _MAX_AGENT_LENGTH)
    with database.transaction(Tenant(org_id)) as tx:
        return store.read_dead_letters(tx, org_id, agent_id=agent_id, limit=_page(limit), after=after)


def retry_dead_letters(database: Database, org_id: str, action_ids: Sequence[UUID] | None, *, now: datetime) -> int:
    """Let dead-lettered actions, or all of them, be judged again; return how many were."""
    with database.transaction(Tenant(org_id)) as tx:
        slice_ = create_slice(tx, SliceKey(org_id))
        dead = store.read_dead_letters(tx, org_id, agent_id=None, limit=None)
        chosen = [one.action for one in dead if action_ids is None or one.action.action_id in set(action_ids)]
        store.lock_agents(tx, org_id, [action.agent_id for action in chosen], now=now)
        count = store.retry_dead_letters(tx, org_id, [action.action_id for action in chosen], now=now)
        if count:
            make_due(tx, slice_.slice_id, AUTONOMY, now)
    return count


def _log_distinct(
    tx: Transaction, org_id: str, actions: Sequence[Numbered], counts: LogCounts, *, now: datetime, new_id: NewId
) -> LogCounts:
    """Log actions of which no two have one name, and add to the counts."""
    known = store.find_actions(tx, org_id, [(action.agent_id, action.external_id) for _, action in actions])
    new: list[tuple[UUID, IncomingAction]] = []
    changed: list[store.NewOutcome] = []
    for number, action in actions:
        stored = known.get((action.agent_id, action.external_id))
        if stored is None:
            new.append((new_id(), action))
            continue
        with _of(number):
            _require_same(stored, action)
            if action.outcome_at is not None and _is_news(stored, action.outcome, action.outcome_at):
                changed.append(store.NewOutcome(stored.action_id, action.outcome, action.outcome_at))
    if new:
        store.insert_actions(tx, org_id, new, now=now)
    if changed:
        store.change_outcomes(tx, org_id, changed, now=now)
    return LogCounts(
        counts.logged + len(new),
        counts.changed + len(changed),
        counts.unchanged + len(actions) - len(new) - len(changed),
    )


Numbered = tuple[int, IncomingAction]
"""An action and its place among those that were sent."""


@contextmanager
def _of(number: int) -> Iterator[None]:
    """Let what is wrong with an action name the action by its place."""
    try:
        yield
    except InvalidInput as error:
        raise InvalidInput(f"actions.{number}.{error.field}", error.problem, error.remedy) from error


def _rounds(actions: Sequence[Numbered]) -> Iterator[list[Numbered]]:
    """Yield the actions in groups of which no two members have one name, those of one name in order."""
    rounds: list[list[Numbered]] = []
    seen: dict[tuple[str, str], int] = {}
    for number, action in actions:
        name = (action.agent_id, action.external_id)
        place = seen[name] = seen.get(name, -1) + 1
        if place == len(rounds):
            rounds.append([])
        rounds[place].append((number, action))
    yield from rounds


def _require_same(stored: Action, action: IncomingAction) -> None:
    same = (stored.tool, stored.summary, stored.risk, stored.stated_confidence) == (
        *(action.tool, action.summary, action.risk, action.stated_confidence),
    )
    if not same:
        problem = f"{action.external_id[:60]!r} names a different action of {action.agent_id[:60]!r} already"
        raise InvalidInput("external_id", problem, "give each action an id of its own")


def _is_news(stored: Action, outcome: Outcome, at: datetime) -> bool:
    """Tell whether an outcome changes the stored action's; a repeated or overtaken report does not.

    Raises:
        InvalidInput: the outcome cannot follow the one there is.
    """
    if outcome in (stored.outcome, Outcome.PENDING):
        return False
    if stored.outcome is not Outcome.PENDING and at <= stored.outcome_at:
        return False
    following = next_outcomes(stored.outcome)
    if outcome not in following:
        remedy = f"what may follow is {', '.join(sorted(following))}"
        raise InvalidInput("outcome", f"{outcome} cannot follow {stored.outcome}", remedy)
    return True


def _timely(action: IncomingAction, now: datetime) -> IncomingAction:
    times = {name: getattr(action, name) for name in ("acted_at", "outcome_at", "approval_requested_at")}
    return action.model_copy(update={name: _past(name, at, now) for name, at in times.items() if at is not None})


def _past(field: str, at: datetime, now: datetime) -> datetime:
    if at.tzinfo is None:
        raise InvalidInput(field, "has no offset from UTC", "write it like 2026-03-01T12:00:00+00:00")
    if at < _EARLIEST:
        raise InvalidInput(field, f"{at.isoformat()} is before {_EARLIEST.year}", "give the time at which it happened")
    if at > now + _CLOCK_SKEW:
        raise InvalidInput(field, f"{at.isoformat()} is in the future", "give the time at which it happened")
    return min(at, now)


def _named(field: str, value: str, longest: int) -> str:
    name = clean(value)
    if not 1 <= len(name) <= longest or not name.strip():
        raise InvalidInput(field, "is empty" if not name.strip() else "is too long", f"use 1 to {longest} characters")
    return name


def _page(limit: int) -> int:
    if not 1 <= limit <= _MAX_PAGE:
        raise InvalidInput("limit", f"is {limit}", f"use 1 to {_MAX_PAGE}")
    return limit
