"""The route of the page. It holds nothing of anybody, so it needs no caller: the page signs in by itself."""

from __future__ import annotations

from http import HTTPStatus

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response

from dreaming.api.dashboard.page import SignIn, page
from dreaming.api.door import Door
from dreaming.settings.resolution import Settings

PATH = "/brain/dashboard"


def add(app: APIGatewayHttpResolver, door: Door) -> None:
    """Add the route."""

    @app.get(PATH, summary="The page", tags=["service"], include_in_schema=False)
    def dashboard() -> Response[str]:
        """Answer with the page, whole: it asks the API for everything that it shows."""
        made = page(_sign_in(door.deployment()))
        return Response(HTTPStatus.OK, "text/html; charset=utf-8", made.html, headers=dict(made.headers))


def _sign_in(settings: Settings) -> SignIn:
    return SignIn(
        issuer=settings.text("dashboard_oidc_issuer"),
        client_id=settings.text("dashboard_oidc_client_id"),
        scope=settings.text("dashboard_oidc_scope"),
        token_origin=settings.text("dashboard_oidc_token_origin"),
    )
