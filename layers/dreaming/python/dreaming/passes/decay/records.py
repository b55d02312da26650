"""The types of the decay pass and of its forecast."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from dreaming.beliefs.records import Importance, Kind


@dataclass(frozen=True, slots=True)
class Due:
    """A belief that the pass must look at; `warns`: it is to be announced first."""

    belief_id: UUID
    fades_at: datetime
    warns: bool


@dataclass(frozen=True, slots=True)
class Archived:
    """What an archiving statement changed, as differences of `slice_counters` columns."""

    rows: int = 0
    counters: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Totals:
    """What ages, by the maintained counters of all slices."""

    slices: int
    beliefs: int
    relationships: int


@dataclass(frozen=True, slots=True)
class Fading:
    """A belief that will fade; `archived_from` is the earliest moment at which a pass may archive it.

    `warned_at`: when that was announced, or None. `warns`: it will be announced before.
    """

    belief_id: UUID
    kind: Kind
    statement: str
    importance: Importance
    confidence: float
    aged: float
    fades_at: datetime
    archived_from: datetime
    warned_at: datetime | None
    warns: bool


@dataclass(frozen=True, slots=True)
class Week:
    """How many beliefs fade from `start` on, for seven days."""

    start: datetime
    beliefs: int


@dataclass(frozen=True, slots=True)
class Forecast:
    """What fades when nothing is confirmed: `faded` already wait for the next pass; `more` follow `next_ones`."""

    at: datetime
    ageing: int
    faded: int
    weeks: tuple[Week, ...]
    next_ones: tuple[Fading, ...]
    more: bool = False


@dataclass(frozen=True, slots=True)
class Preview:
    """What a pass at `at` would do, and when the slice would next have work for one.

    `held`: faded, but announced too short a time ago. The lists hold the first of each, the counts all.
    """

    at: datetime
    warned: int
    archived: int
    held: int
    relationships_archived: int
    recomputed: bool
    to_warn: tuple[Fading, ...]
    to_archive: tuple[Fading, ...]
    next_due: datetime | None
