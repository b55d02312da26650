"""The autonomy pass: outcomes become flags, and scores move towards the evidence, one step a run."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from pydantic import JsonValue

from dreaming.autonomy import store as autonomy_store
from dreaming.autonomy.records import Action, Agent, ChangeKind
from dreaming.autonomy.rules import Assessment, Policy, assess, outcome_flags, rounded_score
from dreaming.autonomy.service import policy
from dreaming.database import Database, Transaction
from dreaming.errors import InvalidInput, Misconfigured, ProviderMisconfigured
from dreaming.models.protocols import ChatModel
from dreaming.notes.records import Scope, Slice
from dreaming.passes import store as passes_store
from dreaming.passes.autonomy import store
from dreaming.passes.autonomy.judge import Judge, Judgements, Result, why_no_judge
from dreaming.passes.autonomy.rules import gives_up, next_try
from dreaming.passes.calls import store as calls_store
from dreaming.passes.calls.limits import call_limits
from dreaming.passes.records import AUTONOMY, BatchOutcome, Clock, Deadline, Lease
from dreaming.settings.resolution import Settings
from dreaming.settings.store import read_enrolment

BATCH_DECIDED = 500
"""How many actions whose outcome decides their flags one invocation scores."""

BATCH_JUDGED = 20
"""How many actions one invocation asks the judge about."""

BATCH_AGENTS = 50
"""How many agents' evidence one invocation looks at."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Batch:
    """What an invocation scores: actions that their outcome decides, and those for the judge, where there is one."""

    decided: list[Action]
    judged: list[Action]
    has_judge: bool


@dataclass(frozen=True, slots=True)
class Autonomy:
    """The pass, with its ports: `chat_model` builds an organization's model from its settings."""

    database: Database
    chat_model: Callable[[Settings, str], ChatModel]
    clock: Clock

    @property
    def name(self) -> str:
        """The pass's name."""
        return AUTONOMY

    def due(
        self,
        planner: Transaction,
        settings: Settings,  # noqa: ARG002 - the same for every organization
        *,
        now: datetime,
        stalled_after: timedelta,
        only: int | None,
    ) -> Sequence[Slice]:
        """Return the slices of scope `org` whose organizations have actions to score or evidence to look at."""
        found = passes_store.slices_due(planner, AUTONOMY, now=now, stalled_after=stalled_after, only=only)
        # Another slice asked for by id must not become a second lease on the same agents.
        return [one for one in found if one.key.scope is Scope.ORG]

    def run_batch(self, lease: Lease, settings: Settings, deadline: Deadline) -> BatchOutcome:
        """Score the next actions; when none is left, move the scores of agents with news."""
        batch = self._read(lease, settings)
        judgements, model = self._judge(lease, settings, batch, deadline)
        return self._apply(lease, settings, batch, judgements, model)

    def _judge(self, lease: Lease, settings: Settings, batch: _Batch, deadline: Deadline) -> tuple[Judgements, str]:
        """Return the judgements of the batch and the judge's name."""
        if not batch.judged:
            return Judgements(), ""
        try:
            model = self.chat_model(settings, lease.slice.key.org_id)
        except (Misconfigured, InvalidInput) as error:
            # What needs no judge goes on; a person must correct the setting for the rest.
            return Judgements(hold=ProviderMisconfigured(str(error))), ""
        judge = Judge(
            database=self.database,
            model=model,
            lease=lease,
            limits=call_limits(settings),
            deadline=deadline,
            clock=self.clock,
        )
        return judge.judge(batch.judged), model.name

    def _read(self, lease: Lease, settings: Settings) -> _Batch:
        org_id = lease.slice.key.org_id
        now = self.clock()
        with self.database.transaction(lease.slice.key.tenant) as tx:
            passes_store.require_lease(tx, lease)
            has_judge = why_no_judge(settings, read_enrolment(tx, org_id)) is None
            decided = store.waiting(tx, org_id, judged=False, now=now, limit=BATCH_DECIDED)
            judged = store.waiting(tx, org_id, judged=True, now=now, limit=BATCH_JUDGED) if has_judge else []
        return _Batch(decided, judged, has_judge)

    def _apply(
        self, lease: Lease, settings: Settings, batch: _Batch, judgements: Judgements, model: str
    ) -> BatchOutcome:
        """Write all effects of the batch in one transaction with the due time and the run."""
        org_id = lease.slice.key.org_id
        now = self.clock()
        with self.database.transaction(lease.slice.key.tenant) as tx:
            # All agents that this batch may touch are locked at once, in the order that loggers lock them.
            touched = {action.agent_id for action in (*batch.decided, *batch.judged)}
            touched.update(store.agents_to_consider(tx, org_id, run_id=lease.run_id, now=now, limit=BATCH_AGENTS))
            autonomy_store.lock_agents(tx, org_id, touched, now=now)
            counts = self._score(tx, org_id, batch, judgements, model, now=now)
            dead = store.write_unreadable(
                tx, org_id, [_unreadable(one, now) for one in judgements.results if one.unreadable], now=now
            )
            store.put_last(tx, org_id, [one.action for one in judgements.results if one.failure], now=now)
            counts["actions_dead"] = len(dead)
            left = self._actions_left(tx, org_id, batch, now=now)
            progressed = bool(counts["actions_scored"] or counts["judgements_unreadable"])
            held = judgements.hold
            if held is not None or not (left and progressed):
                # The run's last batch, or one of its last: what could be scored is.
                considered = _consider_agents(tx, lease, touched, policy(settings), now=now, counts=counts)
                progressed = progressed or considered > 0
                left = left or bool(
                    store.agents_to_consider(tx, org_id, run_id=lease.run_id, now=now, limit=1) and considered
                )
            outcome = BatchOutcome(
                progressed=progressed,
                remaining=left,
                held=held.reason if held else None,
                held_detail=str(held) if held else None,
                counts=dict(counts),
            )
            self._book(tx, org_id, judgements, model, now=now)
            _set_next_due(tx, lease)
            passes_store.commit_batch(tx, lease, outcome, now=now)
        for action_id in dead:
            _log.error("action given up", extra={"action_id": str(action_id), "run_id": str(lease.run_id)})
        return outcome

    def _score(
        self, tx: Transaction, org_id: str, batch: _Batch, judgements: Judgements, model: str, *, now: datetime
    ) -> Counter[str]:
        scores = [
            store.Score(action, flags)
            for action in batch.decided
            if (flags := outcome_flags(action.outcome)) is not None
        ]
        judged = [store.Score(one.action, one.flags, model) for one in judgements.results if one.flags is not None]
        return Counter(
            {
                "actions_scored": store.write_scores(tx, org_id, [*scores, *judged], now=now),
                "actions_judged": len(judged),
                "judgements_unreadable": sum(one.unreadable is not None for one in judgements.results),
                "model_calls": judgements.calls,
                "input_tokens": judgements.input_tokens,
                "output_tokens": judgements.output_tokens,
            }
        )

    def _actions_left(self, tx: Transaction, org_id: str, batch: _Batch, *, now: datetime) -> bool:
        """Tell whether actions wait that this run can still score."""
        kinds = (False, True) if batch.has_judge else (False,)
        return any(store.waiting(tx, org_id, judged=judged, now=now, limit=1) for judged in kinds)

    def _book(self, tx: Transaction, org_id: str, judgements: Judgements, model: str, *, now: datetime) -> None:
        """Record what the calls cost, and give back what was booked and not used."""
        if judgements.booked:
            calls_store.add_usage(
                tx,
                org_id,
                AUTONOMY,
                model,
                day=now,
                calls=judgements.calls - judgements.booked,
                failed_calls=sum(one.made and one.flags is None for one in judgements.results),
                input_tokens=judgements.input_tokens,
                output_tokens=judgements.output_tokens,
            )


def _consider_agents(
    tx: Transaction,
    lease: Lease,
    locked: set[str],
    given: Policy,
    *,
    now: datetime,
    counts: Counter[str],
) -> int:
    """Move the scores of locked agents whose evidence is to be looked at; return how many were looked at."""
    org_id = lease.slice.key.org_id
    waiting = store.agents_to_consider(tx, org_id, run_id=lease.run_id, now=now, limit=len(locked) + BATCH_AGENTS)
    chosen = [agent_id for agent_id in waiting if agent_id in locked][:BATCH_AGENTS]
    if not chosen:
        return 0
    evidence = autonomy_store.read_evidence(tx, org_id, chosen)
    settled: list[str] = []
    later: dict[str, datetime | None] = {}
    for agent in autonomy_store.read_agents(tx, org_id, chosen):
        assessment = assess(agent, evidence[agent.agent_id], given, now=now)
        if assessment.adjustment:
            _adjust(tx, org_id, agent, assessment, given, run_id=lease.run_id, now=now)
            counts["agents_adjusted"] += 1
        elif assessment.blocks:
            later[agent.agent_id] = assessment.look_again_at
            counts["agents_blocked"] += 1
        else:
            settled.append(agent.agent_id)
    store.use_up_news(tx, org_id, settled)
    store.consider_later(tx, org_id, later)
    return len(chosen)


def _adjust(
    tx: Transaction,
    org_id: str,
    agent: Agent,
    assessment: Assessment,
    given: Policy,
    *,
    run_id: UUID,
    now: datetime,
) -> None:
    capability = assessment.capability
    evidence: dict[str, JsonValue] = {
        "capability": capability.value,
        "actions": capability.actions,
        "dimensions": {
            one.name: {"value": one.value, "weight": one.weight, "actions": one.actions, "good": one.good}
            for one in capability.dimensions
        },
        "errors": {"errors": assessment.error_rate.errors, "actions": assessment.error_rate.actions},
        "calibration": {
            "rated": assessment.calibration.rated,
            "stated": assessment.calibration.stated,
            "succeeded": assessment.calibration.succeeded,
        },
        "factual_error_at": assessment.factual_error_at.isoformat() if assessment.factual_error_at else None,
        "scorings": agent.scorings,
        "half_life_days": given.half_life.total_seconds() / 86_400,
        "max_step": given.max_step,
    }
    target = rounded_score(capability)
    autonomy_store.change_score(
        tx,
        org_id,
        agent,
        agent.score + assessment.adjustment,
        kind=ChangeKind.ADJUSTED,
        reason=f"{capability.actions} scored actions ask for {target}, the score was {agent.score}",
        actor=AUTONOMY,
        evidence=evidence,
        now=now,
        run_id=run_id,
    )


def _set_next_due(tx: Transaction, lease: Lease) -> None:
    """Say when there is work next. The due time is locked first, so that no logger's is overwritten unseen."""
    passes_store.set_due(tx, lease.slice.slice_id, AUTONOMY, None)
    at = store.next_due(tx, lease.slice.key.org_id)
    if at is not None:
        passes_store.make_due(tx, lease.slice.slice_id, AUTONOMY, at)


def _unreadable(result: Result, now: datetime) -> store.Unreadable:
    action = result.action
    first = action.first_unreadable_at or now
    retry_at = None if gives_up(first, now) else next_try(action.attempts + 1, first, now)
    return store.Unreadable(action, str(result.unreadable), first, retry_at)
