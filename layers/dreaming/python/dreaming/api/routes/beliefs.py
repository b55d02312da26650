"""The routes of beliefs: list and search, and why one is believed."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver
from aws_lambda_powertools.event_handler.openapi.params import Query

from dreaming.api.beliefs.store import BeliefFilter
from dreaming.api.door import Door
from dreaming.api.routes.answers import InScope, PageCursor, PageLimit, answers
from dreaming.api.schemas.beliefs import Belief, BeliefPage, BeliefWhy
from dreaming.beliefs.records import Kind
from dreaming.notes.records import Scope

Words = Annotated[str, Query(alias="q", max_length=2_000, description="Words that the statement must hold.")]
OfKind = Annotated[Kind | None, Query(description="Only beliefs of this kind.")]
LeastConfidence = Annotated[float, Query(ge=0, le=1, description="Aged confidence must reach this.")]
Archived = Annotated[bool, Query(description="Archived ones instead of live ones.")]


def add(app: APIGatewayHttpResolver, door: Door) -> None:
    """Add the routes."""

    @app.get("/brain/beliefs", summary="List and search beliefs", tags=["beliefs"], responses=answers(BeliefPage))
    def list_beliefs(
        *,
        q: Words = "",
        scope: InScope = Scope.ORG,
        kind: OfKind = None,
        min_confidence: LeastConfidence = 0.0,
        archived: Archived = False,
        limit: PageLimit = 50,
        cursor: PageCursor = None,
    ) -> BeliefPage:
        """Beliefs of a slice by aged confidence; a cursor keeps the moment of its first page."""
        caller = door.caller()
        wanted = BeliefFilter(tuple(q.split()), kind, min_confidence, archived)
        page = caller.reader.beliefs(caller.slice_key(scope), wanted, limit=limit, cursor=cursor)
        return BeliefPage(beliefs=tuple(map(Belief.of, page.beliefs)), next_cursor=page.next_cursor)

    @app.get(
        "/brain/beliefs/<belief_id>",
        summary="Why a belief is believed",
        tags=["beliefs"],
        responses=answers(BeliefWhy, absent=True),
    )
    def why(belief_id: UUID) -> BeliefWhy:
        """The quotes in their context, the arithmetic of the confidence, and the history."""
        return BeliefWhy.of(door.caller().reader.explain(str(belief_id)))
