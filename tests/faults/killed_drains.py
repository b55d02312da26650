"""A nursery of drains: forks a worker for each line of its input.

Each line says by how many minutes the worker's clock is ahead. Printed is the worker's process id, and
the same with the word `ready` when it begins to drain and `ended` when it has ended by itself.

    python -m tests.faults.killed_drains HOME CALLS

Each worker is a process of its own that drains the installation at HOME through the real handler, as
`dream drain` does, with a scripted model that writes every call to the file CALLS before it answers.
Forking spares each worker the second that importing takes.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
import traceback
from datetime import UTC, datetime, timedelta
from pathlib import Path

from dreaming.local import runtime as runtime_module
from dreaming.local.runtime import LocalRuntime
from dreaming.models import selection
from dreaming.models.protocols import ChatModel, ChatRequest
from dreaming.models.scripted import ScriptedChatModel
from dreaming.passes.consolidation import run  # noqa: F401 - imported once, before the forks
from tests.world import verbatim

LATENCY_SECONDS = 0.7
"""How long a call takes; one that runs alone takes no time, so that chance does not meet one note three times."""


class LoggedModel:
    """Claims every line of a note, and says in a file which notes each call was about and when."""

    def __init__(self, calls: Path) -> None:
        self._descriptor = os.open(calls, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._changed = threading.Condition()
        self._running = 0

    def claims(self, request: ChatRequest) -> list[dict[str, object]]:
        line = json.dumps({"at": time.time(), "notes": [passage.text for passage in request.passages]})
        os.write(self._descriptor, f"{line}\n".encode())
        with self._changed:
            self._running += 1
            self._changed.notify_all()
            crowded = self._changed.wait_for(lambda: self._running > 1, timeout=0.005)
        if crowded:
            time.sleep(LATENCY_SECONDS)
        with self._changed:
            self._running -= 1
        return verbatim(request)


def drain(home: Path, calls: Path, ahead: timedelta) -> None:
    """Drain until the queue is empty, by a clock that is `ahead`."""
    runtime_module._now = lambda: datetime.now(UTC) + ahead
    model: ChatModel = ScriptedChatModel(LoggedModel(calls).claims)
    selection.chat_model = lambda values, org_id, keys: model
    with LocalRuntime.open(home, dict(os.environ)) as runtime:
        _say(f"{os.getpid()} ready")
        runtime.tick()
        runtime.drain()


def main(home: Path, calls: Path) -> None:
    """Fork a worker for each line."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the dead are buried at once
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            try:
                drain(home, calls, timedelta(minutes=int(line)))
            except BaseException:  # noqa: BLE001 - the parent's code must not run on in the child
                traceback.print_exc()
            finally:
                _say(f"{os.getpid()} ended")
                os._exit(0)
        _say(str(child))


def _say(line: str) -> None:
    os.write(sys.stdout.fileno(), f"{line}\n".encode())


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
