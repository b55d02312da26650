"""`dream ingest`: notes from git histories, Markdown, mail, transcripts and JSON lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC
from pathlib import Path
from typing import Any, TypeVar

import click

from dreaming.errors import InvalidInput
from dreaming.local.commands.command import DreamFamily, with_session
from dreaming.local.commands.readings import finish, ingest_readings, moment, withdraw_missing, zone_of
from dreaming.local.commands.session import Session

F = TypeVar("F", bound=Callable[..., Any])


@click.group(
    cls=DreamFamily,
    examples="""
    dream ingest git ~/code/shop          # one note for each commit
    dream ingest markdown ~/vault         # one note for each file
    dream ingest mbox Inbox --trusted-sender example.com
    dream ingest transcript meetings/     # .vtt, .srt and `Speaker: text` files
    dream ingest jsonl chats.jsonl.gz --id-field id --time-field date
    """,
)
def ingest() -> None:
    """Bring in notes. Repeating an ingest changes nothing; changed text becomes a new version.

    What cannot be read is skipped and listed; the rest goes in. Notes are stored in transactions of
    500, so an interrupted ingest is repeated, not mended. With --incremental only what is new since
    the last ingest is read, with or without that option then.
    """


def _trust_option(command: F) -> F:
    return click.option(
        "--trust",
        type=click.Choice(["trusted", "untrusted"]),
        default="trusted",
        show_default=True,
        help="Whether the notes come from your own systems, or from outside.",
    )(command)


def _incremental_option(command: F) -> F:
    return click.option("--incremental", is_flag=True, help="Read only what is new or changed since the last ingest.")(
        command
    )


@ingest.command(
    examples="""
    dream ingest git .                            # the history of this repository
    dream ingest git ~/code/shop --since 2025-01-01 --name shop
    """,
)
@click.argument("repository", metavar="PATH", type=click.Path(path_type=Path))
@click.option("--since", metavar="DATE", help="Only commits after this date or time.")
@click.option("--name", metavar="NAME", help="Name of the source, git:NAME; else the folder's name.")
@click.option("--merges", is_flag=True, help="Merge commits too.")
@_trust_option
@_incremental_option
@with_session
def git(
    session: Session,
    repository: Path,
    since: str | None,
    name: str | None,
    merges: bool,
    trust: str,
    incremental: bool,
) -> int:
    """Bring in the commits reachable from HEAD of the repository at PATH, one note each."""
    from dreaming.notes.connectors.git import read_git
    from dreaming.notes.connectors.service import marks_opener
    from dreaming.notes.records import Trust

    with session.database() as database:
        limit = session.longest_note(database)
        reading = read_git(
            repository.expanduser(),
            max_note_characters=limit,
            name=name,
            since=moment("--since", since, UTC),
            merges=merges,
            trust=Trust(trust),
            open_marks=marks_opener(database, session.key, incremental=incremental),
        )
        return finish(session, ingest_readings(session, database, "ingest git", [reading], limit))


@ingest.command(
    examples="""
    dream ingest transcript standup.vtt --date 2026-03-05T09:30+01:00
    dream ingest transcript meetings/ --timezone Europe/Brussels
    """,
)
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--date", metavar="TIME", help="When the conversation began; else the date in its name.")
@click.option("--timezone", metavar="ZONE", default="UTC", show_default=True, help="Of times without an offset.")
@click.option("--source", metavar="NAME", default="transcript", show_default=True, help="Name of the source.")
@click.option("--window-characters", type=click.IntRange(1), help="How much of a conversation is one note.")
@_trust_option
@_incremental_option
@with_session
def transcript(
    session: Session,
    paths: Sequence[Path],
    date: str | None,
    timezone: str,
    source: str,
    window_characters: int | None,
    trust: str,
    incremental: bool,
) -> int:
    """Bring in transcripts: WebVTT, SubRip, or text with `Speaker: text` lines, and folders of them."""
    from dreaming.notes.connectors.service import marks_opener
    from dreaming.notes.connectors.transcript import TranscriptOptions, read_transcripts
    from dreaming.notes.records import Trust

    _check_names(paths)
    zone = zone_of(timezone)
    with session.database() as database:
        limit = session.longest_note(database)
        options = TranscriptOptions(
            max_note_characters=limit,
            source=source,
            date=moment("--date", date, zone),
            timezone=zone,
            trust=Trust(trust),
        )
        if window_characters is not None:
            options = replace(options, window_characters=window_characters)
        open_marks = marks_opener(database, session.key, incremental=incremental)
        readings = [read_transcripts(path.expanduser(), options, open_marks) for path in paths]
        return finish(session, ingest_readings(session, database, "ingest transcript", readings, limit))


@ingest.command(
    examples="""
    dream ingest jsonl notes.jsonl --id-field id --time-field date
    dream ingest jsonl mails.jsonl.gz --text-field subject --text-field body \\
        --id-field message_id --time-field date --author-field from --trust untrusted
    dream ingest jsonl chats.jsonl --text-field turns --window-characters 3000 \\
        --default-time 2024-01-01
    """,
)
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--text-field", "text_fields", metavar="FIELD", multiple=True, help="Repeatable; else `text`.")
@click.option("--id-field", "id_fields", metavar="FIELD", multiple=True, help="Repeatable; else a hash of the line.")
@click.option("--time-field", metavar="FIELD", help="When it was said or written.")
@click.option("--default-time", metavar="TIME", help="For lines without a time.")
@click.option("--timezone", metavar="ZONE", default="UTC", show_default=True, help="Of times without an offset.")
@click.option("--author-field", metavar="FIELD", help="Who said or wrote it.")
@click.option("--participants-field", metavar="FIELD", help="Who took part: a name or a list of names.")
@click.option("--origin-field", metavar="FIELD", help="The conversation or document that lines share.")
@click.option("--role-field", metavar="FIELD", help="Skips lines whose role is system or developer.")
@click.option("--metadata-field", "metadata_fields", metavar="FIELD", multiple=True, help="Repeatable; kept beside.")
@click.option("--source", metavar="NAME", help="Name of the source; else jsonl: and the file's name.")
@click.option("--window-characters", type=click.IntRange(1), help="Splits a list of turns into notes of this size.")
@_trust_option
@_incremental_option
@with_session
def jsonl(session: Session, /, file: Path, incremental: bool, **given: Any) -> int:
    """Bring in a file of JSON lines, plain or gzip, one note for each line.

    FIELD names a field of the object on each line; a.b is field b of the object in a.
    """
    from dreaming.notes.connectors.fields import check_fields
    from dreaming.notes.connectors.jsonl import JsonlOptions, read_jsonl
    from dreaming.notes.connectors.service import marks_opener
    from dreaming.notes.records import Trust

    if not given["time_field"] and not given["default_time"]:
        raise InvalidInput("--time-field", "is missing", "name the field that holds the time, or give --default-time")
    zone = zone_of(given.pop("timezone"))
    with session.database() as database:
        limit = session.longest_note(database)
        options = JsonlOptions(
            **given
            | {
                "text_fields": given["text_fields"] or ("text",),
                "source": given["source"] or f"jsonl:{file.name.removesuffix('.gz').removesuffix('.jsonl')}",
                "default_time": moment("--default-time", given["default_time"], zone),
                "timezone": zone,
                "trust": Trust(given["trust"]),
                "max_note_characters": limit,
            }
        )
        open_marks = marks_opener(database, session.key, incremental=incremental)
        reading = read_jsonl(file.expanduser(), options, open_marks)
        check_fields(file.expanduser(), _named_fields(given))
        return finish(session, ingest_readings(session, database, "ingest jsonl", [reading], limit))


@ingest.command(
    examples="""
    dream ingest markdown ~/vault --timezone Europe/Brussels
    dream ingest markdown docs --source handbook --incremental --withdraw-missing
    """,
)
@click.argument("folder", metavar="FOLDER", type=click.Path(path_type=Path))
@click.option("--source", metavar="NAME", help="Name of the source; else markdown: and the folder's name.")
@click.option("--timezone", metavar="ZONE", default="UTC", show_default=True, help="Of times without an offset.")
@click.option("--withdraw-missing", "withdraws", is_flag=True, help="Withdraw notes whose files are gone.")
@_trust_option
@_incremental_option
@with_session
def markdown(
    session: Session,
    folder: Path,
    source: str | None,
    timezone: str,
    withdraws: bool,
    trust: str,
    incremental: bool,
) -> int:
    """Bring in the Markdown files in FOLDER and its subfolders, one note each, with their front matter."""
    from dreaming.notes.connectors.markdown import MarkdownOptions, read_markdown
    from dreaming.notes.connectors.service import marks_opener
    from dreaming.notes.records import Trust

    zone = zone_of(timezone)
    with session.database() as database:
        limit = session.longest_note(database)
        options = MarkdownOptions(max_note_characters=limit, source=source, timezone=zone, trust=Trust(trust))
        open_marks = marks_opener(database, session.key, incremental=incremental)
        reading = read_markdown(folder.expanduser(), options, open_marks)
        ingested = ingest_readings(session, database, "ingest markdown", [reading], limit)
        return finish(session, withdraw_missing(session, database, reading, ingested) if withdraws else ingested)


@ingest.command(
    examples="""
    dream ingest mbox ~/mail/Inbox --trusted-sender example.com
    dream ingest mbox list.mbox.gz --source gardens --incremental
    """,
)
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--source", metavar="NAME", default="mail", show_default=True, help="Name of the source.")
@click.option(
    "--trusted-sender",
    "trusted_senders",
    metavar="PATTERN",
    multiple=True,
    help="Repeatable; ana@example.com, example.com or *.example.com. All others are untrusted.",
)
@_incremental_option
@with_session
def mbox(
    session: Session, files: Sequence[Path], source: str, trusted_senders: tuple[str, ...], incremental: bool
) -> int:
    """Bring in the messages of mailboxes, plain or gzip, without what they quote, one note each."""
    from dreaming.notes.connectors.mbox import MboxOptions, read_mbox
    from dreaming.notes.connectors.service import marks_opener

    with session.database() as database:
        limit = session.longest_note(database)
        options = MboxOptions(max_note_characters=limit, source=source, trusted_senders=trusted_senders)
        open_marks = marks_opener(database, session.key, incremental=incremental)
        readings = [read_mbox(file.expanduser(), options, open_marks) for file in files]
        return finish(session, ingest_readings(session, database, "ingest mbox", readings, limit))


def _named_fields(given: Mapping[str, Any]) -> dict[str, Sequence[str]]:
    """Return the fields that options named, by the option."""
    named: dict[str, Sequence[str]] = {}
    for option, value in given.items():
        if value and option.endswith(("_field", "_fields")):
            named[f"--{option.removesuffix('s').replace('_', '-')}"] = (value,) if isinstance(value, str) else value
    return named


def _check_names(paths: Sequence[Path]) -> None:
    """A note is named by its file, so two files of one name would edit each other."""
    seen: dict[str, Path] = {}
    for path in paths:
        if path.is_file() and path.name in seen:
            raise InvalidInput(
                "PATH",
                f"{str(seen[path.name])!r} and {str(path)!r} have the same name",
                "ingest their common folder, or each with a --source of its own",
            )
        seen[path.name] = path
