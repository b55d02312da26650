"""The route of what fades in the weeks to come."""

from __future__ import annotations

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver

from dreaming.api.door import Door
from dreaming.api.routes.answers import InScope, PageLimit, answers
from dreaming.api.schemas.fading import Fading
from dreaming.notes.records import Scope


def add(app: APIGatewayHttpResolver, door: Door) -> None:
    """Add the route."""

    @app.get("/brain/fading", summary="What fades in the next 12 weeks", tags=["beliefs"], responses=answers(Fading))
    def fading(scope: InScope = Scope.ORG, limit: PageLimit = 50) -> Fading:
        """How many beliefs of a slice fade in each week unless something confirms them, and the first to go."""
        from dreaming.passes.decay.service import Outlook  # noqa: PLC0415 - heavy

        caller = door.caller()
        outlook = Outlook(caller.database, caller.slice_key(scope), caller.environment, caller.now)
        forecast = outlook.forecast(limit=limit)
        if forecast is None:
            return Fading(at=caller.now, ageing=0, faded=0, weeks=(), next_ones=())
        return Fading.model_validate(forecast)
