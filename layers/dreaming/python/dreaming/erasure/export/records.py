"""What an export consists of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

FORMAT = 1
"""The version of the shape of an export."""

DERIVED = frozenset({"belief_tokens", "belief_terms", "belief_term_statistics", "conversation_terms"})
"""Left out: hashes of words that stand in the export themselves, kept to find them faster."""


@dataclass(frozen=True, slots=True)
class Part:
    """The rows of one table that meet a condition, which speaks of them as `t`."""

    table: str
    condition: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ExportedRow:
    """A row as JSON text, and the table it is of."""

    table: str
    json: str


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page ended: the part at that index, behind the row of this key (as text), or at its beginning."""

    part: int
    key: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """Some rows, and where to go on; None behind the last one."""

    rows: tuple[ExportedRow, ...]
    next: Place | None
