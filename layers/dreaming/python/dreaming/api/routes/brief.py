"""The route of the brief: what is believed now, for an agent's system prompt."""

from __future__ import annotations

from typing import Annotated

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver
from aws_lambda_powertools.event_handler.openapi.params import Query

from dreaming.api.door import Door
from dreaming.api.routes.answers import answers
from dreaming.api.schemas.brief import Brief, BriefLine
from dreaming.beliefs.briefs.service import Briefing, marked
from dreaming.database import Role
from dreaming.notes.records import Scope

ToldScope = Annotated[
    Scope | None, Query(description="Only this slice; by default the organization's and the caller's private one.")
]


def add(app: APIGatewayHttpResolver, door: Door) -> None:
    """Add the route."""

    @app.get("/brain/brief", summary="What is believed now, in few words", tags=["beliefs"], responses=answers(Brief))
    def brief(scope: ToldScope = None) -> Brief:
        """The most important and the surest beliefs, within the setting `brief_characters`, each with its id."""
        caller = door.caller()
        if scope is not None:
            caller.slice_key(scope)
        made = Briefing(caller.database, caller.environment, Role.API).brief(caller.tenant, now=caller.now, scope=scope)
        return Brief(
            text=made.text,
            marked=marked(made),
            lines=tuple(BriefLine.model_validate(line) for line in made.lines),
            complete=made.complete,
            at=made.at,
            characters=made.characters,
        )
