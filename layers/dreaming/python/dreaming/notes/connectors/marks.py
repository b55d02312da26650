"""What a connector remembers of what it has read, so that the next reading may be short."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import TypeAlias

from pydantic import JsonValue

from dreaming.notes.connectors.records import short_id

Mark: TypeAlias = dict[str, JsonValue]

_OPTIONS = "options"
_READING = 1
"""Raised when connectors come to read the same bytes in another way: then all is read once more."""


@dataclass(frozen=True, slots=True)
class Feed:
    """What a connector reads again and again: a repository, a folder or a file, for one source."""

    connector: str
    source: str
    location: str

    @classmethod
    def of(cls, connector: str, source: str, location: str) -> Feed:
        """Return the feed of a `location` of any length and any characters."""
        written = location.encode(errors="surrogateescape").decode(errors="replace")
        return cls(connector, source, short_id(written))


class Marks:
    """The marks of a feed: those of earlier readings, and those made in this one.

    A mark is made of an entry (a branch, a file) when everything before it was yielded. It is only
    known again to a reading with the same options, for others would make other notes.
    """

    def __init__(self, feed: Feed, options: str, stored: Mapping[str, Mark] | None = None, *, use: bool = True) -> None:
        """Take the marks `stored` earlier; with `use` false nothing is known of any entry."""
        self.feed = feed
        self._options = sha256(f"{_READING} {options}".encode(errors="surrogatepass")).hexdigest()[:32]
        self._stored = dict(stored or {})
        self._use = use
        self._made: dict[str, Mark] = {}

    @property
    def entries(self) -> frozenset[str]:
        """Every entry that an earlier reading marked, whatever its options."""
        return frozenset(self._stored)

    @property
    def goes_on(self) -> bool:
        """Whether this reading goes on where an earlier one ended, so that it may find nothing new."""
        return self._use and bool(self._stored)

    def known(self, entry: str) -> Mark | None:
        """Return the mark of an entry that this reading may rely on."""
        mark = self._stored.get(entry)
        return mark if self._use and mark is not None and mark.get(_OPTIONS) == self._options else None

    def put(self, entry: str, mark: Mark) -> None:
        """Mark an entry: all that the mark covers was yielded before."""
        self._made[entry] = {**mark, _OPTIONS: self._options}

    def take(self) -> dict[str, Mark]:
        """Return the marks made since the last call, which belong to the items yielded until now."""
        made, self._made = self._made, {}
        return made


OpenMarks: TypeAlias = Callable[[Feed, str], Marks]
"""Returns the marks of a feed for a reading with these options, written as any text."""
