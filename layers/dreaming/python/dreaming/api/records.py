"""The types of what people read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from dreaming.beliefs.records import Belief, Kind, Source, SourceEnd
from dreaming.beliefs.relationships.records import RelationshipReading
from dreaming.notes.records import NoteCounters, NoteState, Slice
from dreaming.passes.records import RunStatus


@dataclass(frozen=True, slots=True)
class CursorReading:
    """How far a pass has come in a slice, and why it holds; `running` while a run is under way.

    Once its notes were let wait again, `rewound_at` says when, and `rewound_from` where the cursor had been.
    """

    position: int = 0
    last_occurred_at: datetime | None = None
    last_note_id: UUID | None = None
    generation: int = 0
    running: bool = False
    progressed_at: datetime | None = None
    held_reason: str | None = None
    held_detail: str | None = None
    held_since: datetime | None = None
    rewound_at: datetime | None = None
    rewound_from: int = 0


@dataclass(frozen=True, slots=True)
class BeliefCounters:
    """How many beliefs of a slice are live, by kind, and how many are archived."""

    by_kind: dict[Kind, int]
    archived: int = 0

    @property
    def live(self) -> int:
        """All that readers see."""
        return sum(self.by_kind.values())


@dataclass(frozen=True, slots=True)
class RunReading:
    """The record of one run; `pass_counts` holds what passes other than consolidation count."""

    run_id: UUID
    slice_id: int
    pass_name: str
    status: RunStatus
    started_at: datetime
    progressed_at: datetime
    finished_at: datetime | None
    held_reason: str | None
    batches: int
    notes_consolidated: int
    notes_empty: int
    notes_retired: int
    claims_extracted: int
    claims_rejected: int
    claims_suppressed: int
    claims_rejected_by_rule: dict[str, int]
    beliefs_created: int
    beliefs_corroborated: int
    beliefs_restored: int
    beliefs_archived: int
    conflict_candidates: int
    partial_chunks: int
    model_calls: int
    input_tokens: int
    output_tokens: int
    pass_counts: dict[str, int]


@dataclass(frozen=True, slots=True)
class RunPage:
    """Some runs, and the cursor of the next ones when there are more."""

    runs: tuple[RunReading, ...]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class SliceStatus:
    """Where a slice stands; `last_sequence` is the highest sequence handed out. `runs` are the latest first."""

    slice: Slice
    last_sequence: int
    notes: NoteCounters
    beliefs: BeliefCounters
    cursor: CursorReading
    runs: tuple[RunReading, ...] = ()

    @property
    def rereading(self) -> Rereading | None:
        """How far the slice's notes have been read again, when they are being."""
        cursor = self.cursor
        if cursor.rewound_at is None or cursor.position >= cursor.rewound_from:
            return None
        return Rereading(cursor.rewound_at, cursor.position, cursor.rewound_from)


@dataclass(frozen=True, slots=True)
class Rereading:
    """A slice on its way through its notes again: those up to the sequence `goal`, since a moment."""

    since: datetime
    position: int
    goal: int


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a pass has come in the visible slices; `stopped`: every reason why no run of it starts."""

    slices: tuple[SliceStatus, ...]
    stopped: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Evidence:
    """The quote that gives a belief its wording, and where it stands."""

    quote: str
    source: str
    external_id: str
    author: str | None
    occurred_at: datetime


@dataclass(frozen=True, slots=True)
class BeliefReading:
    """A belief with its confidence aged to the moment of reading; no evidence when no source is live."""

    belief: Belief
    slice_id: int
    aged: float
    evidence: Evidence | None


@dataclass(frozen=True, slots=True)
class BeliefPage:
    """Some beliefs, and the cursor of the next ones when there are more."""

    beliefs: tuple[BeliefReading, ...]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class NoteReading:
    """The note behind a source, at the version that the source quotes; `state` is the note's today.

    `conversation_id` is the captured conversation that the note was made of, where it was.
    """

    note_id: UUID
    source: str
    external_id: str
    author: str | None
    occurred_at: datetime
    version: int
    current_version: int
    state: NoteState
    conversation_id: str | None = None


@dataclass(frozen=True, slots=True)
class SourceReading:
    """A source with its quote in context.

    `before` and `after` are what stands around the quote, cut at words. `exact` says that the text
    at the stored offsets equals the quote; None where there is no note. `ended_at` and
    `ended_reason` are set when the source has stopped counting.
    """

    source: Source
    note: NoteReading | None
    before: str
    after: str
    exact: bool | None
    model: str | None
    prompt_version: str | None
    run: RunReading | None
    recorded_at: datetime
    ended_at: datetime | None
    ended_reason: SourceEnd | None


@dataclass(frozen=True, slots=True)
class ConflictReading:
    """A pair left for adjudication, as one of its beliefs sees it."""

    belief_id: UUID
    statement: str
    other_id: UUID
    other_statement: str
    reason: str
    evidence: dict[str, Any]
    found_at: datetime


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """How a belief's confidence comes about: `min(most, base + step × corroborations)`, then ageing.

    `corroborations` are further origins that count, and `most` is 1, or 0.5 where only untrusted sources speak.
    `half_life_days` is None for a permanent belief. Ages are in days and never negative.
    """

    base: float
    step: float
    corroborations: int
    most: float
    confidence: float
    confirmed_at: datetime
    half_life_days: float | None
    age_days: float
    aged: float
    fades_at: datetime | None


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a belief is believed: its sources from the earliest, arithmetic, relationships, history, conflicts.

    `arithmetic` is None when no source counts any more.
    """

    reading: BeliefReading
    slice: Slice
    arithmetic: Arithmetic | None
    sources: tuple[SourceReading, ...]
    history: tuple[dict[str, Any], ...]
    conflicts: tuple[ConflictReading, ...]
    relationships: tuple[RelationshipReading, ...] = ()


@dataclass(frozen=True, slots=True)
class RetiredNote:
    """A note that was given up after its attempts, and why."""

    note_id: UUID
    source: str
    external_id: str
    occurred_at: datetime
    version: int
    reason: str
    attempts: int
    run_id: UUID
    retired_at: datetime


@dataclass(frozen=True, slots=True)
class Recount:
    """What a count of a slice found.

    `differences` are the maintained counters that it does not confirm: name, kept value, counted
    value. `wrong_quotes` of the slice's `quotes` are not what stands at their place in the note.
    `wrong_sources` beliefs say another number of sources than they have.
    """

    slice: Slice
    differences: tuple[tuple[str, int, int], ...]
    wrong_sources: int
    quotes: int
    wrong_quotes: int
