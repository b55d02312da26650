"""Values as they are compared: without articles and times, numbers and dates by what they mean. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from dreaming.beliefs.words import fold, tokens
from dreaming.passes.consolidation.lexicon import OPPOSITES, WEEKDAYS
from dreaming.passes.consolidation.quantities import DateParts, Quantities, read_quantities
from dreaming.passes.contradictions.vocabulary import category

_DROPPED = frozenset(
    [
        "a",
        "an",
        "the",
        "his",
        "her",
        "their",
        "its",
        "my",
        "our",
        "your",
        "on",
        "at",
        "in",
        "to",
        "by",
        "for",
        "of",
        "called",
        "named",
        "s",
    ]
)
_HEADS = frozenset(["project", "team", "city", "town", "company", "firm", "street", "st"])
_TIME_WORD = (
    r"(?:\d{4}-\d\d-\d\d|\d{1,2}(?:st|nd|rd|th)?(?: of)? [A-Z][a-z]+(?: \d{4})?"
    r"|[A-Z][a-z]+ \d{1,2}(?:,? \d{4})?|[A-Z][a-z]+ \d{4}|(?:19|20)\d\d|(?:last|this|next"
    r"|the) [\w ]{3,20}|yesterday|today|tomorrow|then|January|February|March|April|May|June|July"
    r"|August|September|October|November|December|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)"
)
_TRAILING = re.compile(
    rf"(?:,)? (?:(?:since|as of|from|starting|effective|beginning|until|till|through|in|on|after|before"
    rf"|as from) {_TIME_WORD}(?: on| onwards)?"
    r"|(?:in|since) (?:early |late |mid[- ])?(?:spring|summer|autumn|fall|winter|Q[1-4])(?: \d{4})?"
    r"|in (?:a|one|two|three|four|five|six|\d+) (?:days?|weeks?|months?|years?)(?: time)?"
    r"|for (?:the (?:last|past) )?(?:a|one|two|three|four|five|six|seven|eight|nine|ten|\d+) (?:weeks?"
    r"|months?|years?)(?= |$)"
    r"|(?:since|from|starting|effective|by|until|on) (?:(?<!by )(?<!on )|next |last |this )"
    r"(?:week|month|year|spring|summer"
    r"|autumn|winter)"
    r"|last (?:week|month|year|spring|summer|autumn|winter|\w+day|[A-Z]\w+)|next (?:week|month|year)|(?:a"
    r"|one|two|three|\w+) (?:days?"
    r"|weeks?|months?|years?) ago"
    r"|(?:this|last|next) (?:week|month|quarter|year|season|term|semester)|yesterday|today|these days"
    r"|for now|for good|for the time being|so far|at last|again|too|as well|instead"
    r"|anymore|any more"
    r"|any longer|nowadays|at the moment|because .*|since .*|with effect .*|permanently|now)$"
)


_SIDE_CLAUSE = re.compile(
    r"(?:,| and| but| while| where| which| who| because| so| when)+ (?:(?:she|he|they|it|is|are|was|has|had"
    r"|now|also|likes|loves|\w{2,}(?:es|ed))\b|[a-z]+s (?:a|the|in|at|on|for|to|her|his|their|it)\b).*$"
)


def without_times(text: str) -> str:
    """Return a value without the phrases at its end that say when or how long it holds."""
    text = _SIDE_CLAUSE.sub("", text.partition("; ")[0])
    before = ""
    while before != text:
        before, text = text, _TRAILING.sub("", text).rstrip(" ,;.")
    return text


_HEAD_FIRST = re.compile(r"(?:[Tt]he |[Aa] |[Oo]ur )?[A-Za-z]+ [A-Z]")


@dataclass(frozen=True, slots=True)
class Value:
    """A value: its words in order, the numbers, dates, times and weekdays in it, and the words besides those."""

    words: tuple[str, ...]
    rest: tuple[str, ...] = ()
    numbers: frozenset[tuple[str, str | None]] = frozenset()
    dates: frozenset[frozenset[DateParts]] = frozenset()
    times: frozenset[frozenset[int]] = frozenset()
    weekdays: frozenset[int] = frozenset()

    @property
    def text(self) -> str:
        """The words as one text."""
        return " ".join(self.words)

    @property
    def quantities(self) -> tuple[object, ...]:
        """Everything in it that counts or dates."""
        found = (self.numbers, self.dates, self.times, self.weekdays)
        return found if any(found) else ()

    @property
    def kinds(self) -> tuple[bool, ...]:
        """Which kinds of quantities it has."""
        return tuple(bool(found) for found in (self.numbers, self.dates or self.weekdays, self.times))

    @property
    def sort(self) -> str | None:
        """What sort of quantity it is, when it is one and nothing else: date, time, or number with its unit."""
        if self.rest:
            return None
        kinds = [
            name
            for name, found in (("date", self.dates or self.weekdays), ("time", self.times), ("number", self.numbers))
            if found
        ]
        if len(kinds) != 1:
            return "date" if kinds == ["date", "time"] else None
        if kinds[0] != "number":
            return kinds[0]
        units = sorted({unit or "" for _, unit in self.numbers})
        return f"number {units[0]}".strip() if len(self.numbers) == 1 else None


@lru_cache(maxsize=8192)
def read_value(text: str) -> Value:
    """Read a value as it is written."""
    text = _degrees(without_times(text.strip().rstrip(".")))
    found = read_quantities(text)
    words = tuple(word for word in tokens(text) if word not in _DROPPED and word.strip("'-.,"))
    if words and text.endswith((" on", " in")):
        words = (*words, text[-2:])  # "switched on" is not "switched off"
    words = words or tuple(word for word in tokens(text) if word.strip("'-.,"))
    words = tuple(word.removesuffix("'s") for word in words)
    stripped = words[1:] if len(words) > 1 and words[0] in _HEADS and _HEAD_FIRST.match(text) else words
    stripped = stripped[:-1] if len(stripped) > 1 and stripped[-1] in _HEADS and text[:1].isupper() else stripped
    return Value(
        stripped,
        _besides(text, found),
        frozenset((number.value, number.unit) for number in found.numbers if not number.weak),
        frozenset(moment.readings for moment in found.dates),
        frozenset(moment.readings for moment in found.times),
        found.weekdays,
    )


_DEGREES = re.compile(r"(?<=\d) ?(?:°|º|degrees?) ?(?P<unit>C(?:elsius|entigrade)?|F(?:ahrenheit)?)\b", re.IGNORECASE)


def _degrees(text: str) -> str:
    """Write "20 degrees Celsius" as 20 °C."""
    return _DEGREES.sub(lambda found: f" °{found['unit'][0].upper()}", text)


def _besides(text: str, found: Quantities) -> tuple[str, ...]:
    """Return the words of a value that belong to none of its quantities."""
    written = [*(moment.text for moment in found.dates), *(moment.text for moment in found.times)]
    for part in (*written, *(number.text for number in found.numbers if not number.weak)):
        text = text.replace(part, " ")
    return tuple(
        word
        for word in tokens(text)
        if word not in _DROPPED and word not in _COUNTED and word not in WEEKDAYS and word.strip("'-.,")
    )


_COUNTED = frozenset(
    [
        "am",
        "pm",
        "every",
        "each",
        "o'clock",
        "clock",
        "about",
        "around",
        "only",
        "exactly",
        "per",
        "and",
        "sharp",
        "utc",
        "gmt",
        "cet",
        "cest",
        "local",
        "the",
    ]
)


def same_value(left: Value, right: Value, aliases: Mapping[str, str]) -> bool:
    """Tell whether two values are one: by their words, by their quantities, or one says more of the other."""
    if left.sort and left.sort.split()[0] == (right.sort or "").split(" ")[0]:
        return _same_quantity(left, right)
    if left.numbers != right.numbers and left.numbers and right.numbers:
        return False
    if left.rest == right.rest and left.quantities and left.quantities == right.quantities:
        return True
    one, other = (aliases.get(value.text, value.text) for value in (left, right))
    if one == other:
        return True
    short, long = sorted((one.split(), other.split()), key=len)
    return bool(short) and long[: len(short)] == short and not set(long[len(short) :]) & _TURNING


def keys_of(value: Value, aliases: Mapping[str, str]) -> tuple[list[tuple[object, ...]], list[tuple[object, ...]]]:
    """Return under which keys a value is filed, and under which its equals are looked up.

    Whatever `same_value` holds for equal is found under one of the keys.
    """
    words = aliases.get(value.text, value.text).split()
    filed: list[tuple[object, ...]] = []
    wanted: list[tuple[object, ...]] = []
    if words:
        first, pair = ("first", words[0]), ("pair", *words[:2])
        filed += [("only", words[0])] if len(words) == 1 else [first, pair]
        wanted += [("only", words[0]), first if len(words) == 1 else pair]
    if value.quantities:
        besides = ("besides", value.rest, *value.quantities)
        filed, wanted = [*filed, besides], [*wanted, besides]
    sort = (value.sort or "").split(" ")[0]
    if sort == "number":
        numbers = ("number", frozenset(number for number, _ in value.numbers))
        return [*filed, numbers], [*wanted, numbers]
    if sort in ("date", "time"):
        exact = _moment_keys(value)
        loose = any(part is None for one in value.dates for reading in one for part in reading[1:])
        filed += [("dated",), *([("loose",)] if loose else exact)]
        wanted += [("dated",)] if loose else [("loose",), *exact]
    return filed, wanted


def _moment_keys(value: Value) -> list[tuple[object, ...]]:
    days: list[tuple[object, ...]] = [("day", *reading[1:]) for one in value.dates for reading in one]
    minutes: list[tuple[object, ...]] = [("minute", minute) for one in value.times for minute in one]
    return [*days, *minutes, *([("weekdays", value.weekdays)] if value.weekdays else [])]


_TURNING = frozenset({"not", "no", "street", "st", "road", "and", "or", "without", "except", "avenue"})


def _same_quantity(left: Value, right: Value) -> bool:
    if left.dates and right.dates:
        return any(_agrees(a, b) for one in left.dates for a in one for other in right.dates for b in other)
    if left.weekdays or right.weekdays:
        return left.weekdays == right.weekdays and left.times == right.times
    if left.times or right.times:
        return any(one & other for one in left.times for other in right.times)
    if {value for value, _ in left.numbers} != {value for value, _ in right.numbers}:
        return False
    units = [{unit for _, unit in value.numbers if unit} for value in (left, right)]
    return not units[0] or not units[1] or units[0] == units[1]


def _agrees(left: DateParts, right: DateParts) -> bool:
    return all(one == other or None in (one, other) for one, other in zip(left, right, strict=True))


_POLES = {
    word: (group, pole) for group, poles in enumerate(OPPOSITES) for pole, words in enumerate(poles) for word in words
}
_TEMPERS = frozenset({"left", "right", "to", "from", "into", "with", "without", "for", "against", "of", "up", "down"})


def alternatives(left: Value, right: Value, *, choices: bool = True) -> bool:
    """Tell whether two values answer one question, whatever it is: both times, both prices, both colours.

    `choices`: whether two of one kind of choice count, such as two drinks; they do where one is had at a time.
    """
    if left.sort and left.sort == right.sort:
        return True
    if left.rest == right.rest and left.quantities and right.quantities and left.quantities != right.quantities:
        return left.kinds == right.kinds
    kinds = category(left.text), category(right.text)
    if kinds[0] and kinds[0] == kinds[1]:
        return choices
    only_left, only_right = set(left.words) - set(right.words), set(right.words) - set(left.words)
    if len(only_left) != 1 or len(only_right) != 1 or len(left.words) != len(right.words):
        return False
    (one,), (other,) = only_left, only_right
    if one in _TEMPERS or other in _TEMPERS:
        return False
    poles = _POLES.get(one), _POLES.get(other)
    same_group = bool(poles[0] and poles[1] and poles[0][0] == poles[1][0] and poles[0][1] != poles[1][1])
    return same_group or (choices and category(one) is not None and category(one) == category(other))


def likeness_keys(value: Value) -> list[tuple[object, ...]]:
    """Return keys of which two values share one whenever they are alternatives, whatever they answer."""
    found: list[tuple[object, ...]] = []
    if value.sort:
        found.append(("sort", value.sort))
    if value.quantities:
        found.append(("besides", value.rest, value.kinds))
    if kind := category(value.text):
        found.append(("kind", kind))
    words = frozenset(value.words)
    for word in sorted(words - _TEMPERS):
        turned = (_POLES[word][0] if word in _POLES else None, category(word))
        if any(one is not None for one in turned):
            others = len(value.words), words - {word}
            found += [("turned", *others, *one) for one in enumerate(turned) if one[1] is not None]
    return found


_ARTICLE = re.compile(r"^A\b|\ba\b(?!['’.])")  # "room A" is a name


@lru_cache(maxsize=4096)
def text_key(text: str) -> str:
    """Return a name folded for comparison: no articles, no possessive, no case."""
    folded = [word for word in tokens(fold(_ARTICLE.sub(" ", text))) if word not in {"the", "an", "our", "my", "their"}]
    return " ".join(word.removesuffix("'s") for word in folded).strip(" .,'\"“”")
