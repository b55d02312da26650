"""`dream embeddings`: which vectors there are, which are missing, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from dreaming.local.commands.command import DreamCommand, with_session
from dreaming.local.commands.remedies import remedy
from dreaming.local.commands.session import Session
from dreaming.local.commands.status import slice_name
from dreaming.local.output import minute
from dreaming.passes.records import EMBEDDING
from dreaming.passes.rules import why_not

if TYPE_CHECKING:
    from dreaming.api.records import SliceStatus
    from dreaming.beliefs.vectors.records import Space
    from dreaming.database import Database
    from dreaming.passes.embedding.records import SliceProgress, SourceCounts
    from dreaming.settings.resolution import Settings

_BAR = 30


@dataclass(frozen=True)
class SliceEmbeddings:
    """A slice's progress, and why nothing more is embedded in it just now (`stopped`, with `detail`)."""

    status: SliceStatus
    progress: SliceProgress
    stopped: str | None
    detail: str | None


@click.command(
    cls=DreamCommand,
    examples="""
    dream embeddings                   # progress of every slice that you see
    dream embeddings --user ana        # and of ana's private one
    dream embeddings --json
    """,
)
@with_session
def embeddings(session: Session) -> None:
    """Show the space that searches use, the one being filled, and what is missing and why.

    Searches use the active space until the target is complete. Excluded are beliefs with a source that
    the organization keeps from embedding; refused are texts that the embedder does not take: they are
    tried three times and then left out.
    """
    with session.database() as database:
        settings, enrolment = session.organization(database)
        configured = configured_space(settings)
        reasons = ("embedding_off",) if configured is None else why_not(EMBEDDING, settings, enrolment)
        found = [
            _read(database, session, status, configured, reasons)
            for status in session.reader(database).status(EMBEDDING, runs=0)
        ]
    if session.output.as_json:
        document = {"configured": configured, "slices": [_document(one) for one in found]}
        session.output.document({"org": session.org, **document})
        return
    name = f"{configured.model}, {configured.dimension:,} dimensions" if configured else "none, embedding is off"
    session.output.line(f"Embedder: {name}")
    if configured is None:
        session.output.line(f"  {remedy(session, 'embedding_off', EMBEDDING)}")
    for one in found:
        _show(session, one)
    if not found:
        session.output.line(f"The organization {session.org!r} has no notes yet.")


def configured_space(settings: Settings) -> Space | None:
    """Return the space that the settings name, None where embedding is off."""
    from dreaming.beliefs.vectors.records import Space
    from dreaming.models.selection import embedding_space

    chosen = embedding_space(settings)
    return Space(*chosen) if chosen else None


def _read(
    database: Database, session: Session, status: SliceStatus, configured: Space | None, reasons: Sequence[str]
) -> SliceEmbeddings:
    from dreaming.passes.embedding.run import read_progress

    with database.transaction(session.tenant) as tx:
        progress = read_progress(tx, status.slice.slice_id, configured)
    cursor = status.cursor
    stopped = next(iter(reasons), cursor.held_reason)
    detail = cursor.held_detail if stopped == cursor.held_reason else None
    return SliceEmbeddings(status, progress, stopped, detail)


def _document(one: SliceEmbeddings) -> dict[str, Any]:
    spaces = one.progress.spaces
    return {
        "slice_id": one.status.slice.slice_id,
        "scope": one.status.slice.key.scope,
        "owner_user_id": one.status.slice.key.owner_user_id,
        "active": spaces.active if spaces else None,
        "target": spaces.target if spaces else None,
        "target_since": spaces.target_since if spaces else None,
        "sources": {
            name: {
                "live": counts.live,
                "embedded": counts.embedded,
                "missing": counts.missing,
                "excluded": counts.excluded,
                "refused": counts.refused,
                "left_out": counts.left_out,
            }
            for name, counts in one.progress.by_source.items()
        },
        "stopped": one.stopped,
        "detail": one.detail,
    }


def _show(session: Session, one: SliceEmbeddings) -> None:
    output, spaces = session.output, one.progress.spaces
    output.line()
    output.line(slice_name(one.status.slice.key), "bold")
    if spaces is None:
        output.line("  active   none: searches go by words alone")
    else:
        output.line(f"  active   {spaces.active.model}")
        if spaces.target != spaces.active:
            output.line(f"  target   {spaces.target.model}, since {minute(spaces.target_since)}", "yellow")
    for name, counts in one.progress.by_source.items():
        output.line(f"  {name:<8} {_bar(counts)} {counts.embedded:,} of {counts.live:,}")
        lacking = _lacking(counts)
        if lacking:
            output.line(f"           {lacking}", "dim")
    missing = any(counts.missing for counts in one.progress.by_source.values())
    if one.stopped is not None and one.stopped != "embedding_off" and (missing or one.detail):
        output.line(f"  stopped  {one.stopped}" + (f": {one.detail}" if one.detail else ""), "yellow")
        output.line(f"           {remedy(session, one.stopped, EMBEDDING)}")
    elif missing and one.stopped is None:
        output.line(f"  the next run embeds what is missing: {session.invocation} drain embedding")


def _bar(counts: SourceCounts) -> str:
    filled = _BAR * counts.embedded // counts.live if counts.live else 0
    return "█" * filled + "░" * (_BAR - filled)


def _lacking(counts: SourceCounts) -> str:
    parts = [
        f"{counts.missing:,} missing" if counts.missing else "",
        f"{counts.excluded:,} of excluded sources" if counts.excluded else "",
        f"{counts.refused:,} refused by the embedder" if counts.refused else "",
        f"{counts.left_out:,} of these for good" if counts.left_out else "",
    ]
    return ", ".join(part for part in parts if part)
