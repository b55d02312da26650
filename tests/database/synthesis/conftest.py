"""Conversations that become notes, and notes that become beliefs, with a clock in hand."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from dreaming.database import Database
from dreaming.identifiers import uuid7
from dreaming.local.queue import LocalQueue
from dreaming.notes.records import Scope, SliceKey, Tenant
from dreaming.passes.engine import Engine
from dreaming.passes.records import BatchMessage, BatchReport, Deadline
from dreaming.passes.synthesis.run import BATCH_CONVERSATIONS, Synthesis
from dreaming.recall.capture import Capturing
from dreaming.recall.records import CaptureAnswer, IncomingConversation, IncomingTurn
from tests.world import KEY, World, open_world

FLAG = {"DREAMING_CONVERSATION_MEMORY": "true"}
ANA = Tenant("acme", "ana")


@dataclass
class Talking:
    """One organization; `world` consolidates, `engine` synthesizes. Nothing is embedded."""

    world: World
    queue: LocalQueue
    batch_conversations: int = BATCH_CONVERSATIONS

    @property
    def database(self) -> Database:
        return self.world.database

    @property
    def engine(self) -> Engine:
        world = self.world
        work = Synthesis(world.database, world.environment, world.clock, uuid7, self.batch_conversations)
        return Engine(work, world.database, self.queue, world.environment, world.clock, uuid7)

    def later(self, **time: float) -> None:
        self.world.now += timedelta(**time)

    def say(
        self,
        *turns: str | tuple[str | None, str] | IncomingTurn,
        name: str = "chat",
        by: Tenant = ANA,
        scope: Scope = Scope.ORG,
        agent: str | None = "helper",
    ) -> CaptureAnswer:
        """Capture a conversation; a bare text is Ana's or, in turn, the helper's."""
        made = []
        for place, turn in enumerate(turns):
            if isinstance(turn, IncomingTurn):
                made.append(turn)
                continue
            speaker, text = (("Ana", "helper")[place % 2], turn) if isinstance(turn, str) else turn
            made.append(IncomingTurn(speaker=speaker, text=text))
        conversation = IncomingConversation(conversation_id=name, turns=tuple(made), agent=agent)
        capturing = Capturing(
            self.database, self.world.environment, lambda settings, org_id: None, self.world.clock, lambda reason: None
        )
        return capturing.capture(by, conversation, scope=scope)

    def synthesize(self) -> list[BatchReport]:
        """A tick of the pass and all that follows from it."""
        engine = self.engine
        engine.tick()
        reports = []
        while (received := self.queue.receive(holder="test", visibility_timeout=1080)) is not None:
            message = BatchMessage.model_validate_json(received.body)
            reports.append(engine.batch(message, holder=received.receipt, deadline=Deadline(lambda: 180.0)))
            self.queue.delete(received.receipt)
        return reports

    def notes(self, key: SliceKey = KEY) -> list[tuple[Any, ...]]:
        """External id's end, state, version and text of each note, in the order of the turns."""
        return self.world.rows(
            """
            select split_part(n.external_id, ':', 2), n.state, n.version, n.text from notes n
            left join conversation_notes c on c.external_id = n.external_id
            where n.source = 'conversation' order by c.document_id, c.first_turn, c.part, n.external_id
            """,
            key=key,
        )

    def texts(self, key: SliceKey = KEY) -> list[str]:
        return [text for _, state, _, text in self.notes(key) if state != "withdrawn"]

    def check(self, key: SliceKey = KEY) -> None:
        """Each turn is in exactly one live note of its conversation, and nothing else is."""
        conversations = self.world.rows(
            "select document_id, encode(conversation_id, 'hex') from conversations where synthesis_due_at is null",
            key=key,
        )
        for document_id, conversation in conversations:
            with self.world.transaction(key) as tx:
                turns = tx.execute(
                    "select text from conversation_turns where document_id = %s order by position", (document_id,)
                ).fetchall()
                notes = tx.execute(
                    "select n.text, c.first_turn, c.end_turn from notes n "
                    "left join conversation_notes c on c.external_id = n.external_id "
                    "where n.external_id like %s and n.state <> 'withdrawn' order by c.first_turn, c.part",
                    (f"{conversation}:%",),
                ).fetchall()
            whole = "\n".join(text for text, _, _ in notes)
            assert all(whole.count(text.splitlines()[0]) == 1 for (text,) in turns), whole
            places = [place for _, first, end in notes for place in range(first, end)]
            assert places == list(range(len(turns)))


@pytest.fixture
def talking(database: Database, tmp_path: Path) -> Talking:
    world = open_world(database, tmp_path)
    world.environment |= FLAG
    return Talking(world, LocalQueue(tmp_path / "synthesis.sqlite", "synthesis", clock=world.clock))
