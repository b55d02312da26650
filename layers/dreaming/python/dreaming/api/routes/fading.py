"""The route of what fades in the weeks to come."""

from __future__ import annotations

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver

from dreaming.api import paging
from dreaming.api.door import Door
from dreaming.api.routes.answers import InScope, PageCursor, PageLimit, answers
from dreaming.api.schemas.fading import Fading
from dreaming.notes.records import Scope


def add(app: APIGatewayHttpResolver, door: Door) -> None:
    """Add the route."""

    @app.get(
        "/brain/fading",
        summary="What fades in the next 12 weeks",
        tags=["beliefs"],
        responses=answers(Fading, paged=True),
    )
    def fading(scope: InScope = Scope.ORG, limit: PageLimit = 50, cursor: PageCursor = None) -> Fading:
        """How many beliefs of a slice fade in each week unless something confirms them, and the first to go."""
        from dreaming.passes.decay.service import Outlook  # noqa: PLC0415 - heavy

        caller = door.caller()
        outlook = Outlook(caller.database, caller.slice_key(scope), caller.environment, caller.now)
        listing = caller.listing("fading", scope=scope)
        forecast = outlook.forecast(limit=limit, after=paging.moment_and_id(listing.open(cursor)))
        if forecast is None:
            return Fading(at=caller.now, ageing=0, faded=0, weeks=(), next_ones=(), next_cursor=None)
        last = forecast.next_ones[-1] if forecast.more else None
        more = None if last is None else paging.write_cursor(last.fades_at, last.belief_id)
        values = {name: getattr(forecast, name) for name in ("at", "ageing", "faded", "weeks", "next_ones")}
        return Fading.model_validate(values | {"next_cursor": listing.close(more)})
