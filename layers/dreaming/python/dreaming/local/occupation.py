"""Who works on an installation now: `dream up`, which is one at a time, and others beside it.

Each holds a lock on a file of its own in the home folder, in which its process id and address stand. The lock
goes with its process, however that ends, so a file that was left behind is of nobody and is taken over.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from dreaming.errors import Misconfigured

UP = "up"
DRAIN = "drain"


@dataclass(frozen=True, slots=True)
class Occupant:
    """A process at work on an installation, and where it serves the API, if it does."""

    what: str
    pid: int
    url: str | None = None

    def __str__(self) -> str:
        served = f", at {self.url}" if self.url else ""
        return f"`dream {self.what}` (process {self.pid}{served})"


class Occupation:
    """This process's claim to be the one that does something in a home folder."""

    def __init__(self, home: Path, what: str) -> None:
        """Claim it.

        Raises:
            Misconfigured: another process does the same, which is named.
        """
        self._what = what
        path = _path(home, what)
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._descriptor)
            other = occupant(home, what) or f"another `dream {what}`"
            raise Misconfigured(
                f"{other} is at work in {home} already; use that one, stop it, or name another folder with --home"
            ) from None
        self.tell(None)

    def tell(self, url: str | None) -> None:
        """Write who we are, and where the API is served."""
        told = json.dumps({"pid": os.getpid(), "url": url}).encode()
        os.pwrite(self._descriptor, told, 0)
        os.ftruncate(self._descriptor, len(told))

    def close(self) -> None:
        """Leave; the file stays, empty and of nobody, since another process may be waiting with it open."""
        os.ftruncate(self._descriptor, 0)
        os.close(self._descriptor)


@contextmanager
def occupied(home: Path, what: str) -> Iterator[Occupation]:
    """Be the one that does something in a home folder; raises what `Occupation` does."""
    claim = Occupation(home, what)
    try:
        yield claim
    finally:
        claim.close()


@contextmanager
def beside_others(home: Path, what: str) -> Iterator[tuple[Occupant, ...]]:
    """Do something in a home folder that goes together with others; yields who else is at work there."""
    others = tuple(found for one in (UP, DRAIN) if (found := occupant(home, one)) is not None)
    try:
        claim = Occupation(home, what)
    except Misconfigured:  # the first one stands for all
        yield others
        return
    try:
        yield others
    finally:
        claim.close()


def occupant(home: Path, what: str) -> Occupant | None:
    """Return who does something in a home folder now, or None."""
    try:
        descriptor = os.open(_path(home, what), os.O_RDWR)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _read(os.pread(descriptor, 4_096, 0), what)
    finally:
        os.close(descriptor)
    return None


def _read(content: bytes, what: str) -> Occupant | None:
    try:
        told = json.loads(content)
        return Occupant(what, int(told["pid"]), told["url"])
    except (ValueError, TypeError, KeyError):  # it has begun, and has not told yet
        return None


def _path(home: Path, what: str) -> Path:
    return home / f"{what}.lock"
