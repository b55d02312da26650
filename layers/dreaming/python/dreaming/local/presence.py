"""Which processes of this installation are alive: each holds a lock on a file of its own."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from uuid import uuid4


class Presence:
    """This process's name among the workers of a folder, held until it is closed or the process dies."""

    def __init__(self, folder: Path) -> None:
        """Announce a worker in `folder`."""
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self.name = uuid4().hex
        # Locked before it is seen, or another worker could take it for a dead one's.
        hidden = folder / f".{self.name}"
        self._descriptor = os.open(hidden, os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)
        hidden.rename(folder / self.name)

    def dead(self) -> list[str]:
        """Return the names of workers that died without closing."""
        names = [path.name for path in self._folder.iterdir() if not path.name.startswith(".")]
        return [name for name in names if name != self.name and _is_dead(self._folder / name)]

    def bury(self, name: str) -> None:
        """Forget a dead worker, once nothing of it is left behind."""
        (self._folder / name).unlink(missing_ok=True)

    def close(self) -> None:
        """Leave."""
        (self._folder / self.name).unlink(missing_ok=True)
        os.close(self._descriptor)


def _is_dead(path: Path) -> bool:
    try:
        descriptor = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return False  # it closed meanwhile
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True
