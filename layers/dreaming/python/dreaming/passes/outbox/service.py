"""Sending what waits in a slice's outbox."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from dreaming.database import Database
from dreaming.errors import Hold
from dreaming.notes.records import Slice
from dreaming.passes.outbox import store
from dreaming.passes.outbox.records import EventSink
from dreaming.passes.records import Deadline

CHUNK = 500
"""How many events are read, sent and dropped at once."""

LEFT_SECONDS = 20.0
"""What an invocation keeps of its time for whatever comes after sending."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Sent:
    """How many events were sent, and whether all that waited were."""

    events: int
    complete: bool


def send_waiting(database: Database, slice_: Slice, sink: EventSink, deadline: Deadline) -> Sent:
    """Send the slice's events, oldest first, until none waits, the bus fails, or time runs short.

    No transaction is open while the bus is called. One that dies between sending and dropping sends
    the same events again, under the same ids. A failing bus is logged and never an error here: what
    waits is sent by the slice's next run.
    """
    sent = 0
    while deadline.remaining() > LEFT_SECONDS:
        with database.transaction(slice_.key.tenant) as tx:
            events = store.waiting(tx, slice_.slice_id, limit=CHUNK)
        if not events:
            return Sent(sent, complete=True)
        try:
            taken = sink.send(events)
        except Hold as hold:
            _log.warning("events not sent", extra={"slice_id": slice_.slice_id, "reason": hold.reason})
            return Sent(sent, complete=False)
        with database.transaction(slice_.key.tenant) as tx:
            store.forget(tx, slice_.slice_id, taken)
        sent += len(taken)
        if len(taken) < len(events):
            _log.warning(
                "events refused by the bus",
                extra={"slice_id": slice_.slice_id, "refused": len(events) - len(taken)},
            )
            return Sent(sent, complete=False)
    return Sent(sent, complete=False)
