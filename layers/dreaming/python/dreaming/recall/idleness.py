"""From when on a conversation counts as idle, so that its turns become notes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from dreaming.recall.records import StoredTurn
from dreaming.settings.resolution import Settings


def idle_time(settings: Settings) -> timedelta:
    """Return how long nothing must be said until a conversation's new turns become a note."""
    return timedelta(minutes=settings.number("conversation_idle_minutes"))


def idle_at(turns: Sequence[StoredTurn], settings: Settings, *, now: datetime) -> datetime:
    """Return when a conversation that was captured at `now` is idle; one that was said long ago is at once."""
    said = turns[-1].said_at if turns else None
    return (now if said is None else min(said, now)) + idle_time(settings)
