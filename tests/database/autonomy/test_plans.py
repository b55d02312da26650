"""What is asked often reads by an index under row-level security, however long the logs have grown."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from dreaming.autonomy import store
from dreaming.identifiers import uuid7
from dreaming.passes.autonomy import store as pass_store
from tests.autonomy_world import BOT, ORG, AutonomyWorld

GROW = """
    insert into autonomy_actions (action_id, org_id, agent_id, external_id, tool, summary, risk, acted_at, outcome,
        outcome_at, logged_at, scoring, competence, scored_at, retry_at)
    select gen_random_uuid(), %(org)s, 'x' || i %% 100, i::text, 't', 's', 'low',
        %(now)s - i * interval '1 minute', case when i %% 10 = 0 then 'success' else 'approved' end, %(now)s, %(now)s,
        case when i %% 10 = 0 then 'waiting' else 'scored' end, case when i %% 10 > 0 then 1 end,
        case when i %% 10 > 0 then %(now)s end, case when i %% 10 = 0 then %(now)s end
    from generate_series(1, 20000) i
"""


def test_the_pass_and_the_door_never_read_the_whole_log(agents: AutonomyWorld, admin: Any) -> None:
    agents.log_many(["approved"] * 30)
    agents.run()
    for org_id in (ORG, "birch"):
        admin.execute(
            "insert into autonomy_agents (org_id, agent_id, created_at) "
            "select %s, 'x' || i, now() from generate_series(0, 99) i",
            [org_id],
        )
        admin.execute(GROW, {"org": org_id, "now": agents.now - timedelta(hours=1)})
    admin.execute("analyze autonomy_agents, autonomy_actions")
    with agents.transaction() as tx:
        store.read_evidence(tx, ORG, [BOT, "x1"])
        store.find_actions(tx, ORG, [(BOT, "a1")])
        store.read_actions(tx, ORG, agent_id=BOT, scoring=None, limit=30)
        assert len(pass_store.waiting(tx, ORG, judged=True, now=agents.now, limit=20)) == 20
        assert pass_store.waiting(tx, ORG, judged=False, now=agents.now, limit=500) == []
        assert pass_store.next_due(tx, ORG) is not None
        pass_store.agents_to_consider(tx, ORG, run_id=uuid7(), now=agents.now, limit=50)
        read = tx.execute(
            "select relname, seq_scan from pg_stat_xact_all_tables where relname = 'autonomy_actions' and seq_scan > 0"
        ).fetchall()
    assert read == []
