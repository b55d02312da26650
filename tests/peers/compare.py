"""What other memories cost and keep, and what ours does, on the same notes in one run: `make bench-peers`.

    python -m tests.peers.compare [--notes 200] [--edits 50] [--only mem0] [--page]

Each system works in a process and an environment of its own, against one stub model and one PostgreSQL. It
gets the notes, the same notes again, and some of them edited; then, in a fresh store, the notes while every
second model call fails, and what failed once more; and the same with answers that are no JSON.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks.database import benchmark_address
from tests.peers.answers import statements
from tests.peers.environments import Installed
from tests.peers.notes import PeerNote, corpora_present, edited, notes
from tests.peers.page import publish, write_results
from tests.peers.stub import Fault, StubModel
from tests.peers.systems import SYSTEMS, Driven, DriverEndedError, System, driven

LATENCY = 0.1
EMBEDDING_LATENCY = 0.02
WARM = 4
"""Notes that a system takes before anything is measured, so that imports and first connections are over."""


@dataclass(frozen=True, slots=True)
class Work:
    """The notes of a comparison, edits of some of them, and other notes to warm a system with."""

    first: list[PeerNote]
    edits: list[PeerNote]
    warm: list[PeerNote]

    @classmethod
    def of(cls, count: int, edits: int) -> Work:
        drawn = notes(count + edits + WARM)
        first, spare = drawn[:count], drawn[count : count + edits]
        return cls(first, edited(first[:edits], spare), drawn[count + edits :])

    @property
    def told(self) -> set[str]:
        """What the notes say."""
        return {one for note in self.first for one in statements(note.text)}

    @property
    def replaced(self) -> set[str]:
        """What no note says any more after the edits."""
        now = {one for note in [*self.edits, *self.first[len(self.edits) :]] for one in statements(note.text)}
        return self.told - now


def found(held: dict[str, list[str]], told: set[str], stale: frozenset[str]) -> dict[str, dict[str, int]]:
    """Return for each layer how much is held, twice, missing of what was told, and held of what is stale."""
    return {
        layer: {
            "held": len(texts),
            "twice": len(texts) - len(set(texts)),
            "missing": len(told - set(texts)),
            "stale": len(stale & set(texts)),
        }
        for layer, texts in held.items()
    }


def phase(
    system: Driven,
    model: StubModel,
    op: str,
    given: Sequence[PeerNote],
    told: set[str],
    stale: frozenset[str] = frozenset(),
) -> dict[str, Any]:
    """Let a system take notes, and return what that cost and what it holds then."""
    model.reset()
    answered = system.take(op, given)
    counts = asdict(model.counts())
    counted = system.count()
    failed = sorted(set(answered["failed"]))
    return {
        "notes": len(given), "seconds": round(answered["seconds"], 2), "megabytes": round(answered["megabytes"]),
        **counts, "raised": answered["raised"], "failed_notes": len(failed), "failed": failed,
        "rows": counted["rows"], "layers": found(counted["held"], told, stale),
    }  # fmt: skip


def phases(system: Driven, model: StubModel, work: Work) -> Iterator[tuple[str, dict[str, Any]]]:
    """Take a system through everything, and yield each phase by its name."""
    system.open("warm")
    system.take("remember", work.warm)
    system.open("first")
    yield "first", phase(system, model, "remember", work.first, work.told)
    yield "again", phase(system, model, "remember", work.first, work.told)
    told = work.told - work.replaced | {one for note in work.edits for one in statements(note.text)}
    yield "edited", phase(system, model, "remember", work.edits, told, frozenset(work.replaced))
    for fault in (Fault.UNAVAILABLE, Fault.MALFORMED):
        system.open(fault.value)
        model.fault = fault
        failing = phase(system, model, "remember", work.first, work.told)
        yield fault.value, failing
        model.fault = Fault.NONE
        again = [note for note in work.first if note.note_id in set(failing["failed"])]
        yield f"{fault.value}, then well", phase(system, model, "recover", again, work.told)


def measured(system: System, installed: Installed, url: str, folder: Path, work: Work) -> Iterator[dict[str, Any]]:
    """Yield a system's record after each phase, or why it has none."""
    record: dict[str, Any] = {
        "name": system.name, "version": installed.version, "callers": system.callers, "settings": dict(system.settings),
        "phases": {},
    }  # fmt: skip
    if installed.python is None:
        yield {**record, "skipped": installed.reason}
        return
    with StubModel(latency=LATENCY, embedding_latency=EMBEDDING_LATENCY) as model:
        try:
            with driven(system, installed.python, url, model.url, folder) as process:
                for name, done in phases(process, model, work):
                    record["phases"][name] = {key: value for key, value in done.items() if key != "failed"}
                    _say(system.name, name, done)
                    yield record
        except DriverEndedError as problem:
            yield {**record, "skipped": f"its process ended: {problem}"}


def main() -> int:
    """Compare, print, and write the page when asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=int, default=200)
    parser.add_argument("--edits", type=int, default=50)
    parser.add_argument("--only", default="", help="systems whose name holds this")
    parser.add_argument("--page", action="store_true", help="write docs/peers.md")
    given = parser.parse_args()
    if not corpora_present():
        sys.stdout.write("skipped: the corpora are not beside the checkout (../shared/corpora)\n")
        return 0
    work = Work.of(given.notes, given.edits)
    records: dict[str, dict[str, Any]] = {}
    with benchmark_address() as (url, folder):
        for system in SYSTEMS:
            if given.only in system.name:
                for record in measured(system, system.installed(), url, folder, work):
                    records[system.name] = record
                    write_results(results(given.notes, given.edits, work, list(records.values())))
    if given.page:
        publish()
    return 0


def results(count: int, edits: int, work: Work, records: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what the page is made of."""
    return {
        "notes": count, "edits": edits, "statements": len(work.told), "latency": LATENCY,
        "embedding_latency": EMBEDDING_LATENCY, "cores": os.cpu_count(), "load": round(os.getloadavg()[0], 1),
        "systems": records,
    }  # fmt: skip


def _say(system: str, name: str, one: dict[str, Any]) -> None:
    layers = ", ".join(f"{layer} {counts}" for layer, counts in one["layers"].items())
    sys.stdout.write(
        f"{system}, {name}: {one['seconds']} s, {one['chat_calls']} calls ({one['chat_failed']} failed),"
        f" {one['prompt_tokens']} tokens in, raised {one['raised']}, {one['failed_notes']} failed; {layers}\n"
    )
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
