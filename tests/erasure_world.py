"""What tests of erasure share: a search of the whole database, the rows of others, an eraser."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
from psycopg import sql
from psycopg.rows import TupleRow

from dreaming.autonomy.records import IncomingAction
from dreaming.autonomy.service import log_actions
from dreaming.beliefs.persons.service import Person
from dreaming.database import Database
from dreaming.erasure.service import Eraser
from dreaming.identifiers import uuid7
from dreaming.local.queue import LocalQueue
from dreaming.notes.records import IncomingNote, Scope, SliceKey, Tenant
from dreaming.passes.engine import Engine
from dreaming.passes.records import BatchMessage, Deadline
from dreaming.passes.synthesis.run import Synthesis
from dreaming.recall.capture import Capturing
from dreaming.recall.records import CaptureAnswer, IncomingConversation, IncomingTurn
from tests.database.contradictions.worlds import Examined
from tests.embedding_world import EmbeddingWorld
from tests.world import KEY, World, open_world

Admin = psycopg.Connection[TupleRow]


def tables(admin: Admin) -> list[str]:
    """Every table of the schema, whoever's."""
    rows = admin.execute(
        "select relname from pg_class where relnamespace = 'dreaming'::regnamespace and relkind in ('r', 'p')"
    ).fetchall()
    return sorted(name for (name,) in rows)


def found(admin: Admin, phrases: Iterable[str]) -> dict[str, list[str]]:
    """In which tables each phrase occurs, in any case, in any column of any type; bytea also as text."""
    places: dict[str, list[str]] = {}
    for table in tables(admin):
        columns = admin.execute(
            "select attname, format_type(atttypid, atttypmod) from pg_attribute "
            "where attrelid = ('dreaming.' || quote_ident(%s))::regclass and attnum > 0 and not attisdropped",
            [table],
        ).fetchall()
        texts = [
            sql.SQL("coalesce(encode({}, 'escape'), '')" if kind == "bytea" else "coalesce({}::text, '')").format(
                sql.Identifier(name)
            )
            for name, kind in columns
        ]
        whole = sql.SQL(" || ' ' || ").join(texts)
        rows = admin.execute(sql.SQL("select lower({}) from {}").format(whole, sql.Identifier(table))).fetchall()
        for phrase in phrases:
            if any(phrase.lower() in text for (text,) in rows):
                places.setdefault(phrase, []).append(table)
    return places


def fingerprint(admin: Admin, org_id: str) -> dict[str, str]:
    """A hash of all rows of a tenant, table by table, whole rows in their bytes."""
    hashes = {}
    for table in tables(admin):
        columns = {
            name
            for (name,) in admin.execute(
                "select column_name from information_schema.columns where table_schema = 'dreaming'"
                " and table_name = %s",
                [table],
            ).fetchall()
        }
        owner = "org_id = %(org)s"
        if "slice_id" in columns and table != "slices":
            owner = "slice_id in (select slice_id from slices where org_id = %(org)s)"
        elif "org_id" not in columns:
            continue
        query = sql.SQL("select t::text || ' ' || t.xmin::text from {} t where " + owner).format(sql.Identifier(table))
        rows = sorted(row[0] for row in admin.execute(query, {"org": org_id}).fetchall())
        hashes[table] = hashlib.md5("\n".join(rows).encode()).hexdigest()
    return hashes


@dataclass
class Everything:
    """An organization in which every pass that keeps wording runs: one key, one clock, one database."""

    world: World
    examined: Examined
    embedding: EmbeddingWorld
    synthesis: LocalQueue

    def eraser(self, database: Database | None = None, **changes: Any) -> Eraser:
        given: dict[str, Any] = {"environment": self.world.environment, "actor": "api:boss", "clock": self.world.clock}
        return Eraser(database or self.world.database, new_id=uuid7, **(given | changes))

    def tell(self, *notes: IncomingNote, key: SliceKey = KEY) -> None:
        """Ingest notes, consolidate and embed them, and look for contradictions."""
        self.world.ingest(*notes, key=key)
        self.run(key)

    def run(self, key: SliceKey = KEY) -> None:
        """Let every pass do what it has to do."""
        slice_id = self.world.slice(key).slice_id
        self.world.tick(slice_id)
        self.world.process()
        self.embedding.engine.tick(slice_id)
        while self.embedding.step() is not None:
            pass
        self.examined.key = key
        self.examined.examine()

    def capture(self, name: str, *texts: str, by: Tenant, scope: Scope = Scope.ORG) -> CaptureAnswer:
        """Capture a conversation with its vector."""
        turns = tuple(IncomingTurn(speaker=("Ana", "helper")[at % 2], text=text) for at, text in enumerate(texts))
        world, embedder = self.world, self.embedding.embedder
        capturing = Capturing(world.database, world.environment, lambda *_: embedder, world.clock, lambda reason: None)
        return capturing.capture(by, IncomingConversation(conversation_id=name, turns=turns, agent="bot"), scope=scope)

    def synthesize(self, key: SliceKey = KEY) -> None:
        """Let conversations that are idle become notes, and those beliefs."""
        world = self.world
        world.now += timedelta(hours=1)
        work = Synthesis(world.database, world.environment, world.clock, uuid7)
        engine = Engine(work, world.database, self.synthesis, world.environment, world.clock, uuid7)
        engine.tick(world.slice(key).slice_id)
        while (received := self.synthesis.receive(holder="test", visibility_timeout=900)) is not None:
            message = BatchMessage.model_validate_json(received.body)
            engine.batch(message, holder=received.receipt, deadline=Deadline(lambda: 180.0))
            self.synthesis.delete(received.receipt)
        self.run(key)

    def act(self, conversation: str, summary: str) -> None:
        """Log an action of an agent in a conversation, done and waiting for its judge."""
        now = self.world.now
        action = IncomingAction(
            agent_id="bot", external_id=f"act in {conversation}", tool="mail", summary=summary, risk="low",
            conversation_id=conversation, acted_at=now, outcome="approved", outcome_at=now,
        )  # fmt: skip
        log_actions(self.world.database, KEY.org_id, [action], now=now, new_id=uuid7)

    def confirm(self, statement: str, by: Tenant, key: SliceKey = KEY) -> None:
        """Let a person vouch for a belief."""
        belief_id = self.examined.belief(statement)
        person = Person(self.world.database, by, f"api:{by.user_id}", self.world.environment)
        person.confirm(belief_id, now=self.world.now, new_id=uuid7)

    def id_of(self, external_id: str, key: SliceKey = KEY) -> UUID:
        found = self.world.rows("select note_id from notes where external_id = %s", [external_id], key)
        return UUID(str(found[0][0]))


def open_everything(database: Database, folder: Path) -> Everything:
    """An enrolled organization that consents to everything, with a judge who calls like statements duplicates."""
    world = open_world(database, folder)
    world.environment |= {"DREAMING_CONVERSATION_MEMORY": "true"}
    embedding = EmbeddingWorld(world, LocalQueue(folder / "embedding.sqlite", "embedding", clock=world.clock))
    embedding.consent()
    examined = Examined(world, folder)
    return Everything(
        world, examined, embedding, LocalQueue(folder / "synthesis.sqlite", "synthesis", clock=world.clock)
    )
