"""What is known of the beliefs that an erasure concerns."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from uuid import UUID

from dreaming.beliefs.records import Belief, Source


class Fate(StrEnum):
    """What becomes of a belief when some of its sources are erased."""

    KEEP = "keep"  # nothing in it is of the erased notes
    REFOLD = "refold"  # sources are left: it is their fold
    REWRITE = "rewrite"  # out of sight, and what is left of its past tells it in other words
    DELETE = "delete"  # nothing is left to stand behind it


@dataclass(frozen=True, slots=True)
class Past:
    """A source that counts no longer, or that a merge gave to another belief."""

    source: Source
    is_of_merge: bool


@dataclass(slots=True)
class Holder:
    """A belief that had a source of an erased note, or exchanged sources with one that had.

    `live`: its remaining live sources; `past`: the others that tell of it, by which an archived one
    keeps its words. `has_lost`: one of its own sources, live or not, is gone.
    """

    belief: Belief
    has_lost: bool
    live: list[Source] = field(default_factory=list)
    past: list[Past] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Decision:
    """What is to be done: the fate of each belief, the rows rewritten, and the claims of confirmations.

    `wordings`: every statement that a source still makes; no other may be left behind these beliefs.
    """

    fates: dict[UUID, Fate]
    rewritten: tuple[Belief, ...]
    confirmations: tuple[Source, ...]
    wordings: frozenset[str]

    def of(self, fate: Fate) -> list[UUID]:
        """Return the beliefs of this fate, in the order of their ids."""
        return sorted(belief_id for belief_id, one in self.fates.items() if one is fate)
