"""The routes of beliefs: list and search, and why one is believed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any
from uuid import UUID

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver
from aws_lambda_powertools.event_handler.openapi.params import Query

from dreaming.api.beliefs.store import BeliefFilter
from dreaming.api.door import Caller, Door
from dreaming.api.routes.answers import InScope, PageCursor, PageLimit, answers
from dreaming.api.schemas.beliefs import Belief, BeliefChanged, BeliefPage, BeliefWhy, Match
from dreaming.api.schemas.overview import BeliefGroup, BeliefSummary
from dreaming.api.schemas.schema import Moment
from dreaming.beliefs.persons.service import Outcome, Person
from dreaming.beliefs.records import Kind
from dreaming.database import Role
from dreaming.notes.records import Scope, SliceKey

Words = Annotated[
    str,
    Query(
        alias="q",
        max_length=2_000,
        description="What the belief is about, by words in any form and by meaning; the best match comes first.",
    ),
]
OfKind = Annotated[Kind | None, Query(description="Only beliefs of this kind.")]
LeastConfidence = Annotated[float, Query(ge=0, le=1, description="Aged confidence must reach this.")]
Archived = Annotated[bool, Query(description="Archived ones instead of live ones.")]
AsOf = Annotated[Moment | None, Query(description="What held at that time, by all that is known today. RFC 3339.")]
BelievedAt = Annotated[
    Moment | None, Query(description="What was believed at that time, by what was known then. RFC 3339.")
]


def add(app: APIGatewayHttpResolver, door: Door) -> None:
    """Add the routes."""

    @app.get(
        "/brain/beliefs", summary="List and search beliefs", tags=["beliefs"], responses=answers(BeliefPage, paged=True)
    )
    def list_beliefs(
        *,
        q: Words = "",
        scope: InScope = Scope.ORG,
        kind: OfKind = None,
        min_confidence: LeastConfidence = 0.0,
        archived: Archived = False,
        as_of: AsOf = None,
        believed_at: BelievedAt = None,
        limit: PageLimit = 50,
        cursor: PageCursor = None,
    ) -> BeliefPage:
        """Beliefs of a slice by aged confidence, or what a search finds; a cursor keeps its first page's moment."""
        caller = door.caller()
        key = caller.slice_key(scope)
        wanted = BeliefFilter(tuple(q.split()), kind, min_confidence, archived, as_of, believed_at)
        listing = caller.listing(
            "beliefs",
            q=list(wanted.words),
            scope=scope,
            kind=kind,
            min_confidence=min_confidence,
            archived=archived,
            as_of=as_of,
            believed_at=believed_at,
        )
        place = listing.open(cursor)
        if wanted.words:
            found = _search(caller, key, wanted, limit, place)
        else:
            page = caller.reader.beliefs(key, wanted, limit=limit, cursor=place)
            found = BeliefPage(beliefs=tuple(map(Belief.of, page.beliefs)), next_cursor=page.next_cursor)
        return found.model_copy(update={"next_cursor": listing.close(found.next_cursor)})

    _add_acts(app, door)

    @app.get(
        "/brain/beliefs/summary",
        summary="How the beliefs are spread",
        tags=["beliefs"],
        responses=answers(BeliefSummary),
    )
    def summary(scope: InScope = Scope.ORG) -> BeliefSummary:
        """Count a slice's live beliefs by kind, confidence and age."""
        caller = door.caller()
        groups = caller.overview.belief_groups(caller.slice_key(scope))
        return BeliefSummary(at=caller.now, groups=tuple(BeliefGroup.model_validate(one) for one in groups))

    @app.get(
        "/brain/beliefs/<belief_id>",
        summary="Why a belief is believed",
        tags=["beliefs"],
        responses=answers(BeliefWhy, absent=True),
    )
    def why(belief_id: UUID) -> BeliefWhy:
        """The quotes in their context, the arithmetic, the history, relationships, and what held before and after."""
        reader = door.caller().reader
        explained = reader.explain(str(belief_id))
        return BeliefWhy.of(explained, reader.succession(explained.slice.slice_id, belief_id))


def _search(caller: Caller, key: SliceKey, wanted: BeliefFilter, limit: int, cursor: str | None) -> BeliefPage:
    from dreaming.api.search.service import Searching  # noqa: PLC0415 - heavy

    searching = Searching(caller.database, caller.tenant, caller.environment, caller.now, caller.embedder)
    page = searching.search(key, wanted, limit=limit, cursor=cursor)
    return BeliefPage(
        beliefs=tuple(Belief.of(one.reading, Match.model_validate(one.place)) for one in page.found),
        next_cursor=page.next_cursor,
        reason=page.reason,
    )


def _add_acts(app: APIGatewayHttpResolver, door: Door) -> None:
    def act(belief_id: UUID, change: Callable[[Person], Callable[..., Outcome]]) -> Any:
        caller = door.caller()
        caller.reader.explain(str(belief_id))
        person = Person(caller.database, caller.tenant, caller.actor, caller.environment, Role.API)

        def effect() -> BeliefChanged:
            outcome = change(person)(belief_id, now=caller.now, new_id=caller.new_id)
            return BeliefChanged(
                belief_id=belief_id,
                changed=outcome.changed,
                confidence=outcome.belief.confidence,
                confirmed_at=outcome.belief.confirmed_at,
                archived_at=outcome.belief.archived_at,
                archive_reason=outcome.belief.archive_reason,
            )

        return door.once(caller, effect)

    described = answers(BeliefChanged, absent=True, posted=True)

    @app.post("/brain/beliefs/<belief_id>/confirm", summary="Vouch for a belief", tags=["beliefs"], responses=described)
    def confirm(belief_id: UUID) -> Any:
        """Add a source of confidence 1.0 as of now, which restores a belief that had faded."""
        return act(belief_id, lambda person: person.confirm)

    @app.post(
        "/brain/beliefs/<belief_id>/archive",
        summary="Take a belief out of sight",
        tags=["beliefs"],
        responses=described,
    )
    def archive(belief_id: UUID) -> Any:
        """Keep it for the audit only; claims that say the same are suppressed from then on."""
        return act(belief_id, lambda person: person.archive)

    @app.post(
        "/brain/beliefs/<belief_id>/restore",
        summary="Bring an archived belief back",
        tags=["beliefs"],
        responses=described,
    )
    def restore(belief_id: UUID) -> Any:
        """Bring back what has faded or what a person archived, with its relationships to live beliefs."""
        return act(belief_id, lambda person: person.restore)
