"""From a model's answer to claims: what is accepted, what is malformed, what is cut off.

The rule for answers that are not plainly a list of objects: an explicit empty list (`[]`,
`{"claims": []}`) is zero claims; a single object that looks like a claim is one claim; anything else
without an object in it (empty text, prose, null, `[null]`, `{"claims": null}`, strings, `{}`) is
malformed. An answer is never taken for zero claims in silence.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from enum import StrEnum
from typing import Any, TypeVar

import json_repair
from pydantic import ValidationError

from dreaming.beliefs.records import DecayClass, Importance, Kind
from dreaming.errors import MalformedAnswer, RejectClaim
from dreaming.passes.consolidation.records import Claim, ParsedAnswer

_WRAPPERS = ("claims", "beliefs", "memories", "facts", "items", "results", "data", "output", "answer", "response")
_CLAIM_KEYS = frozenset({"statement", "quote"})
_MAX_KEPT_DEPTH = 12  # a claim needs 3
_MAX_STARTS = 32  # places in prose where JSON is tried, so that hostile text costs linear time
_MAX_REPAIR = 6_000  # characters of one object; the repair library takes quadratic time on hostile text
_MAX_REPAIR_NESTING = 40
_REPAIR_BUDGET = 60_000  # characters over all repairs of one answer

_THINKING = re.compile(r"<(think|thinking|reasoning|scratchpad)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_THINKING_END = re.compile(r"^.*</(?:think|thinking|reasoning|scratchpad)>", re.DOTALL | re.IGNORECASE)
_START = re.compile(r"\[(?=\s*[\[{\]])|\{(?=\s*[\"'\u201c])")
_BARE_START = re.compile(r"\{(?=\s*\w+\s*:)")  # keys without quotes
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def parse_answer(text: str, *, truncated: bool) -> ParsedAnswer:
    """Return the objects of an answer that may be claims.

    Args:
        text: the answer as the model gave it, with code fences, prose or thinking around the JSON.
        truncated: whether the provider says that the answer was cut off.

    Raises:
        MalformedAnswer: the answer holds no claims in any accepted form, and no explicit empty list.
    """
    for candidate in _without_thinking(text.lstrip("\ufeff")):
        found = _whole(candidate) or _embedded(candidate) or _repaired(candidate)
        if found is not None:
            return ParsedAnswer(tuple(found.items), partial=truncated or found.cut)
    raise MalformedAnswer("the answer holds neither claims nor an empty list of claims")


@dataclass(frozen=True, slots=True)
class _Found:
    """Objects read from an answer, and whether its text is visibly cut off."""

    items: list[dict[str, Any]]
    cut: bool = False


def _without_thinking(text: str) -> Iterator[str]:
    """Yield the answer without its thinking, unless it starts as JSON; then the answer as it is."""
    if text.lstrip()[:1] not in {"[", "{", "`"} and "</" in text:
        yield _THINKING_END.sub(" ", _THINKING.sub(" ", text))
    yield text


def _whole(text: str) -> _Found | None:
    """Read text that is JSON and nothing else."""
    text = text.strip()
    try:
        value, end = _decode(text, 0)
    except ValueError:
        return None
    items = _items(value)
    return None if items is None or end < len(text) else _Found(items)


def _embedded(text: str) -> _Found | None:
    """Read the complete JSON values in text that holds more than JSON; None when one of them is broken."""
    items: list[dict[str, Any]] = []
    empty = False
    position = 0
    for _ in range(_MAX_STARTS):
        start = _START.search(text, position)
        if start is None:
            break
        try:
            value, position = _decode(text, start.start())
        except ValueError:
            return None
        read = _items(value)
        items += read or []
        empty = empty or read == []
    return _Found(items) if items or empty else None


def _decode(text: str, start: int) -> tuple[Any, int]:
    """Decode the JSON value at `start`; any failure, also one of depth or size, is a `ValueError`."""
    try:
        return _DECODER.raw_decode(text, start)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


_DECODER = json.JSONDecoder(strict=False, parse_constant=lambda _: None)


def _items(value: Any) -> list[dict[str, Any]] | None:
    """Return the objects of a decoded answer, [] for an explicit empty list, None when malformed."""
    if isinstance(value, list):
        rows = [row for entry in value for row in (entry if isinstance(entry, list) else [entry])]
        objects = [_clean(row) for row in rows if isinstance(row, dict) and row]
        return objects if objects or not value else None
    if not isinstance(value, dict):
        return None
    if value.keys() & _CLAIM_KEYS:
        return [_clean(value)]
    for wrapper in _WRAPPERS:
        if wrapper in value:
            return _items(value[wrapper])
    return _grouped(value)


def _grouped(value: dict[str, Any]) -> list[dict[str, Any]] | None:
    """Read an answer that groups claims by the label of their passage."""
    if not value or not all(isinstance(group, list) for group in value.values()):
        return None
    items = [{"note": label, **_clean(row)} for label, group in value.items() for row in group if isinstance(row, dict)]
    return items if items or not any(value.values()) else None


def _clean(value: Any, depth: int = 0) -> Any:
    """Return the value fit for storage: no NUL, lone surrogate, infinity, or depth without end."""
    if isinstance(value, str):
        return _UNSTORABLE.sub("", value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict | list) and depth >= _MAX_KEPT_DEPTH:
        return None
    if isinstance(value, dict):
        return {_UNSTORABLE.sub("", str(key)): _clean(entry, depth + 1) for key, entry in value.items()}
    if isinstance(value, list):
        return [_clean(entry, depth + 1) for entry in value]
    return value


@dataclass(slots=True)
class _Outline:
    """Where the objects of a broken answer lie, and whether it is cut off in the middle of one."""

    objects: list[tuple[int, int]]
    cut: bool


def _repaired(text: str) -> _Found | None:
    """Read a broken or cut-off answer object by object, keeping those that are finished."""
    start = _START.search(text) or _BARE_START.search(text)
    if start is None:
        return None
    outline = _outline(text, start.start())
    items: list[dict[str, Any]] = []
    lost = outline.cut
    budget = _REPAIR_BUDGET
    for first, last in outline.objects:
        value, cost = _repair(text[first:last], budget)
        budget -= cost
        read = _items(value) if isinstance(value, dict) else None
        items += read or []
        lost = lost or read is None
    return _Found(items, cut=lost) if items else None


def _repair(text: str, budget: int) -> tuple[Any, int]:
    """Decode one object, by the repair library where plain JSON fails; return it with the cost."""
    try:
        value, end = _decode(text, 0)
        if end == len(text):
            return value, 0
    except ValueError:
        pass
    if len(text) > min(_MAX_REPAIR, budget) or text.count("{") + text.count("[") > _MAX_REPAIR_NESTING:
        return None, 0
    try:
        return json_repair.loads(text, skip_json_loads=True), len(text)
    except (ValueError, RecursionError, IndexError, KeyError, TypeError):
        return None, len(text)


_STRUCTURE = re.compile(r"[\"'\[\]{}]|\\.", re.DOTALL)
_BEFORE_KEY_OR_VALUE = re.compile(r"[\[{,:(]\s*$")
_AFTER_STRING = re.compile(r"\s*(?:[\]},:]|$)")


def _outline(text: str, start: int) -> _Outline:
    """Find the outermost objects that look like claims, forgiving quotes inside strings.

    A quote ends a string only where something structural follows, so that `"say "hi" now"` is one
    string. Objects count at the depth of the first object inside a list, or as the only object.
    """
    objects: list[tuple[int, int]] = []
    stack: list[tuple[str, int]] = []
    quote = ""
    for match in _STRUCTURE.finditer(text, start):
        character, position = match.group(), match.start()
        if quote:
            if character == quote and _AFTER_STRING.match(text, position + 1):
                quote = ""
        elif character in {'"', "'"}:
            if character == '"' or _BEFORE_KEY_OR_VALUE.search(text, max(0, position - 32), position):
                quote = character
        elif character in {"[", "{"}:
            stack.append((character, position))
        elif character in {"]", "}"} and stack:
            opened, first = stack.pop()
            if opened == "{" and all(outer == "[" or _is_wrapper(text, at) for outer, at in stack):
                objects.append((first, position + 1))
            if not stack and first == start:
                break
    wrapped = [(first, last) for first, last in objects if not _is_wrapper(text, first)]
    return _Outline(wrapped, cut=bool(stack or quote))


_WRAPPER_START = re.compile(r"\{\s*[\"']?(?:" + "|".join(_WRAPPERS) + r")[\"']?\s*:\s*[\[{]")


def _is_wrapper(text: str, position: int) -> bool:
    return _WRAPPER_START.match(text, position) is not None


def to_claim(item: Mapping[str, Any], *, default_timezone: tzinfo | None = None) -> Claim:
    """Return the claim that an item of an answer makes.

    Numbers may be strings, and a confidence a percentage with its sign ("80%"). A bare number above
    1 is refused, since nothing says whether it is of 5, of 10 or of 100. An unknown importance or
    decay class becomes the default. A subject, attribute or value that is too long is dropped: cut,
    it would name something else. A date that cannot be read is dropped; one without an offset is
    read in `default_timezone` (UTC when None).

    Raises:
        RejectClaim: rule `shape`; the kind is unknown, the confidence is no number from 0 to 1, or
            the statement or the quote is missing.
    """
    zone = default_timezone or UTC
    valid_from, valid_until = _moment(item.get("valid_from"), zone), _moment(item.get("valid_until"), zone)
    if valid_from and valid_until and valid_until < valid_from:
        valid_until = None
    try:
        return Claim(
            note=_text(item.get("note")),
            kind=_choice(Kind, item.get("kind")) or _refuse("the kind is unknown"),
            statement=_text(item.get("statement")) or _refuse("the statement is missing"),
            quote=_text(item.get("quote")) or _refuse("the quote is missing"),
            confidence=_confidence(item.get("confidence")),
            importance=_choice(Importance, item.get("importance")) or Importance.NORMAL,
            decay_class=_choice(DecayClass, item.get("decay_class")) or DecayClass.SLOW,
            subject=_text(item.get("subject"), 200),
            attribute=_text(item.get("attribute"), 200),
            value=_text(item.get("value"), 500),
            multi_valued=str(item.get("multi_valued")).strip().casefold() in {"true", "yes", "1"},
            relations=tuple(_relations(item.get("relations"))),
            valid_from=valid_from,
            valid_until=valid_until,
        )
    except ValidationError as error:
        fields = ", ".join(sorted({str(detail["loc"][0]) for detail in error.errors(include_input=False)}))
        raise RejectClaim("shape", f"not in the shape of a claim: {fields}") from None


def _refuse(message: str) -> Any:
    raise RejectClaim("shape", message)


def _text(value: Any, longest: int | None = None) -> str | None:
    """Return text, or a number as text; None for anything else, for nothing, and for what is too long."""
    if isinstance(value, bool):
        value = str(value).lower()
    if not isinstance(value, str | int | float) or (isinstance(value, int) and abs(value) > _LARGEST):
        return None
    text = _UNSTORABLE.sub("", str(value)).strip()
    return text if text and (longest is None or len(text) <= longest) else None


_LARGEST = 10**18


_Choice = TypeVar("_Choice", bound=StrEnum)


def _choice(choices: type[_Choice], value: Any) -> _Choice | None:
    word = value.strip().casefold().replace(" ", "_").replace("-", "_") if isinstance(value, str) else ""
    return next((choice for choice in choices if choice.value == word), None)


def _confidence(value: Any) -> float:
    text = str(value).strip() if isinstance(value, int | float | str) and not isinstance(value, bool) else ""
    scale = 100 if text.endswith("%") else 1
    try:
        confidence = float(text.removesuffix("%")) / scale
    except ValueError:
        confidence = math.nan
    if not 0 <= confidence <= 1:
        raise RejectClaim("shape", "the confidence is no number from 0 to 1")
    return confidence


def _relations(value: Any) -> Iterator[dict[str, str]]:
    for entry in value if isinstance(value, list) else ():
        relation, target = (
            (_text(entry.get(key)) for key in ("type", "target")) if isinstance(entry, dict) else (None, None)
        )
        if relation and target and len(relation) <= 80 and len(target) <= 200:
            yield {"type": relation, "target": target}


_PARTIAL_DATE = re.compile(r"\d{4}(?:-\d{2})?")


def _moment(value: Any, zone: tzinfo) -> datetime | None:
    """Read an ISO 8601 date or moment; a year or a month stands for its start."""
    if not isinstance(value, str):
        return None
    text = value.strip()
    if _PARTIAL_DATE.fullmatch(text):
        text = (text + "-01-01")[:10]
    try:
        moment = datetime.fromisoformat(text)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=zone)
        moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return moment
