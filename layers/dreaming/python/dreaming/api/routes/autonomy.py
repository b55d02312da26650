"""The routes of autonomy: log actions, read scores, and ask what an agent may do."""

from __future__ import annotations

from typing import Annotated, Any

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver
from aws_lambda_powertools.event_handler.openapi.params import Body, Path, Query
from pydantic import ValidationError

from dreaming.api import paging
from dreaming.api.door import Caller, Door
from dreaming.api.routes.answers import PageCursor, PageLimit, answers
from dreaming.api.schemas.autonomy import (
    Action,
    Actions,
    AgentHistory,
    AgentReading,
    Agents,
    DeadAction,
    DeadActions,
    JudgeAgain,
    JudgedAgain,
    Logged,
    NewAction,
    NewActions,
    NewScore,
    Permission,
    ScoreChange,
)
from dreaming.api.schemas.schema import WITHOUT_NUL
from dreaming.api.wording import misfits
from dreaming.autonomy.records import IncomingAction, Risk, Scoring
from dreaming.autonomy.service import (
    Standing,
    log_actions,
    may_act,
    read_dead_letters,
    read_log,
    read_standings,
    retry_dead_letters,
    set_score,
)
from dreaming.database import Role
from dreaming.errors import InvalidInput

AgentId = Annotated[str, Path(min_length=1, max_length=200, pattern=WITHOUT_NUL)]
OfAgent = Annotated[
    str | None, Query(alias="agent", max_length=200, pattern=WITHOUT_NUL, description="Only this agent's.")
]
InState = Annotated[Scoring | None, Query(description="Only actions that stand here on their way to being evidence.")]
OfRisk = Annotated[Risk, Query(description="How much harm the action can do.")]


def add(app: APIGatewayHttpResolver, door: Door) -> None:
    """Add the routes."""
    _add_lists(app, door)
    _add_agent(app, door)
    _add_writing(app, door)


def _add_lists(app: APIGatewayHttpResolver, door: Door) -> None:
    @app.get("/brain/autonomy", summary="Every agent's score", tags=["autonomy"], responses=answers(Agents, paged=True))
    def agents(limit: PageLimit = 50, cursor: PageCursor = None) -> Agents:
        """The organization's agents by name, with score, band and what keeps the score from moving."""
        caller = door.caller()
        listing = caller.listing("agents")
        place = listing.open(cursor)
        after = None if place is None else str(paging.read_cursor(place, [paging.Kind.TEXT])[0])
        page = paging.page_of(
            _standings(caller, None, after=after, limit=limit + 1), limit, lambda one: (one.agent.agent_id,)
        )
        return Agents(agents=tuple(map(_agent, page.items)), next_cursor=listing.close(page.next_cursor))

    @app.get(
        "/brain/autonomy/actions", summary="The action log", tags=["autonomy"], responses=answers(Actions, paged=True)
    )
    def actions(
        agent: OfAgent = None, scoring: InState = None, limit: PageLimit = 50, cursor: PageCursor = None
    ) -> Actions:
        """Logged actions, the latest first."""
        caller = door.caller()
        listing = caller.listing("actions", agent=agent, scoring=scoring)
        found = read_log(
            caller.database,
            caller.tenant.org_id,
            agent_id=agent,
            scoring=scoring,
            limit=limit + 1,
            after=paging.moment_and_id(listing.open(cursor)),
        )
        page = paging.page_of(found, limit, lambda one: (one.acted_at, one.action_id))
        return Actions(
            actions=tuple(Action.model_validate(one) for one in page.items),
            next_cursor=listing.close(page.next_cursor),
        )

    @app.get(
        "/brain/autonomy/actions/dead",
        summary="Actions that the judge could not score",
        tags=["autonomy"],
        responses=answers(DeadActions, paged=True),
    )
    def dead(agent: OfAgent = None, limit: PageLimit = 50, cursor: PageCursor = None) -> DeadActions:
        """Actions that were given up, the latest first, each with why; a retry lets them be judged again."""
        caller = door.caller()
        listing = caller.listing("dead actions", agent=agent)
        found = read_dead_letters(
            caller.database,
            caller.tenant.org_id,
            agent_id=agent,
            limit=limit + 1,
            after=paging.moment_and_id(listing.open(cursor)),
        )
        page = paging.page_of(found, limit, lambda one: (one.dead_at, one.action.action_id))
        return DeadActions(
            actions=tuple(DeadAction.model_validate(one) for one in page.items),
            next_cursor=listing.close(page.next_cursor),
        )


def _add_agent(app: APIGatewayHttpResolver, door: Door) -> None:
    # Before the agent's own route: an id may have slashes, as in team/bot.
    @app.get(
        "/brain/autonomy/agents/<agent_id>/permission",
        summary="May this agent do an action of this risk now",
        tags=["autonomy"],
        responses=answers(Permission, absent=True),
    )
    def permission(agent_id: AgentId, risk: OfRisk) -> Permission:
        """Compare the agent's score with the risk's floor; whatever goes wrong means no."""
        caller = door.caller()
        found = may_act(caller.database, caller.tenant.org_id, agent_id, risk, role=Role.API)
        return Permission.model_validate(found)

    @app.get(
        "/brain/autonomy/agents/<agent_id>",
        summary="How an agent's score came about",
        tags=["autonomy"],
        responses=answers(AgentHistory, absent=True, paged=True),
    )
    def history(agent_id: AgentId, limit: PageLimit = 50, cursor: PageCursor = None) -> AgentHistory:
        """The score with its audit record, the latest change first."""
        caller = door.caller()
        listing = caller.listing("changes", agent_id=agent_id)
        place = listing.open(cursor)
        before = None if place is None else int(str(paging.read_cursor(place, [paging.Kind.COUNT])[0]))
        (standing,) = _standings(caller, agent_id, changes=limit + 1, before=before)
        page = paging.page_of(standing.changes[::-1], limit, lambda one: (one.change_no,))
        return AgentHistory(
            agent=_agent(standing),
            changes=tuple(ScoreChange.model_validate(one) for one in page.items),
            next_cursor=listing.close(page.next_cursor),
        )


def _add_writing(app: APIGatewayHttpResolver, door: Door) -> None:
    @app.post(
        "/brain/autonomy/actions",
        summary="Log actions and their outcomes",
        tags=["autonomy"],
        responses=answers(Logged, posted=True),
    )
    def log(body: Annotated[NewActions, Body()]) -> Any:
        """Log actions, all or none; one that is logged again with a later outcome gets that outcome."""
        caller = door.caller()

        def effect() -> Logged:
            incoming = [_incoming(one, caller, place) for place, one in enumerate(body.actions)]
            counts = log_actions(caller.database, caller.tenant.org_id, incoming, now=caller.now, new_id=caller.new_id)
            return Logged(logged=counts.logged, changed=counts.changed, unchanged=counts.unchanged)

        return door.once(caller, effect)

    @app.post(
        "/brain/autonomy/actions/retry",
        summary="Let given-up actions be judged again",
        tags=["autonomy"],
        responses=answers(JudgedAgain, posted=True),
    )
    def retry(body: Annotated[JudgeAgain, Body()]) -> Any:
        """The next run of the pass judges them anew."""
        caller = door.caller()

        def effect() -> JudgedAgain:
            count = retry_dead_letters(caller.database, caller.tenant.org_id, body.action_ids, now=caller.now)
            return JudgedAgain(retried=count)

        return door.once(caller, effect)

    @app.put(
        "/brain/autonomy/agents/<agent_id>",
        summary="Set an agent's score by hand",
        tags=["autonomy"],
        responses=answers(ScoreChange, absent=True),
    )
    def set_by_hand(agent_id: AgentId, body: Annotated[NewScore, Body()]) -> ScoreChange:
        """Set the score with a reason; evidence moves it again after the cool-down. For administrators."""
        caller = door.caller()
        caller.require_administrator()
        change = set_score(
            caller.database,
            caller.tenant.org_id,
            agent_id,
            body.score,
            reason=body.reason,
            actor=caller.actor,
            now=caller.now,
            new=body.new,
        )
        return ScoreChange.model_validate(change)


def _standings(
    caller: Caller,
    agent_id: str | None,
    *,
    after: str | None = None,
    limit: int | None = None,
    changes: int | None = None,
    before: int | None = None,
) -> list[Standing]:
    with caller.database.transaction(caller.tenant) as tx:
        settings = caller.settings(tx)
    return read_standings(
        caller.database,
        caller.tenant.org_id,
        settings,
        agent_id=agent_id,
        now=caller.now,
        after=after,
        limit=limit,
        changes=changes,
        before=before,
    )


def _agent(standing: Standing) -> AgentReading:
    assessment = standing.assessment
    return AgentReading(
        agent_id=standing.agent.agent_id,
        score=standing.agent.score,
        band=standing.band,
        capability=assessment.capability.value,
        actions_scored=standing.count(Scoring.SCORED),
        actions_waiting=standing.count(Scoring.WAITING),
        actions_dead=standing.count(Scoring.DEAD),
        blocks=tuple(block.sentence for block in assessment.blocks),
    )


def _incoming(action: NewAction, caller: Caller, place: int) -> IncomingAction:
    """Clean an action; raises `InvalidInput` where that leaves less, or more, than its field takes."""
    values = action.model_dump(exclude={"acted_at"})
    try:
        return IncomingAction(**values, acted_at=action.acted_at or caller.now)
    except ValidationError as error:
        (first, *_) = misfits(error.errors(include_url=False, include_input=False))
        problem, _, remedy = first.problem.partition("; ")
        raise InvalidInput(
            f"actions.{place}.{first.place}", f"{problem} without white space around it", remedy
        ) from error
