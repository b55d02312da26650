"""What can go wrong, each with what the API says about it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


class DreamingError(Exception):
    """Base of every error of this client."""


class ConnectionFailed(DreamingError):
    """No answer came, after all attempts; what was sent may have been done."""


class UnexpectedAnswer(DreamingError):
    """The answer is not what the API answers: most likely something else listens at the address."""


class NotRunning(DreamingError):
    """No local installation serves its API; `dream up` does."""


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """One field that the API does not accept."""

    field: str
    problem: str


class ApiError(DreamingError):
    """The API refused; `correlation_id` names the request in the deployment's log."""

    def __init__(
        self,
        status: int,
        title: str,
        detail: str | None = None,
        *,
        fields: tuple[FieldProblem, ...] = (),
        correlation_id: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        """Keep the parts of the problem; `retry_after` is in seconds."""
        self.status = status
        self.title = title
        self.detail = detail
        self.fields = fields
        self.correlation_id = correlation_id
        self.retry_after = retry_after
        super().__init__(status, title)

    def __str__(self) -> str:
        said = f"{self.status} {self.title}" + (f": {self.detail}" if self.detail else "")
        said += "".join(
            f"; {one.field}: {one.problem}"
            for one in self.fields
            if not (self.detail or "").endswith(f" {one.problem}")
        )
        return f"{said} (request {self.correlation_id})" if self.correlation_id else said


class NotVerified(ApiError):
    """401: the token or the signature is missing or wrong."""


class NotAllowed(ApiError):
    """403: the caller belongs to no organization here, or may not do this."""


class NotFound(ApiError):
    """404: there is no such thing among what the caller sees."""


class InvalidRequest(ApiError):
    """400, 413, 415 or 422: a value cannot be accepted; `fields` says which."""


class TryLater(ApiError):
    """409, 429 or 503, after all attempts: the same request can be sent again after `retry_after` seconds."""


_KINDS: Mapping[int, type[ApiError]] = {
    401: NotVerified,
    403: NotAllowed,
    404: NotFound,
    409: TryLater,
    400: InvalidRequest,
    413: InvalidRequest,
    415: InvalidRequest,
    422: InvalidRequest,
    429: TryLater,
    503: TryLater,
}


def error_of(status: int, phrase: str, content: bytes, headers: Mapping[str, str]) -> ApiError:
    """Return the error of an answer that is no success; API Gateway's own answers are understood too."""
    problem = _problem(content)
    fields = tuple(
        FieldProblem(str(one.get("field", "")), str(one.get("problem", "")))
        for one in problem.get("fields") or ()
        if isinstance(one, dict)
    )
    detail = problem.get("detail") or problem.get("message")
    return _KINDS.get(status, ApiError)(
        status,
        str(problem.get("title") or phrase),
        None if detail is None else str(detail),
        fields=fields,
        correlation_id=problem.get("correlation_id") or headers.get("apigw-requestid"),
        retry_after=seconds(headers.get("retry-after")),
    )


def seconds(text: str | None) -> float | None:
    """Return the seconds that a `Retry-After` asks for; None where it names none."""
    return float(text) if text is not None and text.strip().isdecimal() else None


def _problem(content: bytes) -> dict[str, Any]:
    try:
        found = json.loads(content)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
