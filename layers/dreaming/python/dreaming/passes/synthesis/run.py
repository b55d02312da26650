"""The synthesis pass: one batch turns idle conversations into notes, all in one transaction.

Locks are taken in one order: conversations by id, the slice's row, the belief lock where notes are to be
withdrawn, all notes that there are by id, counters, and the due time last.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from dreaming.beliefs import store as beliefs_store
from dreaming.beliefs.service import withdraw
from dreaming.database import Database, Transaction
from dreaming.identifiers import NewId
from dreaming.notes import store as notes_store
from dreaming.notes.connectors.records import short_id
from dreaming.notes.preparation import prepare
from dreaming.notes.records import IncomingNote, PreparedNote, Slice
from dreaming.notes.service import ingest_prepared, longest_note
from dreaming.passes import store as passes_store
from dreaming.passes.records import SYNTHESIS, BatchOutcome, Clock, Deadline, Lease
from dreaming.passes.synthesis import rules, store
from dreaming.passes.synthesis.records import Idle, MadeNote, Plan, Window
from dreaming.recall import store as recall_store
from dreaming.recall.idleness import idle_time
from dreaming.recall.records import SOURCE, StoredTurn, chain
from dreaming.recall.switch import is_on
from dreaming.settings.resolution import Settings

BATCH_CONVERSATIONS = 25
"""How many conversations one transaction turns into notes."""

TRANSCRIPT = "transcript"
"""What an ingest calls a transcript, too: of the same name, it is the same witness, whichever came first."""

_MOST_PARTICIPANTS = 200

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Synthesis:
    """The pass, with its ports; `environment` holds the deployment's settings."""

    database: Database
    environment: Mapping[str, str]
    clock: Clock
    new_id: NewId
    batch_conversations: int = BATCH_CONVERSATIONS

    @property
    def name(self) -> str:
        """The pass's name."""
        return SYNTHESIS

    def due(
        self,
        planner: Transaction,
        settings: Settings,  # noqa: ARG002 - the port's shape
        *,
        now: datetime,
        stalled_after: timedelta,
        only: int | None,
    ) -> Sequence[Slice]:
        """Return the slices in which a conversation has been idle long enough; none without the flag."""
        if not is_on(self.environment):
            return []
        return passes_store.slices_due(planner, self.name, now=now, stalled_after=stalled_after, only=only)

    def run_batch(self, lease: Lease, settings: Settings, deadline: Deadline) -> BatchOutcome:  # noqa: ARG002
        """Turn conversations that are due into notes, or as many of them as one transaction takes."""
        now = self.clock()
        with self.database.transaction(lease.slice.key.tenant) as tx:
            step = _Step(tx, lease.slice, settings, self.new_id, now)
            outcome = (
                step.take(self.batch_conversations) if is_on(self.environment) else BatchOutcome(False, remaining=False)
            )
            passes_store.commit_batch(tx, lease, outcome, now=now)
        _log.info(
            SYNTHESIS,
            extra={**outcome.counts, "slice_id": lease.slice.slice_id, "run_id": str(lease.run_id)},
        )
        return outcome


@dataclass(frozen=True, slots=True)
class _Planned:
    """A conversation with what is to be done about its notes, and the notes to be written."""

    conversation: Idle
    plan: Plan
    made: Sequence[MadeNote]
    notes: Sequence[PreparedNote]


@dataclass(frozen=True, slots=True)
class _Step:
    """One transaction of the pass in one slice."""

    tx: Transaction
    slice: Slice
    settings: Settings
    new_id: NewId
    now: datetime

    def take(self, limit: int) -> BatchOutcome:
        idle = store.lock_due(self.tx, self.slice.slice_id, now=self.now, limit=limit)
        known = store.read_made(self.tx, self.slice.slice_id, [one.document_id for one in idle])
        planned = [self._plan(one, known[one.document_id]) for one in idle]
        counts = self._write(planned) if planned else {}
        following = store.settle_due(self.tx, self.slice.slice_id)
        remaining = bool(idle) and following is not None and following <= self.now
        return BatchOutcome(progressed=bool(idle), remaining=remaining, counts=counts)

    def _plan(self, conversation: Idle, made: Sequence[MadeNote]) -> _Planned:
        turns = chain(recall_store.read_turns(self.tx, self.slice.slice_id, conversation.document_id))
        longest = longest_note(self.settings)
        plan = rules.plan(
            turns,
            made,
            agent=conversation.agent,
            idle=idle_time(self.settings),
            characters=min(rules.NOTE_CHARACTERS, longest),
        )
        before = {(note.first_turn, note.part): note.occurred_at for note in made}
        notes = []
        for window in plan.windows:
            otherwise = before.get((window.first_turn, window.part), conversation.changed_at)
            moment = rules.occurred_at(window, otherwise, latest=conversation.changed_at)
            notes.append(prepare(_note(conversation, window, moment, turns), max_note_characters=longest))
        written = [
            MadeNote(
                window.first_turn,
                window.part,
                window.end_turn,
                note.external_id,
                turns[window.end_turn - 1].sha256,
                note.occurred_at,
            )
            for window, note in zip(plan.windows, notes, strict=True)
        ]
        return _Planned(conversation, plan, written, notes)

    def _write(self, planned: Sequence[_Planned]) -> dict[str, int]:
        slice_id = self.slice.slice_id
        notes = [note for one in planned for note in one.notes]
        gone = [external_id for one in planned for external_id in one.plan.withdrawn]
        notes_store.lock_slice(self.tx, slice_id)
        if gone:
            beliefs_store.lock(self.tx, slice_id)
        named = [note.external_id for note in notes] + gone
        known = notes_store.find_notes(self.tx, slice_id, SOURCE, named)
        notes_store.lock_notes(self.tx, slice_id, known.values())
        withdrawn = 0
        if gone:
            withdrawn = withdraw(
                self.tx, slice_id, SOURCE, gone, settings=self.settings, now=self.now, new_id=self.new_id
            )
        ingested = ingest_prepared(self.tx, self.slice.key, notes, now=self.now, new_id=self.new_id)
        made = {one.conversation.document_id: one.made for one in planned}
        store.replace_made(self.tx, slice_id, made, gone)
        return {
            "conversations_synthesized": len(planned),
            "notes_made": ingested.created,
            "notes_edited": ingested.edited + ingested.reinstated,
            "notes_withdrawn": withdrawn,
        }


def _note(conversation: Idle, window: Window, moment: datetime, turns: Sequence[StoredTurn]) -> IncomingNote:
    """Return a window as a note: one witness with all of its conversation, and "I" told by who speaks in it."""
    part = f".{window.part}" if window.part else ""
    speakers = rules.people(window.turns, conversation.agent)
    alone = rules.people(turns, conversation.agent)
    return IncomingNote(
        external_id=f"{conversation.key}:{window.first_turn}{part}",
        source=SOURCE,
        origin=short_id(f"{TRANSCRIPT}:{conversation.external_id}"),
        text=rules.written(window.turns, conversation.agent),
        occurred_at=moment,
        author=alone[0] if len(alone) == 1 else None,
        participants=tuple(speakers[:_MOST_PARTICIPANTS]),
    )
