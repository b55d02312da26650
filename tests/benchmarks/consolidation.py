"""How fast notes become beliefs, and what that costs in calls: `make bench-consolidation`.

    python -m tests.benchmarks.consolidation [--notes 1000]

1,000 notes of one slice with a scripted model that takes 300 ms, 16 calls at once and a call for each
note, against the time that these calls take at least. Then chat lines with packing, as it is by default:
made-up ones, and those of the corpora kept outside the repository where they are there.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import threading
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from time import perf_counter, process_time

from dreaming.database import Database
from dreaming.models.offline import OfflineExtractor
from dreaming.models.protocols import ChatAnswer, ChatModel, ChatRequest
from dreaming.models.scripted import ScriptedChatModel
from dreaming.notes.records import IncomingNote, SliceKey
from tests.architecture.modules import ROOT
from tests.benchmarks.database import benchmark_database
from tests.benchmarks.ingest import lines
from tests.benchmarks.report import Figure, write
from tests.faults.test_packing import facts
from tests.world import World, note, open_world, verbatim

NOTES = 1_000
LATENCY = 0.3
CONCURRENCY = 16
BATCH = 12 * CONCURRENCY
"""Whole rounds of calls, so that no batch ends with most of its callers idle."""
GOAL = 1.25
CHAT_LINES = 1_000
MOST_CALLS = 0.15
IRC = ROOT.parent / "shared" / "corpora" / "irc_ubuntu_dev.jsonl.gz"


class CountedExtractor(OfflineExtractor):
    """The offline model, counting its calls."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0
        self._lock = threading.Lock()

    def answer(self, request: ChatRequest) -> ChatAnswer:
        with self._lock:
            self.calls += 1
        return super().answer(request)


def irc_notes(path: Path = IRC, *, most: int = CHAT_LINES) -> list[IncomingNote]:
    """The chat lines of the corpus as notes; none where it is absent."""
    if not path.exists():
        return []
    with gzip.open(path, "rt", encoding="utf-8") as rows:
        read = [json.loads(row) for row in islice(rows, most)]
    return [note(f"{row['file']}:{row['line']}", row["text"], source="irc", origin=row["conversation"]) for row in read]


def drained(database: Database, folder: Path, org: str, notes: Sequence[IncomingNote], model: ChatModel,
            **settings: str) -> tuple[World, float]:  # fmt: skip
    """Drain the notes of an organization of their own; return the world and the seconds that it took."""
    home = folder / org
    home.mkdir()
    world = open_world(database, home, model)
    world.environment |= {"DREAMING_MODEL_CONCURRENCY": str(CONCURRENCY), **settings}
    key = SliceKey(org)
    world.enrol(org)
    world.ingest(*notes, key=key)
    start = perf_counter()
    world.drain()
    seconds = perf_counter() - start
    assert world.counters(key).waiting == 0
    return world, seconds


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure speed and calls."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=int, default=NOTES)
    parser.add_argument("--lines", type=int, default=CHAT_LINES, help="chat lines")
    given = parser.parse_args(arguments)
    count, chat_lines = given.notes, given.lines
    figures = {}
    least = count * LATENCY / CONCURRENCY
    told = [note(f"n{number}", text) for number, text in enumerate(facts(count))]
    with benchmark_database() as (database, folder):
        slow = ScriptedChatModel(verbatim, latency=LATENCY)
        processor = process_time()
        _, seconds = drained(
            database, folder, "speed", told, slow, DREAMING_PACKING="false", DREAMING_BATCH_NOTES=str(BATCH)
        )
        processor = process_time() - processor
        figures["time of the least possible"] = Figure.of(seconds / least, "times", ("<=", GOAL))
        figures["time"] = Figure.of(seconds, "s", None)
        figures["processor time, without the server's"] = Figure.of(processor, "s", None)
        for name, chat in (("made-up chat", lines(chat_lines)), ("IRC", irc_notes(most=chat_lines))):
            if chat:
                model = CountedExtractor()
                drained(database, folder, name, chat, model, DREAMING_PACKING="true")
                figures[f"calls for a line of {name}"] = Figure.of(model.calls / len(chat), "calls", ("<=", MOST_CALLS))
    details = {
        "notes": count,
        "latency_seconds": LATENCY,
        "concurrency": CONCURRENCY,
        "batch_notes": BATCH,
        "chat_lines": chat_lines,
    }
    return write("consolidation", figures, details=details)


if __name__ == "__main__":
    sys.exit(main())
