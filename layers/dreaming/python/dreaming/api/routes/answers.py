"""How a route's answers are described, and the parameters that many routes take."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Query
from aws_lambda_powertools.event_handler.openapi.types import OpenAPIResponse
from pydantic import BaseModel

from dreaming.api import problems
from dreaming.api.problems import Problem
from dreaming.notes.records import Scope

_REFUSALS = {
    HTTPStatus.UNAUTHORIZED: "The caller is not verified.",
    HTTPStatus.FORBIDDEN: "The caller belongs to no organization here, or may not do this.",
    HTTPStatus.UNPROCESSABLE_ENTITY: "A value cannot be accepted.",
    HTTPStatus.SERVICE_UNAVAILABLE: "The database is waking up: try again after the seconds of `Retry-After`.",
}
_ABSENT = {HTTPStatus.NOT_FOUND: "There is no such thing among what the caller sees."}
_PAGED = {HTTPStatus.BAD_REQUEST: "The cursor is of no page, or of one of another list, caller or filter."}
_POSTED = {HTTPStatus.CONFLICT: "The same request, sent before, is still at work."}

InScope = Annotated[Scope, Query(description="Which slice: the organization's, the caller's private one, or shared.")]
PageLimit = Annotated[int, Query(ge=1, le=200, description="How many at most.")]
PageCursor = Annotated[str | None, Query(description="The `next_cursor` of the page before; none for the first.")]


def answers(
    model: type[BaseModel], *, absent: bool = False, posted: bool = False, paged: bool = False
) -> dict[int, OpenAPIResponse]:
    """Return how a route's answers are described: its model, and the problems that it may have."""
    refusals = _REFUSALS | (_ABSENT if absent else {}) | (_POSTED if posted else {}) | (_PAGED if paged else {})
    return {
        HTTPStatus.OK: {"description": "Success.", "content": {"application/json": {"model": model}}},
        **{
            status: {"description": sentence, "content": {problems.CONTENT_TYPE: {"model": Problem}}}
            for status, sentence in sorted(refusals.items())
        },
    }
