"""The HTTP API as one application, from the event of API Gateway to its answer."""

from __future__ import annotations

import logging
from collections.abc import Callable
from http import HTTPStatus
from traceback import format_tb

from aws_lambda_powertools import Logger
from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.exceptions import NotFoundError, ServiceError
from aws_lambda_powertools.event_handler.middlewares import NextMiddleware
from aws_lambda_powertools.event_handler.openapi.exceptions import RequestValidationError

from dreaming.api import problems
from dreaming.api.description import describe
from dreaming.api.door import Door, Ports
from dreaming.api.problems import Refusal
from dreaming.api.requests import SEALED, Application
from dreaming.api.routes import (
    autonomy,
    beliefs,
    brief,
    conflicts,
    conversations,
    dashboard,
    dream,
    erasure,
    fading,
    notes,
    service,
    settings,
)
from dreaming.api.wording import Misfit, misfits, unknown_names
from dreaming.errors import Hold, Misconfigured


def build(ports: Callable[[], Ports], logger: Logger) -> Application:
    """Return the application; its `resolve(event, context)` answers one request."""
    # At level DEBUG Powertools writes the arguments of every route, note texts among them.
    logging.getLogger("aws_lambda_powertools.event_handler").setLevel(logging.INFO)
    app = Application(logger)
    door = Door(app, ports)
    app.use([_sealed, lambda _, next_middleware: _of_known_parameters(app, next_middleware)])
    beliefs_and_more = (beliefs, brief, fading, conflicts, conversations, autonomy)
    for resource in (dream, notes, *beliefs_and_more, settings, erasure, dashboard):
        resource.add(app, door)
    service.add(app, door, description=lambda: describe(app))
    _add_errors(app, logger)
    return app


def _sealed(app: APIGatewayHttpResolver, next_middleware: NextMiddleware) -> Response[object]:
    """Let no answer stay in a cache or be taken for what it is not, unless its route says otherwise."""
    response: Response[object] = next_middleware(app)
    for name, value in SEALED.items():
        response.headers.setdefault(name, value)
    return response


def _of_known_parameters(app: Application, next_middleware: NextMiddleware) -> Response[object]:
    """Refuse a query with a name that the route does not know: it would be taken for another question."""
    if found := _unknown_parameters(app):
        raise _UnknownParametersError(found)
    response: Response[object] = next_middleware(app)
    return response


class _UnknownParametersError(Exception):
    """A query names what its route does not take."""

    def __init__(self, found: tuple[Misfit, ...]) -> None:
        super().__init__("the query has unknown parameters")
        self.found = found


def _unknown_parameters(app: Application) -> tuple[Misfit, ...]:
    route = app.asked_route()
    # What no route answers is refused for that; a sign-in comes back to the page with whatever its provider adds.
    if route is None or route.openapi_path == dashboard.PATH:
        return ()
    known = [str(one.alias) for one in route.dependant.query_params]
    return unknown_names(app.current_event.query_string_parameters, known, of="parameter of this route")


def _add_errors(app: Application, logger: Logger) -> None:
    def answer(refused: Refusal) -> Response[str]:
        app.note(refused)
        body = refused.body(logger.get_correlation_id())
        return Response(refused.status, problems.CONTENT_TYPE, body, headers={**SEALED, **refused.headers})

    def invalid(error: RequestValidationError) -> Response[str]:
        return answer(problems.misfitting((*_unknown_parameters(app), *misfits(error.errors(), app.sent()))))

    def misnamed(error: _UnknownParametersError) -> Response[str]:
        return answer(problems.misfitting(error.found))

    def unknown(_error: NotFoundError) -> Response[str]:
        return _no_route(app, answer)

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
        (_UnknownParametersError, misnamed),
        (NotFoundError, unknown),
        (ServiceError, refused),
        (Exception, failed),
    ):
        app.exception_handler(kind)(handler)


def _no_route(app: Application, answer: Callable[[Refusal], Response[str]]) -> Response[str]:
    methods = app.methods()
    if not methods:
        return answer(Refusal(HTTPStatus.NOT_FOUND, "no such route"))
    allow = {"Allow": ", ".join(methods)}
    if app.current_event.http_method == "OPTIONS":
        return Response(HTTPStatus.NO_CONTENT, headers={**SEALED, **allow})
    return answer(Refusal(HTTPStatus.METHOD_NOT_ALLOWED, headers=allow))
