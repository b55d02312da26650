"""The SQL of autonomy: agents, the log of their actions, the record of changes, dead letters.

Every transaction takes its locks in one order: agents by their ids, their actions, the due time of the
organization's slice. Whoever changes an agent's score or the state of its actions locks the agent first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import DictRow, class_row, dict_row
from psycopg.types.json import Jsonb
from pydantic import JsonValue

from dreaming.autonomy.records import (
    Action,
    Agent,
    ChangeKind,
    DeadLetter,
    Evidence,
    Flags,
    IncomingAction,
    Outcome,
    Risk,
    ScoreChange,
    ScoredAction,
    Scoring,
)
from dreaming.autonomy.rules import WINDOW_ACTIONS
from dreaming.database import Transaction

_AGENT = """agent_id, score, changes, scorings, scorings_used, adjusted_run_id, manual_at, consider_at, created_at"""

ACTION_COLUMNS = """a.action_id, a.agent_id, a.external_id, a.tool, a.summary, a.risk, a.stated_confidence,
    a.conversation_id, a.acted_at, a.approval_requested_at, a.decided_at, a.outcome, a.outcome_at, a.outcome_no,
    a.scoring, a.competence, a.commitment, a.compatibility, a.factual_error, a.judged_by, a.scored_at, a.attempts,
    a.first_unreadable_at"""

_DECISIONS = ["approved", "denied", "rejected", "expired", "resolved_externally"]


@dataclass(frozen=True, slots=True)
class NewOutcome:
    """Another outcome of a logged action."""

    action_id: UUID
    outcome: Outcome
    at: datetime


def lock_agents(tx: Transaction, org_id: str, agent_ids: Iterable[str], *, now: datetime) -> dict[str, Agent]:
    """Lock agents in the order of their ids, making those that are missing, and return them."""
    ids = sorted(set(agent_ids))
    tx.execute(
        """
        insert into autonomy_agents (org_id, agent_id, created_at)
        select %s, agent_id, %s from unnest(%s::text[]) as given (agent_id) order by agent_id
        on conflict do nothing
        """,
        (org_id, now, ids),
    )
    with tx.cursor(row_factory=class_row(Agent)) as cursor:
        rows = cursor.execute(
            # References by foreign key need not wait for us, nor we for them.
            f"select {_AGENT} from autonomy_agents where org_id = %s and agent_id = any(%s) "
            "order by agent_id for no key update",
            (org_id, ids),
        ).fetchall()
    return {agent.agent_id: agent for agent in rows}


def read_agents(
    tx: Transaction,
    org_id: str,
    agent_ids: Sequence[str] | None = None,
    *,
    after: str | None = None,
    limit: int | None = None,
) -> list[Agent]:
    """Return the organization's agents by id, all of them or those named; up to `limit`, those `after` an id."""
    with tx.cursor(row_factory=class_row(Agent)) as cursor:
        return cursor.execute(
            f"select {_AGENT} from autonomy_agents where org_id = %(org)s "
            "and (%(ids)s::text[] is null or agent_id = any(%(ids)s)) "
            "and (%(after)s::text is null or agent_id > %(after)s) order by agent_id limit %(limit)s",
            {"org": org_id, "ids": None if agent_ids is None else list(agent_ids), "after": after, "limit": limit},
        ).fetchall()


def find_actions(tx: Transaction, org_id: str, names: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Action]:
    """Return what is logged of actions, by agent and external id."""
    pairs = list(names)
    with tx.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute(
            f"""
            select {ACTION_COLUMNS}
            from unnest(%s::text[], %s::text[]) as given (agent_id, external_id)
            join autonomy_actions a using (agent_id, external_id)
            where a.org_id = %s
            """,
            ([agent for agent, _ in pairs], [external for _, external in pairs], org_id),
        ).fetchall()
    return {(row["agent_id"], row["external_id"]): action_from_row(row) for row in rows}


def insert_actions(
    tx: Transaction, org_id: str, actions: Sequence[tuple[UUID, IncomingAction]], *, now: datetime
) -> None:
    """Log new actions with their ids; one whose outcome is not pending waits to be scored."""
    given = [action for _, action in actions]
    tx.execute(
        """
        insert into autonomy_actions (action_id, org_id, agent_id, external_id, tool, summary, risk, stated_confidence,
            conversation_id, acted_at, approval_requested_at, decided_at, outcome, outcome_at, logged_at, scoring,
            retry_at)
        select g.action_id, %(org)s, g.agent_id, g.external_id, g.tool, g.summary, g.risk, g.stated, g.conversation,
            g.acted_at, g.requested_at, case when g.outcome = any(%(decisions)s) then g.outcome_at end, g.outcome,
            g.outcome_at, %(now)s, case when g.outcome = 'pending' then 'none' else 'waiting' end,
            case when g.outcome <> 'pending' then %(now)s end
        from unnest(%(ids)s::uuid[], %(agents)s::text[], %(externals)s::text[], %(tools)s::text[],
                %(summaries)s::text[], %(risks)s::text[], %(stated)s::float8[], %(conversations)s::text[],
                %(acted)s::timestamptz[], %(requested)s::timestamptz[], %(outcomes)s::text[],
                %(outcome_times)s::timestamptz[])
            as g (action_id, agent_id, external_id, tool, summary, risk, stated, conversation, acted_at, requested_at,
                outcome, outcome_at)
        """,
        {
            "org": org_id,
            "now": now,
            "decisions": _DECISIONS,
            "ids": [action_id for action_id, _ in actions],
            "agents": [action.agent_id for action in given],
            "externals": [action.external_id for action in given],
            "tools": [action.tool for action in given],
            "summaries": [action.summary for action in given],
            "risks": [action.risk.value for action in given],
            "stated": [action.stated_confidence for action in given],
            "conversations": [action.conversation_id for action in given],
            "acted": [action.acted_at for action in given],
            "requested": [action.approval_requested_at for action in given],
            "outcomes": [action.outcome.value for action in given],
            "outcome_times": [_outcome_time(action, now) for action in given],
        },
    )


def _outcome_time(action: IncomingAction, now: datetime) -> datetime:
    """Return since when the action has had its outcome; whatever is reported of a pending one is newer."""
    if action.outcome is Outcome.PENDING:
        return action.acted_at
    return action.outcome_at or now


def change_outcomes(tx: Transaction, org_id: str, changes: Sequence[NewOutcome], *, now: datetime) -> None:
    """Record other outcomes: the flags of the old one are gone, and the action waits to be scored anew."""
    ids = [change.action_id for change in changes]
    tx.execute("delete from autonomy_dead_letters where org_id = %s and action_id = any(%s)", (org_id, ids))
    tx.execute(
        """
        update autonomy_actions a
        set outcome = g.outcome, outcome_at = g.at, outcome_no = a.outcome_no + 1, scoring = 'waiting',
            decided_at = case when g.outcome = any(%(decisions)s) then g.at else a.decided_at end,
            competence = null, commitment = null, compatibility = null, factual_error = false, judged_by = null,
            scored_at = null, attempts = 0, first_unreadable_at = null, retry_at = %(now)s
        from unnest(%(ids)s::uuid[], %(outcomes)s::text[], %(times)s::timestamptz[]) as g (action_id, outcome, at)
        where a.org_id = %(org)s and a.action_id = g.action_id
        """,
        {
            "org": org_id,
            "now": now,
            "decisions": _DECISIONS,
            "ids": ids,
            "outcomes": [change.outcome.value for change in changes],
            "times": [change.at for change in changes],
        },
    )


def read_evidence(tx: Transaction, org_id: str, agent_ids: Sequence[str]) -> dict[str, Evidence]:
    """Return each agent's newest scored actions and its latest factual error, in two statements."""
    rows = tx.execute(
        """
        select given.agent_id, newest.acted_at, newest.competence, newest.commitment, newest.compatibility,
               newest.factual_error, newest.stated_confidence
        from unnest(%s::text[]) as given (agent_id)
        cross join lateral (
            select * from autonomy_actions a
            where a.org_id = %s and a.agent_id = given.agent_id and a.scoring = 'scored'
            order by a.acted_at desc, a.action_id desc limit %s
        ) newest
        order by given.agent_id, newest.acted_at desc, newest.action_id desc
        """,
        (list(agent_ids), org_id, WINDOW_ACTIONS),
    ).fetchall()
    errors: dict[str, datetime] = dict(
        tx.execute(
            """
            select agent_id, max(acted_at) from autonomy_actions
            where org_id = %s and agent_id = any(%s) and factual_error group by agent_id
            """,
            (org_id, list(agent_ids)),
        ).fetchall()
    )
    actions: dict[str, list[ScoredAction]] = {agent_id: [] for agent_id in agent_ids}
    for agent_id, acted_at, *flags, stated in rows:
        actions[agent_id].append(ScoredAction(acted_at, Flags(*flags), stated))
    return {agent_id: Evidence(tuple(found), errors.get(agent_id)) for agent_id, found in actions.items()}


def change_score(
    tx: Transaction,
    org_id: str,
    agent: Agent,
    score: int,
    *,
    kind: ChangeKind,
    reason: str,
    actor: str,
    evidence: Mapping[str, JsonValue],
    now: datetime,
    run_id: UUID | None = None,
    consider_at: datetime | None = None,
) -> None:
    """Set a locked agent's score and write the entry of its audit record.

    A change by evidence uses up the news; one by a person starts the cool-down. The run that adjusts
    an agent is remembered.
    """
    manual = kind is ChangeKind.SET
    tx.execute(
        """
        insert into autonomy_audit (org_id, agent_id, change_no, happened_at, action, old_score, new_score, reason,
            actor, evidence, run_id)
        values (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
        """,
        (
            *(org_id, agent.agent_id, agent.changes + 1, now, kind.value, agent.score, score, reason, actor),
            *(Jsonb(dict(evidence)), run_id),
        ),
    )
    tx.execute(
        """
        update autonomy_agents
        set score = %(score)s, changes = changes + 1, consider_at = %(consider)s,
            manual_at = case when %(manual)s then %(now)s else manual_at end,
            scorings_used = case when %(manual)s then scorings_used else scorings end,
            adjusted_run_id = coalesce(%(run)s, adjusted_run_id)
        where org_id = %(org)s and agent_id = %(agent)s
        """,
        {
            "score": score,
            "consider": consider_at,
            "manual": manual,
            "now": now,
            "run": run_id,
            "org": org_id,
            "agent": agent.agent_id,
        },
    )


def read_changes(
    tx: Transaction, org_id: str, agent_id: str, *, limit: int | None = None, before: int | None = None
) -> list[ScoreChange]:
    """Return an agent's audit record in order, or its latest `limit` entries, those `before` a change's number."""
    rows = tx.execute(
        """
        select * from (
            select agent_id, change_no, happened_at, action, old_score, new_score, reason, actor, evidence
            from autonomy_audit where org_id = %(org)s and agent_id = %(agent)s
              and (%(before)s::int is null or change_no < %(before)s::int)
            order by change_no desc limit %(limit)s
        ) latest order by change_no
        """,
        {"org": org_id, "agent": agent_id, "before": before, "limit": limit},
    ).fetchall()
    return [
        ScoreChange(agent, number, at, ChangeKind(kind), old, new, reason, actor, evidence)
        for agent, number, at, kind, old, new, reason, actor, evidence in rows
    ]


def read_actions(
    tx: Transaction,
    org_id: str,
    *,
    agent_id: str | None,
    scoring: Scoring | None,
    limit: int,
    after: tuple[datetime, UUID] | None = None,
) -> list[Action]:
    """Return logged actions, the latest first, of one agent or all, in one state of scoring or any.

    `after`: those that follow an action, given by when it was taken and its id.
    """
    acted_at, action_id = after or (None, None)
    with tx.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute(
            f"""
            select {ACTION_COLUMNS} from autonomy_actions a
            where a.org_id = %(org)s and (%(agent)s::text is null or a.agent_id = %(agent)s)
              and (%(scoring)s::text is null or a.scoring = %(scoring)s)
              and (%(at)s::timestamptz is null or (a.acted_at, a.action_id) < (%(at)s, %(id)s::uuid))
            order by a.acted_at desc, a.action_id desc limit %(limit)s
            """,
            {
                "org": org_id,
                "agent": agent_id,
                "scoring": scoring.value if scoring else None,
                "limit": limit,
                "at": acted_at,
                "id": action_id,
            },
        ).fetchall()
    return [action_from_row(row) for row in rows]


def count_outcomes(tx: Transaction, org_id: str, agent_ids: Sequence[str]) -> list[tuple[str, Outcome, Scoring, int]]:
    """Return how many actions of each agent have each outcome and state of scoring."""
    rows = tx.execute(
        """
        select agent_id, outcome, scoring, count(*) from autonomy_actions
        where org_id = %s and agent_id = any(%s) group by agent_id, outcome, scoring order by agent_id, outcome, scoring
        """,
        (org_id, list(agent_ids)),
    ).fetchall()
    return [(row[0], Outcome(row[1]), Scoring(row[2]), row[3]) for row in rows]


def read_dead_letters(
    tx: Transaction, org_id: str, *, agent_id: str | None, limit: int | None, after: tuple[datetime, UUID] | None = None
) -> list[DeadLetter]:
    """Return the actions that the judge could not score, the latest given up first.

    `after`: those that follow an action, given by when it was given up and its id.
    """
    dead_at, action_id = after or (None, None)
    with tx.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute(
            f"""
            select {ACTION_COLUMNS}, d.reason, d.attempts as dead_attempts, d.first_unreadable_at as dead_since,
                d.dead_at
            from autonomy_dead_letters d join autonomy_actions a using (action_id)
            where d.org_id = %(org)s and a.org_id = %(org)s and (%(agent)s::text is null or a.agent_id = %(agent)s)
              and (%(at)s::timestamptz is null or (d.dead_at, a.action_id) < (%(at)s, %(id)s::uuid))
            order by d.dead_at desc, a.action_id desc limit %(limit)s
            """,
            {"org": org_id, "agent": agent_id, "limit": limit, "at": dead_at, "id": action_id},
        ).fetchall()
    return [
        DeadLetter(action_from_row(row), row["reason"], row["dead_attempts"], row["dead_since"], row["dead_at"])
        for row in rows
    ]


def retry_dead_letters(tx: Transaction, org_id: str, action_ids: Sequence[UUID], *, now: datetime) -> int:
    """Let dead-lettered actions wait again with no attempts counted; return how many were."""
    found = tx.execute(
        "delete from autonomy_dead_letters where org_id = %s and action_id = any(%s) returning action_id",
        (org_id, list(action_ids)),
    ).fetchall()
    return tx.execute(
        """
        update autonomy_actions
        set scoring = 'waiting', attempts = 0, first_unreadable_at = null, retry_at = %s
        where org_id = %s and action_id = any(%s) and scoring = 'dead'
        """,
        (now, org_id, [row[0] for row in found]),
    ).rowcount


def action_from_row(row: DictRow) -> Action:
    """Return the action of a row of `ACTION_COLUMNS`."""
    values: dict[str, Any] = {name: row[name] for name in Action.__slots__ if name != "flags"}
    return Action(
        **values
        | {
            "risk": Risk(row["risk"]),
            "outcome": Outcome(row["outcome"]),
            "scoring": Scoring(row["scoring"]),
            "flags": Flags(row["competence"], row["commitment"], row["compatibility"], row["factual_error"]),
        }
    )
