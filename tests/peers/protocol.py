"""How the comparison talks to a system in a process of its own: a JSON object a line, in and out.

The process runs in the system's own environment, so nothing here imports more than the standard library.

    {"op": "open", "store": "first", "callers": 8}     a fresh store; answers {}
    {"op": "remember", "notes": [[id, text, time]]}    answers {"seconds", "raised": {error: times}, "failed": [id],
                                                       "megabytes"}
    {"op": "recover", "notes": [...]}                  the same for notes that are known to have failed
    {"op": "count"}                                    answers {"rows": {table: rows}, "held": {layer: [text]}}
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any, Protocol

Note = tuple[str, str, str]
"""Id, text, and when it was written (ISO 8601 with offset)."""


class Memory(Protocol):
    """A system under comparison."""

    def open(self, store: str, callers: int) -> None:
        """Begin with nothing, in a store of this name; `callers` threads or tasks hand notes over."""

    def remember(self, notes: Sequence[Note], failures: Failures) -> None:
        """Take the notes in, as the system's documentation says, and wait until they are digested."""

    def recover(self, notes: Sequence[Note], failures: Failures) -> None:
        """Do what the system offers for notes that are known to have failed."""

    def count(self) -> tuple[dict[str, int], dict[str, list[str]]]:
        """Return rows by table, and by layer the text of everything that is held to be so now."""


class Failures:
    """What the caller was told of failures."""

    def __init__(self) -> None:
        self.raised: Counter[str] = Counter()
        self.failed: list[str] = []

    def add(self, problem: BaseException, note_ids: Sequence[str]) -> None:
        """An exception reached the caller; the notes of that call are known to have failed."""
        self.raised[type(problem).__name__] += 1
        self.failed.extend(note_ids)


def serve(memory: Memory) -> None:
    """Do what standard input asks until it ends; what else is printed goes to standard error."""
    answers, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        asked = json.loads(line)
        answers.write(json.dumps(_done(memory, asked)) + "\n")
        answers.flush()


def _done(memory: Memory, asked: dict[str, Any]) -> dict[str, Any]:
    if asked["op"] == "open":
        memory.open(asked["store"], asked["callers"])
        return {}
    if asked["op"] == "count":
        rows, held = memory.count()
        return {"rows": rows, "held": held}
    failures = Failures()
    started = time.perf_counter()
    take = memory.recover if asked["op"] == "recover" else memory.remember
    take([(one[0], one[1], one[2]) for one in asked["notes"]], failures)
    seconds = time.perf_counter() - started
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)
    return {"seconds": seconds, "raised": failures.raised, "failed": failures.failed, "megabytes": megabytes}
