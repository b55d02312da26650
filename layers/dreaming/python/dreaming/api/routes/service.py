"""The routes about the service itself."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response

from dreaming import __version__
from dreaming.api.door import Door
from dreaming.api.schemas.dream import Health


def add(app: APIGatewayHttpResolver, door: Door, *, description: Callable[[], str]) -> None:
    """Add the routes; `description` gives the OpenAPI document of the whole application."""

    @app.get("/health", summary="Whether the service runs", tags=["service"])
    def health() -> Health:
        """Answer without the database: a monitor without a login must neither wake it nor keep it awake."""
        return Health(version=__version__)

    @app.get("/openapi.json", summary="This description", tags=["service"], include_in_schema=False)
    def describe() -> Response[str]:
        door.caller()
        return Response(HTTPStatus.OK, "application/json", description())
