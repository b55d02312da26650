"""A world with the contradictions pass: notes are consolidated, then examined, as the schedules would."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from dreaming.api.service import Reader
from dreaming.identifiers import uuid7
from dreaming.local.queue import LocalQueue
from dreaming.models.protocols import ChatModel, ChatRequest
from dreaming.models.scripted import ScriptedChatModel
from dreaming.notes.records import IncomingNote, SliceKey, Trust
from dreaming.passes.contradictions.run import Contradictions
from dreaming.passes.contradictions.service import Resolver
from dreaming.passes.engine import Engine
from dreaming.passes.records import BatchMessage, BatchOutcome, Deadline
from dreaming.settings.resolution import resolve
from tests.world import KEY, World


@dataclass
class Examined:
    """A world, and the judge of its contradictions pass; without a judge the rules work alone."""

    world: World
    folder: Path
    judge: ChatModel | None = None
    key: SliceKey = KEY
    extra: dict[str, str] = field(default_factory=dict)
    outcomes: list[BatchOutcome] = field(default_factory=list)

    @property
    def environment(self) -> dict[str, str]:
        judged = "true" if self.judge is not None else "false"
        judging = {"DREAMING_CHAT_PROVIDER": "scripted", "DREAMING_CONTRADICTION_JUDGE": judged}
        return self.world.environment | judging | self.extra

    def engine(self) -> Engine:
        queue = LocalQueue(self.folder / "contradictions.sqlite", "contradictions", clock=self.world.clock)
        work = Contradictions(self.world.database, lambda *_: self.judge or self.world.model, self.world.clock, uuid7)
        return Engine(work, self.world.database, queue, self.environment, self.world.clock, uuid7)

    def examine(self) -> list[BatchOutcome]:
        """A tick of the contradictions pass and all that follows from it."""
        engine = self.engine()
        engine.tick(self.world.slice(self.key).slice_id)
        outcomes = []
        while (received := engine.queue.receive(holder="t", visibility_timeout=900)) is not None:  # type: ignore[attr-defined]
            message = BatchMessage.model_validate_json(received.body)
            report = engine.batch(message, holder=received.receipt, deadline=Deadline(lambda: 180.0))
            engine.queue.delete(received.receipt)  # type: ignore[attr-defined]
            if report.outcome is not None:
                outcomes.append(report.outcome)
        self.outcomes += outcomes
        return outcomes

    def tell(self, *notes: IncomingNote, examine: bool = True) -> None:
        """Ingest and consolidate notes, then run the pass."""
        self.world.ingest(*notes, key=self.key)
        self.world.tick(self.world.slice(self.key).slice_id)
        self.world.process()
        if examine:
            self.examine()

    def standing(self) -> dict[str, str]:
        """Each belief with sources, by its statement: "current" when in sight, else why not."""
        rows = self.world.rows(
            "select statement, coalesce(archive_reason, 'current') from beliefs where sources > 0", key=self.key
        )
        return dict(rows)

    def intervals(self) -> set[tuple[str, str, str | None, str]]:
        """Statement, from, until and standing of every stretch; dates in UTC."""
        rows = self.world.rows(
            """
            select b.statement, to_char(t.holds_from at time zone 'UTC', 'YYYY-MM-DD'),
                   to_char(t.holds_until at time zone 'UTC', 'YYYY-MM-DD'), t.standing
            from timelines t join beliefs b using (belief_id)
            """,
            key=self.key,
        )
        return {(row[0], row[1], row[2], row[3]) for row in rows}

    def belief(self, statement: str) -> UUID:
        rows = self.world.rows(
            "select belief_id from beliefs where statement = %s and sources > 0", [statement], self.key
        )
        assert len(rows) == 1, (statement, self.standing())
        return UUID(str(rows[0][0]))

    def resolver(self) -> Resolver:
        return Resolver(self.world.database, self.key, resolve(self.environment, {}), self.world.now, uuid7)

    def rows_of_beliefs(self) -> list[tuple[Any, ...]]:
        """Every belief and every source, whole."""
        return [
            *self.world.rows("select to_jsonb(b)::text from beliefs b order by belief_id"),
            *self.world.rows("select to_jsonb(s)::text from sources s order by source_id"),
            *self.world.rows("select belief_id::text, token, position from belief_tokens order by 1, 2"),
        ]


def told(text: str, day: str, *, name: str | None = None, trust: Trust = Trust.TRUSTED) -> IncomingNote:
    """A note of a day at nine, UTC."""
    moment = datetime.fromisoformat(day).replace(hour=9, tzinfo=UTC)
    return IncomingNote(external_id=name or f"{day} {text}", source="test", text=text, occurred_at=moment, trust=trust)


def judge(relation: str | Callable[[ChatRequest], Any]) -> ScriptedChatModel:
    """A judge that says the same of every candidate, or what a function makes of the request."""
    if callable(relation):
        return ScriptedChatModel(relation)
    return ScriptedChatModel(lambda request: verdicts(request, relation))


def verdicts(request: ChatRequest, relation: str) -> str:
    said = [{"candidate": passage.label, "relation": relation} for passage in request.passages[1:]]
    return json.dumps({"relations": said})


def reader(examined: Examined) -> Reader:
    """What people read of the world."""
    return Reader(examined.world.database, examined.key.tenant, examined.environment, examined.world.now)
