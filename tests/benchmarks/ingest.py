"""How fast notes come in: `make bench-ingest`.

    python -m tests.benchmarks.ingest [--notes 20000]

Short notes, in transactions of 500 as `dream ingest` makes them, on a server that flushes to disk, beside the
least that storing them can cost: the same texts, inserted as often into a table with a key and nothing else.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from time import perf_counter

import psycopg

from dreaming.database import Database
from dreaming.identifiers import uuid7
from dreaming.notes.records import IncomingNote, SliceKey
from dreaming.notes.service import ingest
from tests.benchmarks.database import benchmark_address
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


def seconds_to_insert(url: str, notes: list[IncomingNote]) -> float:
    """Insert id and text of each note in the same transactions, and return how long it took."""
    with psycopg.connect(url) as connection:
        connection.execute("create table public.bare (external_id text primary key, text text)")
        connection.commit()
        start = perf_counter()
        for at in range(0, len(notes), PER_TRANSACTION):
            batch = notes[at : at + PER_TRANSACTION]
            connection.execute(
                "insert into public.bare select * from unnest(%s::text[], %s::text[])",
                ([note.external_id for note in batch], [note.text for note in batch]),
            )
            connection.commit()
        return perf_counter() - start


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure a first ingest, the same notes again, and the bare inserts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=int, default=NOTES)
    count = parser.parse_args(arguments).notes
    notes = lines(count)
    with benchmark_address() as (url, _):
        database = Database(url)
        seconds_to_ingest(database, SliceKey("warm"), notes[:PER_TRANSACTION])
        bare = seconds_to_insert(url, notes)
        first = seconds_to_ingest(database, SliceKey("acme"), notes)
        again = seconds_to_ingest(database, SliceKey("acme"), notes)
        database.close()
    figures = {
        "new": Figure.of(count / first, "notes/s", (">=", GOAL)),
        "known already": Figure.of(count / again, "notes/s", None),
        "new / bare inserts": Figure.of(first / bare, "times", None),
        "known already / bare inserts": Figure.of(again / bare, "times", None),
    }
    return write("ingest", figures, details={"notes": count, "notes_per_transaction": PER_TRANSACTION})


if __name__ == "__main__":
    sys.exit(main())
