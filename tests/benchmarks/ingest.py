"""How fast notes come in: `make bench-ingest`.

20,000 short notes, in transactions of 500 as `dream ingest` makes them, on a server that flushes to disk.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta
from time import perf_counter

from dreaming.database import Database
from dreaming.identifiers import uuid7
from dreaming.notes.records import IncomingNote, SliceKey
from dreaming.notes.service import ingest
from tests.benchmarks.database import benchmark_database
from tests.benchmarks.report import Figure, write

NOTES = 20_000
PER_TRANSACTION = 500
GOAL = 5_000
NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)


def lines(count: int) -> list[IncomingNote]:
    """Chat lines of about 60 characters."""
    return [
        IncomingNote(
            external_id=f"line-{number}",
            source="chat",
            text=f"<user{number % 50}> the build of branch {number % 977} took {number % 61} minutes on my machine",
            occurred_at=NOW - timedelta(seconds=count - number),
            author=f"user{number % 50}",
            origin=f"day-{number // 1000}",
        )
        for number in range(count)
    ]


def seconds_to_ingest(database: Database, key: SliceKey, notes: list[IncomingNote]) -> float:
    """Store the notes and return how long it took."""
    start = perf_counter()
    for at in range(0, len(notes), PER_TRANSACTION):
        batch = notes[at : at + PER_TRANSACTION]
        ingest(database, key, batch, now=NOW, new_id=uuid7, max_note_characters=2_000_000)
    return perf_counter() - start


def main() -> int:
    """Measure a first ingest and the same notes again."""
    notes = lines(NOTES)
    with benchmark_database() as (database, _):
        seconds_to_ingest(database, SliceKey("warm"), notes[:PER_TRANSACTION])
        first = seconds_to_ingest(database, SliceKey("acme"), notes)
        again = seconds_to_ingest(database, SliceKey("acme"), notes)
    figures = {
        "new": Figure.of(NOTES / first, "notes/s", (">=", GOAL)),
        "known already": Figure.of(NOTES / again, "notes/s", None),
    }
    return write("ingest", figures, details={"notes": NOTES, "notes_per_transaction": PER_TRANSACTION})


if __name__ == "__main__":
    sys.exit(main())
