"""Cursors of lists: where a page ended, written so that it can be sent back unchanged. Pure."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from dreaming.errors import InvalidInput

Part = str | int | float | datetime | UUID


def write_cursor(*parts: Part) -> str:
    """Return the cursor of a page that ended at `parts`."""
    written = [
        part.isoformat() if isinstance(part, datetime) else part.hex if isinstance(part, UUID) else part
        for part in parts
    ]
    return urlsafe_b64encode(json.dumps(written).encode()).decode().rstrip("=")


def read_cursor(cursor: str, kinds: Sequence[type[Part]]) -> list[Part]:
    """Return the parts of a cursor, each of the kind at its place.

    Raises:
        InvalidInput: it is none that `write_cursor` wrote of such parts.
    """
    try:
        parts = list(json.loads(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))))
        return [_read(part, kind) for part, kind in zip(parts, kinds, strict=True)]
    except (ValueError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise InvalidInput("cursor", "is not one that a page ended with", "use `next_cursor` unchanged") from error


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
