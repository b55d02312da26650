"""Telling in a line that a disk is full, whichever way that was found out."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path
from tempfile import gettempdir

from dreaming.errors import Hold

_FULL = (errno.ENOSPC, errno.EDQUOT)
_NO_ROOM_BYTES = 1 << 20


class DiskFull(Hold):
    """There is no room on this machine."""

    reason = "disk_full"


def disk_full(error: BaseException, home: Path) -> DiskFull | None:
    """Return the error that names the full disk when `error` or what caused it tells of one, or else None.

    Where nothing names the file, it is looked for: the home folder, the folder of temporary files, and last
    standard output, which may go to a file.
    """
    cause: BaseException | None = error
    while cause is not None:
        if _tells(cause):
            where = _place(cause) or next((str(one) for one in (home, Path(gettempdir())) if _has_no_room(one)), None)
            place = where or "standard output"
            return DiskFull(f"disk full at {place}: free some space, then run the command again")
        cause = cause.__cause__
    return None


def _tells(error: BaseException) -> bool:
    if isinstance(error, shutil.Error):
        return bool(_uncopied(error))
    if isinstance(error, OSError):
        return error.errno in _FULL
    # SQLite's own word for it, which is no OSError.
    return getattr(error, "sqlite_errorname", "") == "SQLITE_FULL"


def _place(error: BaseException) -> str | None:
    if isinstance(error, shutil.Error):
        return os.path.commonpath(_uncopied(error))
    return os.fsdecode(error.filename) if isinstance(error, OSError) and error.filename else None


def _uncopied(error: shutil.Error) -> list[str]:
    """The files that could not be written for want of room: a copied folder's error lists each of its files."""
    listed = error.args[0] if error.args and isinstance(error.args[0], list) else []
    signs = tuple(f"[Errno {number}]" for number in _FULL)
    return [os.fspath(one[1]) for one in listed if len(one) == 3 and str(one[2]).startswith(signs)]


def _has_no_room(folder: Path) -> bool:
    try:
        return shutil.disk_usage(folder).free < _NO_ROOM_BYTES
    except OSError:
        return False
