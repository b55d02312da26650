"""What a command prints: one JSON document, or tables and lines; progress apart from both."""

from __future__ import annotations

import dataclasses
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from enum import Enum
from functools import cache
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias
from uuid import UUID

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table
    from rich.text import Text

PIPED_WIDTH = 120
"""Columns of a table that goes to a file or another program."""

_STEPS = 10
"""How many lines of progress are written where no terminal shows a bar."""

# What could move the cursor, recolour or reorder a terminal's line; note text comes from anywhere.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")

_HASH = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"


class ShowProgress(Protocol):
    """Shows how much is done; `total` replaces the one known at the beginning."""

    def __call__(self, done: int, *, total: int | None = None, detail: str = "") -> None:
        """Show it."""
        ...


class Output:
    """Standard output for the result, standard error for everything else."""

    def __init__(self, *, as_json: bool) -> None:
        """Print one JSON document, or text for people."""
        self.as_json = as_json

    @property
    def console(self) -> Console:
        """The console of standard output."""
        return _console(stderr=False)

    @property
    def width(self) -> int:
        """Columns there are."""
        return self.console.width

    def document(self, document: object) -> None:
        """Print the one JSON document of a command."""
        sys.stdout.write(json.dumps(to_json(document), ensure_ascii=False, indent=2, allow_nan=False) + "\n")

    def line(self, text: str = "", style: str = "") -> None:
        """Print a line as it is."""
        self.show(styled(text, style))

    def whole(self, text: str) -> None:
        """Print a line that people copy: never wrapped."""
        sys.stdout.write(f"{text}\n")

    def show(self, *shown: RenderableType) -> None:
        """Print tables and styled text; where no terminal pads them, lines end where their text does."""
        console = self.console
        if console.is_terminal:
            console.print(*shown)
            return
        with console.capture() as captured:
            console.print(*shown)
        sys.stdout.write("".join(f"{line.rstrip()}\n" for line in captured.get().splitlines()))

    def notice(self, text: str) -> None:
        """Tell people something beside the result, on standard error."""
        _console(stderr=True).print(styled(text), soft_wrap=True)

    @contextmanager
    def progress(self, title: str, total: int, unit: str) -> Iterator[ShowProgress]:
        """Show a bar on a terminal, and at most eleven lines elsewhere."""
        console = _console(stderr=True)
        if console.is_terminal:
            with _bar(console, title, total, unit) as show:
                yield show
        else:
            yield _Lines(title, total, unit)

    @contextmanager
    def working(self, title: str) -> Iterator[Callable[[str], None]]:
        """Show on a terminal that something of unknown length goes on; the function changes what it says."""
        console = _console(stderr=True)
        if not console.is_terminal:
            yield lambda _: None
            return
        with console.status(styled(title)) as status:
            yield lambda detail: status.update(styled(f"{title}: {detail}"))


class _Lines:
    """Progress as lines on standard error, one for each tenth."""

    def __init__(self, title: str, total: int, unit: str) -> None:
        self._title, self._total, self._unit = title, total, unit
        self._shown = 0

    def __call__(self, done: int, *, total: int | None = None, detail: str = "") -> None:
        self._total = self._total if total is None else total
        step = done * _STEPS // self._total if self._total else _STEPS
        if step > self._shown:
            self._shown = step
            tail = f", {detail}" if detail else ""
            sys.stderr.write(f"{self._title}: {done:,} of {self._total:,} {self._unit}{tail}\n")


def styled(text: str, style: str = "") -> Text:
    """Return text as it is: nothing in it is markup, and control characters are replaced."""
    from rich.text import Text

    return Text(printable(text), style=style)


def table(*columns: str | tuple[str, dict[str, Any]]) -> Any:
    """Return a table with a light head line; a column is a title, or a title with its options."""
    from rich import box

    made = _one_line_table()(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    for column in columns:
        title, options = (column, {}) if isinstance(column, str) else column
        made.add_column(title, **options)
    return made


@cache
def _one_line_table() -> type[Table]:
    """Return the class of tables whose cells are one line each: what a name says must not look like another row."""
    from rich.table import Table

    class OneLineTable(Table):
        def add_row(self, *cells: RenderableType | None, **options: Any) -> None:
            super().add_row(*map(_cell, cells), **options)

    return OneLineTable


def _cell(cell: RenderableType | None) -> RenderableType | None:
    from rich.text import Text

    if isinstance(cell, Text):
        return Text(escaped(cell.plain), cell.style) if escaped(cell.plain) != cell.plain else cell
    return Text(escaped(cell)) if isinstance(cell, str) else cell


_ESCAPED = str.maketrans({"\n": "\\n", "\r": "\\r", "\t": "\\t"})


def escaped(text: str) -> str:
    """Return a name as it can stand in a line: its line ends and tabs written out, other controls replaced."""
    return printable(text.translate(_ESCAPED))


def printable(text: str) -> str:
    """Replace what a terminal would obey instead of showing."""
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n"))


def one_line(text: str, length: int) -> str:
    """Return a text on one line, cut after `length` characters."""
    joined = " ".join(text.split())
    return joined if len(joined) <= length else joined[: length - 1].rstrip() + "…"


def short_id(identifier: UUID) -> str:
    """Return the end of an id: ids made at one time begin alike, their ends tell them apart."""
    return identifier.hex[-8:]


def note_name(external_id: str) -> str:
    """Return how a note is called in a line; a hash, such as a commit's, is cut to its beginning."""
    return external_id[:10] if _HASH.fullmatch(external_id) else one_line(escaped(external_id), 40)


def day(moment: datetime | None) -> str:
    """Return the date of a moment, in its own offset."""
    return "-" if moment is None else moment.date().isoformat()


def minute(moment: datetime | None) -> str:
    """Return a moment to the minute, with its offset; Z is UTC."""
    return "-" if moment is None else moment.isoformat(sep=" ", timespec="minutes").replace("+00:00", "Z")


def counted(number: int, singular: str, plural: str | None = None) -> str:
    """Return e.g. `1 note`, `2 notes`, `1,204 notes`."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def to_json(value: object) -> Json:
    """Turn records into what JSON can hold; fields keep their names, moments are ISO 8601."""
    if isinstance(value, Enum):
        value = value.value
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(to_json(key)): to_json(item) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [to_json(item) for item in value]
    if dataclasses.is_dataclass(value):
        return {field.name: to_json(getattr(value, field.name)) for field in dataclasses.fields(value)}
    return _plain(value)


def _plain(value: object) -> str:
    if isinstance(value, UUID | PurePath):
        return str(value)
    raise TypeError(f"a {type(value).__name__} has no form in JSON")


def _console(*, stderr: bool) -> Console:
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    return Console(
        file=stream, highlight=False, markup=False, emoji=False, width=None if stream.isatty() else PIPED_WIDTH
    )


@contextmanager
def _bar(console: Console, title: str, total: int, unit: str) -> Iterator[ShowProgress]:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=28),
        MofNCompleteColumn(),
        TextColumn(f"{unit} {{task.fields[detail]}}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(title, total=total, detail="")

        def show(done: int, *, total: int | None = None, detail: str = "") -> None:
            # A total of None leaves the one that is known.
            progress.update(task, completed=done, total=total, detail=detail)

        yield show
