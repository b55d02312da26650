"""Cursors of lists: where a page ended, written so that it can be sent back unchanged. Pure."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import blake2s
from itertools import accumulate, pairwise
from typing import Generic, NoReturn, Self, TypeVar, cast
from uuid import UUID

from dreaming.errors import InvalidInput
from dreaming.notes.records import Tenant

Part = str | int | float | datetime | UUID
T = TypeVar("T")

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


def read_cursor(cursor: str, kinds: Sequence[type[Part]]) -> list[Part]:
    """Return the parts of a cursor, each of the kind at its place.

    Raises:
        InvalidInput: it is none that `write_cursor` wrote of such parts.
    """
    try:
        return [_read(part, kind) for part, kind in zip(_decode(cursor), kinds, strict=True)]
    except (ValueError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise unknown() from error


def _short(value: object, length: int) -> bytes:
    return blake2s(json.dumps(value, default=str).encode(), digest_size=length).digest()


def moment_and_id(place: str | None) -> tuple[datetime, UUID] | None:
    """Return the parts of a place in a list by a moment and an id; None stays None."""
    if place is None:
        return None
    moment, name = read_cursor(place, [datetime, UUID])
    return cast(datetime, moment), cast(UUID, name)


def unknown() -> InvalidInput:
    """Return the error of a cursor that no page ended with."""
    return InvalidInput("cursor", "is not one that a page ended with", "use `next_cursor` unchanged")


def _encode(parts: Sequence[object]) -> str:
    return _printed(json.dumps(parts, separators=(",", ":")).encode())


def _decode(cursor: str) -> list[object]:
    return list(json.loads(_raw(cursor), parse_constant=_refuse))


def _printed(content: bytes) -> str:
    return urlsafe_b64encode(content).decode().rstrip("=")


def _raw(printed: str) -> bytes:
    return urlsafe_b64decode(printed + "=" * (-len(printed) % 4))


def _refuse(name: str) -> NoReturn:
    raise ValueError(name)


def _read(part: object, kind: type[Part]) -> Part:
    if kind is datetime:
        if type(part) is not int:
            raise TypeError("a time is a whole number")
        return _EPOCH + part * _MICROSECOND
    if kind is UUID:
        return UUID(str(part))
    if kind is float and isinstance(part, int | float) and not isinstance(part, bool):
        return float(part)
    if type(part) is not kind:
        raise TypeError(f"a {type(part).__name__} where a {kind.__name__} belongs")
    return part
