"""What connectors yield, and how they say how far they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeAlias

from pydantic import ValidationError

from dreaming.errors import InvalidInput
from dreaming.notes.preparation import prepare
from dreaming.notes.records import IncomingNote

if TYPE_CHECKING:
    from dreaming.notes.connectors.marks import Marks

_LONGEST_ID_BYTES = 512
_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that did not become a note: where it stands, and why; never any of its text."""

    location: str
    reason: str


@dataclass(frozen=True, slots=True)
class Warned(Skipped):
    """Something about a note that could not be read, while the note itself goes in."""


Item: TypeAlias = IncomingNote | Skipped


class Reading:
    """The items of one source, read as they are iterated over, once.

    `done` of `total` is the progress, counted in `unit` (`commits` or `bytes`). `total` is an estimate
    made before the reading. `marks` holds what is remembered of the feed, up to the last item yielded;
    `missing` names the notes of the feed's source that an earlier reading found and that are gone.
    """

    def __init__(
        self,
        items: Iterator[tuple[int, Item]],
        *,
        total: int,
        unit: str,
        marks: Marks | None = None,
        missing: tuple[str, ...] = (),
    ) -> None:
        """Take items paired with the progress made when each was found."""
        self._items = items
        self.total = total
        self.unit = unit
        self.done = 0
        self.marks = marks
        self.missing = missing

    def __iter__(self) -> Iterator[Item]:
        """Yield notes and skipped places in the order of the source."""
        for done, item in self._items:
            self.done = done
            yield item
        self.done = self.total


def note_or_skipped(location: str, *, max_note_characters: int, **fields: Any) -> Item:
    """Make a note of `fields`, or say why ingest, which refuses a whole batch, would refuse it.

    A name of more than 200 characters is cut.
    """
    for name in ("author", "source"):
        if fields.get(name):
            fields[name] = fields[name][:_LONGEST_NAME]
    try:
        note = IncomingNote(**fields)
        prepare(note, max_note_characters=max_note_characters)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        return Skipped(location, f"{'.'.join(map(str, first['loc']))}: {first['msg']}")
    except InvalidInput as error:
        return Skipped(location, f"{error.field}: {error.problem}")
    except RecursionError:
        return Skipped(location, "metadata: is nested too deeply")
    return note


def short_id(value: str) -> str:
    """Return an external id of at most 512 bytes: the value itself, or its hash when it is longer."""
    data = value.encode(errors="surrogatepass")
    return value if len(data) <= _LONGEST_ID_BYTES else f"sha256:{sha256(data).hexdigest()}"
