"""The routes of the HTTP API, from the event of API Gateway to its answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from http import HTTPStatus
from traceback import format_tb
from typing import Annotated, Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.exceptions import NotFoundError, ServiceError
from aws_lambda_powertools.event_handler.openapi.exceptions import RequestValidationError
from aws_lambda_powertools.event_handler.openapi.params import Query
from aws_lambda_powertools.event_handler.openapi.types import OpenAPIResponse
from pydantic import BaseModel

from dreaming import __version__
from dreaming.api import problems
from dreaming.api.identity import IdentityRules, tenant_of
from dreaming.api.problems import Problem, Refusal
from dreaming.api.schemas import DreamStatus, Health
from dreaming.api.service import Reader
from dreaming.database import Database
from dreaming.errors import Hold, InvalidInput, Misconfigured
from dreaming.settings.resolution import resolve

Ports = Callable[[], tuple[Database, Mapping[str, str], Callable[[], datetime]]]
"""Gives the database, the deployment's environment and the clock; only routes that need them ask."""

PASS = "consolidation"

_DESCRIPTION = (
    "What Dreaming has read, believes and waits for. Every route but /health wants a caller whom API Gateway has "
    "verified; the organization comes from that alone. Errors are problem details (RFC 9457)."
)

_REFUSALS = {
    HTTPStatus.UNAUTHORIZED: "The caller is not verified.",
    HTTPStatus.FORBIDDEN: "The caller belongs to no organization here.",
    HTTPStatus.UNPROCESSABLE_ENTITY: "A value cannot be accepted.",
    HTTPStatus.SERVICE_UNAVAILABLE: "The database is waking up: try again after the seconds of `Retry-After`.",
}

Runs = Annotated[int, Query(ge=0, le=100, description="How many recent runs.")]


def build(ports: Ports, logger: Logger) -> APIGatewayHttpResolver:
    """Return the application; its `resolve(event, context)` answers one request."""
    app = APIGatewayHttpResolver(enable_validation=True)
    _add_routes(app, ports)
    _add_errors(app, logger)
    return app


def openapi(app: APIGatewayHttpResolver) -> str:
    """Return the description of all routes, as OpenAPI 3.1 in JSON."""
    return app.get_openapi_json_schema(title="Dreaming", version=__version__, description=_DESCRIPTION)


def _add_routes(app: APIGatewayHttpResolver, ports: Ports) -> None:
    @app.get("/health", summary="Whether the service runs", tags=["service"])
    def health() -> Health:
        """Answer without the database: a monitor without a login must neither wake it nor keep it awake."""
        return Health(version=__version__)

    @app.get(
        "/brain/dream/status",
        summary="How far consolidation has come",
        tags=["dream"],
        responses=_responses(DreamStatus),
    )
    def status(runs: Runs = 5) -> DreamStatus:
        """Coverage, cursor, holds and recent runs of every slice that the caller sees."""
        reader = _reader(app, ports)
        return DreamStatus.of(PASS, reader.status(PASS, runs=max(runs, 1)), runs=runs)

    @app.get("/openapi.json", summary="This description", tags=["service"], include_in_schema=False)
    def description() -> Response[str]:
        _reader(app, ports)
        return Response(HTTPStatus.OK, "application/json", openapi(app))


def _responses(model: type[BaseModel]) -> dict[int, OpenAPIResponse]:
    """Return how a route's answers are described: its model, and the problems that any route may have."""
    return {
        HTTPStatus.OK: {"description": "Success.", "content": {"application/json": {"model": model}}},
        **{
            status: {"description": sentence, "content": {problems.CONTENT_TYPE: {"model": Problem}}}
            for status, sentence in _REFUSALS.items()
        },
    }


def _reader(app: APIGatewayHttpResolver, ports: Ports) -> Reader:
    database, environment, clock = ports()
    try:
        settings = resolve(environment, {})
    except InvalidInput as error:
        raise Misconfigured(str(error)) from error
    rules = IdentityRules(
        org_claim=settings.text("api_org_claim"),
        user_claim=settings.text("api_user_claim"),
        iam_organization=settings.text("api_iam_organization"),
    )
    request_context: Mapping[str, Any] = app.current_event.raw_event.get("requestContext") or {}
    return Reader(database, tenant_of(request_context, rules), environment, clock())


def _add_errors(app: APIGatewayHttpResolver, logger: Logger) -> None:
    def answer(refused: Refusal) -> Response[str]:
        body = refused.body(logger.get_correlation_id())
        return Response(refused.status, problems.CONTENT_TYPE, body, headers=refused.headers)

    def invalid(error: RequestValidationError) -> Response[str]:
        return answer(problems.invalid_request([(one["loc"], one["msg"]) for one in error.errors()]))

    def unknown(_error: NotFoundError) -> Response[str]:
        return answer(Refusal(HTTPStatus.NOT_FOUND, "no such route"))

    def refused(error: ServiceError) -> Response[str]:
        return answer(Refusal(HTTPStatus(error.status_code)))

    def failed(error: Exception) -> Response[str]:
        told = problems.refusal(error)
        # Never the text of an error that may quote what it was given.
        if told.status is HTTPStatus.INTERNAL_SERVER_ERROR:
            detail = str(error) if isinstance(error, Misconfigured) else None
            places = format_tb(error.__traceback__)
            logger.error(
                "request failed", extra={"exception_name": type(error).__name__, "detail": detail, "places": places}
            )
        elif isinstance(error, Hold):
            logger.warning("request held", extra={"reason": error.reason, "detail": str(error)})
        return answer(told)

    for kind, handler in (
        (RequestValidationError, invalid),
        (NotFoundError, unknown),
        (ServiceError, refused),
        (Exception, failed),
    ):
        app.exception_handler(kind)(handler)
