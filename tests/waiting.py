"""Waiting for a condition instead of for a time."""

from __future__ import annotations

import time
from collections.abc import Callable


def wait_until(condition: Callable[[], object], what: str, *, within: float) -> None:
    """Ask again until the condition holds; fail with its name when it does not come about."""
    deadline = time.monotonic() + within
    pause = 0.002
    while not condition():
        assert time.monotonic() < deadline, f"within {within:g} seconds it did not come about that {what}"
        time.sleep(pause)
        pause = min(1.5 * pause, 0.05)
