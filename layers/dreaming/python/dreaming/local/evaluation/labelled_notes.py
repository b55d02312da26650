"""Notes to measure extraction on: what each one says, and what must not be believed because of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from dreaming.beliefs.records import Kind
from dreaming.errors import InvalidInput
from dreaming.local.evaluation.dedup import Half
from dreaming.notes.cleaning import clean_values
from dreaming.notes.records import IncomingNote, Trust

_SOURCES = {"dialogue": "transcript", "commit": "git:repository"}
_REMEDY = "see docs/evaluation.md for the format"


class Statement(BaseModel):
    """Something that a note says or seems to say, and the words of the note that show it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    statement: str = Field(min_length=3, max_length=500)
    quote: str = Field(min_length=3, max_length=600)


class Expected(Statement):
    """A claim that should be found.

    `kind` is one kind, or every kind that is right; `also` are other ways to say it, or a part of it that
    is enough; an `optional` one is right when it is found and not missed when it is not.
    """

    kind: tuple[Kind, ...] = Field(min_length=1)
    also: tuple[str, ...] = ()
    optional: bool = False

    @field_validator("kind", mode="before")
    @classmethod
    def _several(cls, given: Any) -> Any:
        return [given] if isinstance(given, str) else given


class Trap(Statement):
    """A statement that nobody may believe because of the note, and why: a joke, a question, a suggestion."""

    why: str = Field(min_length=1, max_length=40, pattern=r"^[\w -]+$")


class LabelledNote(BaseModel):
    """A note with its labels; every quote must stand in the text exactly once."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(min_length=1, max_length=80)
    form: str = Field(min_length=1, max_length=40, pattern=r"^[\w -]+$")
    language: str = Field(min_length=2, max_length=12, pattern=r"^[\w-]+$")
    text: str = Field(min_length=1, max_length=100_000)
    occurred_at: AwareDatetime
    source: str | None = Field(default=None, min_length=1, max_length=200)
    author: str | None = Field(default=None, max_length=200)
    participants: tuple[str, ...] = ()
    trust: Trust = Trust.TRUSTED
    claims: tuple[Expected, ...] = ()
    traps: tuple[Trap, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _clean(cls, values: Any) -> Any:
        # As at the door, so that the spans of quotes are those of the stored text.
        return clean_values(values)

    @model_validator(mode="after")
    def _quotes_stand_in_the_text(self) -> Self:
        for name, labels in (("claims", self.claims), ("traps", self.traps)):
            for place, label in enumerate(labels):
                found = self.text.count(label.quote)
                if found != 1:
                    often = "is not in the text" if not found else f"is in the text {found} times"
                    raise ValueError(f"{name}.{place}.quote: {label.quote[:60]!r} {often}; it must be there once")
        return self

    @property
    def reported(self) -> bool:
        """Whether the note is of the half whose figures are reported."""
        return sha256(self.id.encode()).digest()[0] % 2 == 1

    @property
    def people(self) -> tuple[str, ...]:
        """Everybody whom the note's header names."""
        return tuple(filter(None, (self.author, *self.participants)))

    def span(self, label: Statement) -> tuple[int, int]:
        """Return where a label's quote stands."""
        start = self.text.index(label.quote)
        return start, start + len(label.quote)

    def incoming(self) -> IncomingNote:
        """Return the note as a connector would hand it in."""
        return IncomingNote(
            external_id=self.id,
            source=self.source or _SOURCES.get(self.form, self.form),
            text=self.text,
            occurred_at=self.occurred_at,
            author=self.author,
            participants=self.participants,
            trust=self.trust,
        )


def read_notes(path: Path) -> list[LabelledNote]:
    """Read labelled notes, one JSON object a line; raises `InvalidInput` naming the line and the field."""
    notes: list[LabelledNote] = []
    seen: dict[str, int] = {}
    for number, line in json_lines(path):
        try:
            note = LabelledNote.model_validate(line)
        except ValidationError as error:
            raise InvalidInput(f"{path}, line {number}", shortly(error, "note"), _REMEDY) from None
        if note.id in seen:
            raise InvalidInput(
                f"{path}, line {number}", f"id: {note.id!r} is that of line {seen[note.id]} too", "give each its own"
            )
        seen[note.id] = number
        notes.append(note)
    if not notes:
        raise InvalidInput(str(path), "holds no note", _REMEDY)
    return notes


def json_lines(path: Path) -> Iterator[tuple[int, Any]]:
    """Yield each line that is not empty, with its number; raises `InvalidInput` for what is not JSON in UTF-8."""
    try:
        text = path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(str(path), "is not UTF-8 text", "save it as UTF-8") from error
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except (ValueError, RecursionError) as error:
                raise InvalidInput(f"{path}, line {number}", f"is not JSON: {error}", _REMEDY) from None


def shortly(error: ValidationError, whole: str) -> str:
    """Return the first problem that was found, with its field; `whole` stands for the object itself."""
    first = error.errors(include_url=False, include_input=False)[0]
    message = str(first["msg"]).removeprefix("Value error, ")
    return f"{'.'.join(map(str, first['loc'])) or whole}: {message}"


def half_of(notes: Iterable[LabelledNote], half: Half) -> list[LabelledNote]:
    """Return the notes of a half, in their order."""
    return [note for note in notes if half is Half.ALL or note.reported is (half is Half.REPORTED)]
