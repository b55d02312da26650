"""Where the time of consolidation and of recall goes: `python -m tests.benchmarks.profiling consolidation`.

    python -m tests.benchmarks.profiling {consolidation,recall} [--sizes 1000 100000] [--top 20]

Runs the work among so many beliefs or conversations three times: to warm up, counting every statement with the
processor time that it took, ours and the server's, and under cProfile. Beside each other at all sizes, so that what
grows shows. Processor time, unlike a clock, says the same on a machine that others use; the server's is read from
`/proc`, and is 0 where there is none. Under cProfile Python looks slower than it is.
"""

from __future__ import annotations

import argparse
import cProfile
import io
import pstats
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import process_time, thread_time
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
from tests.benchmarks.growth import BATCH, NOTES, REPEATED, server_seconds
from tests.world import note, open_world, verbatim

QUESTIONS = 100
SIZES = (1_000, 100_000)
Work = Callable[[], None]


@dataclass(slots=True)
class Cost:
    """How often a statement came, and the processor time that it took: ours, and the server's, in seconds."""

    times: int = 0
    ours: float = 0.0
    servers: float = 0.0


class StatementTimes:
    """Counts the statements of the connections that it opens by their first words, with what they took.

    What a server does after its answer counts for the statement that comes next.
    """

    def __init__(self) -> None:
        self.costs: defaultdict[str, Cost] = defaultdict(Cost)
        self._server: dict[psycopg.Connection[Any], float] = {}

    def connect(self, conninfo: str, **options: Any) -> psycopg.Connection[TupleRow]:
        kept = self

        class Cursor(psycopg.Cursor[TupleRow]):
            def execute(self, query: Any, *arguments: Any, **settings: Any) -> Any:
                with kept.counted(str(query), self.connection):
                    return super().execute(query, *arguments, **settings)

            def fetchall(self) -> list[Any]:
                start = thread_time()
                try:
                    return super().fetchall()
                finally:
                    kept.costs["(reading rows)"].ours += thread_time() - start
                    kept.costs["(reading rows)"].times += 1

        return psycopg.connect(conninfo, cursor_factory=Cursor, **options)

    @contextmanager
    def counted(self, query: str, connection: psycopg.Connection[Any]) -> Iterator[None]:
        """Count one statement."""
        cost = self.costs[" ".join(query.split())[:90]]
        start = thread_time()
        try:
            yield
        finally:
            cost.times += 1
            cost.ours += thread_time() - start
            now = server_seconds(connection)
            cost.servers += now - self._server.get(connection, now)
            self._server[connection] = now

    def taken(self) -> dict[str, Cost]:
        """Return what was counted and begin anew."""
        costs = dict(self.costs)
        self.costs.clear()
        return costs


def consolidation(url: str, folder: Path, size: int, times: StatementTimes) -> Work:
    """Notes for a slice of so many beliefs, a quarter of them known; each call ingests and drains other notes."""
    org = f"bench-{size}"
    believed = sentences(size, seed=1)
    stored_slice(url, org, believed)
    (folder / org).mkdir()
    world = open_world(Database(url, connect=times.connect), folder / org, ScriptedChatModel(verbatim))
    world.environment |= {"DREAMING_BATCH_NOTES": str(BATCH), "DREAMING_PACKING": "false"}
    world.enrol(org)
    repeated = NOTES // REPEATED
    told = iter([
        sentences(NOTES - repeated, seed=seed) + believed[at :: max(1, size // repeated)][:repeated]
        for at, seed in enumerate((2, 3, 4))
    ])  # fmt: skip
    notes: list[IncomingNote] = []

    def work() -> None:
        first = len(notes)
        notes.extend(note(f"n{first + at}", text) for at, text in enumerate(next(told)))
        world.ingest(*notes[first:], key=SliceKey(org))
        times.taken()
        world.drain()

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
        times.taken()
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


@dataclass(frozen=True, slots=True)
class Profiled:
    """What the work took at one size: our processor time in seconds, what each statement took, and cProfile's table."""

    ours: float
    statements: dict[str, Cost]
    functions: str

    @property
    def servers(self) -> float:
        """The server's processor time in seconds."""
        return sum(cost.servers for cost in self.statements.values())


def profiled(work: Work, times: StatementTimes, top: int) -> Profiled:
    """Do the work three times: warming up, counting, and under cProfile."""
    work()
    before = process_time()
    work()
    ours = process_time() - before
    statements = times.taken()
    profile = cProfile.Profile(process_time)
    profile.runcall(work)
    text = io.StringIO()
    pstats.Stats(profile, stream=text).sort_stats("tottime").print_stats(top)
    return Profiled(ours, statements, text.getvalue())


def table(profiles: dict[int, Profiled], count: int, top: int) -> list[str]:
    """The statements that took most at the largest size, with milliseconds of processor time for one note or question.

    For each size: how often for one, our time, the server's.
    """
    sizes = sorted(profiles)
    none = Cost()
    names = sorted(
        profiles[sizes[-1]].statements.items(), key=lambda item: item[1].ours + item[1].servers, reverse=True
    )
    lines = ["".join(f"{f'at {size:,}: times':>22} {'ours':>7} {'server':>7}" for size in sizes) + "  statement"]
    for name, _ in names[:top]:
        costs = [profiles[size].statements.get(name, none) for size in sizes]
        cells = (
            f"{cost.times / count:22.3f} {1000 * cost.ours / count:7.3f} {1000 * cost.servers / count:7.3f}"
            for cost in costs
        )
        lines.append(f"{''.join(cells)}  {name}")
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    """Print where the time goes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=list(WORKS))
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--top", type=int, default=20)
    given = parser.parse_args(arguments)
    prepare, count = WORKS[given.what]
    times = StatementTimes()
    profiles = {}
    with benchmark_address() as (url, folder):
        for size in given.sizes:
            profiles[size] = profiled(prepare(url, folder, size, times), times, given.top)
    for size, one in profiles.items():
        ours, servers = 1000 * one.ours / count, 1000 * one.servers / count
        sys.stdout.write(f"\nat {size:,}: {ours:.2f} ms of our processor time each, {servers:.2f} ms of the server's\n")
        sys.stdout.write(one.functions)
    sys.stdout.write("\n".join(table(profiles, count, given.top)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
