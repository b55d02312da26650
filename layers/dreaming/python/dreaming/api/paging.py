"""Cursors of lists: where a page ended, written so that it can be sent back unchanged. Pure."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum
from hashlib import blake2s
from itertools import accumulate, pairwise
from math import isfinite
from typing import Generic, NoReturn, Self, TypeVar, cast
from uuid import UUID

from dreaming.errors import InvalidInput
from dreaming.notes.records import Tenant

Part = str | int | float | datetime | UUID
T = TypeVar("T")


class Kind(Enum):
    """What a part of a place is, as a column holds it or as it is sorted by; nothing else is read from a cursor."""

    SMALL = "a whole number from 0, as a smallint holds it"
    COUNT = "a whole number from 0, as an integer holds it"
    NUMBER = "a whole number from 0, as a bigint holds it"
    SHARE = "a number from 0 to 1"
    SCORE = "a number that is finite"
    TEXT = "a text that PostgreSQL keeps: no NUL, no lone surrogate"
    MOMENT = "microseconds since 1970, within the years 1 to 9999"
    ID = "a UUID in hexadecimal digits"


_MOST = {Kind.SMALL: 2**15 - 1, Kind.COUNT: 2**31 - 1, Kind.NUMBER: 2**63 - 1}

MAX_CHARACTERS = 8_000
"""The longest cursor: what API Gateway takes of a URL has room for no longer one."""

_EPOCH, _MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)

# Short, since people copy cursors: what a cursor is bound to guards against mistakes, not against anybody.
_NAME_BYTES, _VALUE_BYTES, _CALLER_BYTES = 2, 3, 4


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some of a list, and the cursor of what follows when there is more."""

    items: tuple[T, ...]
    next_cursor: str | None = None


def page_of(rows: Sequence[T], limit: int, place: Callable[[T], Sequence[Part]]) -> Page[T]:
    """Return the page of up to `limit` of `rows`, which are one more where there is more."""
    items = tuple(rows[:limit])
    return Page(items, write_cursor(*place(items[-1])) if len(rows) > limit else None)


@dataclass(frozen=True, slots=True)
class Listing:
    """A list as one caller asks for it; its cursors fit this caller and these filters, and nothing else.

    `name` is the list's; `filters` are those that are given, by the names that the caller uses. A cursor
    reaches nothing that its sender may not see in any case: what it is bound to keeps a page of one
    question from being taken for a page of another.
    """

    name: str
    tenant: Tenant
    filters: Mapping[str, object]

    def close(self, place: str | None) -> str | None:
        """Return the cursor of a place in this list; None stays None."""
        if place is None:
            return None
        bound = self._bound()
        head = [bytes([len(bound)]), self._own(), self._caller(), *(name + value for name, value in bound.items())]
        return _printed(b"".join(head) + _raw(place))

    def open(self, cursor: str | None) -> str | None:
        """Return the place that a cursor of this list holds; None stays None.

        Raises:
            InvalidInput: it is another list's, another caller's, or came with another filter, which is named.
        """
        if cursor is None:
            return None
        if len(cursor) > MAX_CHARACTERS:
            raise unknown()
        try:
            given = _Opened.of(_raw(cursor))
        except ValueError as error:
            raise unknown() from error
        if given.name != self._own():
            raise InvalidInput("cursor", "is of another list", "use `next_cursor` of a page of this one")
        if given.caller != self._caller():
            raise InvalidInput("cursor", "is of another caller", "begin without one")
        now = self._bound()
        for one in sorted(given.bound.keys() | now.keys()):
            if given.bound.get(one) != now.get(one):
                named = next((repr(name) for name in self.filters if _short(name, _NAME_BYTES) == one), "filter")
                raise InvalidInput(
                    "cursor", f"came with another {named}", f"send the {named} of its page, or begin without a cursor"
                )
        return _printed(given.place)

    def _own(self) -> bytes:
        return _short(self.name, _VALUE_BYTES)

    def _caller(self) -> bytes:
        return _short([self.tenant.org_id, self.tenant.user_id], _CALLER_BYTES)

    def _bound(self) -> dict[bytes, bytes]:
        return {
            _short(name, _NAME_BYTES): _short(value, _VALUE_BYTES)
            for name, value in sorted(self.filters.items())
            if value is not None
        }


@dataclass(frozen=True, slots=True)
class _Opened:
    """A cursor taken apart: digests of its list, its caller and its filters, and the place."""

    name: bytes
    caller: bytes
    bound: Mapping[bytes, bytes]
    place: bytes

    @classmethod
    def of(cls, content: bytes) -> Self:
        """Take a cursor apart; raises `ValueError` when it is too short for one."""
        count = content[0] if content else 0
        starts = list(accumulate((1, _VALUE_BYTES, _CALLER_BYTES, *count * (_NAME_BYTES, _VALUE_BYTES))))
        parts = [content[start:end] for start, end in pairwise(starts)]
        place = content[starts[-1] :]
        if not place:
            raise ValueError("too short")
        name, caller, *filters = parts
        return cls(name, caller, dict(zip(filters[::2], filters[1::2], strict=True)), place)


def write_cursor(*parts: Part) -> str:
    """Return the cursor of a page that ended at `parts`."""
    return _encode([_written(part) for part in parts])


def _written(part: Part) -> str | int | float:
    if isinstance(part, datetime):
        return (part - _EPOCH) // _MICROSECOND
    return part.hex if isinstance(part, UUID) else part


def read_cursor(cursor: str, kinds: Sequence[Kind]) -> list[Part]:
    """Return the parts of a cursor, each of the kind at its place.

    Raises:
        InvalidInput: it is none that `write_cursor` wrote of such parts, or holds what no column could.
    """
    try:
        return [_read(part, kind) for part, kind in zip(_decode(cursor), kinds, strict=True)]
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise unknown() from error


def _short(value: object, length: int) -> bytes:
    return blake2s(json.dumps(value, default=str).encode(), digest_size=length).digest()


def moment_and_id(place: str | None) -> tuple[datetime, UUID] | None:
    """Return the parts of a place in a list by a moment and an id; None stays None."""
    if place is None:
        return None
    moment, name = read_cursor(place, [Kind.MOMENT, Kind.ID])
    return cast(datetime, moment), cast(UUID, name)


def unknown() -> InvalidInput:
    """Return the error of a cursor that no page ended with."""
    return InvalidInput("cursor", "is not one that a page ended with", "use `next_cursor` unchanged")


def _encode(parts: Sequence[object]) -> str:
    return _printed(json.dumps(parts, separators=(",", ":"), ensure_ascii=False).encode(errors="surrogatepass"))


def _decode(cursor: str) -> list[object]:
    return list(json.loads(_raw(cursor), parse_constant=_refuse))


def _printed(content: bytes) -> str:
    return urlsafe_b64encode(content).decode().rstrip("=")


def _raw(printed: str) -> bytes:
    return urlsafe_b64decode(printed + "=" * (-len(printed) % 4))


def _refuse(name: str) -> NoReturn:
    raise ValueError(name)


def _read(part: object, kind: Kind) -> Part:
    if kind in _MOST:
        number = _whole(part)
        if not 0 <= number <= _MOST[kind]:
            raise ValueError("out of range")
        return number
    if kind is Kind.MOMENT:
        return _EPOCH + _whole(part) * _MICROSECOND
    if kind in (Kind.SHARE, Kind.SCORE):
        return _real(part, kind)
    if not isinstance(part, str):
        raise TypeError(f"a {type(part).__name__} where a text belongs")
    if kind is Kind.ID:
        return UUID(part)
    if "\0" in part:
        raise ValueError("a NUL")
    part.encode()  # a lone surrogate has no UTF-8
    return part


def _whole(part: object) -> int:
    if not isinstance(part, int) or isinstance(part, bool):
        raise TypeError("no whole number")
    return part


def _real(part: object, kind: Kind) -> float:
    if not isinstance(part, int | float) or isinstance(part, bool):
        raise TypeError("no number")
    number = float(part)
    if not isfinite(number) or (kind is Kind.SHARE and not 0 <= number <= 1):
        raise ValueError("out of range")
    return number
