"""Fields of JSON objects by their dotted paths, and whether a file has those that were named."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dreaming.errors import InvalidInput
from dreaming.notes.connectors.lines import read_lines

_MOST_TOLD = 30
_LONGEST_TOLD = 40


def field_of(row: dict[str, Any], path: str) -> Any:
    """Return the value at a dotted path, or None; a field whose own name has dots comes first."""
    if path in row:
        return row[path]
    value: Any = row
    for name in path.split("."):
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value


def check_fields(file: Path, named: Mapping[str, Sequence[str]]) -> None:
    """Refuse a field that no line of a file of JSON lines has; `named` has the fields of each option.

    Reads the file only until every field was seen. A file without any object is left to the reading.

    Raises:
        InvalidInput: a field is in no line; names it, its option and the fields that there are.
        OSError: the file cannot be opened.
    """
    missing = {(option, field): None for option, fields in named.items() for field in fields}
    known: dict[str, None] = {}
    for line in read_lines(file):
        if not missing:
            return
        row = _object(line.content)
        known.update(dict.fromkeys(row))
        missing = {named: None for named in missing if not _has(row, named[1])}
    if missing and known:
        option, field = next(iter(missing))
        told = [name if len(name) <= _LONGEST_TOLD else f"{name[:_LONGEST_TOLD]}…" for name in known][:_MOST_TOLD]
        more = f" and {len(known) - len(told):,} more" if len(known) > len(told) else ""
        raise InvalidInput(option, f"no line has the field {field!r}", f"the fields are {', '.join(told)}{more}")


def _object(content: object) -> dict[str, Any]:
    if not isinstance(content, str):
        return {}
    try:
        row = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return row if isinstance(row, dict) else {}


def _has(row: dict[str, Any], path: str) -> bool:
    if path in row:
        return True
    value: Any = row
    for name in path.split("."):
        if not isinstance(value, dict) or name not in value:
            return False
        value = value[name]
    return True
