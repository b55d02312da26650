"""Reads labelled notes as consolidation reads any note, in a database of the evaluation's own."""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from dreaming.api.store import latest_runs
from dreaming.beliefs import store as beliefs_store
from dreaming.beliefs.records import Kind, Source
from dreaming.database import Database, Transaction
from dreaming.errors import Hold, ProviderUnavailable, Throttled
from dreaming.identifiers import uuid7
from dreaming.local.evaluation.labelled_notes import LabelledNote
from dreaming.local.evaluation.matching import Kept
from dreaming.models.protocols import ChatAnswer, ChatModel, ChatRequest
from dreaming.notes import store as notes_store
from dreaming.notes.records import NoteState, SliceKey
from dreaming.notes.secrets import masked_note
from dreaming.notes.service import ingest
from dreaming.passes.consolidation.run import Consolidation
from dreaming.passes.engine import Engine
from dreaming.passes.records import BatchMessage, Deadline
from dreaming.settings.resolution import Settings, Value
from dreaming.settings.service import change_consent

KEY = SliceKey("extraction")
_INVOCATION_SECONDS = 180.0
_TICKS = 6
"""How often a run is begun again after the provider was out of reach; what was answered is not asked again."""

_LONGEST_WAIT = 60.0
_MOST_CHARACTERS = 1_000_000


@dataclass(frozen=True, slots=True)
class Reading:
    """What became of the notes: kept claims by the note's id, and what it took.

    `misquoted` counts kept claims whose quote does not stand where they say; `rejected` counts claims by
    the check that they failed; `failed` are the notes that were given up.
    """

    kept: Mapping[str, tuple[Kept, ...]]
    extracted: int
    rejected: Mapping[str, int]
    misquoted: int
    failed: tuple[str, ...]
    calls: int
    input_tokens: int
    output_tokens: int


class CountedModel:
    """A chat model whose calls, tokens and passages are counted; safe to call from several threads."""

    def __init__(self, model: ChatModel, on_passages: Callable[[int], object] = lambda _: None) -> None:
        """Count the calls of `model`; `on_passages` is told how many passages have been answered."""
        self._model = model
        self._on_passages = on_passages
        self._lock = threading.Lock()
        self.calls = self.input_tokens = self.output_tokens = self.passages = 0
        self._hold: Hold | None = None

    @property
    def name(self) -> str:
        """The model's own."""
        return self._model.name

    @property
    def context_tokens(self) -> int:
        """The model's own."""
        return self._model.context_tokens

    @property
    def metered(self) -> bool:
        """The model's own."""
        return self._model.metered

    def last_hold(self) -> Hold | None:
        """Return why the provider last gave no answer at all, once."""
        hold, self._hold = self._hold, None
        return hold

    def answer(self, request: ChatRequest) -> ChatAnswer:
        """Answer as the model does, and count."""
        try:
            answer = self._model.answer(request)
        except Hold as hold:
            self._hold = hold
            raise
        with self._lock:
            self.calls += 1
            self.input_tokens += answer.input_tokens
            self.output_tokens += answer.output_tokens
            self.passages += len(request.passages)
            self._on_passages(self.passages)
        return answer


@dataclass(slots=True)
class _Messages:
    """A queue of one process; nothing is lost in it and nothing comes twice."""

    bodies: deque[str] = field(default_factory=deque)

    def send(self, body: str, *, group_id: str, deduplication_id: str) -> None:
        """Put a message at the end."""
        self.bodies.append(body)

    def change_visibility(self, receipt: str, seconds: float) -> None:
        """Nothing is ever in flight."""


def read_through(
    database: Database,
    notes: Sequence[LabelledNote],
    model: CountedModel,
    settings: Settings,
    *,
    most_calls: int | None,
    sleep: Callable[[float], object],
) -> Reading:
    """Ingest and consolidate the notes with the settings in force; `most_calls` is the budget, None is the settings'.

    Raises `Hold` when the provider stays out of reach or the budget ends before every note was read.
    """
    now = max(note.occurred_at for note in notes) + timedelta(days=1)
    with database.transaction(KEY.tenant) as tx:
        for consent in ("enrolled", "model_consent"):
            change_consent(tx, KEY.org_id, consent, True, actor="evaluation", now=now)
    ingest(
        database,
        KEY,
        [note.incoming() for note in notes],
        now=now,
        new_id=uuid7,
        max_note_characters=_MOST_CHARACTERS,
    )
    _consolidate(database, model, _environment(settings, most_calls), now, sleep)
    with database.transaction(KEY.tenant) as tx:
        return _result(tx, notes, model)


def _environment(settings: Settings, most_calls: int | None) -> dict[str, str]:
    """Return the settings in force as a deployment's, with the pass switched on."""
    environment = {f"DREAMING_{name.upper()}": _written(value) for name, value in settings.items()}
    environment["DREAMING_ENABLED"] = "true"
    if most_calls is not None:
        environment["DREAMING_MODEL_CALLS_PER_DAY"] = str(most_calls)
    return environment


def _written(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _consolidate(
    database: Database,
    model: CountedModel,
    environment: Mapping[str, str],
    now: datetime,
    sleep: Callable[[float], object],
) -> None:
    """Run the pass until nothing waits; a provider that is busy is waited for, a few times."""
    queue = _Messages()
    work = Consolidation(database, lambda *_: model, lambda: now, uuid7)
    engine = Engine(work, database, queue, environment, lambda: now, uuid7)
    for attempt in range(_TICKS):
        engine.tick()
        held: str | None = None
        while queue.bodies:
            message = BatchMessage.model_validate_json(queue.bodies.popleft())
            report = engine.batch(message, holder="evaluation", deadline=Deadline(lambda: _INVOCATION_SECONDS))
            held = report.outcome.held_detail if report.outcome else report.reason
        if held is None:
            return
        hold = model.last_hold()
        if not isinstance(hold, Throttled | ProviderUnavailable) or attempt == _TICKS - 1:
            raise hold or Hold(held)
        sleep(min(_LONGEST_WAIT, hold.retry_after or 2.0**attempt))


def _result(tx: Transaction, notes: Sequence[LabelledNote], model: CountedModel) -> Reading:
    found = notes_store.find_slice(tx, KEY)
    slice_id = found.slice_id if found else 0
    stored = {note.note_id: masked_note(note) for note in notes_store.read_waiting(tx, slice_id, 0, len(notes))}
    beliefs = beliefs_store.load(tx, slice_id, beliefs_store.supported_by(tx, slice_id, list(stored)))
    sources = [source for _, held in beliefs.values() for source in held if _is_claim(source)]
    kept: dict[UUID, list[Kept]] = {note_id: [] for note_id in stored}
    misquoted = 0
    for source in sorted(sources, key=lambda source: (source.sequence, source.quote_start or 0)):
        if source.note_id in kept and source.quote_start is not None and source.quote_end is not None:
            text = stored[source.note_id].text[source.quote_start : source.quote_end]
            misquoted += text != source.quote
            kept[source.note_id].append(Kept(source.statement, source.quote_start, source.quote_end, source.kind))
    rejected: Counter[str] = Counter()
    runs = latest_runs(tx, KEY.tenant, 1_000)
    for run in runs:
        rejected.update(run.claims_rejected_by_rule)
    return Reading(
        kept={stored[note_id].external_id: tuple(claims) for note_id, claims in kept.items()},
        extracted=sum(run.claims_extracted for run in runs),
        rejected=dict(sorted(rejected.items())),
        misquoted=misquoted,
        failed=tuple(note.external_id for note in stored.values() if note.state is NoteState.RETIRED),
        calls=model.calls,
        input_tokens=model.input_tokens,
        output_tokens=model.output_tokens,
    )


def _is_claim(source: Source) -> bool:
    """Say whether a source is a claim of its own, not the bare name of what one relates to."""
    return not (source.kind is Kind.ENTITY and source.statement == source.subject)
