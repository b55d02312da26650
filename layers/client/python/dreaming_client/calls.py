"""A call of the API as data: what is sent, and how its answer is read. No network, no clock."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, TypeVar
from urllib.parse import quote

from dreaming_client.errors import UnexpectedAnswer
from dreaming_client.reading import read

T = TypeVar("T")
BRAIN = "/brain"


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """One call; sent twice, with one key, it does what it does once."""

    method: str
    path: str
    read: Callable[[Any], T]
    query: Mapping[str, str] = field(default_factory=dict)
    body: Any = None


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some of a list, and where it goes on."""

    items: tuple[T, ...]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class Pages(Generic[T]):
    """A list as it is asked for: `page` gives the call of the page that a cursor stands for, None the first."""

    page: Callable[[str | None], Call[Page[T]]]


def get(path: str, kind: type[T], /, **query: Any) -> Call[T]:
    """Ask for something."""
    return Call("GET", BRAIN + path, lambda answer: read(kind, answer), _query(query))


def post(path: str, kind: type[T], body: Any = None, /, **query: Any) -> Call[T]:
    """Have something done."""
    return Call("POST", BRAIN + path, lambda answer: read(kind, answer), _query(query), body)


def put(path: str, kind: type[T], body: Any) -> Call[T]:
    """Set something."""
    return Call("PUT", BRAIN + path, lambda answer: read(kind, answer), body=body)


def pages(path: str, name: str, kind: type[T], /, **query: Any) -> Pages[T]:
    """Ask for a list, which stands in the answer under `name`."""
    asked = _query(query)

    def items(answer: Any) -> Page[T]:
        if not isinstance(answer, dict) or not isinstance(answer.get(name), list):
            raise UnexpectedAnswer(f"the answer has no list of {name}")
        return Page(tuple(read(kind, one) for one in answer[name]), answer.get("next_cursor"))

    def page(cursor: str | None) -> Call[Page[T]]:
        return Call("GET", BRAIN + path, items, asked | ({} if cursor is None else {"cursor": cursor}))

    return Pages(page)


def part(text: str) -> str:
    """Return a text as one part of a path.

    Raises:
        ValueError: it is empty.
    """
    if not text:
        raise ValueError("an empty text names nothing")
    return quote(text, safe="")


def body_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object for a body, its times written out; raises `ValueError` for one without an offset."""
    return {name: _time(value) if isinstance(value, datetime) else value for name, value in given.items()}


def _query(given: Mapping[str, Any]) -> dict[str, str]:
    return {name: _text(value) for name, value in given.items() if value is not None}


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return _time(value) if isinstance(value, datetime) else str(value)


def _time(value: datetime) -> str:
    if value.utcoffset() is None:
        raise ValueError("a time without an offset says nothing; use datetime.now(UTC) or another zone")
    return value.isoformat()
