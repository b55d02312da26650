"""Where the passes stand and what their runs did."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import Field

from dreaming.api.records import CursorReading, Progress, RunReading, SliceStatus
from dreaming.api.remedies import remedy
from dreaming.api.schemas.schema import Schema
from dreaming.beliefs.records import Kind
from dreaming.notes.records import NoteCounters, Scope
from dreaming.passes.records import RunStatus


class Health(Schema):
    """The service runs."""

    status: Literal["ok"] = "ok"
    version: str


class Coverage(Schema):
    """How many notes stand where; `total` is the sum of consolidated, waiting, retired and empty."""

    total: int
    consolidated: int
    waiting: int
    retired: int
    empty: int
    withdrawn: int = Field(description="Gone upstream; no part of the total.")

    @classmethod
    def of(cls, counters: Sequence[NoteCounters]) -> Coverage:
        """Add up the counters of slices."""
        return cls(**{name: sum(getattr(one, name) for one in counters) for name in cls.model_fields})


class Beliefs(Schema):
    """How many beliefs readers see, by kind, and how many are archived."""

    live: int
    by_kind: dict[Kind, int]
    archived: int


class Cursor(Schema):
    """How far the slice's notes are consolidated."""

    position: int = Field(description="The sequence of the last note passed.")
    last_sequence: int = Field(description="The highest sequence handed out in the slice.")
    last_occurred_at: datetime | None
    last_note_id: UUID | None
    running: bool
    progressed_at: datetime | None


class Stopped(Schema):
    """Why no run starts, and what a person does about it."""

    reason: str
    remedy: str
    setting: str | None = Field(description="The setting or consent that it is about.")

    @classmethod
    def of(cls, reason: str, pass_name: str) -> Stopped:
        """Tell about a reason of a pass."""
        told, setting = remedy(reason, pass_name)
        return cls(reason=reason, remedy=told, setting=setting)


class Rereading(Schema):
    """The slice's notes are being read again; those from `position` to `goal` are left."""

    since: datetime
    position: int
    goal: int


class Held(Schema):
    """Why the cursor waits, since when, and what a person does about it; the next tick tries again."""

    reason: str
    detail: str | None
    since: datetime | None
    remedy: str
    setting: str | None = Field(description="The setting or consent that it is about.")

    @classmethod
    def of(cls, cursor: CursorReading, pass_name: str) -> Held | None:
        """Read the hold of a pass's cursor."""
        if cursor.held_reason is None:
            return None
        told, setting = remedy(cursor.held_reason, pass_name)
        return cls(
            reason=cursor.held_reason,
            detail=cursor.held_detail,
            since=cursor.held_since,
            remedy=told,
            setting=setting,
        )


class Run(Schema):
    """One run: all batches of a slice from one tick."""

    run_id: UUID
    slice_id: int
    pass_name: str = Field(serialization_alias="pass")
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
    claims_rejected_by_rule: dict[str, int]
    beliefs_created: int
    beliefs_corroborated: int
    beliefs_restored: int
    beliefs_archived: int
    conflict_candidates: int
    model_calls: int
    input_tokens: int
    output_tokens: int
    pass_counts: dict[str, int] = Field(description="What passes other than consolidation count, by name.")

    @classmethod
    def of(cls, run: RunReading) -> Run:
        """Read a run's record."""
        return cls.model_validate({name: getattr(run, name) for name in cls.model_fields})


class RunPage(Schema):
    """Some runs, the latest start first."""

    runs: tuple[Run, ...]
    next_cursor: str | None


class SliceReading(Schema):
    """Where one slice stands."""

    slice_id: int
    scope: Scope
    owner_user_id: str | None
    coverage: Coverage
    beliefs: Beliefs
    cursor: Cursor
    held: Held | None
    rereading: Rereading | None = Field(description="When its notes are read again after a change of the reader.")

    @classmethod
    def of(cls, status: SliceStatus, pass_name: str) -> SliceReading:
        """Read a slice's status in a pass."""
        cursor = status.cursor
        return cls(
            slice_id=status.slice.slice_id,
            scope=status.slice.key.scope,
            owner_user_id=status.slice.key.owner_user_id,
            coverage=Coverage.of([status.notes]),
            beliefs=Beliefs(live=status.beliefs.live, by_kind=status.beliefs.by_kind, archived=status.beliefs.archived),
            cursor=Cursor(
                position=cursor.position,
                last_sequence=status.last_sequence,
                last_occurred_at=cursor.last_occurred_at,
                last_note_id=cursor.last_note_id,
                running=cursor.running,
                progressed_at=cursor.progressed_at,
            ),
            held=Held.of(cursor, pass_name),
            rereading=status.rereading and Rereading.model_validate(status.rereading),
        )


class DreamStatus(Schema):
    """How far a pass has come in all slices that the caller sees."""

    pass_name: str = Field(serialization_alias="pass")
    coverage: Coverage = Field(description="The sum over the slices.")
    stopped: tuple[Stopped, ...] = Field(
        description="Why switch, enrolment, consent or settings let no run start; empty when they do."
    )
    slices: tuple[SliceReading, ...]
    last_run: Run | None
    recent_runs: tuple[Run, ...] = Field(description="Of all slices together, the newest first.")

    @classmethod
    def of(cls, pass_name: str, progress: Progress, *, runs: int) -> DreamStatus:
        """Put the slices' statuses together, with the newest `runs` of their runs."""
        statuses = progress.slices
        readings = sorted((run for status in statuses for run in status.runs), key=_newest_first)
        recent = tuple(Run.of(run) for run in readings[: max(runs, 1)])
        return cls(
            pass_name=pass_name,
            coverage=Coverage.of([status.notes for status in statuses]),
            stopped=tuple(Stopped.of(reason, pass_name) for reason in progress.stopped),
            slices=tuple(SliceReading.of(status, pass_name) for status in statuses),
            last_run=recent[0] if recent else None,
            recent_runs=recent[:runs],
        )


def _newest_first(run: RunReading) -> tuple[float, str]:
    return -run.started_at.timestamp(), str(run.run_id)
