"""A nursery of workers: each line of its input forks one, which keeps every pass going until it is killed.

A line gives the hours by which the worker's clock is ahead and the part of its calls that fails.

    python -m tests.soak.workers HOME FOLDER

Printed is the process id of each. A worker is what `dream up` keeps running: the real handlers of all passes
over the installation at HOME, but with models that fail. Calls and events go to files in FOLDER at once.
"""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from dreaming.lambdas import events as events_module
from dreaming.local import runtime as runtime_module
from dreaming.local.runtime import LocalRuntime
from dreaming.local.schedule import keep_going
from dreaming.models import selection
from dreaming.passes.autonomy import run as _autonomy  # noqa: F401 - imported once, before the forks
from dreaming.passes.consolidation import run as _consolidation  # noqa: F401
from dreaming.passes.contradictions import run as _contradictions  # noqa: F401
from dreaming.passes.embedding import run as _embedding  # noqa: F401
from dreaming.passes.outbox.records import Event
from dreaming.passes.synthesis import run as _synthesis  # noqa: F401
from tests.soak.faulty import Faults, FaultyChat, FaultyEmbedder

LOOK_SECONDS = 0.3
"""How long a worker rests after a turn of all passes."""


class EventFile:
    """Writes the id of each event that it is sent."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def send(self, events: Sequence[Event]) -> Sequence[int]:
        os.write(self._descriptor, "".join(f"{event.event_id}\n" for event in events).encode())
        return [event.event_id for event in events]


def work(home: Path, folder: Path, ahead: timedelta, failing: float, nursery: int) -> None:
    """Keep the passes going as long as the nursery lives, by a clock that is `ahead`."""
    runtime_module._now = lambda: datetime.now(UTC) + ahead
    faults = Faults(folder / "calls", failing)
    chat, embedder, bus = FaultyChat(faults), FaultyEmbedder(faults), EventFile(folder / "events")
    selection.chat_model = lambda values, org_id, keys: chat
    selection.embedder = lambda values, org_id, keys, *, name=None: embedder
    events_module.event_sink = lambda environment: bus

    def is_wanted(wait: float) -> bool:
        time.sleep(wait)
        return os.getppid() == nursery

    with LocalRuntime.open(home, dict(os.environ)) as runtime:
        keep_going(
            runtime, seconds=LOOK_SECONDS, is_wanted=is_wanted, report=lambda line: sys.stderr.write(f"{line}\n")
        )


def main(home: Path, folder: Path) -> None:
    """Fork a worker for each line."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the dead are buried at once
    nursery = os.getpid()
    for line in sys.stdin:
        hours, failing = line.split()
        child = os.fork()
        if child == 0:
            try:
                work(home, folder, timedelta(hours=float(hours)), float(failing), nursery)
            except BaseException:  # noqa: BLE001 - the parent's code must not run on in the child
                traceback.print_exc()
            finally:
                os._exit(1)
        os.write(sys.stdout.fileno(), f"{child}\n".encode())


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
