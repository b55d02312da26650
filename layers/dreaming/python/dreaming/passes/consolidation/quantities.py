"""Numbers, dates, weekdays and times of day, read from text as comparable values."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from dreaming.passes.consolidation.lexicon import (
    MONTHS,
    NUMBER_WORDS,
    ORDINAL_WORDS,
    SHORT_WEEKDAYS,
    WEEKDAYS,
    WORDS_AND_MONTHS,
)
from dreaming.passes.consolidation.numerals import BLANK, HAN, Number, any_of, blank, han_number, read_numbers

DateParts = tuple[int | None, int, int | None]
"""Year, month and day; None where the text does not say."""


Reading = TypeVar("Reading")


@dataclass(frozen=True, slots=True)
class Moment(Generic[Reading]):
    """A date or a time of day, as everything that its text can mean (03/04 is in March or in April).

    `place` is where it stands in the text.
    """

    readings: frozenset[Reading]
    text: str
    place: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Quantities:
    """Everything of a text that counts or dates; `times` read as minutes of the day, weekdays as 1..7.

    `weekday_order` are the weekdays as they stand in the text; `unread` its other digits, sorted. `rest` is
    the text with a 0 for each of these, weak numbers excepted, every other character in its place.
    """

    numbers: tuple[Number, ...]
    dates: tuple[Moment[DateParts], ...]
    times: tuple[Moment[int], ...]
    weekdays: frozenset[int]
    weekday_order: tuple[int, ...] = ()
    unread: tuple[str, ...] = ()
    rest: str = field(default="", compare=False)


def plain(text: str) -> str:
    """Return text with compatibility forms, digits of all scripts, quotes and dashes made plain."""
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKC", text).translate(_PLAIN)
    if _OTHER_DIGIT.search(text):
        text = _OTHER_DIGIT.sub(lambda match: str(unicodedata.digit(match.group())), text)
    return text


_PLAIN = str.maketrans(
    {**dict.fromkeys("\u2018\u2019\u02bc", "'"), **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-")}
)
_OTHER_DIGIT = re.compile(r"(?![0-9])\d")


_MONTH = rf"(?P<month>(?:{any_of(MONTHS)})\b)\.?"
_YEAR = r"(?P<year>(?:1[5-9]|20|21)\d\d)\b"
_DAY = rf"(?P<day>\d{{1,2}}|{any_of(ORDINAL_WORDS)})"
_HAN_DATE = (
    rf"(?:(?P<year>\d{{4}}|[{HAN}]{{4}})\s*年\s*)?(?P<month>\d{{1,2}}|[{HAN}]{{1,3}})\s*月"
    rf"(?:\s*(?P<day>\d{{1,2}}|[{HAN}]{{1,3}})\s*[日号號])?"
)
_DATES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?<![\d.-])(?P<year>\d{4})([-/.])(?P<month>\d{1,2})\2(?P<day>\d{1,2})(?=T\d|\b)(?![-/.]\d)",
        _HAN_DATE,
        r"(?<![\d./-])(?P<day>\d{1,2})([./-])(?P<month>\d{1,2})\2(?P<year>\d{4}|\d{2})\b(?![./-]\d)",
        r"(?<![\w./-])(?P<day>\d{1,2})/(?P<month>\d{1,2})(?![\w/]|[.-]\d)",
        r"(?<![\w./-])(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?!\d)",
        rf"\b{_DAY}(?:st|nd|rd|th|er|\.|º)?,?\s+(?:(?:day\s+)?of\s+|de\s+)?{_MONTH}(?:,?\s+(?:of\s+|de\s+|del\s+)?{_YEAR})?",
        rf"\b{_MONTH}\s+(?:the\s+)?{_DAY}(?:st|nd|rd|th)?\b(?!\s*(?:%|:\d))(?:,?\s+(?:of\s+)?{_YEAR})?",
        rf"\b{_MONTH},?\s+(?:of\s+|de\s+)?{_YEAR}",
    )
)
_MONTH_ALONE = re.compile(rf"\b{_MONTH}", re.IGNORECASE)
_BEFORE_MONTH = re.compile(
    r"\b(?:in|im|en|since|seit|until|till|by|early|late|mid|last|next|this|during|from|through|bis|ab|desde|hasta)[\s-]+$",
    re.IGNORECASE,
)
_WEEKDAY = re.compile(rf"\b(?:{any_of(WEEKDAYS)})\b", re.IGNORECASE)
_SHORT_WEEKDAY = re.compile(rf"(?<=[\s(,])(?:{any_of(SHORT_WEEKDAYS)})\b")
_HAN_WEEKDAY = re.compile(
    r"(?:星期|周|週|礼拜|禮拜)([一二三四五六日天1-7])|([月火水木金土日])曜|([월화수목금토일])요일"
)
_TIMES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?<![\d:.])(?P<hour>[01]?\d|2[0-4])[:h](?P<minute>[0-5]\d)(?::[0-5]\d)?(?:\s*(?P<half>[ap])\.?m\b\.?)?(?![\d:])",
        r"(?<![\d:.])(?P<hour>1[0-2]|0?\d)(?P<minute>)\s*(?P<half>[ap])\.?m\b\.?",
        rf"\b(?P<hour>\d{{1,2}}|{any_of(NUMBER_WORDS)})(?P<minute>)\s+(?P<half>)(?:o'clock|uhr)\b",
        r"\b(?P<hour>noon|midday|midnight)(?P<minute>)(?P<half>)\b",
    )
)


def read_quantities(text: str) -> Quantities:
    """Read a text; what is read as a date or a time is not read as a number again."""
    rest = plain(text)
    dates: list[Moment[DateParts]] = []
    times: list[Moment[int]] = []
    for pattern in _DATES:
        rest = _take(pattern, rest, _date, dates)
    for pattern in _TIMES:
        rest = _take(pattern, rest, _time, times)
    days = tuple(day for _, day in sorted(_weekdays(rest)))
    for pattern in (_WEEKDAY, _SHORT_WEEKDAY, _HAN_WEEKDAY):
        rest = pattern.sub(blank, rest)
    rest = _take(_MONTH_ALONE, rest, _month_alone, dates)
    numbers = tuple(sorted(read_numbers(rest), key=lambda number: number.place))
    for number in numbers:
        if not number.weak:
            rest = rest[: number.place] + BLANK.ljust(len(number.text)) + rest[number.place + len(number.text) :]
    unread = tuple(sorted(_DIGITS.findall(rest)))
    rest = rest.replace(BLANK, "0")
    return Quantities(numbers, _in_order(dates), _in_order(times), frozenset(days), days, unread, rest)


_DIGITS = re.compile(r"\d+")


def _in_order(moments: list[Moment[Reading]]) -> tuple[Moment[Reading], ...]:
    return tuple(sorted(moments, key=lambda moment: moment.place))


def _take(
    pattern: re.Pattern[str],
    text: str,
    read: Callable[[re.Match[str]], Moment[Reading] | None],
    found: list[Moment[Reading]],
) -> str:
    """Move what `pattern` finds and `read` accepts from the text to `found`."""

    def take(match: re.Match[str]) -> str:
        moment = read(match)
        if moment is None:
            return match.group()
        found.append(replace(moment, place=match.start()))
        return blank(match)

    return pattern.sub(take, text)


def _date(match: re.Match[str]) -> Moment[DateParts] | None:
    groups = match.groupdict()
    year, month, day = (_part(groups.get(name)) for name in ("year", "month", "day"))
    if groups.get("month", "").casefold() in WORDS_AND_MONTHS and day is year is None and groups["month"].islower():
        return None
    if year is not None and year < 100:
        year += 2000 if year < 70 else 1900
    orders = {(month, day)}
    if "/" in match.group() or (match.group().count("-") == 2 and not re.match(r"\d{4}", match.group())):
        orders.add((day, month))
    readings = frozenset(
        (year, m, d) for m, d in orders if m is not None and 1 <= m <= 12 and (d is None or 1 <= d <= 31)
    )
    return Moment(readings, match.group().strip()) if readings and match.group() != "24/7" else None


def _part(text: str | None) -> int | None:
    if not text:
        return None
    if text.isdecimal():
        return int(text)
    folded = text.casefold()
    if folded in MONTHS:
        return MONTHS[folded]
    return ORDINAL_WORDS[folded] if folded in ORDINAL_WORDS else han_number(text)


def _month_alone(match: re.Match[str]) -> Moment[DateParts] | None:
    word = match.group("month")
    before = match.string[max(0, match.start() - 24) : match.start()]
    named = _BEFORE_MONTH.search(before) is not None
    if word.casefold() in WORDS_AND_MONTHS or len(word) <= 3:
        accepted = word[0].isupper() and (named or before.strip() != "") and (named or len(word) > 3 or word == "May")
    else:
        accepted = word[0].isupper() or named
    return Moment(frozenset({(None, MONTHS[word.casefold()], None)}), match.group()) if accepted else None


def _weekdays(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each weekday stands, and which it is."""
    yield from ((match.start(), WEEKDAYS[match.group().casefold()]) for match in _WEEKDAY.finditer(text))
    yield from ((match.start(), SHORT_WEEKDAYS[match.group()]) for match in _SHORT_WEEKDAY.finditer(text))
    for match in _HAN_WEEKDAY.finditer(text):
        chinese, japanese, korean = match.groups()
        if chinese:
            day = int(chinese) if chinese.isdigit() else "一二三四五六日".index(chinese.replace("天", "日")) + 1
        else:
            day = "月火水木金土日".index(japanese) + 1 if japanese else "월화수목금토일".index(korean) + 1
        yield match.start(), day


def _time(match: re.Match[str]) -> Moment[int] | None:
    word = match.group("hour").casefold()
    if word in {"noon", "midday", "midnight"}:
        return Moment(frozenset({0 if word == "midnight" else 720}), match.group())
    hour = int(word) if word.isdecimal() else NUMBER_WORDS[word]
    if hour > 24:
        return None
    minute = int(match.group("minute") or 0)
    half = (match.group("half") or "").casefold()
    hours = {hour % 12 + (12 if half == "p" else 0)} if half else {hour % 24}
    if not half and 1 <= hour <= 12:
        hours.add((hour + 12) % 24)
    return Moment(frozenset(60 * h + minute for h in hours), match.group())
