"""What does not fit a schema, in the product's words: where it stands in what was sent, what is wrong, what to send.

The API and the tools of the MCP server say it alike. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

WHOLE = "body"
"""What the body as a whole is called."""

DESCRIPTION = "GET /openapi.json"
"""Where a caller of the API finds what may stand where."""

_LONGEST_PLACE = 200
_CALLERS_NAMES = frozenset({"extra_forbidden", "unexpected_keyword_argument"})
_PLACES = frozenset({"body", "query", "path", "header"})
_NO_NUL = "x00"


@dataclass(frozen=True, slots=True)
class Misfit:
    """One value that does not fit: its place in what the caller sent, and the sentence about it.

    `rule` is the machine word of the rule that it breaks. `place_for_log` leaves out names that only the caller knows.
    """

    place: str
    problem: str
    rule: str
    place_for_log: str


def misfits(errors: Iterable[Mapping[str, Any]], sent: object = None, *, see: str = DESCRIPTION) -> tuple[Misfit, ...]:
    """Tell pydantic's errors, each place once; `sent` is the body that they are about, `see` where to look.

    An error of one of several kinds that a value may have is told of the value: the caller wrote no kind.
    """
    found: dict[str, Misfit] = {}
    for error in errors:
        steps, other_kind = _place(error, sent)
        place = _written(steps) or WHOLE
        rule, problem = str(error["type"]), in_words(error, see)
        if other_kind or (place in found and found[place].rule != rule):
            rule, problem = "kind", f"is of no kind that fits here; see {see}"
        # What a log may name is what the schema names.
        known = steps[:-1] if rule in _CALLERS_NAMES else steps
        found[place] = Misfit(place[:_LONGEST_PLACE], problem, rule, _written(known) or WHOLE)
    return tuple(one for one in found.values() if one.rule != "too_short" or not _has_below(found, one.place))


def _has_below(found: Iterable[str], place: str) -> bool:
    """Tell whether an entry of a list is wrong, which then is one entry less than was sent."""
    return any(other.startswith(f"{place}.") for other in found)


def unknown_names(given: Iterable[str], known: Sequence[str], *, of: str) -> tuple[Misfit, ...]:
    """Tell each name that is none of the `known` ones, such as parameters `of` a route, with the nearest of them."""
    return tuple(
        Misfit(name[:_LONGEST_PLACE], f"is no {of}; {_nearest(name, known)}", "unknown", "query")
        for name in given
        if name not in known
    )


def _nearest(name: str, known: Sequence[str]) -> str:
    if not known:
        return "it takes none, leave it out"
    # By the letters alone: `minConfidence` and `min-confidence` are meant for `min_confidence`.
    plain = {one.replace("_", ""): one for one in known}
    asked = "".join(letter for letter in name.lower() if letter.isalnum())
    near = get_close_matches(asked, plain, n=1, cutoff=0.6) or [one for one in plain if asked and one.startswith(asked)]
    if near:
        return f"did you mean {plain[near[0]]}?"
    return f"it takes {', '.join(sorted(known))}"


def in_words(error: Mapping[str, Any], see: str = DESCRIPTION) -> str:
    """Return the sentence about one error of pydantic's: what is wrong; what to send. No value that was sent."""
    rule, context = str(error["type"]), error.get("ctx") or {}
    if rule.startswith(("datetime", "timezone")):
        wrong = "has no offset from UTC" if rule.startswith("timezone") else "is no time"
        return f"{wrong}; write it as RFC 3339 has it, such as 2026-06-01T12:00:00Z"
    if rule == "value_error":  # raised by a schema of ours, in our words
        return f"cannot be read; {context.get('error')}"
    if rule == "string_pattern_mismatch" and _NO_NUL not in str(context.get("pattern")):
        return f"does not have the form {context.get('pattern')}; write it so"
    for names, words in _WORDS:
        if rule in names:
            plural = "" if 1 in (context.get("min_length"), context.get("max_length")) else "s"
            return words.format(**{"see": see, "s": plural, **{name: _told(one) for name, one in context.items()}})
    return f"cannot be accepted; see {see} for what may stand here"


_WORDS: tuple[tuple[frozenset[str], str], ...] = tuple(
    (frozenset(names.split()), words)
    for names, words in (
        ("missing missing_argument", "is missing; send it"),
        ("extra_forbidden unexpected_keyword_argument", "is no field here; leave it out, or see {see}"),
        ("enum literal_error", "is none of the values there are; send {expected}"),
        ("json_invalid", "is no JSON; send one JSON value, in UTF-8"),
        ("string_type", "is no text; send a string"),
        ("string_too_short", "is too short; send at least {min_length} character{s}"),
        ("string_too_long", "is too long; send at most {max_length} character{s}"),
        ("string_pattern_mismatch", "has a NUL character; leave it out"),
        ("string_unicode", "is no text in UTF-8; send a string"),
        ("too_short", "has too few entries; send at least {min_length}"),
        ("too_long", "has too many entries; send at most {max_length}"),
        ("int_type int_parsing int_from_float int_parsing_size", "is no whole number; send one, such as 3"),
        ("float_type float_parsing", "is no number; send one, such as 0.5"),
        ("finite_number", "is no finite number; send one, such as 0.5"),
        ("bool_type bool_parsing", "is neither true nor false; send one of them"),
        ("greater_than_equal", "is too small; send at least {ge}"),
        ("less_than_equal", "is too large; send at most {le}"),
        ("greater_than", "is too small; send more than {gt}"),
        ("less_than", "is too large; send less than {lt}"),
        ("uuid_type uuid_parsing uuid_version", "is no id; send one as it was answered"),
        ("model_type model_attributes_type dict_type", "is no JSON object; send one, in braces"),
        ("list_type tuple_type set_type", "is no list; send one, in brackets"),
    )
)


def _told(value: object) -> object:
    if isinstance(value, float) and value.is_integer():
        return f"{value:.0f}"
    return f"{value:,}" if isinstance(value, int) else value


def _place(error: Mapping[str, Any], sent: object) -> tuple[list[str | int], bool]:
    """Return the steps to what is wrong, and whether steps were left out that the caller did not write."""
    steps = list(error["loc"])
    if error["type"] == "json_invalid":
        return [], False
    if not steps or steps[0] not in _PLACES:
        return steps, False
    if steps[0] != "body" or sent is None:
        return steps[1:], False
    steps = steps[1:]
    written = list(_steps_in(sent, steps))
    if error["type"] == "missing" and len(written) + 1 == len(steps):
        return steps, False
    return written, len(written) < len(steps)


def _steps_in(sent: Any, steps: Sequence[str | int]) -> Iterator[str | int]:
    """Yield the steps for as long as they lead to something in what was sent."""
    for step in steps:
        if isinstance(sent, Mapping):
            leads = step in sent
        else:
            leads = isinstance(sent, list) and isinstance(step, int) and step < len(sent)
        if not leads:
            return
        inside: Any = sent
        sent = inside[step]
        yield step


def _written(steps: Iterable[str | int]) -> str:
    return ".".join(str(step) for step in steps)
