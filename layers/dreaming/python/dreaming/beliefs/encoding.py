"""Rows and numbers as the text from which PostgreSQL reads them, a batch of them in one piece. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from enum import Enum
from typing import Any
from uuid import UUID

from dreaming.beliefs.records import Belief, HistoryEntry, Source


def array_of(numbers: Iterable[int]) -> str:
    """Return integers as the text of an array, for `%s::bigint[]`; a driver looks at each of them several times."""
    return f"{{{','.join(map(str, numbers))}}}"


def fields_of(record: Belief | Source | HistoryEntry) -> dict[str, Any]:
    """Return a record's fields as they are; `dataclasses.asdict` copies each value, a quarter of a batch's time."""
    return {name: getattr(record, name) for name in record.__slots__}


def json_of(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows for `json_populate_recordset`; times in UTC."""
    return json.dumps(rows, default=_encode, ensure_ascii=False, allow_nan=False)


def _encode(value: object) -> str:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, Enum):
        return str(value.value)
    raise TypeError(f"cannot store a {type(value).__name__}")
