"""`dream converse`: import transcripts of conversations and capture them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dreaming.errors import InvalidInput, Misconfigured
from dreaming.local.commands.command import DreamCommand, with_session
from dreaming.local.commands.conversations import capturing, remedy
from dreaming.local.commands.session import Session
from dreaming.local.output import counted, escaped, one_line

if TYPE_CHECKING:
    from dreaming.notes.connectors.records import Skipped
    from dreaming.notes.connectors.talks import Talk
    from dreaming.recall.records import CaptureAnswer, IncomingConversation

_LONGEST_TURN, _MOST_TURNS = 1_000_000, 20_000  # as a capture takes them


@click.command(
    cls=DreamCommand,
    examples="""
    dream converse standup.vtt                    # one conversation
    dream converse chats/ --agent helper          # all transcripts below a folder
    dream converse export.jsonl --user ana --scope private
    dream recall "what we said about the boat"
    """,
)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--agent", metavar="NAME", help="Who answers in these conversations.")
@with_session
def converse(session: Session, files: Sequence[Path], agent: str | None) -> int | None:
    """Capture conversations from transcripts: .vtt, .srt, .txt with `Speaker: text` lines, .jsonl.

    A transcript is one conversation, called by its file, or by its path below the folder; each line of a
    .jsonl file is one. Captured
    again, a conversation is overwritten, and only what was added is embedded.
    """
    from dreaming.recall.switch import is_on

    paths = _below(files)
    if not is_on(session.variables):
        raise Misconfigured(remedy("off"))
    captured: list[tuple[str, CaptureAnswer]] = []
    skipped: list[Skipped] = []
    with session.database() as database, session.output.progress("capturing", len(paths), "files") as show:
        service = capturing(session, database)
        for done, (path, name) in enumerate(paths, start=1):
            for talk in _talks(path, name, skipped):
                answer = service.capture(session.tenant, _conversation(talk, agent), scope=session.scope)
                captured.append((talk.name, answer))
            show(done)
    _show(session, captured, skipped)
    return None if captured else 2


def _below(files: Sequence[Path]) -> list[tuple[Path, str]]:
    """Return the files, and how they are called: two of one name in two folders are two conversations."""
    found: list[tuple[Path, str]] = []
    for path in files:
        if not path.exists():
            raise InvalidInput("FILES", f"{str(path)!r} does not exist", "name transcripts, or folders of them")
        below = sorted(one for one in path.rglob("*") if one.is_file()) if path.is_dir() else [path]
        found += [
            (one, one.relative_to(path).as_posix() if path.is_dir() else one.name)
            for one in below
            if not any(part.startswith(".") for part in one.relative_to(path).parts)
        ]
    if not found:
        raise InvalidInput("FILES", "hold no transcript", "name transcripts, or folders of them")
    return found


def _talks(path: Path, name: str, skipped: list[Skipped]) -> Iterator[Talk]:
    """Yield the conversations of a file; what is called by the file gets its path's name."""
    from dreaming.notes.connectors.records import Skipped
    from dreaming.notes.connectors.talks import read_talks

    for one in read_talks(path):
        if isinstance(one, Skipped):
            skipped.append(replace(one, location=_called(one.location, path, name)))
        elif len(one.turns) > _MOST_TURNS:
            reason = f"has {len(one.turns):,} turns, above the most of {_MOST_TURNS:,}"
            skipped.append(Skipped(_called(one.name, path, name), reason))
        else:
            yield replace(one, name=_called(one.name, path, name))


def _called(own: str, path: Path, name: str) -> str:
    """Return what is called by its file as called by the file's path; a name of its own stays."""
    return name + own.removeprefix(path.name) if own.startswith(path.name) else own


def _conversation(talk: Talk, agent: str | None) -> IncomingConversation:
    from dreaming.notes.connectors.records import short_id
    from dreaming.recall.records import IncomingConversation, IncomingTurn

    turns = tuple(
        IncomingTurn(
            speaker=turn.speaker[:200] if turn.speaker else None,
            text=turn.text[:_LONGEST_TURN],
            said_at=_moment(talk.start, turn.offset.total_seconds() if turn.offset else 0.0),
        )
        for turn in talk.turns
    )
    return IncomingConversation(conversation_id=short_id(talk.name), turns=turns, agent=agent)


def _moment(start: datetime, seconds: float) -> datetime:
    from datetime import timedelta

    return start + timedelta(seconds=min(seconds, 10**8))


def _show(session: Session, captured: Sequence[tuple[str, CaptureAnswer]], skipped: Sequence[Skipped]) -> None:
    if session.output.as_json:
        rows = [{"conversation_id": name, "answer": answer} for name, answer in captured]
        session.output.document({"conversations": rows, "skipped": list(skipped)})
        return
    done = sum(answer.captured for _, answer in captured)
    session.output.line(f"{counted(done, 'conversation')} captured of {len(captured):,}.", "bold")
    for reason, count in Counter(answer.reason for _, answer in captured if answer.reason).most_common():
        session.output.line(f"{counted(count, 'conversation')}: {remedy(reason)}")
    for one in skipped:
        session.output.notice(f"skipped {one_line(escaped(one.location), 80)}: {one.reason}")
    if captured:
        session.output.line(f'Find one: {session.invocation} recall "what it was about"')
