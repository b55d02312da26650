"""The HTTP API as one application, from the event of API Gateway to its answer."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from traceback import format_tb

from aws_lambda_powertools import Logger
from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.exceptions import NotFoundError, ServiceError
from aws_lambda_powertools.event_handler.openapi.exceptions import RequestValidationError

from dreaming import __version__
from dreaming.api import problems
from dreaming.api.door import Door, Ports
from dreaming.api.problems import Refusal
from dreaming.api.routes import beliefs, dream, notes, service, settings
from dreaming.errors import Hold, Misconfigured

_DESCRIPTION = (
    "What Dreaming has read, believes and waits for. Every route but /health wants a caller whom API Gateway has "
    "verified; the organization and the user come from that alone. Lists end with a `next_cursor` while there is "
    "more. A post that is sent again with the same `Idempotency-Key` within a day is done once. Errors are problem "
    "details (RFC 9457)."
)


def build(ports: Callable[[], Ports], logger: Logger) -> APIGatewayHttpResolver:
    """Return the application; its `resolve(event, context)` answers one request."""
    app = APIGatewayHttpResolver(enable_validation=True)
    door = Door(app, ports)
    for resource in (dream, notes, beliefs, settings):
        resource.add(app, door)
    service.add(app, door, description=lambda: openapi(app))
    _add_errors(app, logger)
    return app


def openapi(app: APIGatewayHttpResolver) -> str:
    """Return the description of all routes, as OpenAPI 3.1 in JSON."""
    return app.get_openapi_json_schema(title="Dreaming", version=__version__, description=_DESCRIPTION)


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
