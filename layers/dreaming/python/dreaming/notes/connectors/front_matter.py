"""What the front matter of a Markdown file says about it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Any

import yaml

from dreaming.notes.connectors.times import parse_moment

_BLOCK = re.compile(r"\ufeff?---[ \t]*\r?\n(?P<yaml>.*?)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_LONGEST = 50_000
"""Characters; the parser takes about a second for more."""

_DATE_KEYS = (
    *("updated", "modified", "lastmod", "last_modified", "last_updated", "date modified"),
    *("date", "published", "created", "date created"),
)
_AUTHOR_KEYS = ("author", "authors", "by")
_TAG_KEYS = ("tags", "tag", "keywords")
_NAME_KEYS = ("name", "title", "id")
_MOST_NAMES = 200


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What is known of a file before its text; `problems` say what could not be read, without its text."""

    title: str | None = None
    written_at: datetime | None = None
    authors: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


def split_front_matter(text: str, timezone: tzinfo) -> tuple[FrontMatter, str]:
    """Return the front matter at the start of `text`, and the text after it.

    YAML between two lines of `---`; other text between such lines is no front matter. The date is that of
    the last change where one is given (`updated`, `modified`, `lastmod`), else `date`, `published` or
    `created`; one without an offset is of `timezone`. YAML that cannot be read is left out of the text all
    the same, and named as a problem.
    """
    match = _BLOCK.match(text)
    if match is None:
        return FrontMatter(), text
    body = text[match.end() :]
    try:
        values = _load(match["yaml"])
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        return FrontMatter(problems=(f"is not YAML{_place(error)}",)), body
    if values is None or values == "":
        return FrontMatter(), body
    if not isinstance(values, dict):
        return FrontMatter(), text
    return _read({str(key).strip().lower(): value for key, value in values.items()}, timezone), body


def _load(written: str) -> Any:
    if len(written) > _LONGEST:
        raise ValueError("too long")
    # Builds strings, lists and dictionaries only: dates, numbers and "no" stay as they are written.
    return yaml.load(written, Loader=yaml.BaseLoader)  # noqa: S506


def _place(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    return f" at line {mark.line + 2}" if mark is not None else ""


def _read(values: dict[str, Any], timezone: tzinfo) -> FrontMatter:
    title = values.get("title")
    dates = [(key, values[key].strip()) for key in _DATE_KEYS if isinstance(values.get(key), str)]
    moments = {key: parse_moment(written, timezone) for key, written in dates if written}
    authors = [name for key in _AUTHOR_KEYS for name in _names(values.get(key))]
    tags = [tag.lstrip("#") for key in _TAG_KEYS for tag in _names(values.get(key), separators=r"[,\s]+")]
    return FrontMatter(
        title=" ".join(title.split()) or None if isinstance(title, str) else None,
        written_at=next((moment for moment in moments.values() if moment), None),
        authors=tuple(dict.fromkeys(authors))[:_MOST_NAMES],
        tags=tuple(dict.fromkeys(filter(None, tags)))[:_MOST_NAMES],
        problems=tuple(f"has a date in {key!r} that cannot be read" for key, moment in moments.items() if not moment),
    )


def _names(value: Any, separators: str = r"\s*[,;]\s*|\s+and\s+") -> list[str]:
    """The names in a string, a list of strings, or a list of dictionaries that have a name."""
    if isinstance(value, str):
        return [name.strip() for name in re.split(separators, value.strip()) if name.strip()]
    if isinstance(value, dict):
        value = [value]
    if not isinstance(value, list):
        return []
    found = [_name(item) if isinstance(item, dict) else item for item in value]
    return [item.strip() for item in found if isinstance(item, str) and item.strip()]


def _name(person: dict[str, Any]) -> str:
    return next((person[key] for key in _NAME_KEYS if isinstance(person.get(key), str)), "")
