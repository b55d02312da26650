"""The consolidation pass: one batch reads the next notes, extracts in parallel, applies in order."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from dreaming.beliefs import store as beliefs_store
from dreaming.beliefs.records import BeliefEvent
from dreaming.beliefs.service import ageing, write_changes
from dreaming.beliefs.workspace import Workspace
from dreaming.database import Database, Transaction
from dreaming.identifiers import NewId
from dreaming.models.protocols import ChatModel
from dreaming.notes import store as notes_store
from dreaming.notes.records import Note, NoteState, Slice
from dreaming.passes import store as passes_store
from dreaming.passes.consolidation import candidates, semantic, store
from dreaming.passes.consolidation.acceptance import Accepted, accept
from dreaming.passes.consolidation.application import Application, Applied, NoteClaims
from dreaming.passes.consolidation.extraction import Extractor
from dreaming.passes.consolidation.nearness import Nearness
from dreaming.passes.consolidation.packing import LABEL
from dreaming.passes.consolidation.prompt import PROMPT_VERSION
from dreaming.passes.consolidation.relating import find_entities, relate
from dreaming.passes.consolidation.work import Extraction, NoteWork
from dreaming.passes.records import CONSOLIDATION, BatchOutcome, Clock, Deadline, Lease
from dreaming.settings.resolution import Settings

_APPLIED = frozenset({NoteState.WAITING, NoteState.EMPTY})

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Batch:
    """The notes after the cursor, and how far the slice's sequences reached when they were read."""

    notes: list[Note]
    position: int
    last_sequence: int
    complete: bool


@dataclass(frozen=True, slots=True)
class _Step:
    """The notes that this batch passes, in order, with what becomes of each."""

    works: dict[UUID, NoteWork]
    passed: list[Note]
    position: int


@dataclass(frozen=True, slots=True)
class Consolidation:
    """The pass, with its ports: `chat_model` and `embedder` build an organization's models from its settings."""

    database: Database
    chat_model: Callable[[Settings, str], ChatModel]
    clock: Clock
    new_id: NewId
    embedder: semantic.EmbedderOf = semantic.no_embedder

    @property
    def name(self) -> str:
        """The pass's name."""
        return CONSOLIDATION

    def due(
        self, planner: Transaction, settings: Settings, *, now: datetime, stalled_after: timedelta, only: int | None
    ) -> Sequence[Slice]:
        """Return the slices with notes after the cursor."""
        return passes_store.slices_with_waiting_notes(
            planner,
            CONSOLIDATION,
            now=now,
            stalled_after=stalled_after,
            private_slices=settings.integer("private_slices_per_run"),
            only=only,
        )

    def run_batch(self, lease: Lease, settings: Settings, deadline: Deadline) -> BatchOutcome:
        """Consolidate the next notes of the slice; see the design, section 6."""
        batch = self._read(lease, settings)
        waiting = [note for note in batch.notes if note.state is NoteState.WAITING]
        model = self.chat_model(settings, lease.slice.key.org_id) if waiting else None
        extraction = Extraction([])
        checking = _Checking(lease, self.clock(), self.new_id)
        if model is not None:
            extractor = Extractor(
                database=self.database,
                model=model,
                lease=lease,
                settings=settings,
                deadline=deadline,
                clock=self.clock,
                on_extracted=checking.check,
            )
            extraction = extractor.extract(waiting)
        step = _next_step(batch, extraction)
        # Checking claims takes as long as the notes are, embedding them longer: not while beliefs are locked.
        checked = checking.checked(step)
        claims = [
            (claim, note.source)
            for note in step.passed
            if note.note_id in checked
            for claim in checked[note.note_id].sources
        ]
        threshold = word_threshold(settings)
        prepared = semantic.prepare(
            self.database, self.embedder, lease, settings, deadline, claims, threshold=threshold
        )
        name = model.name if model else ""
        return self._apply(lease, settings, batch, extraction, step, checked=checked, prepared=prepared, model=name)

    def _read(self, lease: Lease, settings: Settings) -> _Batch:
        limit = batch_notes(settings)
        with self.database.transaction(lease.slice.key.tenant) as tx:
            cursor = passes_store.require_lease(tx, lease)
            last_sequence = store.last_sequence(tx, lease.slice.slice_id)
            notes = notes_store.read_waiting(tx, lease.slice.slice_id, cursor.position, limit)
        return _Batch(notes, cursor.position, last_sequence, complete=len(notes) < limit)

    def _apply(
        self,
        lease: Lease,
        settings: Settings,
        batch: _Batch,
        extraction: Extraction,
        step: _Step,
        *,
        checked: dict[UUID, Accepted],
        prepared: semantic.Prepared,
        model: str,
    ) -> BatchOutcome:
        """Write all effects of the batch in one transaction with the cursor, the counters and the run."""
        slice_id = lease.slice.slice_id
        now = self.clock()
        ids = [note.note_id for note in step.passed]
        with self.database.transaction(lease.slice.key.tenant) as tx:
            beliefs_store.lock(tx, slice_id)
            unchanged = _unchanged(tx, lease.slice.slice_id, step.passed)
            retired = [note for note in unchanged if note.note_id in step.works and step.works[note.note_id].retired]
            consolidated = [note for note in unchanged if note.note_id in checked]
            accepted = {note.note_id: checked[note.note_id] for note in consolidated}
            applied = self._apply_claims(
                tx, lease, settings, consolidated, accepted, nearness=prepared.nearness, model=model, now=now
            )
            applied.counts.update(prepared.counts)
            states = _set_states(tx, slice_id, consolidated, retired)
            store.record_retirements(tx, slice_id, _retirements(retired, step.works), run_id=lease.run_id, now=now)
            if ids:
                store.drop_answers(tx, slice_id, ids)
                store.drop_attempts(tx, slice_id, [note.note_id for note in consolidated])
                store.move_cursor(
                    tx,
                    lease,
                    position=step.position,
                    occurred_at=step.passed[-1].occurred_at,
                    note_id=step.passed[-1].note_id,
                )
            elif step.position > batch.position:
                store.move_cursor(tx, lease, position=step.position, occurred_at=None, note_id=None)
            outcome = BatchOutcome(
                progressed=step.position > batch.position or extraction.progressed,
                remaining=store.remaining(tx, slice_id, step.position),
                held=extraction.hold.reason if extraction.hold else None,
                held_detail=str(extraction.hold) if extraction.hold else None,
                counts=_counts(accepted, applied, extraction, states, step),
            )
            rejections: Counter[str] = Counter()
            for item in accepted.values():
                rejections.update(item.rejected)
            store.add_rejections(tx, lease, rejections)
            if extraction.booked:
                # In the run's record since they were made, and among the counts that the commit adds.
                passes_store.add_to_run(tx, lease, {name: -count for name, count in extraction.booked.items()}, now=now)
            passes_store.commit_batch(tx, lease, outcome, now=now)
        for note in retired:
            attempt = step.works[note.note_id].attempt
            _log.error(
                "note retired",
                extra={"note_id": str(note.note_id), "reason": attempt.last_failure, "run_id": str(lease.run_id)},
            )
        return outcome

    def _apply_claims(
        self,
        tx: Transaction,
        lease: Lease,
        settings: Settings,
        notes: Sequence[Note],
        accepted: dict[UUID, Accepted],
        *,
        nearness: Nearness | None,
        model: str,
        now: datetime,
    ) -> Applied:
        """Find candidates for the whole batch, apply its claims in order, and write what changed."""
        if not accepted:
            return Applied()
        slice_id = lease.slice.slice_id
        threshold = word_threshold(settings)
        entities = find_entities(tx, slice_id, accepted)
        accepted = dict(entities.accepted)
        claims = [source for item in accepted.values() for source in item.sources]
        found = candidates.find(tx, slice_id, claims, threshold=threshold, semantic=nearness is not None)
        mattering = found.mattering(claims, threshold=threshold, nearness=nearness)
        attributes = [(c.subject, c.attribute) for c in claims if c.subject and c.attribute and not c.multi_valued]
        involved = {belief_id for ids in mattering for belief_id in ids}
        involved.update(beliefs_store.find_same_attribute(tx, slice_id, list(dict.fromkeys(attributes))))
        involved.update(beliefs_store.supported_by(tx, slice_id, list(accepted)))
        workspace = Workspace(
            beliefs_store.load(tx, slice_id, involved), ageing=ageing(settings), now=now, new_id=self.new_id
        )
        application = Application(
            workspace,
            threshold=threshold,
            nearness=nearness,
            model=model,
            prompt_version=PROMPT_VERSION,
            new_id=self.new_id,
        )
        applied = application.apply(_note_claims(notes, accepted, mattering))
        if left_out := found.left_out + application.left_out:
            applied.counts["candidates_left_out"] = left_out
        changes = workspace.changes()
        write_changes(tx, slice_id, changes, run_id=lease.run_id, now=now)
        store.name_reader(tx, slice_id, list(accepted), model=model, prompt_version=PROMPT_VERSION)
        events = Counter(entry.event for entry in changes.history)
        applied.counts["beliefs_restored"] = events[BeliefEvent.RESTORED]
        applied.counts["beliefs_archived"] = events[BeliefEvent.ARCHIVED]
        applied.counts["conflict_candidates"] = store.write_conflict_candidates(
            tx, slice_id, applied.conflicts, run_id=lease.run_id, now=now
        )
        applied.counts.update(
            relate(tx, slice_id, entities, applied.belief_of, ageing=changes.ageing, now=now, new_id=self.new_id)
        )
        return applied


_NO_CLAIMS = Accepted((), 0, {})


class _Checking:
    """Checks the claims of a batch's notes, of each as soon as it has all of its answers and there is time."""

    def __init__(self, lease: Lease, now: datetime, new_id: NewId) -> None:
        key = lease.slice.key
        self._forbidden = frozenset(part for part in (key.org_id, key.owner_user_id) if part)
        self._now = now
        self._new_id = new_id
        self._accepted: dict[UUID, Accepted] = {}

    def check(self, work: NoteWork) -> None:
        """Check the claims of an extracted note."""
        answers = [(chunk, work.answers[chunk.index].items) for chunk in work.chunks]
        self._accepted[work.note.note_id] = accept(
            work.note, answers, label=LABEL, forbidden=self._forbidden, now=self._now, new_id=self._new_id
        )

    def checked(self, step: _Step) -> dict[UUID, Accepted]:
        """Return the claims of every note that is to be consolidated; an empty note has none."""
        accepted = {}
        for note in step.passed:
            work = step.works.get(note.note_id)
            if note.state not in _APPLIED or (work is not None and work.retired):
                continue
            if work is not None and note.note_id not in self._accepted:
                self.check(work)
            accepted[note.note_id] = self._accepted.get(note.note_id, _NO_CLAIMS)
        return accepted


def batch_notes(settings: Settings) -> int:
    """Return how many notes one batch reads."""
    return settings.integer("batch_notes")


def word_threshold(settings: Settings) -> float:
    """Return the Jaccard similarity of words from which two statements match."""
    return settings.number("jaccard_threshold")


def _next_step(batch: _Batch, extraction: Extraction) -> _Step:
    """Take the notes in order up to the first that must wait for another batch."""
    works = {work.note.note_id: work for work in extraction.works}
    passed: list[Note] = []
    for note in batch.notes:
        work = works.get(note.note_id)
        if note.state is NoteState.WAITING and not (work is not None and (work.extracted or work.retired)):
            return _Step(works, passed, passed[-1].sequence if passed else batch.position)
        passed.append(note)
    position = passed[-1].sequence if passed else batch.position
    # Every sequence up to the last one read is either here or was given up by an edit.
    return _Step(works, passed, max(position, batch.last_sequence) if batch.complete else position)


def _unchanged(tx: Transaction, slice_id: int, notes: Sequence[Note]) -> list[Note]:
    """Lock the notes and return those that nobody edited, withdrew or reinstated since they were read."""
    current = notes_store.lock_notes(tx, slice_id, [note.note_id for note in notes])
    return [note for note in notes if current.get(note.note_id) == (note.version, note.state)]


def _note_claims(
    notes: Sequence[Note], accepted: dict[UUID, Accepted], candidates: Sequence[tuple[UUID, ...]]
) -> list[NoteClaims]:
    """Give each note its claims with their candidates, which stand in the order of all claims."""
    remaining = iter(candidates)
    return [
        NoteClaims(note, tuple((source, next(remaining)) for source in accepted[note.note_id].sources))
        for note in notes
    ]


def _set_states(
    tx: Transaction, slice_id: int, consolidated: Sequence[Note], retired: Sequence[Note]
) -> dict[str, int]:
    done = [note.note_id for note in consolidated if note.state is NoteState.WAITING]
    if done:
        notes_store.set_state(tx, slice_id, done, NoteState.CONSOLIDATED)
    if retired:
        notes_store.set_state(tx, slice_id, [note.note_id for note in retired], NoteState.RETIRED)
    return {
        "notes_consolidated": len(done),
        "notes_empty": sum(note.state is NoteState.EMPTY for note in consolidated),
        "notes_retired": len(retired),
    }


def _retirements(retired: Sequence[Note], works: dict[UUID, NoteWork]) -> list[store.Retirement]:
    return [
        store.Retirement(
            note_id=note.note_id,
            version=note.version,
            sequence=note.sequence,
            reason=works[note.note_id].attempt.last_failure or "failed",
            attempts=works[note.note_id].attempt.attempts,
        )
        for note in retired
    ]


def _counts(
    accepted: dict[UUID, Accepted], applied: Applied, extraction: Extraction, states: dict[str, int], step: _Step
) -> dict[str, int]:
    """Return the differences of the run's columns; model calls and tokens were paid whatever was applied."""
    applied_works = [step.works[note_id] for note_id in accepted if note_id in step.works]
    return {
        **applied.counts,
        **states,
        "claims_extracted": sum(item.extracted for item in accepted.values()),
        "claims_rejected": sum(sum(item.rejected.values()) for item in accepted.values()),
        "partial_chunks": sum(answer.partial for work in applied_works for answer in work.answers.values()),
        **extraction.booked,
    }
