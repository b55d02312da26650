"""Where events go: an EventBridge bus, or the log where no bus is named."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from dreaming.errors import Hold
from dreaming.passes.outbox.records import Event, EventSink

EVENT_BUS = "DREAMING_EVENT_BUS"

SOURCE = "dreaming"
"""The source of the events, for rules of the bus."""

READ_TIMEOUT = 5.0
"""How long one call may take, in seconds; what waits is sent by a later run."""

_ENTRIES = 10
"""How many entries EventBridge takes in one call (PutEvents, "Service quotas")."""

_log = logging.getLogger(__name__)


class EventBusUnavailable(Hold):
    """EventBridge did not take what it was sent; the outbox keeps it."""

    reason = "event_bus_unavailable"


class EventBridgeSink:
    """Sends to one EventBridge bus, by name or ARN."""

    def __init__(self, bus: str) -> None:
        """Name the bus; the client is made at the first call."""
        self._bus = bus

    @cached_property
    def _client(self) -> Any:
        from dreaming.models.aws import connect  # noqa: PLC0415 - heavy, and most runs announce nothing

        return connect("events", read_timeout=READ_TIMEOUT)

    def send(self, events: Sequence[Event]) -> Sequence[int]:
        """Send the events; returns the ids of those that the bus took, raises `EventBusUnavailable` for none."""
        taken: list[int] = []
        for chunk in _chunks(events):
            try:
                taken += self._put(chunk)
            except EventBusUnavailable:
                if not taken:
                    raise
                break
        return taken

    def _put(self, events: Sequence[Event]) -> list[int]:
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415

        try:
            answer = self._client.put_events(Entries=[self._entry(event) for event in events])
        except (BotoCoreError, ClientError) as error:
            raise EventBusUnavailable(f"the event bus took nothing: {error}") from error
        return [
            event.event_id
            for event, result in zip(events, answer["Entries"], strict=True)
            if result.get("EventId") and not result.get("ErrorCode")
        ]

    def _entry(self, event: Event) -> dict[str, Any]:
        return {
            "EventBusName": self._bus,
            "Source": SOURCE,
            "DetailType": event.name,
            "Time": event.happened_at,
            "Detail": json.dumps(detail(event)),
        }


class LoggedEvents:
    """Writes each event to the log, where there is no bus."""

    def send(self, events: Sequence[Event]) -> Sequence[int]:
        """Log the events; all of them are taken."""
        for event in events:
            _log.info("event", extra={"event_name": event.name, "event_detail": detail(event)})
        return [event.event_id for event in events]


def event_sink(environment: Mapping[str, str]) -> EventSink:
    """Return the sink that the environment names."""
    bus = environment.get(EVENT_BUS)
    return EventBridgeSink(bus) if bus else LoggedEvents()


def detail(event: Event) -> dict[str, Any]:
    """Return what a receiver gets; `event_id` is the same each time the same event is sent."""
    return {
        **event.detail,
        "event_id": str(event.event_id),
        "slice_id": event.slice_id,
        "happened_at": event.happened_at.isoformat(),
    }


def _chunks(events: Sequence[Event]) -> Iterator[Sequence[Event]]:
    return (events[start : start + _ENTRIES] for start in range(0, len(events), _ENTRIES))
