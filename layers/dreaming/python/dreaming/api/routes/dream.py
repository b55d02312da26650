"""The routes about the passes: where they stand, and what their runs did."""

from __future__ import annotations

from typing import Annotated, Literal

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver
from aws_lambda_powertools.event_handler.openapi.params import Query

from dreaming.api.door import Door
from dreaming.api.overview.records import MAX_DAYS
from dreaming.api.routes.answers import PageCursor, PageLimit, answers
from dreaming.api.schemas.dream import DreamStatus, Run, RunPage
from dreaming.api.schemas.overview import Timeline

PassName = Annotated[
    Literal["consolidation", "embedding", "contradictions", "decay", "autonomy", "synthesis"],
    Query(alias="pass", description="Which pass."),
]
Days = Annotated[int, Query(ge=1, le=MAX_DAYS, description="How many UTC days, today among them.")]
Runs = Annotated[int, Query(ge=0, le=100, description="How many recent runs.")]


def add(app: APIGatewayHttpResolver, door: Door) -> None:
    """Add the routes."""

    @app.get(
        "/brain/dream/status",
        summary="How far a pass has come",
        tags=["dream"],
        responses=answers(DreamStatus),
    )
    def status(pass_name: PassName = "consolidation", runs: Runs = 5) -> DreamStatus:
        """Coverage, cursor, holds and recent runs of every slice that the caller sees."""
        progress = door.caller().reader.progress(pass_name, runs=max(runs, 1))
        return DreamStatus.of(pass_name, progress, runs=runs)

    @app.get(
        "/brain/dream/runs",
        summary="What the runs of all passes did",
        tags=["dream"],
        responses=answers(RunPage, paged=True),
    )
    def runs(limit: PageLimit = 50, cursor: PageCursor = None) -> RunPage:
        """Runs of every pass in the slices that the caller sees, the latest start first."""
        caller = door.caller()
        listing = caller.listing("runs")
        page = caller.reader.run_page(limit=limit, cursor=listing.open(cursor))
        return RunPage(runs=tuple(Run.of(run) for run in page.runs), next_cursor=listing.close(page.next_cursor))

    @app.get(
        "/brain/dream/timeline",
        summary="The runs of every pass by day, and what is held",
        tags=["dream"],
        responses=answers(Timeline),
    )
    def timeline(days: Days = 30) -> Timeline:
        """How the runs of each day ended in the slices that the caller sees, and every pass that is held now."""
        return Timeline.of(door.caller().overview.timeline(days=days))
