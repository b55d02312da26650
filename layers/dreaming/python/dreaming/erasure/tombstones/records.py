"""What is kept out after an erasure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Graveyard:
    """An organization's key for names of tombstones, and whether the whole organization was erased."""

    key: bytes
    closed: bool
