"""The schedules of a laptop: every pass ticks and drains, again and again, in a process of its own."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep

from dreaming.errors import DreamingError
from dreaming.local.logs import log_into
from dreaming.local.runtime import LocalRuntime
from dreaming.passes.records import PASS_FUNCTIONS

_LOOK_SECONDS = 0.5
"""How often a process looks whether it is still wanted."""


def keep_going(
    runtime: LocalRuntime, *, seconds: float, is_wanted: Callable[[float], bool], report: Callable[[str], object]
) -> None:
    """Tick and drain every pass every `seconds`, until `is_wanted` says no.

    `is_wanted` waits as long as it is told before it answers. A pass that fails is reported and does
    not keep the others from their turn.
    """
    while True:
        began = monotonic()
        for pass_name in PASS_FUNCTIONS:
            if not is_wanted(0):
                return
            try:
                runtime.tick(pass_name)
                runtime.drain(pass_name)
            except DreamingError as error:
                report(f"{pass_name}: {error}")
        while (left := began + seconds - monotonic()) > 0:
            if not is_wanted(min(left, _LOOK_SECONDS)):
                return


def main(home: Path, seconds: float, parent: int) -> None:
    """Keep the passes of an installation going until asked to end, or until the process `parent` is gone."""
    # What is under way is taken up by the next process; a message goes back at once.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.default_int_handler)

    # Beside the thread below: an interrupt that reaches a finalizer is lost.
    def is_wanted(wait: float) -> bool:
        sleep(wait)
        return os.getppid() == parent

    log_into(home)
    threading.Thread(target=_end_with, args=(parent,), name="parent", daemon=True).start()
    with suppress(KeyboardInterrupt), LocalRuntime.open(home, os.environ) as runtime:
        keep_going(
            runtime,
            seconds=seconds,
            is_wanted=is_wanted,
            report=lambda line: sys.stderr.write(f"{line}\n"),
        )


def _end_with(parent: int) -> None:
    """Interrupt this process once the process `parent` is gone, in the middle of a drain too."""
    while os.getppid() == parent:
        sleep(_LOOK_SECONDS)
    os.kill(os.getpid(), signal.SIGINT)


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]))
