"""The SQL of the autonomy pass: what waits to be scored, the flags it gets, whose evidence is to be looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from psycopg.rows import dict_row

from dreaming.autonomy.records import Action, Flags
from dreaming.autonomy.store import ACTION_COLUMNS, action_from_row
from dreaming.database import Transaction


@dataclass(frozen=True, slots=True)
class Score:
    """The flags that an action gets for the outcome it had when they were decided."""

    action: Action
    flags: Flags
    judged_by: str | None = None


@dataclass(frozen=True, slots=True)
class Unreadable:
    """An action whose judgement could not be read: tried again at `retry_at`, or given up when that is None."""

    action: Action
    reason: str
    first_at: datetime
    retry_at: datetime | None


def waiting(tx: Transaction, org_id: str, *, judged: bool, now: datetime, limit: int) -> list[Action]:
    """Return actions to be scored now, those tried longest ago first: those a model judges, or the others."""
    with tx.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute(
            f"""
            select {ACTION_COLUMNS} from autonomy_actions a
            where a.org_id = %s and a.scoring = 'waiting' and a.needs_judge = %s and a.retry_at <= %s
            order by a.retry_at, a.action_id limit %s
            """,
            (org_id, judged, now, limit),
        ).fetchall()
    return [action_from_row(row) for row in rows]


def agents_to_consider(tx: Transaction, org_id: str, *, run_id: UUID, now: datetime, limit: int) -> list[str]:
    """Return the agents whose evidence is to be looked at now and that this run has not adjusted, by id."""
    rows = tx.execute(
        """
        select agent_id from autonomy_agents
        where org_id = %s and consider_at <= %s and adjusted_run_id is distinct from %s
        order by consider_at, agent_id limit %s
        """,
        (org_id, now, run_id, limit),
    ).fetchall()
    return [row[0] for row in rows]


def write_scores(tx: Transaction, org_id: str, scores: Sequence[Score], *, now: datetime) -> int:
    """Give actions of locked agents their flags, count them as news of the agents, and return how many were.

    An action that has got another outcome since it was read is left to wait.
    """
    if not scores:
        return 0
    row = tx.execute(
        """
        with scored as (
            update autonomy_actions a
            set scoring = 'scored', scored_at = %(now)s, retry_at = null, competence = g.competence,
                commitment = g.commitment, compatibility = g.compatibility, factual_error = g.factual_error,
                judged_by = g.judged_by
            from unnest(%(ids)s::uuid[], %(outcome_nos)s::int[], %(competence)s::smallint[],
                    %(commitment)s::smallint[], %(compatibility)s::smallint[], %(errors)s::boolean[],
                    %(judges)s::text[])
                as g (action_id, outcome_no, competence, commitment, compatibility, factual_error, judged_by)
            where a.org_id = %(org)s and a.action_id = g.action_id and a.outcome_no = g.outcome_no
              and a.scoring = 'waiting'
            returning a.agent_id
        ), news as (
            update autonomy_agents agent
            set scorings = scorings + counted.actions, consider_at = %(now)s
            from (select agent_id, count(*) as actions from scored group by agent_id) counted
            where agent.org_id = %(org)s and agent.agent_id = counted.agent_id
            returning counted.actions
        )
        select coalesce(sum(actions), 0) from news
        """,
        {
            "org": org_id,
            "now": now,
            "ids": [score.action.action_id for score in scores],
            "outcome_nos": [score.action.outcome_no for score in scores],
            "competence": [score.flags.competence for score in scores],
            "commitment": [score.flags.commitment for score in scores],
            "compatibility": [score.flags.compatibility for score in scores],
            "errors": [score.flags.factual_error for score in scores],
            "judges": [score.judged_by for score in scores],
        },
    ).fetchone()
    return int(row[0]) if row else 0


def write_unreadable(tx: Transaction, org_id: str, rows: Sequence[Unreadable], *, now: datetime) -> list[UUID]:
    """Count unreadable judgements, write dead letters for those given up, and return the ids of these."""
    if not rows:
        return []
    dead = tx.execute(
        """
        with counted as (
            update autonomy_actions a
            set attempts = a.attempts + 1, first_unreadable_at = g.first_at, retry_at = g.retry_at,
                scoring = case when g.retry_at is null then 'dead' else 'waiting' end
            from unnest(%(ids)s::uuid[], %(outcome_nos)s::int[], %(reasons)s::text[], %(firsts)s::timestamptz[],
                    %(retries)s::timestamptz[]) as g (action_id, outcome_no, reason, first_at, retry_at)
            where a.org_id = %(org)s and a.action_id = g.action_id and a.outcome_no = g.outcome_no
              and a.scoring = 'waiting'
            returning a.action_id, a.agent_id, a.attempts, a.scoring, g.reason, g.first_at
        )
        insert into autonomy_dead_letters (action_id, org_id, agent_id, reason, attempts, first_unreadable_at, dead_at)
        select action_id, %(org)s, agent_id, reason, attempts, first_at, %(now)s from counted where scoring = 'dead'
        returning action_id
        """,
        {
            "org": org_id,
            "now": now,
            "ids": [row.action.action_id for row in rows],
            "outcome_nos": [row.action.outcome_no for row in rows],
            "reasons": [row.reason for row in rows],
            "firsts": [row.first_at for row in rows],
            "retries": [row.retry_at for row in rows],
        },
    ).fetchall()
    return [row[0] for row in dead]


def put_last(tx: Transaction, org_id: str, actions: Sequence[Action], *, now: datetime) -> None:
    """Let actions whose judge could not be reached wait behind those that were not tried yet."""
    if actions:
        tx.execute(
            "update autonomy_actions set retry_at = %s where org_id = %s and action_id = any(%s) "
            "and scoring = 'waiting'",
            (now, org_id, [action.action_id for action in actions]),
        )


def use_up_news(tx: Transaction, org_id: str, agent_ids: Sequence[str]) -> None:
    """Note of locked agents that their score is where their evidence is, until there is news."""
    if agent_ids:
        tx.execute(
            "update autonomy_agents set scorings_used = scorings, consider_at = null "
            "where org_id = %s and agent_id = any(%s)",
            (org_id, list(agent_ids)),
        )


def consider_later(tx: Transaction, org_id: str, times: Mapping[str, datetime | None]) -> None:
    """Set when the evidence of locked agents is looked at next; None is when there is news."""
    if times:
        tx.execute(
            """
            update autonomy_agents agent set consider_at = g.at
            from unnest(%s::text[], %s::timestamptz[]) as g (agent_id, at)
            where agent.org_id = %s and agent.agent_id = g.agent_id
            """,
            (list(times), list(times.values()), org_id),
        )


def next_due(tx: Transaction, org_id: str) -> datetime | None:
    """Return when the organization's next action is to be scored, or the next agent's evidence to be looked at."""
    row = tx.execute(
        """
        select least(
            (select min(retry_at) from autonomy_actions
                where org_id = %(org)s and scoring = 'waiting' and not needs_judge),
            (select min(retry_at) from autonomy_actions where org_id = %(org)s and scoring = 'waiting' and needs_judge),
            (select min(consider_at) from autonomy_agents where org_id = %(org)s and consider_at is not null)
        )
        """,
        {"org": org_id},
    ).fetchone()
    return None if row is None else row[0]
