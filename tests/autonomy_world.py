"""An organization with agents whose actions are logged, a queue and a scripted judge: all of autonomy."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from dreaming.autonomy import service, store
from dreaming.autonomy.records import Agent, IncomingAction, LogCounts, Outcome, Risk, ScoreChange
from dreaming.autonomy.rules import replay
from dreaming.autonomy.service import Standing
from dreaming.database import Database
from dreaming.identifiers import uuid7
from dreaming.local.queue import LocalQueue
from dreaming.models.protocols import ChatRequest
from dreaming.models.scripted import Reply, ScriptedChatModel
from dreaming.passes.autonomy.run import Autonomy
from dreaming.passes.engine import Engine
from dreaming.passes.records import BatchReport, Deadline
from dreaming.settings.resolution import Settings, resolve
from dreaming.settings.service import change_consent, change_setting
from tests.world import KEY, NOON, World

ORG = KEY.org_id
BOT = "bot"


def judgement(competence: int = 1, commitment: int = 1, compatibility: int = 1, *, factual_error: bool = False) -> str:
    """A judge's answer."""
    return json.dumps(
        {
            "competence": competence,
            "commitment": commitment,
            "compatibility": compatibility,
            "factual_error": factual_error,
        }
    )


def good(request: ChatRequest) -> Reply:
    """A judge that likes everything."""
    return judgement()


@dataclass
class AutonomyWorld:
    """One organization under test, with a judge; time stands still unless the test moves it."""

    database: Database
    queue: LocalQueue
    judge: ScriptedChatModel
    now: datetime = NOON
    environment: dict[str, str] = field(
        default_factory=lambda: {"DREAMING_ENABLED": "true", "DREAMING_CHAT_PROVIDER": "scripted"}
    )
    remaining: Callable[[], float] = lambda: 180.0
    logged: int = 0

    def clock(self) -> datetime:
        return self.now

    @property
    def work(self) -> Autonomy:
        return Autonomy(self.database, lambda settings, org_id: self.judge, self.clock)

    @property
    def engine(self) -> Engine:
        return Engine(self.work, self.database, self.queue, self.environment, self.clock, uuid7)

    @property
    def settings(self) -> Settings:
        return resolve(self.environment, {})

    def transaction(self, key: Any = KEY) -> Any:
        return self.database.transaction(key.tenant)

    def consent(self, name: str, value: bool, org_id: str = ORG) -> None:
        with self.database.transaction(KEY.tenant) as tx:
            change_consent(tx, org_id, name, value, actor="test", now=self.now)

    def set(self, name: str, value: float) -> None:
        with self.transaction() as tx:
            change_setting(tx, ORG, name, value, actor="test", now=self.now)

    def action(self, outcome: Outcome | str = "approved", **changes: Any) -> IncomingAction:
        """An action of just now with an id of its own."""
        self.logged += 1
        values = {"agent_id": BOT, "tool": "mail", "summary": "Answered a letter.", "risk": Risk.LOW, **changes}
        values.setdefault("external_id", f"a{self.logged}")
        values.setdefault("acted_at", self.now)
        return IncomingAction(outcome=Outcome(outcome), **values)

    def log(self, *actions: IncomingAction) -> LogCounts:
        return service.log_actions(self.database, ORG, actions, now=self.now, new_id=uuid7)

    def log_many(self, outcomes: Sequence[str], **changes: Any) -> None:
        """Log an action for each outcome, all of now."""
        self.log(*(self.action(outcome, **changes) for outcome in outcomes))

    def run(self) -> list[BatchReport]:
        """A tick and all that follows from it."""
        self.engine.tick()
        reports = []
        while (message := World.receive(self)) is not None:  # type: ignore[arg-type]
            body, receipt = message
            reports.append(self.engine.batch(body, holder=receipt, deadline=Deadline(self.remaining)))
            self.queue.delete(receipt)
            assert len(reports) < 1_000
        return reports

    def standing(self, agent_id: str = BOT) -> Standing:
        (found,) = service.read_standings(self.database, ORG, self.settings, agent_id=agent_id, now=self.now)
        return found

    def agent(self, agent_id: str = BOT) -> Agent:
        with self.transaction() as tx:
            (found,) = store.read_agents(tx, ORG, [agent_id])
        return found

    def score(self, agent_id: str = BOT) -> int:
        return self.agent(agent_id).score

    def changes(self, agent_id: str = BOT) -> list[ScoreChange]:
        with self.transaction() as tx:
            return store.read_changes(tx, ORG, agent_id)

    def set_score(self, score: int, agent_id: str = BOT, reason: str = "reviewed") -> ScoreChange:
        return service.set_score(
            self.database, ORG, agent_id, score, reason=reason, actor="mia", now=self.now, new=True
        )

    def rows(self, query: str, *parameters: Any) -> list[tuple[Any, ...]]:
        with self.transaction() as tx:
            return list(tx.execute(query, parameters).fetchall())

    def later(self, **span: float) -> None:
        self.now += timedelta(**span)

    def check(self) -> None:
        """Assert what must hold after anything: scores equal their audit, work that waits is due."""
        with self.transaction() as tx:
            for agent in store.read_agents(tx, ORG):
                changes = store.read_changes(tx, ORG, agent.agent_id)
                assert agent.changes == len(changes)
                assert agent.score == replay(changes)
            waiting = tx.execute(
                """
                select least((select min(retry_at) from autonomy_actions where scoring = 'waiting'),
                             (select min(consider_at) from autonomy_agents where consider_at is not null))
                """
            ).fetchone()
            due = tx.execute("select due_at from due_times where pass = 'autonomy'").fetchone()
            if waiting is not None and waiting[0] is not None:
                assert due is not None
                assert due[0] <= waiting[0]
            dead = tx.execute(
                """
                select count(*) from autonomy_actions a full join autonomy_dead_letters d using (action_id)
                where (a.scoring = 'dead') is distinct from (d.action_id is not null)
                """
            ).fetchone()
            assert dead == (0,)


def open_autonomy_world(database: Database, folder: Path, script: Any = good, **changes: Any) -> AutonomyWorld:
    """A world whose organization is enrolled and lets a model judge."""
    world = AutonomyWorld(database, None, ScriptedChatModel(script), **changes)  # type: ignore[arg-type]
    world.queue = LocalQueue(folder / "queue.sqlite", "autonomy", clock=world.clock)
    world.consent("enrolled", True)
    world.consent("model_consent", True)
    return world
