"""The page of the `dream` command, from the tree of its commands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from textwrap import dedent
from typing import Any

import click

from dreaming.local.cli import COMMANDS, Exit, dream
from dreaming.local.commands.command import SHARED_OPTIONS

_HEAD = """# Commands

Written from the program by `make docs`; how its output, its exit codes and its connectors are meant is told in
[The `dream` command](../cli.md).

"""

_CODES = {
    Exit.DONE: "done",
    Exit.UNEXPECTED: "unexpected error; `--debug` shows where",
    Exit.BAD_INPUT: "bad usage or input; also an ingest in which nothing at all could be read",
    Exit.MISCONFIGURED: "misconfigured: a person must supply or correct something",
    Exit.UNAVAILABLE: "held or unavailable: database or model not reachable, switched off, not enrolled, no consent",
    Exit.PROBLEMS_FOUND: "`doctor` found a problem, `evaluate` a goal that is missed, or `autonomy check` says no",
    Exit.INTERRUPTED: "interrupted",
}


def commands_page() -> str:
    """Return the page, in Markdown."""
    lines = [_HEAD, "## Options of every command\n\n", "They stand before or after the command.\n\n"]
    lines += _table(dream.params)
    lines += ["\n## Exit codes\n\n| code | meaning |\n|---|---|\n"]
    lines += [f"| {code.value} | {_CODES[code]} |\n" for code in Exit]
    context = click.Context(dream, info_name="dream")
    for name in COMMANDS:
        found = dream.get_command(context, name)
        if found is not None:
            lines += _command(found, f"dream {name}")
    return "".join(lines)


def _command(command: click.Command, path: str) -> Iterator[str]:
    usage = " ".join(command.collect_usage_pieces(click.Context(command, info_name=path)))
    yield f"\n## `{path}`\n\n```text\n{path} {usage}\n```\n\n"
    yield f"{_sentences(command.help or '')}\n"
    own = [one for one in command.params if isinstance(one, click.Option) and not _is_shared(one)]
    if own:
        yield "\n"
        yield from _table(own)
    examples = dedent(getattr(command, "examples", "")).strip()
    if examples:
        yield f"\n```text\n{examples}\n```\n"
    if isinstance(command, click.Group):
        context = click.Context(command, info_name=path)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None:
                yield from _command(inner, f"{path} {name}")


def _is_shared(option: click.Option) -> bool:
    return any(option.opts == list(names) or option.opts[0] == names[0] for names, _ in SHARED_OPTIONS)


def _sentences(text: str) -> str:
    paragraphs = re.split(r"\n\s*\n", dedent(text).strip())
    return "\n\n".join(" ".join(one.split()) for one in paragraphs)


def _table(options: list[click.Parameter] | list[click.Option]) -> Iterator[str]:
    yield "| option | meaning | default |\n|---|---|---|\n"
    for one in options:
        if isinstance(one, click.Option):
            cells = (f"`{_written(one)}`", _meaning(one), _default(one))
            yield f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |\n"


def _written(option: click.Option) -> str:
    name = ", ".join(option.opts)
    if option.is_flag:
        return name
    kind = option.type
    if isinstance(kind, click.Choice):
        return f"{name} {'/'.join(_shown(choice) for choice in kind.choices)}"
    return f"{name} {option.metavar or kind.name.upper().replace(' RANGE', '')}"


def _shown(value: Any) -> str:
    return str(value.value if isinstance(value, Enum) else value)


def _meaning(option: click.Option) -> str:
    kind = option.type
    bounds = ""
    if isinstance(kind, click.IntRange | click.FloatRange):
        least, most = ("" if bound is None else f"{bound:g}" for bound in (kind.min, kind.max))
        bounds = f" From {least} to {most}." if least and most else f" At least {least}." if least else ""
    needed = " Required." if option.required else ""
    return f"{option.help or ''}{bounds}{needed}".strip()


def _default(option: click.Option) -> str:
    default = option.default
    if option.is_flag or option.multiple or default is None or callable(default) or repr(default).startswith("Sent"):
        return ""
    return f"`{_shown(default)}`"
