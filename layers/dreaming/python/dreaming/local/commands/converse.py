"""`dream converse`: import transcripts of conversations and capture them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

import click

from dreaming.errors import InvalidInput, Misconfigured
from dreaming.local.commands.command import DreamCommand, with_session
from dreaming.local.commands.conversations import capturing, off_remedy, remedy, words_only
from dreaming.local.commands.session import Session
from dreaming.local.output import counted, escaped, one_line

if TYPE_CHECKING:
    from dreaming.notes.connectors.records import Skipped
    from dreaming.notes.connectors.talks import Talk
    from dreaming.recall.records import CaptureAnswer, IncomingConversation

_LONGEST_TURN, _MOST_TURNS = 1_000_000, 20_000  # as a capture takes them
_NAMES_SHOWN = 20
_NOTHING_CAPTURED, _MISCONFIGURED, _HELD = 2, 3, 4
_REFUSALS = frozenset({"not_owner", "other_scope", "erased", "empty", "invalid_input", "superseded"})


@dataclass(frozen=True, slots=True)
class _Held:
    """What the files have held of a conversation so far: where it stands, its turns' number and hash."""

    place: str
    turns: int
    hash: int


@click.command(
    cls=DreamCommand,
    examples="""
    dream converse standup.vtt                    # one conversation
    dream converse chats/ --agent helper          # all transcripts below a folder
    dream converse export.jsonl --user ana --scope private
    dream recall "what we said about the boat"

    A line of a .jsonl file:
    {"conversation_id": "boat", "turns": [{"speaker": "Ana", "text": "It leaks.", "said_at": "2026-03-05T14:00+01:00"}]}
    """,
)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--agent", metavar="NAME", help="Who answers in these conversations.")
@with_session
def converse(session: Session, files: Sequence[Path], agent: str | None) -> int | None:
    """Capture conversations from transcripts: .vtt, .srt, .txt with `Speaker: text` lines, .jsonl.

    A transcript is one conversation, called by its file, or by its path below the folder; each line of a
    .jsonl file is one. Captured again, a conversation is overwritten, and only what was added is embedded.
    Of two with one name in the files the later is taken only if it goes on from the first.

    A line of a .jsonl file is an object with its turns in turns, messages or conversation, and its name in
    conversation_id or id. A turn has speaker, role, author or name; text, content or message; and its time
    in said_at, at, timestamp, time, created_at or date: ISO 8601, in UTC without an offset, or seconds or
    milliseconds since 1970. A turn without a time has that of the one before it; the first has that of the
    conversation, in the same fields of the line or started_at, start_time or create_time; else that of the
    file. A time that cannot be read skips the line.
    """
    from dreaming.recall.records import IncomingConversation
    from dreaming.recall.switch import is_on

    paths = _below(files)
    if not is_on(session.variables):
        raise Misconfigured(off_remedy(session.variables))
    captured: dict[str, CaptureAnswer] = {}
    skipped: list[Skipped] = []
    held: dict[str, _Held] = {}
    with session.database() as database, session.output.progress("capturing", len(paths), "files") as show:
        service = capturing(session, database)
        for done, (path, name) in enumerate(paths, start=1):
            for talk in _talks(path, name, held, skipped):
                conversation = _conversation(talk, agent)
                if isinstance(conversation, IncomingConversation):
                    answer = service.capture(session.tenant, conversation, scope=session.scope)
                    captured[talk.name] = answer
                else:
                    skipped.append(conversation)
            show(done)
        lacking = words_only(session, database, [answer.reason for answer in captured.values()])
    _show(session, captured, skipped, lacking)
    return _code(captured.values())


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


def _talks(path: Path, name: str, held: dict[str, _Held], skipped: list[Skipped]) -> Iterator[Talk]:
    """Yield the conversations of a file; what is called by the file gets its path's name."""
    from dreaming.notes.connectors.records import Skipped, short_id
    from dreaming.notes.connectors.talks import read_talks

    for one in read_talks(path):
        if isinstance(one, Skipped):
            skipped.append(replace(one, location=_called(one.location, path, name)))
            continue
        place = _called(one.place, path, name)
        talk = replace(one, name=short_id(_called(one.name, path, name)), place=place)
        if len(talk.turns) > _MOST_TURNS:
            skipped.append(Skipped(place, f"has {len(talk.turns):,} turns, above the most of {_MOST_TURNS:,}"))
        elif (first := _replaced(talk, held)) is not None:
            reason = f"has the conversation's name of {first} with other turns, which it would replace; give it another"
            skipped.append(Skipped(place, reason))
        else:
            yield talk


def _replaced(talk: Talk, held: dict[str, _Held]) -> str | None:
    """Return the place of an earlier conversation of this name with turns that this one does not begin with."""
    known = held.get(talk.name)
    if known is not None and (len(talk.turns) < known.turns or hash(talk.turns[: known.turns]) != known.hash):
        return known.place
    held[talk.name] = _Held(talk.place, len(talk.turns), hash(talk.turns))
    return None


def _called(own: str, path: Path, name: str) -> str:
    """Return what is called by its file as called by the file's path; a name of its own stays."""
    return name + own.removeprefix(path.name) if own.startswith(path.name) else own


def _conversation(talk: Talk, agent: str | None) -> IncomingConversation | Skipped:
    from pydantic import ValidationError

    from dreaming.notes.connectors.records import Skipped
    from dreaming.recall.records import IncomingConversation

    turns = [
        {"speaker": turn.speaker[:200] if turn.speaker else None, "text": turn.text[:_LONGEST_TURN], "said_at": said}
        for turn, said in zip(talk.turns, talk.said, strict=True)
    ]
    try:
        return IncomingConversation.model_validate(
            {"conversation_id": talk.name, "turns": tuple(turns), "agent": agent}  # cleaned, then checked
        )
    except ValidationError as error:
        fields = ", ".join(sorted({str(one["loc"][0]) for one in error.errors()}))
        return Skipped(talk.place, f"cannot be captured: {fields} is empty, too long or no text")


def _is_stored(answer: CaptureAnswer) -> bool:
    return answer.captured or answer.pending or answer.reason == "throttled"


def _code(answers: Collection[CaptureAnswer]) -> int | None:
    """Return the exit code: of refused input when nothing at all was stored, or of what held it up."""
    if any(_is_stored(answer) for answer in answers):
        return None
    failures = {answer.reason for answer in answers} - _REFUSALS
    if failures:
        return _MISCONFIGURED if failures == {"misconfigured"} else _HELD
    return _NOTHING_CAPTURED


def _show(
    session: Session, captured: Mapping[str, CaptureAnswer], skipped: Sequence[Skipped], lacking: str | None
) -> None:
    if session.output.as_json:
        rows = [{"conversation_id": name, "answer": answer} for name, answer in captured.items()]
        session.output.document({"conversations": rows, "skipped": list(skipped)})
        return
    done = sum(answer.captured for answer in captured.values())
    left = f", {len(skipped):,} skipped" if skipped else ""
    session.output.line(f"{counted(done, 'conversation')} captured of {len(captured):,}{left}.", "bold")
    for reason, count in Counter(answer.reason for answer in captured.values() if answer.reason).most_common():
        told = lacking if lacking and reason == "no_embedding_consent" else remedy(reason)
        session.output.line(f"{counted(count, 'conversation')}: {told}")
        if reason == "erased":
            _tell_lifts(session, [name for name, answer in captured.items() if answer.reason == reason])
            if count == len(captured):
                session.output.line(f"  or, of an erased organization: {session.invocation} erase lift-organization")
    for one in skipped:
        session.output.notice(f"skipped {one_line(escaped(one.location), 80)}: {one.reason}")
    if any(_is_stored(answer) for answer in captured.values()):
        session.output.line(f'Find one: {session.invocation} recall "what it was about"')


def _tell_lifts(session: Session, names: Sequence[str]) -> None:
    shown = " ".join(quote(escaped(name)) for name in names[:_NAMES_SHOWN])
    more = " ..." if len(names) > _NAMES_SHOWN else ""
    session.output.whole(f"  {session.invocation} erase lift-conversation {shown}{more}")
