"""Errors as problem details (RFC 9457), each with the correlation id under which the log has the rest."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from http import HTTPStatus

from pydantic import BaseModel, ConfigDict, Field

from dreaming.api.idempotency.service import RequestAtWork
from dreaming.api.identity import NotAllowed, NotIdentified
from dreaming.api.wording import Misfit
from dreaming.errors import Hold, InvalidInput, NotFound

CONTENT_TYPE = "application/problem+json"

RETRY_AFTER_SECONDS = 5
"""What a client is asked to wait for a database that is waking up, which takes about 15 seconds."""


class FieldProblem(BaseModel):
    """One field that cannot be accepted."""

    model_config = ConfigDict(frozen=True)

    field: str
    problem: str


class Problem(BaseModel):
    """The body of every answer that is no success."""

    model_config = ConfigDict(frozen=True)

    type: str = "about:blank"
    title: str
    status: int
    detail: str | None = None
    correlation_id: str | None = Field(default=None, description="Names the request in the service's log.")
    fields: tuple[FieldProblem, ...] = ()


@dataclass(frozen=True, slots=True)
class Refusal:
    """What a client is told about an error: never more than it can act on.

    `logged` are the fields as they may stand in a log, where those that are told name what only the caller knows.
    """

    status: HTTPStatus
    detail: str | None = None
    fields: tuple[FieldProblem, ...] = ()
    headers: dict[str, str] = field(default_factory=dict)
    logged: tuple[FieldProblem, ...] | None = None

    def body(self, correlation_id: str | None) -> str:
        """Return the problem as JSON."""
        problem = Problem(
            title=self.status.phrase,
            status=self.status.value,
            detail=self.detail,
            correlation_id=correlation_id,
            fields=self.fields,
        )
        return problem.model_dump_json(exclude_none=True)


def refusal(error: Exception) -> Refusal:
    """Return what a client is told about an error of ours; anything unknown is a plain 500."""
    if isinstance(error, Hold):
        return _later(HTTPStatus.SERVICE_UNAVAILABLE, error.reason.replace("_", " "), error.retry_after)
    if isinstance(error, RequestAtWork):
        return _later(HTTPStatus.CONFLICT, str(error), None)
    if isinstance(error, InvalidInput) and not isinstance(error, NotFound):
        fields = (FieldProblem(field=_NAMES.get(error.field, error.field), problem=f"{error.problem}; {error.remedy}"),)
        if error.field == "cursor":
            return Refusal(HTTPStatus.BAD_REQUEST, f"the cursor {error.problem}; {error.remedy}", fields)
        return Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, "a value cannot be accepted", fields)
    for kind, status in _STATUSES:
        if isinstance(error, kind):
            return Refusal(status, str(error))
    return Refusal(HTTPStatus.INTERNAL_SERVER_ERROR)


_NAMES = {"words": "q", "query": "q", "agent": "agent_id"}
"""How the API names what the code knows by another name."""

_STATUSES: tuple[tuple[type[Exception], HTTPStatus], ...] = (
    (NotIdentified, HTTPStatus.UNAUTHORIZED),
    (NotAllowed, HTTPStatus.FORBIDDEN),
    (NotFound, HTTPStatus.NOT_FOUND),
)


def _later(status: HTTPStatus, why: str, retry_after: float | None) -> Refusal:
    seconds = RETRY_AFTER_SECONDS if retry_after is None else max(1, round(retry_after))
    return Refusal(status, f"{why}; try again in {seconds} seconds", headers={"Retry-After": str(seconds)})


def misfitting(found: Sequence[Misfit]) -> Refusal:
    """Return what a client is told about a request that does not fit the schema: places and rules, no values."""
    return Refusal(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        "the request does not fit the schema",
        tuple(FieldProblem(field=one.place, problem=one.problem) for one in found),
        logged=tuple(FieldProblem(field=one.place_for_log, problem=one.problem) for one in found),
    )


def for_log(refused: Refusal) -> dict[str, object]:
    """Return what a log keeps of a refusal: nothing that the request said, which the problems of values quote."""
    fields = refused.fields if refused.logged is None else refused.logged
    kept = [{"field": one.field, "problem": _unquoted(one.problem)} for one in fields]
    return {
        "status": refused.status.value,
        "problem": _unquoted(refused.detail or refused.status.phrase),
        "fields": kept,
    }


_QUOTED = re.compile(r"""(['"]).*\1""", re.DOTALL)


def _unquoted(text: str) -> str:
    return _QUOTED.sub("…", text)
