"""Telling whether a file has changed since it was read."""

from __future__ import annotations

import os
from hashlib import sha256

from dreaming.notes.connectors.marks import Mark

_SETTLED_NANOSECONDS = 2_000_000_000
"""Clocks of file systems tick every 2 s at worst (FAT): a younger file may change again within its tick."""


def is_untouched(mark: Mark | None, status: os.stat_result) -> bool:
    """Whether a file's size and time are those of its mark, and its time is one that can be relied on."""
    return (
        mark is not None
        and mark.get("settled") is True
        and mark.get("size") == status.st_size
        and mark.get("modified") == status.st_mtime_ns
    )


def is_same(mark: Mark | None, data: bytes) -> bool:
    """Whether a file has the content of its mark."""
    return mark is not None and mark.get("sha256") == sha256(data).hexdigest()


def file_mark(status: os.stat_result, data: bytes, read_ns: int) -> Mark:
    """Return the mark of a file whose status was taken before its `data` was read at `read_ns` (Unix time)."""
    return {
        "size": status.st_size,
        "modified": status.st_mtime_ns,
        "sha256": sha256(data).hexdigest(),
        "settled": read_ns - status.st_mtime_ns > _SETTLED_NANOSECONDS,
    }
