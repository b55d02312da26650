"""A world whose beliefs age: consolidation and the decay pass over one database, with a clock in hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from dreaming.beliefs.persons.service import Person
from dreaming.beliefs.relationships import store as relationships_store
from dreaming.beliefs.rules import Ageing
from dreaming.beliefs.service import ageing
from dreaming.database import Database
from dreaming.errors import Hold
from dreaming.identifiers import uuid7
from dreaming.local.queue import LocalQueue
from dreaming.notes.records import SliceKey
from dreaming.passes.decay.run import BATCH_ROWS, Decay
from dreaming.passes.decay.service import Outlook
from dreaming.passes.engine import Engine
from dreaming.passes.outbox.records import Event
from dreaming.passes.records import BatchMessage, BatchReport, Deadline
from dreaming.settings.resolution import Value
from dreaming.settings.service import change_setting, load_settings
from tests.world import KEY, NOON, World, claim, note, open_world

DAY = timedelta(days=1)


class Bus:
    """A sink that keeps what it is sent; `fails` makes it refuse everything, `takes` so many a call."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.fails = False
        self.takes: int | None = None

    def send(self, events: Sequence[Event]) -> Sequence[int]:
        if self.fails:
            raise Hold("the bus is down")
        taken = list(events)[: self.takes]
        self.events += taken
        return [event.event_id for event in taken]

    def told(self, name: str) -> list[str]:
        """The beliefs of the events of a name, in the order of sending."""
        return [str(event.detail["belief_id"]) for event in self.events if event.name == name]


@dataclass
class AgeingWorld:
    """One organization; `claims` gives a line's claim its fields, `world` consolidates."""

    world: World
    decay_queue: LocalQueue
    claims: dict[str, dict[str, Any]]
    bus: Bus = field(default_factory=Bus)
    batch_rows: int = BATCH_ROWS
    key: SliceKey = KEY
    notes: int = 0

    @property
    def database(self) -> Database:
        return self.world.database

    @property
    def now(self) -> datetime:
        return self.world.now

    @now.setter
    def now(self, moment: datetime) -> None:
        self.world.now = moment

    def at(self, days: float) -> AgeingWorld:
        """Move the clock to so many days after `NOON`."""
        self.now = NOON + timedelta(days=days)
        return self

    @property
    def engine(self) -> Engine:
        work = Decay(self.database, self.bus, self.world.clock, batch_rows=self.batch_rows)
        return Engine(work, self.database, self.decay_queue, self.world.environment, self.world.clock, uuid7)

    def say(self, *lines: str, at: datetime | None = None, **fields: Any) -> None:
        """A note of now, or of another time, that claims each line; `fields` are those of the claims."""
        self.notes += 1
        for line in lines:
            self.claims[line] = fields
        told = note(f"n{self.notes}", "\n".join(lines), occurred_at=at or self.now)
        self.world.ingest(told, key=self.key)
        self.consolidate()

    def consolidate(self) -> None:
        self.world.tick()
        self.world.process()

    def messages(self) -> list[BatchMessage]:
        """The messages of a tick of the decay pass, taken from the queue."""
        self.engine.tick()
        found = []
        while received := self.decay_queue.receive(holder="test", visibility_timeout=1080):
            found.append(BatchMessage.model_validate_json(received.body))
            self.decay_queue.delete(received.receipt)
        return found

    def batch(self, message: BatchMessage) -> BatchReport:
        return self.engine.batch(message, holder="invocation", deadline=Deadline(lambda: 180.0))

    def run_pass(self) -> list[BatchReport]:
        """A tick and all its batches; the deduplication window of the queue is no matter here."""
        waiting = self.messages()
        reports = []
        while waiting:
            reports.append(self.batch(waiting.pop()))
            while received := self.decay_queue.receive(holder="test", visibility_timeout=1080):
                waiting.append(BatchMessage.model_validate_json(received.body))
                self.decay_queue.delete(received.receipt)
        return reports

    def set(self, name: str, value: Value) -> None:
        with self.world.transaction(self.key) as tx:
            change_setting(tx, self.key.org_id, name, value, actor="test", now=self.now)

    def person(self, actor: str = "mia") -> Person:
        return Person(self.database, self.key.tenant, actor, self.world.environment)

    def outlook(self) -> Outlook:
        return Outlook(self.database, self.key, self.world.environment, self.now)

    def ageing(self) -> Ageing:
        with self.world.transaction(self.key) as tx:
            return ageing(load_settings(tx, self.key.org_id, self.world.environment))

    def belief(self, statement: str) -> UUID:
        [(belief_id,)] = self.rows("select belief_id from beliefs where statement = %s", statement)
        return UUID(str(belief_id))

    def column(self, name: str, statement: str) -> Any:
        [(value,)] = self.rows(f"select {name} from beliefs where statement = %s", statement)
        return value

    def rows(self, query: str, *parameters: Any) -> list[tuple[Any, ...]]:
        return self.world.rows(query, parameters, self.key)

    def live(self) -> list[str]:
        return [row[0] for row in self.rows("select statement from beliefs where archived_at is null order by 1")]

    def archived(self) -> dict[str, str]:
        query = "select statement, archive_reason from beliefs where archived_at is not null"
        return {row[0]: row[1] for row in self.rows(query)}

    def edges(self) -> list[tuple[str, str, str]]:
        """The live relationships, by the statements of their ends."""
        return [(left, kind, right) for left, kind, right, reason in self.all_edges() if reason is None]

    def all_edges(self) -> list[tuple[str, str, str, str | None]]:
        rows = self.rows("""
            select f.statement, r.type, t.statement, r.archive_reason from relationships r
            join beliefs f on f.belief_id = r.from_belief_id join beliefs t on t.belief_id = r.to_belief_id
            order by 1, 2, 3
        """)
        return [(str(row[0]), str(row[1]), str(row[2]), row[3]) for row in rows]

    def check(self) -> None:
        """Assert what must hold after anything."""
        self.world.check(self.key)
        assert (
            self.rows("""
            select r.relationship_id from relationships r
            join beliefs b on b.belief_id in (r.from_belief_id, r.to_belief_id)
            where r.archived_at is null and b.archived_at is not null
        """)
            == []
        )
        self.check_counters()
        self.check_moments()

    def check_counters(self) -> None:
        slice_id = self.world.slice(self.key).slice_id
        with self.world.transaction(self.key) as tx:
            assert relationships_store.read_counters(tx, slice_id) == relationships_store.count(tx, slice_id)

    def check_moments(self) -> None:
        """Every live row's `fades_at` is that of the ageing kept with the lock, when one is kept and complete."""
        for table in ("beliefs", "relationships"):
            stale = self.rows(f"""
                select b.fades_at, b.confirmed_at from {table} b join belief_lock l using (slice_id)
                where b.archived_at is null and l.slow_half_life is not null and l.recomputing is null
                  and abs(extract(epoch from b.fades_at - fading_moment(b.confidence, b.confirmed_at,
                      half_life_of(b.decay_class, l.slow_half_life, l.fast_half_life), l.archive_threshold))) > 1e-5
            """)
            assert stale == [], table


def open_ageing_world(database: Database, folder: Path, **changes: Any) -> AgeingWorld:
    """A world at `NOON` whose organization is enrolled and consents."""
    claims: dict[str, dict[str, Any]] = {}

    def script(request: Any) -> list[dict[str, Any]]:
        lines = [line for passage in request.passages for line in passage.text.splitlines() if line.strip()]
        return [claim(line, **claims.get(line, {})) for line in lines]

    world = open_world(database, folder, script)
    queue = LocalQueue(folder / "decay.sqlite", "decay", clock=world.clock)
    return AgeingWorld(world, queue, claims, **changes)
