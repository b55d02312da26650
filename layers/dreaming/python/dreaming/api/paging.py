"""Cursors of lists: where a page ended, written so that it can be sent back unchanged. Pure."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2s
from typing import Any, Generic, NoReturn, TypeVar, cast
from uuid import UUID

from dreaming.errors import InvalidInput
from dreaming.notes.records import Tenant

Part = str | int | float | datetime | UUID
T = TypeVar("T")

_DIGEST_BYTES = 6


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
        return _encode([self.name, self._caller(), self._bound(), place])

    def open(self, cursor: str | None) -> str | None:
        """Return the place that a cursor of this list holds; None stays None.

        Raises:
            InvalidInput: it is another list's, another caller's, or came with another filter, which is named.
        """
        if cursor is None:
            return None
        try:
            name, tenant, bound, place = _decode(cursor)
            given = {str(one): str(digest) for one, digest in dict(cast(Any, bound)).items()}
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            raise unknown() from error
        if name != self.name or not isinstance(place, str):
            raise InvalidInput("cursor", "is of another list", "use `next_cursor` of a page of this one")
        if tenant != self._caller():
            raise InvalidInput("cursor", "is of another caller", "begin without one")
        now = self._bound()
        for one in sorted(given.keys() | now.keys()):
            if given.get(one) != now.get(one):
                raise InvalidInput(
                    "cursor", f"came with another {one!r}", f"send the {one!r} of its page, or begin without a cursor"
                )
        return place

    def _caller(self) -> str:
        return _digest([self.tenant.org_id, self.tenant.user_id])

    def _bound(self) -> dict[str, str]:
        given = {name: value for name, value in self.filters.items() if value is not None}
        return {name: _digest(value) for name, value in sorted(given.items())}


def write_cursor(*parts: Part) -> str:
    """Return the cursor of a page that ended at `parts`."""
    return _encode(
        [
            part.isoformat() if isinstance(part, datetime) else part.hex if isinstance(part, UUID) else part
            for part in parts
        ]
    )


def read_cursor(cursor: str, kinds: Sequence[type[Part]]) -> list[Part]:
    """Return the parts of a cursor, each of the kind at its place.

    Raises:
        InvalidInput: it is none that `write_cursor` wrote of such parts.
    """
    try:
        return [_read(part, kind) for part, kind in zip(_decode(cursor), kinds, strict=True)]
    except (ValueError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise unknown() from error


def _digest(value: object) -> str:
    told = json.dumps(value, default=str).encode()
    return urlsafe_b64encode(blake2s(told, digest_size=_DIGEST_BYTES).digest()).decode()


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
    return urlsafe_b64encode(json.dumps(parts, separators=(",", ":")).encode()).decode().rstrip("=")


def _decode(cursor: str) -> list[object]:
    return list(json.loads(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)), parse_constant=_refuse))


def _refuse(name: str) -> NoReturn:
    raise ValueError(name)


def _read(part: object, kind: type[Part]) -> Part:
    if kind is datetime:
        moment = datetime.fromisoformat(str(part))
        if moment.utcoffset() is None:
            raise ValueError("a time without an offset")
        return moment
    if kind is UUID:
        return UUID(str(part))
    if kind is float and isinstance(part, int | float) and not isinstance(part, bool):
        return float(part)
    if type(part) is not kind:
        raise TypeError(f"a {type(part).__name__} where a {kind.__name__} belongs")
    return part
