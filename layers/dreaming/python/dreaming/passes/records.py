"""The types that every pass shares: leases, messages, and what a batch came to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from typing import Protocol
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from dreaming.notes.records import Slice

Clock = Callable[[], datetime]
"""The time of day, aware, passed in so that tests can decide it."""


SYNTHESIS = "synthesis"
CONSOLIDATION = "consolidation"
EMBEDDING = "embedding"
CONTRADICTIONS = "contradictions"
DECAY = "decay"
AUTONOMY = "autonomy"

PASS_FUNCTIONS: Mapping[str, str] = {
    SYNTHESIS: "synthesize",
    CONSOLIDATION: "consolidate",
    EMBEDDING: "embed",
    CONTRADICTIONS: "resolve_contradictions",
    DECAY: "decay",
    AUTONOMY: "score_autonomy",
}
"""The function of each pass, in the order in which one feeds the next."""


RUN_COUNTS = (
    "notes_consolidated",
    "notes_empty",
    "notes_retired",
    "claims_extracted",
    "claims_rejected",
    "claims_suppressed",
    "beliefs_created",
    "beliefs_corroborated",
    "beliefs_restored",
    "beliefs_archived",
    "conflict_candidates",
    "partial_chunks",
    "model_calls",
    "input_tokens",
    "output_tokens",
)
"""The counts that a run's record has a column for; every other one stands in its `pass_counts`."""


def message_group(slice_id: int) -> str:
    """Return the FIFO message group of a slice: a hash, so that nothing is told of the slice."""
    return sha256(f"slice:{slice_id}".encode()).hexdigest()


class BatchMessage(BaseModel):
    """The queue message that asks for batch `batch` of a run; it holds opaque ids only."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    slice_id: int
    run_id: UUID
    generation: int = Field(ge=1)
    batch: int = Field(ge=1)

    @property
    def group_id(self) -> str:
        """The FIFO message group: one per slice, as a hash."""
        return message_group(self.slice_id)

    @property
    def deduplication_id(self) -> str:
        """Explicit, because content-based deduplication would swallow the drain."""
        return f"{self.run_id}:{self.generation}:{self.batch}"

    def next(self) -> BatchMessage:
        """The message of the batch after this one."""
        return self.model_copy(update={"batch": self.batch + 1})


class Queue(Protocol):
    """A FIFO queue as a pass uses it."""

    def send(self, body: str, *, group_id: str, deduplication_id: str) -> object:
        """Put a message at the end of its group; a repeated deduplication id within 5 minutes is dropped.

        Raises `Hold` when the queue cannot be reached.
        """
        ...

    def change_visibility(self, receipt: str, seconds: float) -> object:
        """Let a received message come again after `seconds`; raises `Hold` when the queue cannot be reached."""
        ...


@dataclass(frozen=True, slots=True)
class Deadline:
    """When an invocation ends: `remaining` gives the seconds left."""

    remaining: Callable[[], float]


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to work on one batch of one slice; a later generation or another holder ends it."""

    slice: Slice
    pass_name: str
    run_id: UUID
    generation: int
    batch: int
    holder: str


class RunStatus(StrEnum):
    """What a run is doing or how it ended."""

    RUNNING = "running"
    DRAINED = "drained"
    HELD = "held"
    STALLED = "stalled"
    STOPPED = "stopped"
    REPLACED = "replaced"


@dataclass(frozen=True, slots=True)
class BatchOutcome:
    """What a batch came to.

    `progressed`: the cursor moved, an answer was saved or an attempt was counted; without it no
    further batch is sent. `remaining`: there is more to do. `held`: why the slice holds, with a
    sentence for people in `held_detail`. `counts`: what to add to the run's record.
    """

    progressed: bool
    remaining: bool
    held: str | None = None
    held_detail: str | None = None
    counts: dict[str, int] = field(default_factory=dict)

    @property
    def status(self) -> RunStatus:
        """The run's status after this batch."""
        if self.held is not None:
            return RunStatus.HELD
        if not self.remaining:
            return RunStatus.DRAINED
        return RunStatus.RUNNING if self.progressed else RunStatus.STALLED


class Disposition(StrEnum):
    """What became of a batch message."""

    DONE = "done"
    STALE = "stale"  # of an older run, or of a slice that is gone
    REPEATED = "repeated"  # its batch was committed before
    HELD = "held"
    STOPPED = "stopped"  # switched off, not enrolled, or no consent


@dataclass(frozen=True, slots=True)
class BatchReport:
    """What became of a message, and the next one when it was sent."""

    message: BatchMessage
    disposition: Disposition
    reason: str | None = None
    outcome: BatchOutcome | None = None
    sent: BatchMessage | None = None


@dataclass(frozen=True, slots=True)
class TickReport:
    """The runs that a tick started.

    `refused` holds the ids of slices that were due with the reason why they may not run; `reason`
    says why there is nothing at all.
    """

    started: tuple[BatchMessage, ...] = ()
    refused: tuple[tuple[int, str], ...] = ()
    reason: str | None = None
