"""Where the time of consolidation and of recall goes: `python -m tests.benchmarks.profiling consolidation`.

    python -m tests.benchmarks.profiling {consolidation,recall} [--size 10000] [--top 20]

Runs the work among so many beliefs or conversations twice: once timing every statement as the client sees it, and
once under cProfile. The first costs nothing that matters; the second makes Python look slower than it is.
"""

from __future__ import annotations

import argparse
import cProfile
import io
import pstats
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import psycopg
from psycopg.rows import TupleRow

from dreaming.database import Database
from dreaming.models.scripted import ScriptedChatModel
from dreaming.notes.records import IncomingNote, SliceKey, Tenant
from dreaming.recall.service import Recalling
from dreaming.settings.service import change_consent
from tests.benchmarks.beliefs import sentences, stored_slice
from tests.benchmarks.conversations import NOW, Vocabulary, load, organizations
from tests.benchmarks.database import benchmark_address
from tests.world import note, open_world, verbatim

NOTES = 200
QUESTIONS = 100
Work = Callable[[], None]


class StatementTimes:
    """Counts and times the statements of the connections that it opens, by their first words."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.times: Counter[str] = Counter()

    def connect(self, conninfo: str, **options: Any) -> psycopg.Connection[TupleRow]:
        kept = self

        class Cursor(psycopg.Cursor[TupleRow]):
            def execute(self, query: Any, *arguments: Any, **settings: Any) -> Any:
                start = perf_counter()
                try:
                    return super().execute(query, *arguments, **settings)
                finally:
                    kept.add(str(query), perf_counter() - start)

        return psycopg.connect(conninfo, cursor_factory=Cursor, **options)

    def add(self, query: str, seconds: float) -> None:
        """Count one statement."""
        name = " ".join(query.split())[:90]
        self.times[name] += 1
        self.seconds[name] += seconds

    def clear(self) -> None:
        """Forget what was counted."""
        self.seconds.clear()
        self.times.clear()

    def lines(self, top: int) -> list[str]:
        """The statements that took the most, with milliseconds altogether and for one."""
        return [
            f"{1000 * seconds:9.1f} ms  {self.times[name]:6} times  {1000 * seconds / self.times[name]:8.3f} ms  {name}"
            for name, seconds in sorted(self.seconds.items(), key=lambda item: -item[1])[:top]
        ]


def consolidation(url: str, folder: Path, size: int, times: StatementTimes) -> Work:
    """Notes for a slice of so many beliefs; each call ingests and drains other notes."""
    stored_slice(url, "bench", sentences(size, seed=1))
    world = open_world(Database(url, connect=times.connect), folder, ScriptedChatModel(verbatim))
    world.environment |= {"DREAMING_BATCH_NOTES": "40"}
    world.enrol("bench")
    texts = iter([sentences(NOTES, seed=seed) for seed in (2, 3, 4)])

    def work() -> None:
        for at, text in enumerate(next(texts)):
            notes.append(note(f"{len(notes)}-{at}", text))
        world.ingest(*notes[-NOTES:], key=SliceKey("bench"))
        times.clear()
        world.drain()

    notes: list[IncomingNote] = []
    return work


def recall(url: str, folder: Path, size: int, times: StatementTimes) -> Work:
    """Questions for an organization of so many conversations."""
    database = Database(url, connect=times.connect)
    vocabulary = Vocabulary.load()
    embedder = OneVector(64)
    organization = next(iter(organizations(size, 1, embedder.dimension, 3, vocabulary)))
    tenant = Tenant(organization.org_id)
    with database.transaction(tenant) as tx:
        change_consent(tx, organization.org_id, "embedding_consent", True, actor="bench", now=NOW)
    with psycopg.connect(url, autocommit=True, options="-c search_path=dreaming,public") as connection:
        connection.execute("set session_replication_role = replica")
        load(connection, organization, vocabulary)
        connection.execute("vacuum analyze")
    recalling = Recalling(database, {"DREAMING_CONVERSATION_MEMORY": "true"}, lambda *_: embedder, lambda: NOW)
    random = np.random.default_rng(5)
    asked = [
        " ".join(vocabulary.words[number] for number in random.choice(organization.said[place], 14).tolist())
        for place in random.integers(0, len(organization.said), QUESTIONS)
    ]

    def work() -> None:
        times.clear()
        for question in asked:
            recalling.recall(tenant, question)

    return work


class OneVector:
    """An embedder that always answers the same."""

    name = "bench"

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension

    def embed(self, texts: Sequence[str], *, timeout: float) -> Any:
        return np.full((len(texts), self.dimension), self.dimension**-0.5, dtype=np.float32)


WORKS: dict[str, tuple[Callable[[str, Path, int, StatementTimes], Work], int]] = {
    "consolidation": (consolidation, NOTES),
    "recall": (recall, QUESTIONS),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print where the time goes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=list(WORKS))
    parser.add_argument("--size", type=int, default=10_000)
    parser.add_argument("--top", type=int, default=20)
    given = parser.parse_args(arguments)
    prepare, count = WORKS[given.what]
    times = StatementTimes()
    with benchmark_address() as (url, folder):
        work = prepare(url, folder, given.size, times)
        work()
        start = perf_counter()
        work()
        seconds = perf_counter() - start
        shown = times.lines(given.top)
        inside = sum(times.seconds.values())
        profile = cProfile.Profile()
        profile.runcall(work)
    text = io.StringIO()
    pstats.Stats(profile, stream=text).sort_stats("tottime").print_stats(given.top)
    sys.stdout.write(
        f"{1000 * seconds / count:.2f} ms each, of it {1000 * inside / count:.2f} ms in statements\n\n"
        + "\n".join(shown)
        + "\n"
        + text.getvalue()
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
