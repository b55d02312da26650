"""Actions from JSON lines: each with its line, and what is wrong with one told in words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

from dreaming.api.wording import in_words
from dreaming.errors import InvalidInput

if TYPE_CHECKING:
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
            first: Mapping[str, Any] = problem.errors(include_url=False, include_input=False)[0]
            field = ".".join(str(part) for part in first["loc"]) or "the line"
            wrong, _, todo = in_words(first, see="dream autonomy record --help").partition("; ")
            raise InvalidInput(f"line {number}, {field}", wrong, todo) from None
        except (ValueError, RecursionError):
            raise InvalidInput(f"line {number}", "is not JSON", "write one JSON object on each line") from None


def _decoded(lines: IO[str]) -> Iterator[str]:
    try:
        yield from lines
    except UnicodeDecodeError:
        raise InvalidInput("FILE", "is not UTF-8", "write it in UTF-8") from None
