"""What the API answers. Ids are text; times have an offset; confidences are 0..1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class Ingested:
    """What became of the notes of a call; an erased one stays out."""

    created: int
    edited: int
    reinstated: int
    unchanged: int
    erased: int = 0


@dataclass(frozen=True, slots=True)
class Note:
    """A note without its text."""

    note_id: str
    source: str
    external_id: str
    state: str
    trust: str
    occurred_at: datetime
    author: str | None = None
    version: int = 1


@dataclass(frozen=True, slots=True)
class NoteText(Note):
    """A note with its text."""

    text: str = ""


@dataclass(frozen=True, slots=True)
class RetiredNote:
    """A note that was given up after its attempts."""

    note_id: str
    source: str
    external_id: str
    reason: str
    attempts: int
    retired_at: datetime


@dataclass(frozen=True, slots=True)
class Evidence:
    """The quote behind a belief's wording, and the note that it stands in."""

    quote: str
    source: str
    external_id: str
    occurred_at: datetime
    author: str | None = None


@dataclass(frozen=True, slots=True)
class Match:
    """Why a search found a belief."""

    score: float
    lexical: float
    likeness: float | None = None


@dataclass(frozen=True, slots=True)
class Belief:
    """A belief; `aged` is its confidence at the moment of reading."""

    belief_id: str
    kind: str
    statement: str
    aged: float
    confidence: float
    confirmed_at: datetime
    importance: str
    decay_class: str
    trust: str
    sources: int
    origins: int
    fades_at: datetime | None = None
    subject: str | None = None
    attribute: str | None = None
    value: str | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    archived_at: datetime | None = None
    archive_reason: str | None = None
    evidence: Evidence | None = None
    match: Match | None = None


@dataclass(frozen=True, slots=True)
class BeliefChanged:
    """A belief after what a person did; `changed` is false when it was so before."""

    belief_id: str
    changed: bool
    confidence: float
    confirmed_at: datetime
    archived_at: datetime | None = None
    archive_reason: str | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """One piece of evidence with its quote in context."""

    source_id: str
    source_type: str
    statement: str
    confidence: float
    trust: str
    occurred_at: datetime
    quote: str | None = None
    before: str = ""
    after: str = ""
    exact: bool | None = None
    note: Mapping[str, Any] | None = None
    ended_at: datetime | None = None
    ended_reason: str | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """What happened to a belief, with its state after it."""

    happened_at: datetime
    event: str
    confidence: float
    statement: str


@dataclass(frozen=True, slots=True)
class Related:
    """A relationship as the belief sees it."""

    type: str
    outgoing: bool
    other_id: str
    other_statement: str
    aged: float


@dataclass(frozen=True, slots=True)
class Why:
    """Why a belief is believed; `arithmetic` is None when no source counts any more."""

    belief: Belief
    scope: str
    sources: tuple[Source, ...]
    history: tuple[Event, ...]
    arithmetic: Mapping[str, Any] | None = None
    relationships: tuple[Related, ...] = ()


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two beliefs that need a person."""

    left: Why
    right: Why
    reason: str
    relation: str | None = None


@dataclass(frozen=True, slots=True)
class Resolved:
    """What was kept of a conflict: left, right, both or merge."""

    left_id: str
    right_id: str
    keep: str


@dataclass(frozen=True, slots=True)
class TwoBeliefs:
    """Two beliefs that were one."""

    belief_id: str
    other_belief_id: str


@dataclass(frozen=True, slots=True)
class Passage:
    """What was said, and by whom, where a conversation fits best."""

    text: str
    position: int
    speaker: str | None = None
    said_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """A conversation that fits: the fused score, its BM25 score, its cosine."""

    conversation_id: str
    scope: str
    turns: int
    started_at: datetime
    last_at: datetime
    score: float
    lexical: float
    summary: str
    likeness: float | None = None
    agent: str | None = None
    passage: Passage | None = None


@dataclass(frozen=True, slots=True)
class Recalled:
    """The conversations that fit best; `marked` is text for a prompt, which ingest strips again."""

    conversations: tuple[Hit, ...]
    marked: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Captured:
    """What became of a capture; `reason` says why not, or why by words only."""

    captured: bool
    pending: bool = False
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Brief:
    """What is believed now, for a system prompt: as text, and in marks that ingest strips."""

    text: str
    marked: str
    complete: bool
    at: datetime


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many notes stand where."""

    total: int
    consolidated: int
    waiting: int
    retired: int
    empty: int
    withdrawn: int = 0


@dataclass(frozen=True, slots=True)
class Held:
    """Why a slice waits, since when, and what a person does about it."""

    reason: str
    detail: str | None = None
    since: datetime | None = None
    remedy: str = ""
    setting: str | None = None


@dataclass(frozen=True, slots=True)
class Stopped:
    """Why no run starts, and what a person does about it."""

    reason: str
    remedy: str
    setting: str | None = None


@dataclass(frozen=True, slots=True)
class Rereading:
    """A slice's notes are being read again; those from `position` to `goal` are left."""

    since: datetime
    position: int
    goal: int


@dataclass(frozen=True, slots=True)
class SliceStatus:
    """Where one slice stands."""

    scope: str
    coverage: Coverage
    owner_user_id: str | None = None
    held: Held | None = None
    rereading: Rereading | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a pass over a slice."""

    run_id: str
    pass_name: str = field(metadata={"name": "pass"})
    status: str
    started_at: datetime
    finished_at: datetime | None = None
    held_reason: str | None = None
    batches: int = 0
    notes_consolidated: int = 0
    notes_retired: int = 0
    beliefs_created: int = 0
    beliefs_corroborated: int = 0
    beliefs_archived: int = 0
    model_calls: int = 0


@dataclass(frozen=True, slots=True)
class Status:
    """How far a pass has come in all slices that the caller sees."""

    pass_name: str = field(metadata={"name": "pass"})
    coverage: Coverage
    slices: tuple[SliceStatus, ...]
    stopped: tuple[Stopped, ...] = ()
    recent_runs: tuple[Run, ...] = ()
    last_run: Run | None = None


@dataclass(frozen=True, slots=True)
class Logged:
    """What logging actions came to."""

    logged: int
    changed: int
    unchanged: int


@dataclass(frozen=True, slots=True)
class Permission:
    """Whether an agent may do an action of a risk now."""

    allowed: bool
    reason: str
    agent_id: str
    risk: str
    floor: int
    score: int | None = None
    band: str | None = None


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting with the value in force, and where it comes from."""

    name: str
    value: Any
    default: Any
    origin: str
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """Every setting and consent in force."""

    consents: Mapping[str, Any]
    settings: tuple[Setting, ...]

    def value(self, name: str) -> Any:
        """Return the value in force of a setting or a consent; raises `KeyError`."""
        if name in self.consents:
            return self.consents[name]
        return {one.name: one.value for one in self.settings}[name]


@dataclass(frozen=True, slots=True)
class Changed:
    """What a change of a setting came to."""

    name: str
    changed: bool
    old_value: Any = None
    new_value: Any = None
