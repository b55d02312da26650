"""The types of events and the port through which they leave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened in a slice: ids and reasons, never text.

    `event_id` is the same each time the event is sent: receivers that must not act twice keep it.
    `name` is for example `belief.archived`.
    """

    event_id: int
    slice_id: int
    name: str
    detail: Mapping[str, Any]
    happened_at: datetime


@dataclass(frozen=True, slots=True)
class Announcement:
    """An event to be written."""

    name: str
    detail: Mapping[str, Any]


class EventSink(Protocol):
    """Where events go."""

    def send(self, events: Sequence[Event]) -> Sequence[int]:
        """Send the events and return the ids of those that were taken; the others are sent again later.

        Raises `Hold` when none could be sent.
        """
        ...
