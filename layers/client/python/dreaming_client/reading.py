"""Answers as frozen dataclasses: what an answer has beyond them is ignored, so newer deployments can be read."""

from __future__ import annotations

from dataclasses import MISSING, fields, is_dataclass
from datetime import date, datetime
from functools import cache
from types import UnionType
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from dreaming_client.errors import UnexpectedAnswer

T = TypeVar("T")


def read(kind: type[T], value: object) -> T:
    """Read a JSON value as a dataclass.

    Fields are found by name; metadata `{"name": "pass"}` gives one another name in JSON.

    Raises:
        UnexpectedAnswer: it is no object, lacks a field, or has a value of another type.
    """
    return cast(T, _read(kind, value, kind.__name__))


def _read(hint: Any, value: object, place: str) -> object:
    if is_dataclass(hint):
        return _object(hint, value, place)
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        if value is None and type(None) in get_args(hint):
            return None
        (other,) = (one for one in get_args(hint) if one is not type(None))
        return _read(other, value, place)
    if origin is tuple:
        if not isinstance(value, list):
            raise UnexpectedAnswer(f"{place} is no list")
        return tuple(_read(get_args(hint)[0], one, place) for one in value)
    if hint is Any or origin is not None:
        return value
    return _plain(hint, value, place)


def _plain(hint: Any, value: object, place: str) -> object:
    if hint in (datetime, date) and isinstance(value, str):
        try:
            return cast("type[date]", hint).fromisoformat(value)
        except ValueError as error:
            raise UnexpectedAnswer(f"{place} is no time") from error
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if type(value) is not hint:
        raise UnexpectedAnswer(f"{place} is a {type(value).__name__} and not a {hint.__name__}")
    return value


def _object(kind: Any, value: object, place: str) -> object:
    if not isinstance(value, dict):
        raise UnexpectedAnswer(f"{place} is no object")
    hints = _hints(kind)
    found = {}
    for one in fields(kind):
        name = one.metadata.get("name", one.name)
        if name in value:
            found[one.name] = _read(hints[one.name], value[name], f"{place}.{name}")
        elif one.default is MISSING:
            raise UnexpectedAnswer(f"{place} has no {name}")
    return kind(**found)


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)
