"""The types of consolidation: claims, their checks, and what deduplication decided."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from dreaming.beliefs.records import DecayClass, Importance, Kind


class Relation(BaseModel):
    """A relation that a claim states between its subject and another entity."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    type: str = Field(min_length=1, max_length=80)
    target: str = Field(min_length=1, max_length=200)


class Claim(BaseModel):
    """What the model extracted, in the accepted shape but not yet checked against the note.

    `note` is the label of the passage it was read from. `confidence` is 0..1.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", str_strip_whitespace=True)

    note: str | None = None
    kind: Kind
    statement: str = Field(min_length=1)
    quote: str = Field(min_length=1)
    confidence: float = Field(ge=0, le=1)
    importance: Importance = Importance.NORMAL
    decay_class: DecayClass = DecayClass.SLOW
    subject: str | None = Field(default=None, max_length=200)
    attribute: str | None = Field(default=None, max_length=200)
    value: str | None = Field(default=None, max_length=500)
    multi_valued: bool = False
    relations: tuple[Relation, ...] = ()
    valid_from: AwareDatetime | None = None
    valid_until: AwareDatetime | None = None


@dataclass(frozen=True, slots=True)
class ParsedAnswer:
    """The claims of one answer.

    `items` are the JSON objects that may be claims, as saved in `extractions`; each becomes a
    `Claim` or is rejected when it is applied. `partial` says that the answer was cut off and that
    only its finished objects are here.
    """

    items: tuple[dict[str, Any], ...]
    partial: bool


@dataclass(frozen=True, slots=True)
class QuoteSpan:
    """The exact source span behind a claim: `text == note_text[start:end]`, in code points."""

    start: int
    end: int
    text: str


class CandidateState(StrEnum):
    """What a matching belief's state makes of a claim; the first one that matches wins."""

    LIVE = "live"  # corroborate
    FADED = "faded"  # restore and corroborate
    PERSON = "person"  # a person archived it: suppress the claim


@dataclass(frozen=True, slots=True)
class Candidate:
    """A belief that may say what a claim says."""

    belief_id: UUID
    statement: str
    state: CandidateState


@dataclass(frozen=True, slots=True)
class Veto:
    """Why two similar statements are not one belief: the guard, and what it saw on each side."""

    guard: str
    left: str
    right: str


class Method(StrEnum):
    """By what evidence a claim matches a belief; the first one that does wins."""

    EXACT = "exact"
    JACCARD = "jaccard"
    PART = "part"  # the claim is one of the parts that the belief joins by "and"
    COSINE = "cosine"


@dataclass(frozen=True, slots=True)
class Likeness:
    """How alike two statements are: the Jaccard similarity of their words, the cosine of their vectors.

    `cosine` is None without the semantic step, or where a vector is not known.
    """

    jaccard: float
    cosine: float | None = None

    @property
    def score(self) -> float:
        """The greater of the two."""
        return self.jaccard if self.cosine is None else max(self.jaccard, self.cosine)


@dataclass(frozen=True, slots=True)
class Match:
    """The belief that a claim matches, and by what evidence."""

    candidate: Candidate
    method: Method
    likeness: Likeness


@dataclass(frozen=True, slots=True)
class QueuedPair:
    """A live candidate left for adjudication: a guard kept it apart, or its cosine is in the grey band."""

    candidate: Candidate
    likeness: Likeness
    veto: Veto | None

    @property
    def reason(self) -> str:
        """The guard that objected, or `grey_band`."""
        return GREY_BAND if self.veto is None else self.veto.guard


GREY_BAND = "grey_band"
"""Why a pair is adjudicated that no guard objects to, but that is not alike enough to match."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What deduplication decided for one claim; without a match the claim becomes a belief."""

    match: Match | None
    queued: tuple[QueuedPair, ...]


@dataclass(frozen=True, slots=True)
class SavedAnswer:
    """The parsed claims of one chunk's answer, as `extractions` keeps them."""

    note_id: UUID
    version: int
    chunk: int
    prompt_version: str
    items: tuple[dict[str, Any], ...]
    partial: bool


@dataclass(frozen=True, slots=True)
class AttemptRow:
    """What a note's calls have come to so far."""

    note_id: UUID
    version: int
    calls: int
    attempts: int
    in_flight: str | None
    in_flight_alone: bool
    suspect: bool
    last_failure: str | None
