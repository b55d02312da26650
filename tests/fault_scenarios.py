"""Organizations with work for each pass, and processes that do it and may go wrong once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from dreaming.autonomy.records import IncomingAction, Outcome, Risk
from dreaming.autonomy.service import log_actions
from dreaming.database import Database
from dreaming.errors import DreamingError
from dreaming.identifiers import uuid7
from dreaming.local.queue import LocalQueue
from dreaming.models.protocols import ChatRequest
from dreaming.models.scripted import ScriptedChatModel
from dreaming.notes.records import SliceKey
from dreaming.passes.autonomy.run import Autonomy
from dreaming.passes.consolidation.run import Consolidation
from dreaming.passes.contradictions.run import Contradictions
from dreaming.passes.decay.run import Decay
from dreaming.passes.embedding.run import Embedding
from dreaming.passes.engine import Engine, Pass
from dreaming.passes.outbox.records import Event
from dreaming.passes.records import BatchMessage, Deadline
from dreaming.passes.store import LeaseBusy
from dreaming.passes.synthesis.run import Synthesis
from dreaming.recall.capture import Capturing
from dreaming.recall.records import IncomingConversation, IncomingTurn
from dreaming.settings.service import change_consent
from tests.autonomy_world import judgement
from tests.embedding_world import FakeEmbedder
from tests.fault_points import (
    PointEmbedder,
    PointModel,
    PointQueue,
    Points,
    clock_through,
    connect_through,
)
from tests.world import NOON, World, claim, note

RESUME = timedelta(minutes=21)
"""After so long a lease has run out, a message comes again, and a silent run is replaced."""

ENVIRONMENT = {
    "DREAMING_ENABLED": "true",
    "DREAMING_PACKING": "false",
    "DREAMING_BATCH_NOTES": "2",
    "DREAMING_MODEL_CONCURRENCY": "1",
    "DREAMING_CHAT_PROVIDER": "scripted",
    "DREAMING_CONVERSATION_MEMORY": "true",
}


@dataclass
class Ground:
    """The database and the queues under all organizations of a test; each organization is one run."""

    database: Database
    url: str
    folder: Path
    announced: list[int] = field(default_factory=list)

    def send(self, events: Sequence[Event]) -> Sequence[int]:
        """Stands in for the event bus."""
        ids = [event.event_id for event in events]
        self.announced += ids
        return ids


@dataclass
class Run:
    """One organization on its way through one pass, with a process that may go wrong once."""

    ground: Ground
    scenario: Scenario
    key: SliceKey
    world: World
    points: Points = field(default_factory=Points)

    def engine(self) -> Engine:
        """The pass as a process has it: everything outside of it is a point."""
        database = Database(self.ground.url, wait_seconds=5, connect=connect_through(self.points))
        clock = clock_through(self.points, self.world.clock)
        work = self.scenario.build(self, database, clock)
        queue = PointQueue(self.queue, self.points)
        return Engine(work, database, queue, self.world.environment, clock, uuid7)

    @property
    def queue(self) -> LocalQueue:
        return LocalQueue(
            self.ground.folder / "queue.sqlite",
            f"{self.scenario.name}-{self.key.org_id}",
            clock=self.world.clock,
            max_receive_count=50,
        )

    def go_on(self, engine: Engine) -> None:
        """A tick, and the queue until it is empty, with the retries of Lambda and SQS."""
        slice_id = self.world.slice(self.key).slice_id
        for _ in range(3):
            try:
                engine.tick(slice_id)
                break
            except DreamingError:
                continue
        queue = self.queue
        for _ in range(60):
            received = queue.receive(holder="sandbox", visibility_timeout=1080)
            if received is None:
                return
            message = BatchMessage.model_validate_json(received.body)
            try:
                engine.batch(message, holder=received.receipt, deadline=Deadline(lambda: 180.0))
            except (DreamingError, LeaseBusy):
                queue.change_visibility(received.receipt, 0)
            else:
                queue.delete(received.receipt)
        raise AssertionError("the queue does not become empty")

    def finish(self) -> None:
        """Later processes, which nothing befalls, until a tick finds nothing to do."""
        self.points = Points()
        for _ in range(8):
            self.world.now += RESUME
            self.go_on(self.engine())
            self.points.close()
            if self.scenario.is_done(self):
                break

    def state(self) -> dict[str, list[tuple[Any, ...]]]:
        """All that the pass is to bring about, without ids and without times of processing."""
        return {name: self.world.rows(query, key=self.key) for name, query in STATE.items()}


@dataclass(frozen=True)
class Scenario:
    """A pass, an organization with work for it, and when that work is done."""

    name: str
    prepare: Callable[[Run], None]
    build: Callable[[Run, Database, Any], Pass]
    is_done: Callable[[Run], bool]


STATE = {
    "beliefs": """
        select statement, kind, round(confidence::numeric, 9), confirmed_at, sources, origins, trust, fades_at,
               archive_reason, warned_at is not null from beliefs order by 1, 2, 3
    """,
    "sources": """
        select b.statement, s.statement, s.quote, s.quote_start, s.confidence, s.ended_reason
        from sources s join beliefs b using (belief_id) where s.ended_reason is null order by 1, 2, 3, 4
    """,
    "notes": "select source, state, version, text from notes order by 1, 4",
    "relationships": """
        select f.statement, r.type, t.statement, r.archived_at is null from relationships r
        join beliefs f on f.belief_id = r.from_belief_id join beliefs t on t.belief_id = r.to_belief_id
        order by 1, 2, 3
    """,
    "timelines": """
        select b.statement, t.holds_from, t.holds_until, t.standing from timelines t join beliefs b using (belief_id)
        order by 1, 2, 3, 4
    """,
    "vectors": "select b.statement, v.model from belief_vectors v join beliefs b using (belief_id) order by 1, 2",
    "agents": "select agent_id, score, changes from autonomy_agents order by 1",
    "actions": "select external_id, outcome, scoring from autonomy_actions order by 1",
}


def _note_rows(run: Run) -> list[Any]:
    return [
        note("a", "The shed is green.\nTom sails on Sundays."),
        note("b", "The shed is green.", occurred_at=NOON - timedelta(hours=2)),
        note("c", " "),
        note("d", "Mara runs the kitchen at Orbit."),
        note("e", "The mill opens at dawn."),
    ]


def _lines(request: ChatRequest) -> list[dict[str, Any]]:
    return [
        claim(
            line,
            note=passage.label,
            relations=[{"type": "works_at", "target": "Orbit"}] if "Orbit" in line else [],
            **({"subject": "shed", "attribute": "colour", "value": line.split()[-1]} if "shed" in line else {}),
        )
        for passage in request.passages
        for line in passage.text.strip().splitlines()
    ]


def _consolidate(run: Run, *notes: Any) -> None:
    run.world.ingest(*notes, key=run.key)
    engine = run.world.engine
    queue = LocalQueue(run.ground.folder / "before.sqlite", run.key.org_id, clock=run.world.clock)
    engine = Engine(engine.work, run.world.database, queue, run.world.environment, run.world.clock, uuid7)
    engine.tick(run.world.slice(run.key).slice_id)
    while (received := queue.receive(holder="t", visibility_timeout=900)) is not None:
        message = BatchMessage.model_validate_json(received.body)
        engine.batch(message, holder=received.receipt, deadline=Deadline(lambda: 180.0))
        queue.delete(received.receipt)


def _consolidation(run: Run) -> None:
    _consolidate(run, note("a", "The shed is red."), note("e", "The mill opens at noon."))
    run.world.ingest(*_note_rows(run), key=run.key)


def _contradictions(run: Run) -> None:
    _consolidate(
        run,
        note("a", "The shed is red.", occurred_at=NOON - timedelta(days=9)),
        note("b", "The shed is green.", occurred_at=NOON - timedelta(days=1)),
        note("c", "Tom sails on Sundays."),
        note("d", "Mara runs the kitchen at Orbit."),
    )


def _decay(run: Run) -> None:
    past = NOON - timedelta(days=300)
    _consolidate(run, *(note(f"n{number}", f"Gate {number} opens at Orbit.", occurred_at=past) for number in range(3)))
    _consolidate(run, note("d", "Mara runs the kitchen at Orbit."))
    run.world.now += timedelta(days=900)


def _embedding(run: Run) -> None:
    _consolidate(run, *(note(f"n{number}", f"Gate {number} of the mill opens at dawn.") for number in range(3)))


def _autonomy(run: Run) -> None:
    actions = [
        IncomingAction(
            agent_id="mailer",
            external_id=f"a{number}",
            tool="mail",
            summary="sent a letter",
            risk=Risk.LOW,
            acted_at=NOON - timedelta(hours=number + 1),
            outcome=Outcome.SUCCESS if number < 2 else Outcome.APPROVED,
        )
        for number in range(32)
    ]
    run.world.ingest(note("a", " "), key=run.key)
    log_actions(run.world.database, run.key.org_id, actions, now=run.world.now, new_id=uuid7)


def _synthesis(run: Run) -> None:
    capturing = Capturing(run.world.database, run.world.environment, lambda *_: None, run.world.clock, lambda _: None)
    for name in ("one", "two"):
        turns = (IncomingTurn(speaker="Ana", text=f"The mill {name} opens at dawn."), IncomingTurn(text="Noted."))
        conversation = IncomingConversation(conversation_id=name, turns=turns, agent="helper")
        assert capturing.capture(run.key.tenant, conversation).reason != "not_owner"
    run.world.now += timedelta(hours=1)


def _judge(request: ChatRequest) -> str:
    return judgement()


def _due_no_more(name: str) -> Callable[[Run], bool]:
    def is_done(run: Run) -> bool:
        query = "select 1 from due_times where pass = %s and due_at <= %s"
        return not run.world.rows(query, [name, run.world.now], run.key)

    return is_done


SCENARIOS = {
    "consolidation": Scenario(
        "consolidation",
        _consolidation,
        lambda run, database, clock: Consolidation(
            database, lambda *_: PointModel(ScriptedChatModel(_lines), run.points), clock, uuid7
        ),
        lambda run: run.world.counters(run.key).waiting == 0,
    ),
    "embedding": Scenario(
        "embedding",
        _embedding,
        lambda run, database, clock: Embedding(
            database,
            lambda *_: PointEmbedder(FakeEmbedder(), run.points),
            clock,
            space=lambda _: (FakeEmbedder().name, FakeEmbedder().dimension),
        ),
        _due_no_more("embedding"),
    ),
    "contradictions": Scenario(
        "contradictions",
        _contradictions,
        lambda run, database, clock: Contradictions(
            database,
            lambda *_: PointModel(ScriptedChatModel(lambda _: '{"relations": []}'), run.points),
            clock,
            uuid7,
        ),
        _due_no_more("contradictions"),
    ),
    "decay": Scenario(
        "decay",
        _decay,
        lambda run, database, clock: Decay(database, run.ground, clock),
        _due_no_more("decay"),
    ),
    "autonomy": Scenario(
        "autonomy",
        _autonomy,
        lambda run, database, clock: Autonomy(
            database, lambda *_: PointModel(ScriptedChatModel(_judge), run.points), clock
        ),
        _due_no_more("autonomy"),
    ),
    "synthesis": Scenario(
        "synthesis",
        _synthesis,
        lambda run, database, clock: Synthesis(database, run.world.environment, clock, uuid7),
        _due_no_more("synthesis"),
    ),
}


def start(ground: Ground, scenario: Scenario, name: str) -> Run:
    world = World(
        ground.database,
        None,  # type: ignore[arg-type]
        ScriptedChatModel(_lines),
        environment=dict(ENVIRONMENT),
    )
    run = Run(ground, scenario, SliceKey(f"org-{name}"), world)
    world.enrol(run.key.org_id)
    with world.transaction(run.key) as tx:
        change_consent(tx, run.key.org_id, "embedding_consent", True, actor="test", now=world.now)
    scenario.prepare(run)
    return run
