"""`dream export`: everything held on an owner or in a slice, as JSON lines."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path

import click

from dreaming.errors import InvalidInput
from dreaming.local.commands.command import DreamCommand, with_session
from dreaming.local.commands.session import Session


@click.command(
    cls=DreamCommand,
    examples="""
    dream export --user mia --output mia.jsonl     # everything on mia
    dream export --slice > organization.jsonl      # the organization's own slice
    dream export --slice --scope private --user mia --json
    """,
)
@click.option(
    "--slice", "of_slice", is_flag=True, help="The slice that --scope names, instead of what is held on a user."
)
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="A file that does not exist yet.")
@with_session
def export(session: Session, of_slice: bool, output: Path | None) -> None:
    """Write rows as JSON lines: a head, one line for each row, and an end with the counts.

    With --json it is one document with the same records. Nothing of others is in it.
    """
    from dreaming.erasure.export.service import Export

    if not of_slice and not session.user:
        raise InvalidInput("--user", "is missing", "name the user whose data is meant, or a slice with --slice")
    if output is not None:
        _check_free(output)
    with session.database() as database:
        lines = Export(database, session.tenant, session.key if of_slice else None).lines(now=session.now())
        if session.output.as_json:
            session.output.document({"records": [json.loads(line) for line in lines]})
        elif output is None:
            for line in lines:
                sys.stdout.write(f"{line}\n")
        else:
            _write(lines, output)
            session.output.notice(f"written to {output}")


def _check_free(output: Path) -> None:
    """Another's file is never overwritten."""
    if os.path.lexists(output):
        raise InvalidInput("--output", f"{str(output)!r} exists", "choose another name, or remove it")


def _write(lines: Iterable[str], output: Path) -> None:
    """Write a file that nobody else may read, and that is there only when it is whole."""
    part = output.with_name(f".{output.name}.{os.getpid()}.part")
    try:
        part.touch(mode=0o600, exist_ok=False)
        with part.open("w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)
        _check_free(output)
        part.rename(output)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(output)) from error
    except BaseException:
        part.unlink(missing_ok=True)
        raise
