"""The routes of conflicts and merges: what needs a person, and a person's word on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver
from aws_lambda_powertools.event_handler.openapi.params import Body

from dreaming.api.door import Caller, Door
from dreaming.api.routes.answers import InScope, PageCursor, PageLimit, answers
from dreaming.api.schemas.beliefs import BeliefWhy
from dreaming.api.schemas.conflicts import Conflict, Conflicts, Resolution, Resolved, TwoBeliefs
from dreaming.notes.records import Scope

if TYPE_CHECKING:
    from dreaming.passes.contradictions.service import Resolver


def add(app: APIGatewayHttpResolver, door: Door) -> None:
    """Add the routes; what they need is imported by the first request, since the status needs no numpy."""
    _add_review(app, door)
    _add_undoing(app, door)


def _add_review(app: APIGatewayHttpResolver, door: Door) -> None:
    @app.get(
        "/brain/conflicts",
        summary="Beliefs that contradict each other and need a person",
        tags=["conflicts"],
        responses=answers(Conflicts, paged=True),
    )
    def list_conflicts(scope: InScope = Scope.ORG, limit: PageLimit = 20, cursor: PageCursor = None) -> Conflicts:
        """Pairs side by side with their quotes; what a rule or the judge decided is not here."""
        caller = door.caller()
        reader, key, listing = caller.reader, caller.slice_key(scope), caller.listing("conflicts", scope=scope)
        page = reader.reviews(key, limit=limit, cursor=listing.open(cursor))
        sides = reader.explain_all(key, [one for pair in page.items for one in (pair.left_id, pair.right_id)])
        return Conflicts(
            conflicts=tuple(
                Conflict(
                    left=BeliefWhy.of(sides[one.left_id]),
                    right=BeliefWhy.of(sides[one.right_id]),
                    relation=one.relation,
                    reason=one.reason,
                )
                for one in page.items
                # A pair whose belief was erased since the list was read is a pair no longer.
                if {one.left_id, one.right_id} <= sides.keys()
            ),
            next_cursor=listing.close(page.next_cursor),
        )

    @app.post(
        "/brain/conflicts/resolve",
        summary="Say which of two beliefs holds",
        tags=["conflicts"],
        responses=answers(Resolved, absent=True, posted=True),
    )
    def resolve(body: Annotated[Resolution, Body()]) -> Any:
        """A person's word stands until one of the beliefs says something else."""
        caller = door.caller()

        def effect() -> Resolved:
            from dreaming.passes.contradictions.service import Choice  # noqa: PLC0415 - heavy

            _resolver(caller, body.left_id).resolve(body.left_id, body.right_id, Choice(body.keep))
            return Resolved(left_id=body.left_id, right_id=body.right_id, keep=body.keep)

        return door.once(caller, effect)


def _add_undoing(app: APIGatewayHttpResolver, door: Door) -> None:
    @app.post(
        "/brain/beliefs/<belief_id>/unmerge",
        summary="Take back the latest merge of a belief",
        tags=["beliefs"],
        responses=answers(TwoBeliefs, absent=True, posted=True),
    )
    def unmerge(belief_id: UUID) -> Any:
        """Both are again what they were, and are never merged again by themselves."""
        caller = door.caller()

        def effect() -> TwoBeliefs:
            one, other = _resolver(caller, belief_id).unmerge(belief_id)
            return TwoBeliefs(belief_id=one, other_belief_id=other)

        return door.once(caller, effect)

    @app.post(
        "/brain/beliefs/<belief_id>/sources/<source_id>/split",
        summary="Give one source a belief of its own",
        tags=["beliefs"],
        responses=answers(TwoBeliefs, absent=True, posted=True),
    )
    def split(belief_id: UUID, source_id: UUID) -> Any:
        """Take back a match: the source is never matched with this belief again."""
        caller = door.caller()

        def effect() -> TwoBeliefs:
            made = _resolver(caller, belief_id).split(belief_id, source_id)
            return TwoBeliefs(belief_id=belief_id, other_belief_id=made)

        return door.once(caller, effect)


def _resolver(caller: Caller, belief_id: UUID) -> Resolver:
    """Return what acts in the slice of a belief that the caller sees."""
    from dreaming.passes.contradictions.service import Resolver  # noqa: PLC0415 - heavy

    key = caller.reader.explain(str(belief_id)).slice.key
    with caller.database.transaction(caller.tenant) as tx:
        settings = caller.settings(tx)
    return Resolver(caller.database, key, settings, caller.now, caller.new_id)
