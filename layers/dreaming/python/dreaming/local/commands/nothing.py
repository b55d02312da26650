"""Why a question got no answer, and what to do next: nothing was brought in, nothing was read, or nothing fits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dreaming.local.commands.remedies import remedy
from dreaming.local.commands.session import Session
from dreaming.local.commands.status import slice_name
from dreaming.local.output import counted, escaped
from dreaming.passes.records import CONSOLIDATION

if TYPE_CHECKING:
    from collections.abc import Collection

    from dreaming.api.records import SliceStatus
    from dreaming.database import Database
    from dreaming.notes.records import Scope


def tell_nothing_believed(session: Session, database: Database, *, narrowed: bool) -> None:
    """Say why no belief is shown of the slice that is meant; `narrowed` when only some were asked for."""
    progress = session.reader(database).progress(CONSOLIDATION, runs=0)
    mine = next((one for one in progress.slices if one.slice.key == session.key), None)
    output = session.output
    if mine is None or not mine.notes.total:
        output.line(f"Nothing is believed yet in {slice_name(session.key)}: no note was brought in.")
        _tell_elsewhere(session, progress.slices)
        output.line(f"Bring some in: {session.invocation} ingest --help")
    elif mine.beliefs.live:
        output.line(f"No belief matches, of {mine.beliefs.live:,} in {slice_name(session.key)}.")
        output.line(f"All of them: {session.invocation} beliefs")
        for key in (one.slice.key for one in progress.slices if one.slice.key != session.key and one.beliefs.live):
            output.line(f"  {slice_name(key)} is another scope: --scope {key.scope.value}")
    elif mine.notes.waiting:
        output.line(f"Nothing is believed yet: {counted(mine.notes.waiting, 'note')} wait to be read.")
        for reason in progress.stopped:
            output.line(f"  {reason.replace('_', ' ')}: {remedy(session, reason)}")
        output.line(f"Read them: {session.invocation} drain")
    else:
        found = "no belief that is asked for" if narrowed else "nothing to believe"
        output.line(f"{counted(mine.notes.total, 'note')} of {slice_name(session.key)} came to {found}.")
        output.line(f"What became of them: {session.invocation} status, {session.invocation} beliefs --archived")


def tell_nothing_recalled(session: Session, database: Database, scopes: Collection[Scope]) -> None:
    """Say why no conversation is shown of the slices that were searched."""
    from dreaming.passes.embedding.run import read_progress

    statuses = session.reader(database).status(CONSOLIDATION, runs=0)
    searched = [one for one in statuses if one.slice.key.scope in scopes]
    with database.transaction(session.tenant) as tx:
        kept = sum(read_progress(tx, one.slice.slice_id, None).by_source["conversations"].live for one in searched)
    output = session.output
    if kept:
        output.line(f"No conversation matches, of {kept:,}; try words that were said in it.")
        return
    whose = f" and {escaped(session.user)}" if session.user else ""
    output.line(f"No conversation was captured for {escaped(session.org)}{whose}.")
    _tell_elsewhere(session, statuses)
    output.line(f"Bring some in: {session.invocation} converse FILES...")


def _tell_elsewhere(session: Session, statuses: list[SliceStatus] | tuple[SliceStatus, ...]) -> None:
    """Say when nobody of that name is known here at all: most likely it is mistyped."""
    if not statuses:
        session.output.line(f"  No organization {session.org!r} is known here: see --org.")
    elif session.user and not any(one.slice.key.owner_user_id == session.user for one in statuses):
        session.output.line(f"  No user {session.user!r} is known here: see --user.")
