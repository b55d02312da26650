"""The routes of notes: bring in, read, withdraw, and retry what was retired."""

from __future__ import annotations

from datetime import datetime
from hashlib import sha256
from typing import Annotated, Any
from uuid import UUID

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver
from aws_lambda_powertools.event_handler.openapi.params import Body, Query

from dreaming.api.door import Caller, Door
from dreaming.api.routes.answers import InScope, PageCursor, PageLimit, answers
from dreaming.api.schemas.notes import (
    Ingested,
    NewNote,
    NewNotes,
    NoteHeading,
    NotePage,
    NotesGone,
    NoteText,
    RetiredNote,
    RetiredNotes,
    Retried,
    Retry,
    Withdrawn,
)
from dreaming.api.schemas.schema import WITHOUT_NUL
from dreaming.api.store import times_of_notes
from dreaming.beliefs.service import withdraw_notes
from dreaming.notes.records import IncomingNote, NoteState, Scope, SliceKey
from dreaming.notes.service import ingest, longest_note, retry_retired

NoteStates = Annotated[NoteState | None, Query(description="Only notes in this state.")]
NoteSource = Annotated[str | None, Query(max_length=200, pattern=WITHOUT_NUL, description="Only notes of this source.")]


def add(app: APIGatewayHttpResolver, door: Door) -> None:
    """Add the routes."""
    _add_reading(app, door)
    _add_writing(app, door)


def _add_reading(app: APIGatewayHttpResolver, door: Door) -> None:
    @app.get("/brain/notes", summary="List notes", tags=["notes"], responses=answers(NotePage, paged=True))
    def list_notes(
        scope: InScope = Scope.ORG,
        state: NoteStates = None,
        source: NoteSource = None,
        limit: PageLimit = 50,
        cursor: PageCursor = None,
    ) -> NotePage:
        """Notes of a slice without their texts, the latest brought in first."""
        caller = door.caller()
        listing = caller.listing("notes", scope=scope, state=state, source=source)
        notes, more = caller.reader.notes(
            caller.slice_key(scope), state=state, source=source, limit=limit, cursor=listing.open(cursor)
        )
        headings = tuple(NoteHeading.model_validate(note) for note in notes)
        return NotePage(notes=headings, next_cursor=listing.close(more))

    @app.get(
        "/brain/notes/retired",
        summary="List retired notes",
        tags=["notes"],
        responses=answers(RetiredNotes, paged=True),
    )
    def list_retired(scope: InScope = Scope.ORG, limit: PageLimit = 50, cursor: PageCursor = None) -> RetiredNotes:
        """Notes that were given up, the latest first; they wait again by a retry."""
        caller = door.caller()
        listing = caller.listing("retired notes", scope=scope)
        page = caller.reader.retired(caller.slice_key(scope), limit=limit, cursor=listing.open(cursor))
        notes = tuple(RetiredNote.model_validate(note) for note in page.items)
        return RetiredNotes(notes=notes, next_cursor=listing.close(page.next_cursor))

    @app.get("/brain/notes/<note_id>", summary="Read a note", tags=["notes"], responses=answers(NoteText, absent=True))
    def read_note(note_id: UUID) -> NoteText:
        """Return one note at its current version, with its text."""
        return NoteText.model_validate(door.caller().reader.note(note_id))


def _add_writing(app: APIGatewayHttpResolver, door: Door) -> None:
    @app.post("/brain/notes", summary="Bring in notes", tags=["notes"], responses=answers(Ingested, posted=True))
    def add_notes(body: Annotated[NewNotes, Body()], scope: InScope = Scope.ORG) -> Any:
        """Store notes, all or none; the next tick of consolidation reads them."""
        caller = door.caller()
        return door.once(caller, lambda: _ingest(caller, caller.slice_key(scope), body))

    @app.post(
        "/brain/notes/withdraw",
        summary="Withdraw notes that are gone upstream",
        tags=["notes"],
        responses=answers(Withdrawn, posted=True),
    )
    def withdraw(body: Annotated[NotesGone, Body()], scope: InScope = Scope.ORG) -> Any:
        """Let notes stop counting: every belief they supported is folded anew at once."""
        caller = door.caller()
        return door.once(caller, lambda: _withdraw(caller, caller.slice_key(scope), body))

    @app.post(
        "/brain/notes/retired/retry",
        summary="Let retired notes wait again",
        tags=["notes"],
        responses=answers(Retried, posted=True),
    )
    def retry(body: Annotated[Retry, Body()], scope: InScope = Scope.ORG) -> Any:
        """Give retired notes new attempts."""
        caller = door.caller()

        def effect() -> Retried:
            count = retry_retired(caller.database, caller.slice_key(scope), body.note_ids, now=caller.now)
            return Retried(retried=count)

        return door.once(caller, effect)


def _ingest(caller: Caller, key: SliceKey, body: NewNotes) -> Ingested:
    names = [(note.source, _name_of(note)) for note in body.notes]
    with caller.database.transaction(caller.tenant) as tx:
        longest = longest_note(caller.settings(tx))
        # A note that says no time keeps the one it had: sent again, it is no edit.
        times = times_of_notes(tx, key, names)
    counts = ingest(
        caller.database,
        key,
        [_incoming(note, name, times.get(name, caller.now)) for note, name in zip(body.notes, names, strict=True)],
        now=caller.now,
        new_id=caller.new_id,
        max_note_characters=longest,
    )
    return Ingested(
        created=counts.created,
        edited=counts.edited,
        reinstated=counts.reinstated,
        unchanged=counts.unchanged,
        erased=counts.erased,
    )


def _name_of(note: NewNote) -> str:
    return note.external_id or sha256(note.text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _incoming(note: NewNote, name: tuple[str, str], time: datetime) -> IncomingNote:
    values = note.model_dump(exclude={"external_id", "occurred_at"})
    return IncomingNote(**values, external_id=name[1], occurred_at=note.occurred_at or time)


def _withdraw(caller: Caller, key: SliceKey, body: NotesGone) -> Withdrawn:
    with caller.database.transaction(caller.tenant) as tx:
        settings = caller.settings(tx)
    count = withdraw_notes(
        caller.database,
        key,
        body.source,
        body.external_ids,
        settings=settings,
        now=caller.now,
        new_id=caller.new_id,
    )
    return Withdrawn(withdrawn=count)
