"""What a note costs besides its model call as the beliefs in its slice grow: `make bench-growth`.

    python -m tests.benchmarks.growth [--sizes 1000 10000 100000]

For each size an organization whose slice holds that many beliefs, with words drawn by their natural
frequencies. Then notes of which a quarter repeat what is believed, read by a scripted model that takes no
time, so that all that is left is our own work; and the same notes once more. The notes are drained in a
process of its own, whose memory is therefore that of a worker.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import psycopg
from psycopg.rows import TupleRow

from dreaming.database import Database
from dreaming.models.scripted import ScriptedChatModel
from dreaming.notes.records import SliceKey
from tests.benchmarks.beliefs import sentences, stored_slice
from tests.benchmarks.database import benchmark_address, commit_milliseconds
from tests.benchmarks.report import Figure, write
from tests.world import note, open_world, verbatim

SIZES = (1_000, 10_000, 100_000)
NOTES = 400
REPEATED = 4
"""Every fourth note repeats what is believed."""
BATCH = 40
WARM = 40
GOAL_MILLISECONDS = 5.0
GOAL_RATIO = 1.5
GOAL_MEGABYTES = 200


@dataclass(frozen=True, slots=True)
class Drained:
    """What draining the notes took: wall and processor time in seconds, statements, calls, tokens, peak memory.

    `server` is the processor time of the server's own processes for our connections. `commit` is what committing
    one row took in milliseconds, before and after.
    """

    seconds: float
    processor: float
    server: float
    statements: int
    calls: int
    calls_again: int
    tokens: int
    megabytes: float
    commit: float = 0.0


def server_seconds(connection: psycopg.Connection[Any]) -> float:
    """Return the processor time that the connection's process in a server on this machine has had so far.

    0 where there is no `/proc` to say so.
    """
    try:
        ran = Path(f"/proc/{connection.info.backend_pid}/schedstat").read_text("ascii")
    except OSError:
        return 0.0
    return int(ran.split()[0]) / 1e9


def peak_megabytes() -> float:
    """Return the most memory that this process has had.

    Not from `getrusage` where it can be avoided: Linux keeps there what the process had that started this one, so
    that a benchmark would measure the statements that it has made.
    """
    try:
        status = Path("/proc/self/status").read_text("ascii")
    except OSError:
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most / (1 << 20 if sys.platform == "darwin" else 1 << 10)
    return int(status.partition("VmHWM:")[2].split()[0]) / (1 << 10)


class Counting:
    """Counts the statements of the connections that it opens."""

    def __init__(self) -> None:
        self.statements = 0
        self.connections: list[psycopg.Connection[TupleRow]] = []

    @property
    def server(self) -> float:
        """The processor time in seconds that the server has spent on the connections so far."""
        return sum(map(server_seconds, self.connections))

    def connect(self, conninfo: str, **options: Any) -> psycopg.Connection[TupleRow]:
        counting = self

        class Cursor(psycopg.Cursor[TupleRow]):
            def execute(self, query: Any, *arguments: Any, **settings: Any) -> Any:
                counting.statements += 1
                return super().execute(query, *arguments, **settings)

        self.connections.append(psycopg.connect(conninfo, cursor_factory=Cursor, **options))
        return self.connections[-1]


def drain(url: str, org: str, texts: list[str], warm: list[str]) -> Drained:
    """Ingest and drain the notes, and the same once more."""
    counting = Counting()
    database = Database(url, connect=counting.connect)
    key = SliceKey(org)
    model = ScriptedChatModel(verbatim)
    with tempfile.TemporaryDirectory(prefix="dreaming-bench-") as folder:
        world = open_world(database, Path(folder), model)
        world.environment |= {"DREAMING_BATCH_NOTES": str(BATCH), "DREAMING_PACKING": "false"}
        world.enrol(org)
        world.ingest(*(note(f"warm{at}", text) for at, text in enumerate(warm)), key=key)
        world.drain()
        notes = [note(f"n{at}", text) for at, text in enumerate(texts)]
        world.ingest(*notes, key=key)
        before = counting.statements, len(model.requests), perf_counter(), process_time(), counting.server
        world.drain()
        seconds, processor = perf_counter() - before[2], process_time() - before[3]
        server = counting.server - before[4]
        statements, calls = counting.statements - before[0], len(model.requests) - before[1]
        assert world.counters(key).waiting == 0
        tokens = world.rows("select coalesce(sum(input_tokens + output_tokens), 0) from usage", key=key)[0][0]
        world.ingest(*notes, key=key)
        world.drain()
    database.close()
    again = len(model.requests) - before[1] - calls
    tokens = round(int(tokens) * len(texts) / (len(texts) + len(warm)))
    return Drained(seconds, processor, server, statements, calls, again, tokens, peak_megabytes())


def measure(url: str, size: int, notes: int) -> Drained:
    """Fill a slice and drain notes into it, in a process of its own."""
    org = f"beliefs-{size}"
    believed = sentences(size, seed=1)
    stored_slice(url, org, believed)
    repeated = notes // REPEATED
    told = sentences(notes - repeated, seed=2) + believed[: size // 2][:: max(1, size // 2 // repeated)][:repeated]
    before = commit_milliseconds(url)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        drained: Drained = pool.apply(drain, (url, org, told, sentences(WARM, seed=3)[:notes]))
    return replace(drained, commit=(before + commit_milliseconds(url)) / 2)


def figures(measured: dict[int, Drained], notes: int) -> dict[str, Figure]:
    """Return what was measured, for each size."""
    each = {size: 1000 * one.seconds / notes for size, one in measured.items()}
    least, most = min(each), max(each)
    made = {
        f"overhead for a note at {size:,} beliefs": Figure.of(
            value, "ms", ("<=", GOAL_MILLISECONDS) if size == most else None
        )
        for size, value in each.items()
    }
    made["growth of it over all sizes"] = Figure.of(each[most] / each[least], "times", ("<=", GOAL_RATIO))
    for size, one in measured.items():
        made[f"of it our processor time at {size:,}"] = Figure.of(1000 * one.processor / notes, "ms", None)
        made[f"of it the server's processor time at {size:,}"] = Figure.of(1000 * one.server / notes, "ms", None)
        made[f"overhead in commits of one row at {size:,}"] = Figure.of(each[size] / one.commit, "commits", None)
        made[f"memory of a worker at {size:,}"] = Figure.of(one.megabytes, "MB", None)
        made[f"model calls for a note at {size:,}"] = Figure.of(one.calls / notes, "calls", ("<=", 1))
        made[f"model calls for a note that comes again at {size:,}"] = Figure.of(
            one.calls_again / notes, "calls", ("<=", 0)
        )
        made[f"tokens for a note at {size:,}"] = Figure.of(one.tokens / notes, "tokens", None)
        made[f"statements for a note at {size:,}"] = Figure.of(one.statements / notes, "statements", None)
    made["memory of a worker at most"] = Figure.of(
        max(one.megabytes for one in measured.values()), "MB", ("<=", GOAL_MEGABYTES)
    )
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure each size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--notes", type=int, default=NOTES)
    given = parser.parse_args(arguments)
    sizes, notes = given.sizes, given.notes
    with benchmark_address() as (url, _):
        measured = {size: measure(url, size, notes) for size in sizes}
    details = {"notes": notes, "repeated": notes // REPEATED, "batch_notes": BATCH, "sizes": sizes}
    return write("growth", figures(measured, notes), details=details)


if __name__ == "__main__":
    sys.exit(main())
