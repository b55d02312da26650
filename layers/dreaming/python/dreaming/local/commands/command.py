"""What all commands share: the options that stand anywhere, examples in the help, the session."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from textwrap import dedent
from typing import Any, Concatenate, ParamSpec, TypeVar

import click
from click.core import ParameterSource

from dreaming.local.commands.session import Session, open_session

P = ParamSpec("P")
R = TypeVar("R")

SHARED_OPTIONS: tuple[tuple[tuple[str, ...], dict[str, Any]], ...] = (
    (("--json", "as_json"), {"is_flag": True, "help": "Print one JSON document on standard output."}),
    (("--home",), {"metavar": "FOLDER", "help": "Where the installation lives; else DREAMING_HOME."}),
    (("--org",), {"metavar": "ID", "envvar": "DREAMING_ORG", "help": "The organization; else DREAMING_ORG, or local."}),
    (
        ("--scope",),
        {"type": click.Choice(["org", "private", "shared"]), "help": "Which slice is meant; org by default."},
    ),
    (("--user",), {"metavar": "ID", "help": "Who is asking, and the owner of a private slice."}),
    (("--demo",), {"is_flag": True, "help": "The demo's installation: its home folder and organization."}),
    (
        ("--wait",),
        {
            "type": click.FloatRange(0, 600),
            "metavar": "SECONDS",
            "help": "How long to wait for a database that is waking up; 30 by default.",
        },
    ),
    (("--debug",), {"is_flag": True, "help": "Show the traceback of an error."}),
)


class DreamCommand(click.Command):
    """A command with examples, which takes the shared options too."""

    def __init__(self, *args: Any, examples: str, **options: Any) -> None:
        """Take `examples`: one command line each, with what it does after `#`."""
        super().__init__(*args, **options)
        self.examples = examples
        self.params.extend(shared_options(hidden=True))

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples and where the other options are."""
        write_examples(formatter, self.examples)


class DreamFamily(click.Group):
    """A command with commands of its own, examples, and the shared options."""

    command_class = DreamCommand

    def __init__(self, *args: Any, examples: str, **options: Any) -> None:
        """Take `examples`: one command line each, with what it does after `#`."""
        super().__init__(*args, **options)
        self.examples = examples
        self.params.extend(shared_options(hidden=True))

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples and where the other options are."""
        write_examples(formatter, self.examples)


def shared_options(*, hidden: bool) -> list[click.Parameter]:
    """Return the options that every command takes; those nearer to the command win.

    Hidden ones are left out of a command's own help, except `--json`.
    """
    return [
        click.Option(names, hidden=hidden and "--json" not in names, expose_value=False, callback=_remember, **options)
        for names, options in SHARED_OPTIONS
    ]


cursor_option = click.option("--cursor", metavar="CURSOR", help="Goes on where a page ended.")


def write_examples(formatter: click.HelpFormatter, examples: str, *, hint: bool = True) -> None:
    """Write examples unwrapped, and where the other options are."""
    with formatter.section("Examples"):
        for line in dedent(examples).strip().splitlines():
            formatter.write(f"{'':>{formatter.current_indent}}{line}\n")
    if hint:
        formatter.write_paragraph()
        formatter.write_text("Options of every command, such as --org and --home: dream --help")


def with_session(function: Callable[Concatenate[Session, P], R]) -> Callable[P, R]:
    """Give a command its session as the first argument."""

    @wraps(function)
    def call(*args: P.args, **options: P.kwargs) -> R:
        given = click.get_current_context().find_root().obj
        session = open_session(given, os.environ)
        session.check_owner()
        return function(session, *args, **options)

    return call


def _remember(ctx: click.Context, parameter: click.Parameter, value: Any) -> None:
    name = str(parameter.name)
    if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE:
        ctx.find_root().obj[name] = value
    elif ctx.get_parameter_source(name) is ParameterSource.ENVIRONMENT:
        ctx.find_root().obj.setdefault(name, value)
