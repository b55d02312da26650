"""The `dream` command: its commands, its errors and its exit codes."""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import traceback
from collections.abc import Mapping, Sequence
from enum import IntEnum
from pathlib import Path
from typing import Any, NoReturn

import click

from dreaming import __version__
from dreaming.errors import DreamingError, Hold, InvalidInput, Misconfigured
from dreaming.local.commands.command import shared_options, write_examples
from dreaming.local.commands.remedies import in_commands
from dreaming.local.full_disk import DiskFull, disk_full
from dreaming.local.home import home_folder

COMMANDS: Mapping[str, tuple[str, str]] = {
    "demo": ("demo", "Consolidate this repository's history and a sample month of notes."),
    "up": ("up", "Run the whole system here: passes, API and page."),
    "dashboard": ("up", "Serve the page and the API, without running the passes."),
    "mcp": ("mcp", "Serve the memory as tools of an assistant."),
    "ingest": ("ingest", "Bring in notes: a git history, transcripts, JSON lines."),
    "run": ("drain", "Start what is due, as the schedule does."),
    "drain": ("drain", "Start what is due and work until nothing waits."),
    "status": ("status", "How far consolidation has come, and why it holds."),
    "beliefs": ("beliefs", "List and search what is believed."),
    "why": ("why", "Show the quotes, notes and arithmetic behind a belief."),
    "explain": ("explain", "Show why two statements are one belief, or are not."),
    "fading": ("fading", "Show what fades in the weeks to come."),
    "decay": ("decay", "Archive what has faded, or show what would be."),
    "confirm": ("archive", "Vouch for beliefs as of now."),
    "archive": ("archive", "Take beliefs out of sight, whatever notes say."),
    "restore": ("archive", "Bring back what has faded or was archived."),
    "embeddings": ("embeddings", "Which vectors there are, which are missing, and why."),
    "converse": ("converse", "Capture conversations from transcripts."),
    "recall": ("recall", "Find past conversations from a paraphrase."),
    "brief": ("brief", "Tell what is believed now, in few words."),
    "conflicts": ("conflicts", "Show what contradicts itself side by side, and decide it."),
    "unmerge": ("unmerge", "Take back a merge of two beliefs, or the match of one source."),
    "retired": ("retired", "List notes that were given up, and retry them."),
    "reconsolidate": ("reconsolidate", "Read notes again, after a change of the model."),
    "withdraw": ("withdraw", "Let notes that are gone upstream stop counting."),
    "erase": ("erase", "Erase a note, an owner's data or an organization for good."),
    "export": ("export", "Write out everything held on an owner, or in a slice."),
    "autonomy": ("autonomy", "What agents have earned, and why; their actions; what they may do."),
    "settings": ("settings", "Show and change settings, enrolment and consent."),
    "doctor": ("doctor", "Check the installation and recount the counters."),
    "evaluate": ("evaluate", "Measure quality on labelled sets."),
    "migrate": ("migrate", "Bring the database up to date."),
}
"""Each command's module and its line in the list, so that the list needs no module."""

EXAMPLES = """
dream demo                              # see the whole system work, without a key
dream ingest git .                      # bring in a repository's history
dream drain                             # read what waits
dream beliefs postgres                  # what is believed about it
"""


class Exit(IntEnum):
    """The exit codes."""

    DONE = 0
    UNEXPECTED = 1
    BAD_INPUT = 2
    MISCONFIGURED = 3
    UNAVAILABLE = 4
    PROBLEMS_FOUND = 5
    INTERRUPTED = 130


_LONGEST_MESSAGE = 400

_CODES_HELP = (
    "0 done, 1 unexpected error, 2 bad usage or input, 3 misconfigured, 4 held or unavailable, "
    "5 problems found by doctor, goals missed by evaluate or a risk denied by autonomy check, 130 interrupted."
)


class Dream(click.Group):
    """The program: finds commands by name, and turns errors into a line and an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order of the list."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command's module and return the command."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"dreaming.local.commands.{COMMANDS[cmd_name][0]}")
        found: click.Command = getattr(module, cmd_name)
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])
        with formatter.section("Exit codes"):
            formatter.write_text(_CODES_HELP)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples."""
        write_examples(formatter, EXAMPLES, hint=False)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; a reader that has seen enough, as `head` has, ends it without a word."""
        try:
            code = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            _drop_output()
            return Exit.DONE
        return code

    def main(self, *args: Any, **extra: Any) -> NoReturn:
        """Run the command that the arguments name, and exit."""
        given: dict[str, Any] = {}
        extra.update(standalone_mode=False, obj=given)
        arguments = list(extra.get("args") or sys.argv[1:])
        try:
            _check_encoding(arguments)
            code = super().main(*args, **extra)
        except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - the outermost door
            if given.get("debug") and not isinstance(error, click.ClickException):
                traceback.print_exc()
            told = disk_full(error, _home(given)) or error
            if isinstance(told, DiskFull):
                _flush_or_drop()
            code = report(told)
            if given.get("as_json") or "--json" in arguments:
                click.echo(json.dumps({"error": {"exit_code": int(code), "message": _message(told)}}, indent=2))
            sys.exit(code)
        sys.exit(code if isinstance(code, int) else Exit.DONE)


def _home(given: Mapping[str, Any]) -> Path:
    return Path(given["home"]).expanduser() if given.get("home") else home_folder(os.environ)


def _flush_or_drop() -> None:
    try:
        sys.stdout.flush()
    except OSError:
        _drop_output()


def _drop_output() -> None:
    """What is still buffered goes nowhere, or the interpreter would complain at its exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _check_encoding(arguments: Sequence[str]) -> None:
    for place, argument in enumerate(arguments, start=1):
        if not argument.isascii() and any("\ud800" <= character <= "\udfff" for character in argument):
            raise InvalidInput(f"argument {place}", "is not UTF-8", "write it in UTF-8")


def _message(error: BaseException) -> str:
    if isinstance(error, click.ClickException):
        return error.format_message()
    return in_commands(error)


def report(error: BaseException) -> int:
    """Say on standard error what went wrong and what to do, and return the exit code."""
    if isinstance(error, click.ClickException):
        error.show()
        return error.exit_code
    if isinstance(error, KeyboardInterrupt | click.Abort):
        click.echo("interrupted; what was stored stays, the same command goes on", err=True)
        return Exit.INTERRUPTED
    if isinstance(error, OSError) and error.filename:
        taken = isinstance(error, FileExistsError)
        what = "choose another name, or remove it" if taken else "name another, or change what may be read"
        click.echo(f"error: {error.filename}: {error.strerror}; {what}", err=True)
        return Exit.BAD_INPUT
    for kind, code in _CODES:
        if isinstance(error, kind):
            click.echo(f"error: {in_commands(error)}", err=True)
            return code
    message = next(iter(str(error).splitlines()), "")[:_LONGEST_MESSAGE]
    click.echo(f"unexpected error: {type(error).__name__}: {message}", err=True)
    click.echo("run the command again with --debug to see where", err=True)
    return Exit.UNEXPECTED


_CODES: tuple[tuple[type[DreamingError], Exit], ...] = (
    (InvalidInput, Exit.BAD_INPUT),
    (Misconfigured, Exit.MISCONFIGURED),
    (Hold, Exit.UNAVAILABLE),
)


@click.group(cls=Dream, params=shared_options(hidden=False), context_settings={"max_content_width": 100})
@click.version_option(__version__, prog_name="dream", message="%(prog)s %(version)s")
def dream() -> None:
    """Read notes and keep what they tell: beliefs with a quote, a confidence and an age.

    The options below stand before or after the command.
    """


def main() -> NoReturn:
    """Run `dream` with the process's arguments; asked to terminate, it ends as when interrupted."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    dream.main(prog_name="dream")
