"""How the contradictions pass fares on stories: each runs through the real passes, note by note."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from dreaming.database import Database
from dreaming.database.migration import migrate
from dreaming.identifiers import uuid7
from dreaming.local.evaluation.records import Figure
from dreaming.local.evaluation.stories import Row, Story
from dreaming.local.evaluation.story_models import StoryModel
from dreaming.local.evaluation.story_outcomes import Held, check, read_outcome
from dreaming.models.protocols import ChatModel
from dreaming.notes.records import IncomingNote, Scope, SliceKey
from dreaming.notes.service import ingest
from dreaming.notes.store import find_slice
from dreaming.passes.consolidation.run import Consolidation
from dreaming.passes.contradictions.run import Contradictions
from dreaming.passes.engine import Engine, Pass
from dreaming.passes.records import BatchMessage, Deadline
from dreaming.settings.service import change_consent

ORGANIZATION = "stories"
_ERRORS = {Row.RULES: 0.0, Row.JUDGE: 0.0, Row.UNSURE_JUDGE: 0.1}
_INVOCATION_SECONDS = 180.0
_GOALS: Mapping[str, tuple[str, float]] = {"answers": (">=", 95.0), "retired": ("<=", 0.0), "intervals": (">=", 95.0)}


@dataclass(frozen=True, slots=True)
class Told:
    """How one story came out: whether the answer is right, how much was wrongly retired, whether intervals are right.

    `intervals` is None where the story has only one side. `problems` say what is wrong, for people.
    """

    story: Story
    right: bool
    retired: int
    intervals: bool | None
    problems: tuple[str, ...]
    held: tuple[Held, ...]


@dataclass(slots=True)
class _MemoryQueue:
    """A queue of one process; nothing is lost in it and nothing comes twice."""

    bodies: deque[str] = field(default_factory=deque)

    def send(self, body: str, *, group_id: str, deduplication_id: str) -> None:
        """Put a message at the end."""
        self.bodies.append(body)

    def change_visibility(self, receipt: str, seconds: float) -> None:
        """Nothing is ever in flight."""


@contextmanager
def own_database() -> Iterator[Database]:
    """Start a database of the evaluation's own, which is gone afterwards."""
    from dreaming.local.postgres import EmbeddedPostgres

    with TemporaryDirectory(prefix="dreaming-stories-") as folder:
        Path(folder).chmod(0o711)
        server = EmbeddedPostgres(Path(folder), durable=False)
        try:
            url = server.start()  # also an interrupted start leaves a server to remove
            migrate(url)
            database = Database(url)
            try:
                yield database
            finally:
                database.close()
        finally:
            server.remove()


def tell(
    database: Database,
    stories: Sequence[Story],
    row: Row,
    *,
    extractor: ChatModel | None = None,
    on_story: Callable[[int], object] = lambda _: None,
) -> list[Told]:
    """Run every story through ingest, consolidation and the pass, note by note, each in a slice of its own."""
    told = []
    for done, story in enumerate(stories, 1):
        told.append(_tell(database, story, row, extractor))
        on_story(done)
    return told


def _tell(database: Database, story: Story, row: Row, extractor: ChatModel | None) -> Told:
    key = SliceKey(ORGANIZATION, Scope.PRIVATE, f"{row.value} {story.id} {uuid7().hex[-6:]}")
    now = story.now or max(note.occurred_at for note in story.notes) + timedelta(days=1)
    model = StoryModel(story, errors=_ERRORS[row], extractor=extractor)
    with database.transaction(key.tenant) as tx:
        for consent in ("enrolled", "model_consent"):
            change_consent(tx, ORGANIZATION, consent, True, actor="evaluation", now=now)
    environment = {
        "DREAMING_ENABLED": "true",
        "DREAMING_CHAT_PROVIDER": "scripted",  # the story's own model
        "DREAMING_CONTRADICTION_JUDGE": "false" if row is Row.RULES else "true",
    }
    works: tuple[Pass, ...] = (
        Consolidation(database, lambda *_: model, lambda: now, uuid7),
        Contradictions(database, lambda *_: model, lambda: now, uuid7),
    )
    for place, note in enumerate(story.notes):
        incoming = IncomingNote(
            external_id=str(place), source="story", text=note.text, occurred_at=note.occurred_at, trust=note.trust,
            author=note.author,
        )  # fmt: skip
        ingest(database, key, [incoming], now=now, new_id=uuid7, max_note_characters=100_000)
        for work in works:
            _run(database, key, work, environment, now)
    with database.transaction(key.tenant) as tx:
        found = find_slice(tx, key)
        held = read_outcome(tx, found.slice_id) if found else ()
    right, retired, intervals, problems = check(story, held)
    return Told(story, right, retired, intervals, problems, held)


def _run(database: Database, key: SliceKey, work: Pass, environment: Mapping[str, str], now: datetime) -> None:
    with database.transaction(key.tenant) as tx:
        found = find_slice(tx, key)
    queue = _MemoryQueue()
    engine = Engine(work, database, queue, environment, lambda: now, uuid7)
    engine.tick(found.slice_id if found else None)
    while queue.bodies:
        message = BatchMessage.model_validate_json(queue.bodies.popleft())
        engine.batch(message, holder="evaluation", deadline=Deadline(lambda: _INVOCATION_SECONDS))


def figures(told: Mapping[Row, Sequence[Told]]) -> dict[str, Figure]:
    """Return the figures of each row over all stories, and by kind; goals belong to the second row."""
    found: dict[str, Figure] = {}
    for row, stories in told.items():
        found |= _figures(row.value, stories, with_goals=row is Row.JUDGE)
        for kind in sorted({one.story.kind for one in stories}):
            found |= _figures(
                f"{row.value}.{kind}", [one for one in stories if one.story.kind == kind], with_goals=False
            )
    return found


def _figures(prefix: str, stories: Sequence[Told], *, with_goals: bool) -> dict[str, Figure]:
    sided = [one for one in stories if one.intervals is not None]
    values: dict[str, tuple[float, str]] = {
        "answers": (_share(one.right for one in stories), "%"),
        "retired": (float(sum(one.retired for one in stories)), "beliefs"),
    }
    if sided:
        values["intervals"] = (_share(bool(one.intervals) for one in sided), "%")
    return {
        f"{prefix}.{name}": Figure.of(value, unit, _GOALS[name] if with_goals else None)
        for name, (value, unit) in values.items()
    }


def _share(found: Iterable[bool]) -> float:
    every = list(found)
    return 100.0 * sum(every) / len(every) if every else 0.0


def details(stories: Sequence[Story]) -> dict[str, Any]:
    """Return what the figures depend on besides the machine."""
    return {"stories": len(stories), "kinds": sorted({story.kind for story in stories})}
