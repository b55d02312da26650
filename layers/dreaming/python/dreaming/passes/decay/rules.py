"""The decisions of the decay pass. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from dreaming.passes.decay.records import Week

WEEKS = 12
"""How far the forecast looks."""

_WEEK = timedelta(days=7)


def archived_from(
    fades_at: datetime, warned_at: datetime | None, warn_ahead: timedelta, *, warns: bool, now: datetime
) -> datetime:
    """Return the earliest moment at which a pass may archive a belief that nobody confirms.

    Not before it fades; one that is announced not before `warn_ahead` has passed since, and one that
    still has to be (`warns`) is announced `warn_ahead` before it fades, but not before `now`.
    """
    if warned_at is None and not warns:
        return fades_at
    announced = warned_at if warned_at is not None else max(now, fades_at - warn_ahead)
    return max(fades_at, announced + warn_ahead)


def weeks(counts: Mapping[int, int], *, now: datetime) -> tuple[Week, ...]:
    """Return the weeks from `now` on, with how many beliefs fade in each; `counts` is by number from 0."""
    return tuple(Week(now + number * _WEEK, counts.get(number, 0)) for number in range(WEEKS))
