"""Guards: why two statements that look alike are still not one belief.

Similarity ranks contradictions above paraphrases, so every match has to pass these. A guard looks at
what the statements say differently, and is the same whichever of the two is on the left. Where a text
can be read in two ways a guard objects: a missed merge is found again later, a wrong one loses a fact.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Any, Protocol

from dreaming.passes.consolidation import contrasts, remainder
from dreaming.passes.consolidation.contrasts import only_words, shown
from dreaming.passes.consolidation.numerals import Number
from dreaming.passes.consolidation.quantities import Moment, Quantities, read_quantities
from dreaming.passes.consolidation.records import Veto
from dreaming.passes.consolidation.spelling import spelling
from dreaming.passes.consolidation.wording import Name, Wording, read_wording, stem


class Guard(Protocol):
    """One reason to keep two similar statements apart."""

    @property
    def name(self) -> str:
        """The name under which a vetoed pair is recorded."""
        ...

    def veto(self, left: str, right: str) -> Veto | None:
        """Return what differs, or None when this guard has no objection."""
        ...


@dataclass(frozen=True, slots=True)
class _Rule:
    """A guard made of a function that returns what it saw on each side, or None."""

    name: str
    differences: Callable[[str, str], tuple[str, str] | None]

    def veto(self, left: str, right: str) -> Veto | None:
        """Return the differences as a veto."""
        seen = self.differences(left, right)
        return Veto(self.name, *seen) if seen else None


def veto(left: str, right: str, guards: Sequence[Guard] | None = None) -> Veto | None:
    """Return the first objection to taking `left` and `right` for one belief, or None."""
    for guard in DEFAULT_GUARDS if guards is None else guards:
        objection = guard.veto(left, right)
        if objection is not None:
            return objection
    return None


_quantities = lru_cache(maxsize=4096)(read_quantities)


def _numbers(left: str, right: str) -> tuple[str, str] | None:
    """Numbers must be the same, with the same units; a weak one counts only against another number."""
    of_left, of_right = _quantities(left).numbers, _quantities(right).numbers
    lacking_right = [number for number in of_left if not any(_same_number(number, other) for other in of_right)]
    lacking_left = [number for number in of_right if not any(_same_number(number, other) for other in of_left)]
    strong = any(not number.weak for number in (*lacking_right, *lacking_left))
    if strong or (lacking_right and lacking_left):
        return shown(number.text for number in lacking_right), shown(number.text for number in lacking_left)
    return None


def _same_number(number: Number, other: Number) -> bool:
    return number.value == other.value and (number.unit == other.unit or None in (number.unit, other.unit))


def _dates(left: str, right: str) -> tuple[str, str] | None:
    """Dates, times of day and weekdays must mean the same; none may be left over."""
    of_left, of_right = _quantities(left), _quantities(right)
    for moments, others in ((of_left.dates, of_right.dates), (of_left.times, of_right.times)):
        lacking_right = [moment.text for moment in moments if not _agrees(moment, others)]
        lacking_left = [moment.text for moment in others if not _agrees(moment, moments)]
        if lacking_right or lacking_left:
            return shown(lacking_right), shown(lacking_left)
    left_days = of_left.weekdays - _implied(of_right) if of_right.dates else of_left.weekdays
    right_days = of_right.weekdays - _implied(of_left) if of_left.dates else of_right.weekdays
    if left_days - of_right.weekdays or right_days - of_left.weekdays:
        return shown(map(str, of_left.weekdays)), shown(map(str, of_right.weekdays))
    return None


def _agrees(moment: Moment[Any], others: Iterable[Moment[Any]]) -> bool:
    """Say whether one of the others means the same; what can be read in two ways must be written alike."""
    return any(
        moment.readings == other.readings and (len(moment.readings) == 1 or _digits(moment) == _digits(other))
        for other in others
    )


def _digits(moment: Moment[Any]) -> tuple[int, ...]:
    return tuple(int(digits) for digits in re.findall(r"\d+", moment.text))


def _implied(quantities: Quantities) -> frozenset[int]:
    """Return the weekdays of the dates that name year, month and day."""
    days: set[int] = set()
    for moment in quantities.dates:
        for reading in moment.readings:
            year, month, day = reading
            if year is not None and day is not None:
                with suppress(ValueError):
                    days.add(date(year, month, day).isoweekday())
    return frozenset(days)


_PREFIXES = ("un", "in", "im", "ir", "il", "dis", "non", "mis")


def _negation(left: str, right: str) -> tuple[str, str] | None:
    """One statement negates and the other does not, or they negate different words that both have."""
    of_left, of_right = read_wording(left), read_wording(right)
    if bool(of_left.negated) != bool(of_right.negated):
        return _negated_text(of_left), _negated_text(of_right)
    only_left, only_right = set(of_left.negated) - set(of_right.negated), set(of_right.negated) - set(of_left.negated)
    if only_left & of_right.word_set or only_right & of_left.word_set:
        return _negated_text(of_left), _negated_text(of_right)
    left_words, right_words = only_words(left, right)
    for word in left_words | right_words:
        for prefix in _PREFIXES:
            pair = {word, prefix + word}
            if pair & left_words and pair & right_words and prefix + word in left_words | right_words:
                return shown(pair & left_words), shown(pair & right_words)
    return None


def _negated_text(wording: Wording) -> str:
    return "not " + ", ".join(wording.negated) if wording.negated else ""


def _identifiers(left: str, right: str) -> tuple[str, str] | None:
    """Identifiers must be the same, and digits that are part of no number."""
    of_left, of_right = read_wording(left).identifiers, read_wording(right).identifiers
    if of_left != of_right:
        return shown(of_left - of_right), shown(of_right - of_left)
    left_digits, right_digits = _quantities(left).unread, _quantities(right).unread
    return None if left_digits == right_digits else (shown(left_digits), shown(right_digits))


def _names(left: str, right: str) -> tuple[str, str] | None:
    """Each has a name that the other has not, or one has a further name that is no part of a shared one."""
    of_left, of_right = read_wording(left), read_wording(right)
    left_names, right_names = _unshared_names(of_left, of_right), _unshared_names(of_right, of_left)
    if (left_names and right_names) or any(
        name.certain and not _extends_name(name, wording, other)
        for names, wording, other in ((left_names, of_left, of_right), (right_names, of_right, of_left))
        for name in names
    ):
        return shown(name.word for name in left_names), shown(name.word for name in right_names)
    return None


def _unshared_names(wording: Wording, other: Wording) -> list[Name]:
    known = other.word_set | {name.word for name in other.names}
    stems = set(map(stem, known))
    return [name for name in wording.names if name.word not in known and stem(name.word) not in stems]


def _extends_name(name: Name, wording: Wording, other: Wording) -> bool:
    """Say whether a name stands beside one that both statements have, as a surname does."""
    return any(
        abs(near.place - name.place) == 1 and near.word in other.word_set and near.word != name.word
        for near in wording.names
    )


DEFAULT_GUARDS: tuple[Guard, ...] = (
    _Rule("numbers", _numbers),
    _Rule("dates", _dates),
    _Rule("negation", _negation),
    _Rule("identifiers", _identifiers),
    _Rule("names", _names),
    _Rule("swapped", contrasts.swapped),
    _Rule("quantifiers", contrasts.quantifiers),
    _Rule("opposites", contrasts.opposites),
    _Rule("tense", contrasts.tense),
    _Rule("substitution", contrasts.substitution),
    _Rule("content", remainder.content),
    _Rule("arrangement", remainder.arrangement),
    _Rule("spelling", spelling),
)
"""Every guard, in the order in which they are asked."""
