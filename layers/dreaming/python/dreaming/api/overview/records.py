"""The types of the overview."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from dreaming.beliefs.records import Kind
from dreaming.notes.records import Scope

AGE_BANDS = (0, 7, 30, 90, 365)
"""Where a band of ages begins, in days since the confirmation; the last has no end."""

MAX_DAYS = 366


@dataclass(frozen=True, slots=True)
class PassDay:
    """What the runs of a pass that started on one UTC day came to, over the visible slices."""

    pass_name: str
    day: date
    runs: int
    running: int
    drained: int
    held: int
    stalled: int
    stopped: int
    replaced: int
    notes_consolidated: int
    notes_retired: int
    beliefs_created: int
    beliefs_archived: int
    model_calls: int


@dataclass(frozen=True, slots=True)
class HeldPass:
    """A pass that does not go on in a slice, and why."""

    pass_name: str
    slice_id: int
    scope: Scope
    owner_user_id: str | None
    reason: str
    detail: str | None
    since: datetime | None


@dataclass(frozen=True, slots=True)
class Timeline:
    """The days from `first` to `last`, those without a run left out, and all that is held now."""

    first: date
    last: date
    days: tuple[PassDay, ...]
    held: tuple[HeldPass, ...]


@dataclass(frozen=True, slots=True)
class BeliefGroup:
    """How many live beliefs of a kind share a tenth of aged confidence (0..9) and a band of ages, in days."""

    kind: Kind
    tenth: int
    age_from_days: int
    beliefs: int
