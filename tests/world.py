"""An organization with notes, a queue and a scripted model: the whole of consolidation without a network."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from dreaming.database import Database, Transaction
from dreaming.identifiers import uuid7
from dreaming.local.queue import LocalQueue
from dreaming.models.protocols import ChatModel
from dreaming.models.scripted import ScriptedChatModel
from dreaming.notes.records import IncomingNote, IngestCounts, NoteCounters, Slice, SliceKey
from dreaming.notes.secrets import mask
from dreaming.notes.service import ingest
from dreaming.notes.store import find_slice, read_counters
from dreaming.passes.consolidation.run import Consolidation
from dreaming.passes.consolidation.semantic import no_embedder
from dreaming.passes.engine import Engine
from dreaming.passes.records import BatchMessage, BatchReport, Deadline, TickReport
from dreaming.settings.service import change_consent

KEY = SliceKey("acme")
NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)


def note(external_id: str, text: str, **changes: Any) -> IncomingNote:
    """A trusted note of one day before `NOON`."""
    values = {"source": "test", "occurred_at": NOON - timedelta(days=1), **changes}
    return IncomingNote(external_id=external_id, text=text, **values)


def claim(statement: str, quote: str | None = None, **changes: Any) -> dict[str, Any]:
    """A claim as a model would send it; the quote is the statement unless given."""
    return {"kind": "fact", "statement": statement, "quote": quote or statement, "confidence": 0.8, **changes}


def verbatim(request: Any) -> list[dict[str, Any]]:
    """A script that claims every line of each note as it stands."""
    return [
        claim(line.strip(), note=passage.label)
        for passage in request.passages
        for line in passage.text.splitlines()
        if line.strip()
    ]


@dataclass
class World:
    """One deployment under test; time stands still unless the test moves it."""

    database: Database
    queue: LocalQueue
    model: ChatModel
    now: datetime = NOON
    # A call for each note, so that scripts can speak of one; tests of packing switch it on.
    environment: dict[str, str] = field(
        default_factory=lambda: {"DREAMING_ENABLED": "true", "DREAMING_PACKING": "false"}
    )
    remaining: Callable[[], float] = lambda: 180.0
    embedder: Any = no_embedder

    def clock(self) -> datetime:
        return self.now

    @property
    def engine(self) -> Engine:
        work = Consolidation(self.database, lambda settings, org_id: self.model, self.clock, uuid7, self.embedder)
        return Engine(work, self.database, self.queue, self.environment, self.clock, uuid7)

    def enrol(self, org_id: str = KEY.org_id, *, consent: bool = True) -> None:
        with self.transaction(SliceKey(org_id)) as tx:
            change_consent(tx, org_id, "enrolled", True, actor="test", now=self.now)
            change_consent(tx, org_id, "model_consent", consent, actor="test", now=self.now)

    def transaction(self, key: SliceKey = KEY) -> Any:
        return self.database.transaction(key.tenant)

    def ingest(self, *notes: IncomingNote, key: SliceKey = KEY) -> IngestCounts:
        return ingest(self.database, key, notes, now=self.now, new_id=uuid7, max_note_characters=2_000_000)

    def slice(self, key: SliceKey = KEY) -> Slice:
        with self.transaction(key) as tx:
            found = find_slice(tx, key)
        assert found is not None
        return found

    def tick(self, only: int | None = None) -> TickReport:
        return self.engine.tick(only)

    def receive(self) -> tuple[BatchMessage, str] | None:
        received = self.queue.receive(holder="test", visibility_timeout=1080)
        return None if received is None else (BatchMessage.model_validate_json(received.body), received.receipt)

    def batch(self, message: BatchMessage, holder: str = "invocation") -> BatchReport:
        return self.engine.batch(message, holder=holder, deadline=Deadline(self.remaining))

    def process(self, on_report: Callable[[BatchReport], None] = lambda report: None, *, limit: int = 1000) -> int:
        """Process the queue until it is empty, as the local runtime does; return the number of batches."""
        for count in range(limit):
            received = self.receive()
            if received is None:
                return count
            message, receipt = received
            report = self.batch(message, holder=receipt)
            self.queue.delete(receipt)
            on_report(report)
        raise AssertionError(f"the queue is not empty after {limit} batches")

    def drain(self) -> int:
        """A tick and all that follows from it."""
        self.tick()
        return self.process()

    def counters(self, key: SliceKey = KEY) -> NoteCounters:
        with self.transaction(key) as tx:
            return read_counters(tx, self.slice(key).slice_id)

    def rows(self, query: str, parameters: Sequence[Any] = (), key: SliceKey = KEY) -> list[tuple[Any, ...]]:
        with self.transaction(key) as tx:
            return list(tx.execute(query, parameters).fetchall())

    def beliefs(self, key: SliceKey = KEY) -> list[tuple[Any, ...]]:
        """Statement, confidence, sources and origins of every live belief, in order of the statements."""
        return self.rows(
            "select statement, confidence, sources, origins from beliefs where archived_at is null order by statement",
            key=key,
        )

    def statements(self, key: SliceKey = KEY) -> list[str]:
        return [row[0] for row in self.beliefs(key)]

    def check(self, key: SliceKey = KEY) -> None:
        """Assert what must hold after anything: exact quotes, true counters, beliefs equal to their fold."""
        with self.transaction(key) as tx:
            _check_quotes(tx)
            _check_counters(tx, self.slice(key).slice_id)
            _check_folds(tx, self.slice(key).slice_id)


def open_world(database: Database, folder: Path, script: Any = verbatim, **changes: Any) -> World:
    """A world whose organization is enrolled and consents; `script` is a function or a model."""
    model = script if hasattr(script, "answer") else ScriptedChatModel(script)
    world = World(database, None, model, **changes)  # type: ignore[arg-type]
    world.queue = LocalQueue(folder / "queue.sqlite", "consolidation", clock=world.clock)
    world.enrol()
    return world


def _check_quotes(tx: Transaction) -> None:
    """Every quote is the span of its note, with secrets masked in it and nothing else changed."""
    rows = tx.execute(
        """
        select s.source_id, s.quote, s.quote_start, s.quote_end, coalesce(n.text, v.text) from sources s
        left join notes n on n.note_id = s.note_id and n.version = s.note_version
        left join note_versions v on v.note_id = s.note_id and v.version = s.note_version
        where s.note_id is not null
        """
    ).fetchall()
    texts = {text for *_, text in rows}
    assert None not in texts
    masked = {text: mask(text).text for text in texts}
    assert [source for source, quote, start, end, text in rows if masked[text][start:end] != quote] == []


def _check_counters(tx: Transaction, slice_id: int) -> None:
    from dreaming.notes.store import recount

    assert recount(tx, slice_id) == read_counters(tx, slice_id)
    counted = tx.execute(
        """
        select count(*) filter (where b.archived_at is null and b.kind = k.kind)
        from unnest(array['fact', 'preference', 'decision', 'entity', 'constraint', 'observation'])
            with ordinality as k (kind, place)
        left join beliefs b on b.slice_id = %s group by k.place order by k.place
        """,
        (slice_id,),
    ).fetchall()
    kept = tx.execute(
        """
        select beliefs_fact, beliefs_preference, beliefs_decision, beliefs_entity, beliefs_constraint,
               beliefs_observation, beliefs_archived from slice_counters where slice_id = %s
        """,
        (slice_id,),
    ).fetchone()
    archived = tx.execute(
        "select count(*) from beliefs where slice_id = %s and archived_at is not null", (slice_id,)
    ).fetchone()
    assert kept is not None
    assert archived is not None
    assert [row[0] for row in counted] + [archived[0]] == list(kept)


def _check_folds(tx: Transaction, slice_id: int) -> None:
    from dreaming.beliefs.rules import fold
    from dreaming.beliefs.store import load

    ids = [row[0] for row in tx.execute("select belief_id from beliefs where slice_id = %s", (slice_id,)).fetchall()]
    for belief, sources in load(tx, slice_id, ids).values():
        folded = fold(sources)
        if folded is None:
            assert belief.sources == 0
            assert not belief.live
        else:
            for name in folded.__slots__:
                assert getattr(belief, name) == getattr(folded, name), name
