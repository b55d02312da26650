"""Actions from JSON lines: each with its line, and what is wrong with one told in words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

from dreaming.errors import InvalidInput

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from dreaming.autonomy.records import IncomingAction


@contextmanager
def of_lines(numbers: Sequence[int]) -> Iterator[None]:
    """Let an error that names an action by its place name its line."""
    try:
        yield
    except InvalidInput as error:
        _, place, field = [*error.field.split(".", 2), "", ""][:3]
        if not place.isdigit():
            raise
        raise InvalidInput(f"line {numbers[int(place)]}, {field}", error.problem, error.remedy) from error


def read_actions(lines: IO[str]) -> Iterator[tuple[int, IncomingAction]]:
    """Yield the action of each line that is not blank, with the line's number from 1.

    Raises:
        InvalidInput: naming the line and the field that is wrong.
    """
    from pydantic import ValidationError

    from dreaming.autonomy.records import IncomingAction

    for number, line in enumerate(_decoded(lines), start=1):
        if not line.strip():
            continue
        try:
            yield number, IncomingAction.model_validate(json.loads(line))
        except ValidationError as problem:
            first = problem.errors(include_url=False, include_input=False)[0]
            field = ".".join(str(part) for part in first["loc"]) or "the line"
            raise InvalidInput(
                f"line {number}, {field}", _in_words(first), "see: dream autonomy record --help"
            ) from None
        except (ValueError, RecursionError):
            raise InvalidInput(f"line {number}", "is not JSON", "write one JSON object on each line") from None


_WORDS = {
    "missing": "is missing",
    "extra_forbidden": "is no field of an action",
    "enum": "is none of {expected}",
    "literal_error": "is none of {expected}",
    "string_type": "is no text",
    "string_too_short": "is empty",
    "string_too_long": "is longer than {max_length} characters",
    "float_type": "is no number",
    "float_parsing": "is no number",
    "greater_than_equal": "is less than {ge:g}",
    "less_than_equal": "is more than {le:g}",
    "model_type": "is no JSON object",
    "model_attributes_type": "is no JSON object",
    "timezone_aware": "has no offset from UTC",
}


def _in_words(problem: ErrorDetails) -> str:
    kind = problem["type"]
    if kind.startswith("datetime"):
        return "is no time, such as 2026-03-01T12:00:00Z"
    return _WORDS.get(kind, "cannot be read").format(**problem.get("ctx", {}))


def _decoded(lines: IO[str]) -> Iterator[str]:
    try:
        yield from lines
    except UnicodeDecodeError:
        raise InvalidInput("FILE", "is not UTF-8", "write it in UTF-8") from None
