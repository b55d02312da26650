"""The types of vectors: the space that they can be compared in."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Space:
    """The vectors of one embedder: its name, and the length of each. Two names are two spaces."""

    model: str
    dimension: int


@dataclass(frozen=True, slots=True)
class Unembedded:
    """A live belief without a vector of its present wording."""

    belief_id: UUID
    statement: str
    statement_hash: int
