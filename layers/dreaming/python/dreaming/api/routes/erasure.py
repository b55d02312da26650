"""The routes of erasure and export."""

from __future__ import annotations

import json
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver
from aws_lambda_powertools.event_handler.openapi.params import Body, Query

from dreaming.api import paging
from dreaming.api.door import Caller, Door
from dreaming.api.routes.answers import InScope, PageCursor, answers
from dreaming.api.schemas.erasure import (
    Confirmation,
    ErasedRows,
    ExportHead,
    ExportPage,
    ExportRecord,
    Lifted,
    NotesToErase,
    NotesToLift,
)
from dreaming.erasure.export.records import Place
from dreaming.erasure.records import Erased
from dreaming.errors import InvalidInput
from dreaming.notes.records import Scope

if TYPE_CHECKING:
    from dreaming.erasure.service import Eraser

SECONDS = 15.0
"""How long a post begins another transaction: API Gateway gives up after 30."""

ExportScope = Annotated[
    Scope | None, Query(description="A slice; by default everything on the caller. Others' for administrators only.")
]
ExportLimit = Annotated[int, Query(ge=1, le=500, description="How many rows at most.")]


def add(app: APIGatewayHttpResolver, door: Door) -> None:
    """Add the routes."""
    _add_erasing(app, door)
    _add_lifting(app, door)
    _add_export(app, door)


def _add_erasing(app: APIGatewayHttpResolver, door: Door) -> None:
    @app.post(
        "/brain/erasure/notes", summary="Erase notes", tags=["erasure"], responses=answers(ErasedRows, posted=True)
    )
    def erase_notes(body: Annotated[NotesToErase, Body()]) -> Any:
        """Erase notes with every wording of theirs: the caller's private ones, an administrator's others too.

        A note made of a conversation takes the conversation along. Ids that are unknown, or not the
        caller's to erase, are left alone.
        """
        caller = door.caller()
        scopes = tuple(Scope) if caller.identity.administrator else (Scope.PRIVATE,)
        return door.once(caller, lambda: _answer(_eraser(caller).notes(caller.tenant, body.note_ids, scopes=scopes)))

    @app.post(
        "/brain/erasure/mine",
        summary="Erase all data of mine",
        tags=["erasure"],
        responses=answers(ErasedRows, posted=True),
    )
    def erase_mine(body: Annotated[Confirmation, Body()]) -> Any:
        """Erase the caller's private slice, the conversations they captured, and their name in records."""
        caller = door.caller()
        _confirmed(body.confirm, caller.tenant.user_id, "user")
        return door.once(caller, lambda: _answer(_eraser(caller).owner(caller.tenant)))

    @app.post(
        "/brain/erasure/organization",
        summary="Erase the organization",
        tags=["erasure"],
        responses=answers(ErasedRows, posted=True),
    )
    def erase_organization(body: Annotated[Confirmation, Body()]) -> Any:
        """Erase everything of the organization, switch it off and let nothing in; administrators only."""
        caller = door.caller()
        caller.require_administrator()
        _confirmed(body.confirm, caller.tenant.org_id, "organization")
        return door.once(caller, lambda: _answer(_eraser(caller).organization(caller.tenant.org_id)))


def _add_lifting(app: APIGatewayHttpResolver, door: Door) -> None:
    @app.post(
        "/brain/erasure/notes/lift",
        summary="Let erased notes in again",
        tags=["erasure"],
        responses=answers(Lifted, posted=True),
    )
    def lift_notes(body: Annotated[NotesToLift, Body()], scope: InScope = Scope.ORG) -> Any:
        """Take away what keeps erased notes out; what was erased does not come back by itself."""
        caller = door.caller()
        if scope is not Scope.PRIVATE:
            caller.require_administrator()
        key = caller.slice_key(scope)

        def effect() -> Lifted:
            return Lifted(lifted=_eraser(caller).lift_notes(key, body.source, body.external_ids))

        return door.once(caller, effect)


def _add_export(app: APIGatewayHttpResolver, door: Door) -> None:
    @app.get(
        "/brain/export", summary="Export what is held", tags=["erasure"], responses=answers(ExportPage, paged=True)
    )
    def export(scope: ExportScope = None, limit: ExportLimit = 200, cursor: PageCursor = None) -> ExportPage:
        """Everything held on the caller, or in a slice, as rows in JSON."""
        caller = door.caller()
        if scope in (Scope.ORG, Scope.SHARED):
            caller.require_administrator()
        if scope is None and caller.tenant.user_id is None:
            raise InvalidInput("scope", "is missing, and the caller is no user", "use org or shared, or a user's token")
        key = None if scope is None else caller.slice_key(scope)
        from dreaming.erasure.export.service import Export  # noqa: PLC0415 - only where used

        listing = caller.listing("export", scope=scope)
        exporting = Export(caller.database, caller.tenant, key)
        page = exporting.page(_place(listing.open(cursor)), rows=limit)
        records = tuple(ExportRecord(record=row.table, row=json.loads(row.json)) for row in page.rows)
        head = ExportHead.model_validate(
            {name: value for name, value in exporting.head(caller.now).items() if name != "record"}
        )
        return ExportPage(export=head, records=records, next_cursor=listing.close(_cursor(page.next)))


def _place(cursor: str | None) -> Place:
    if cursor is None:
        return Place(0)
    part, key = paging.read_cursor(cursor, [paging.Kind.SMALL, paging.Kind.TEXT])
    return Place(int(str(part)), tuple(_key(str(key))) if key else None)


def _key(written: str) -> list[str]:
    try:
        key = json.loads(written)
    except (ValueError, RecursionError) as error:
        raise paging.unknown() from error
    if not isinstance(key, list) or not all(isinstance(value, str) for value in key):
        raise paging.unknown()
    return key


def _cursor(place: Place | None) -> str | None:
    if place is None:
        return None
    return paging.write_cursor(place.part, "" if place.key is None else json.dumps(place.key, ensure_ascii=False))


def _eraser(caller: Caller) -> Eraser:
    from dreaming.erasure.service import Eraser  # noqa: PLC0415 - heavy

    return Eraser(
        caller.database,
        caller.environment,
        caller.actor,
        lambda: caller.now,
        caller.new_id,
        may_go_on=_within(SECONDS),
    )


def _within(seconds: float) -> Callable[[], bool]:
    end = monotonic() + seconds
    return lambda: monotonic() < end


def _confirmed(given: str, expected: str | None, whose: str) -> None:
    if expected is None:
        raise InvalidInput("confirm", "is of a user, and the caller is none", "use a user's token")
    if given != expected:
        raise InvalidInput("confirm", f"is not the id of the {whose}", "send it, to say that this cannot be undone")


def _answer(erased: Erased) -> ErasedRows:
    return ErasedRows(
        deleted=erased.counts,
        rewritten=erased.rewritten_counts,
        tombstones=erased.tombstones,
        complete=erased.complete,
    )
