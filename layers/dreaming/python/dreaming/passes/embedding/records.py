"""The types of the embedding pass: texts, their vectors, spaces, how far a slice has come."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from dreaming.beliefs.vectors.records import Space
from dreaming.errors import Hold


@dataclass(frozen=True, slots=True)
class Text:
    """What one vector is made from: the mean of the vectors of `parts`, which are not empty.

    `item_id` names whose vector it is within its source, `text_hash` the wording.
    """

    source: str
    item_id: str
    text_hash: int
    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Embedded:
    """A text with its unit vector."""

    text: Text
    vector: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Refused:
    """A text that the embedder does not take, and why, without a word of it."""

    text: Text
    failure: str


@dataclass(slots=True)
class Answers:
    """What an embedder made of a batch of texts; `hold` says why it stopped before the end."""

    embedded: list[Embedded] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    calls: int = 0
    failed_calls: int = 0
    hold: Hold | None = None


@dataclass(frozen=True, slots=True)
class SourceCounts:
    """How many items of a sort there are in a slice, and how many of them have the model's vector.

    Without one are the `excluded`, whose sources the organization keeps from embedding, the `refused`,
    which the embedder does not take (`left_out` are those of them that it is not asked about again),
    and the `missing`, which wait for the pass.
    """

    live: int
    embedded: int
    excluded: int
    refused: int
    left_out: int

    @property
    def missing(self) -> int:
        """Those that the pass has yet to embed for the first time."""
        return self.live - self.embedded - self.excluded - self.refused


@dataclass(frozen=True, slots=True)
class SliceSpaces:
    """The space that a slice's readers search, and the one that the pass fills."""

    active: Space
    target: Space
    target_since: datetime


@dataclass(frozen=True, slots=True)
class Consent:
    """Whether the organization lets its text be embedded, and when its enrolment last changed."""

    given: bool
    changed_at: datetime | None
    excluded_sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SliceProgress:
    """How far a slice's embedding has come, by source; `spaces` is None before the first batch."""

    spaces: SliceSpaces | None
    by_source: Mapping[str, SourceCounts]
