"""Stories to measure contradictions on: a few notes in order, and what must be believed after them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError, field_validator

from dreaming.beliefs.words import fold
from dreaming.errors import InvalidInput
from dreaming.local.evaluation.dedup import Half
from dreaming.notes.records import Trust
from dreaming.passes.contradictions.records import Relation


class StoryNote(BaseModel):
    """A note of a story.

    Without `claims` each sentence is one claim, read by the offline rules where they have something to
    say. With them, each is an object as a model would answer it; the quote is the statement unless given.
    `confidence` is that of the sentences' claims.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str = Field(min_length=1)
    occurred_at: AwareDatetime
    trust: Trust = Trust.TRUSTED
    author: str | None = None
    confidence: float | None = Field(default=None, ge=0, le=1)
    claims: tuple[dict[str, Any], ...] | None = None


class Expected(BaseModel):
    """A statement, in whole or in part, and when it must hold; dates in the offset of the time given."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    statement: str = Field(min_length=3)
    holds_from: str | None = Field(default=None, alias="from", pattern=r"^\d{4}-\d\d-\d\d")
    holds_until: str | None = Field(default=None, alias="until", pattern=r"^\d{4}-\d\d-\d\d")


class Outcome(BaseModel):
    """What must be so in the end.

    `current`: believed, and nothing in its place. `past`: superseded, readable with its interval.
    `rejected`: given up for a surer one. `review`: left to a person. `kept`: has nothing to do with it and
    must be untouched. `same`: groups of statements that must be one belief. `beliefs`: how many are in sight.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    current: tuple[Expected, ...] = ()
    past: tuple[Expected, ...] = ()
    rejected: tuple[Expected, ...] = ()
    review: tuple[Expected, ...] = ()
    kept: tuple[Expected, ...] = ()
    same: tuple[tuple[str, ...], ...] = ()
    beliefs: int | None = Field(default=None, ge=0)

    @field_validator("current", "past", "rejected", "review", "kept", mode="before")
    @classmethod
    def _spelt_out(cls, given: Any) -> Any:
        """A plain text stands for a statement without times."""
        if isinstance(given, list | tuple):
            return [{"statement": one} if isinstance(one, str) else one for one in given]
        return given


class Story(BaseModel):
    """Notes in the order in which they come in, and what must be believed in the end.

    `relations` tell the judge of the second and third row how two notes relate, by their places from 0;
    where they say nothing, it follows from the outcome.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(min_length=1, max_length=80)
    kind: str = Field(min_length=1, max_length=60)
    notes: tuple[StoryNote, ...] = Field(min_length=1, max_length=20)
    expect: Outcome
    relations: tuple[tuple[int, int, Relation], ...] = ()
    now: AwareDatetime | None = None

    @property
    def reported(self) -> bool:
        """Whether the story is of the half whose figures are reported."""
        return sha256(self.id.encode()).digest()[0] % 2 == 1

    def relation(self, left: str, right: str) -> Relation:
        """Return how two statements relate, as a judge that makes no mistake would say."""
        for one, other, relation in self.relations:
            texts = [fold(self.notes[place].text) for place in (one, other)]
            if (_within(left, texts[0]) and _within(right, texts[1])) or (
                _within(left, texts[1]) and _within(right, texts[0])
            ):
                return relation
        for group in self.expect.same:
            if all(any(_matches(part, statement) for part in group) for statement in (left, right)):
                return Relation.DUPLICATE
        roles = {self._role(left), self._role(right)}
        if "kept" in roles or None in roles:
            return Relation.UNRELATED
        if roles & {"rejected", "review"}:
            return Relation.INCOMPATIBLE
        return Relation.COEXISTING if roles == {"current"} else Relation.SUCCESSIVE

    def _role(self, statement: str) -> str | None:
        for role in ("kept", "current", "past", "rejected", "review"):
            expected: Sequence[Expected] = getattr(self.expect, role)
            if any(_matches(one.statement, statement) for one in expected):
                return role
        return None


def _matches(part: str, statement: str) -> bool:
    return fold(part) in fold(statement)


def _within(statement: str, folded_text: str) -> bool:
    return fold(statement) in folded_text or folded_text in fold(statement)


class Row(StrEnum):
    """Who decides what no rule does."""

    RULES = "rules"
    JUDGE = "judge"
    UNSURE_JUDGE = "unsure_judge"


def read_stories(path: Path) -> list[Story]:
    """Read stories, one JSON object a line; raises `InvalidInput` naming the line and the field."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput("FILE", f"{path} cannot be read", "name a UTF-8 file of JSON lines") from error
    stories = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                stories.append(Story.model_validate(json.loads(line)))
            except (ValueError, ValidationError) as error:
                raise InvalidInput("FILE", f"line {number}: {_shortly(error)}", "see docs/contradictions.md") from None
    if len({story.id for story in stories}) != len(stories):
        raise InvalidInput("FILE", "two stories have the same id", "give each story an id of its own")
    if not stories:
        raise InvalidInput("FILE", "holds no story", "see docs/contradictions.md")
    return stories


def half_of(stories: Iterable[Story], half: Half) -> list[Story]:
    """Return the stories of a half."""
    return [story for story in stories if half is Half.ALL or story.reported == (half is Half.REPORTED)]


def _shortly(error: ValueError) -> str:
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False)[0]
        return f"{'.'.join(map(str, first['loc'])) or 'story'}: {first['msg']}"
    return str(error)
