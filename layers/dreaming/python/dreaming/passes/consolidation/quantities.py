"""Numbers, units, dates, weekdays and times of day, read from text as comparable values."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from typing import Generic, TypeVar

from dreaming.beliefs.words import UNSPACED
from dreaming.passes.consolidation.lexicon import (
    MONTHS,
    NUMBER_WORDS,
    ORDINAL_WORDS,
    SCALES,
    SHORT_WEEKDAYS,
    UNITS,
    WEAK_NUMBERS,
    WEEKDAYS,
    WORDS_AND_MONTHS,
)

DateParts = tuple[int | None, int, int | None]
"""Year, month and day; None where the text does not say."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number: its value as canonical text, its unit if it has one; `weak` ones are often mere words.

    `place` is where it stands in the text.
    """

    value: str
    unit: str | None
    weak: bool
    text: str
    place: int = field(default=0, compare=False)


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


def _any_of(words: Iterable[str]) -> str:
    """Return a pattern of alternatives that prefers the longest and shares beginnings, for speed."""
    branches: dict[str, list[str]] = {}
    whole = False
    for word in set(words):
        whole = whole or not word
        if word:
            branches.setdefault(word[0], []).append(word[1:])
    if not branches:
        return ""
    starts = "".join(re.escape(first) for first in sorted(branches))
    pattern = "|".join(re.escape(first) + _any_of(rest) for first, rest in sorted(branches.items()))
    return f"(?:{pattern})?" if whole else f"(?=[{starts}])(?:{pattern})" if len(branches) > 4 else f"(?:{pattern})"


_MONTH = rf"(?P<month>(?:{_any_of(MONTHS)})\b)\.?"
_YEAR = r"(?P<year>(?:1[5-9]|20|21)\d\d)\b"
_DAY = rf"(?P<day>\d{{1,2}}|{_any_of(ORDINAL_WORDS)})"
_HAN = "〇零一二三四五六七八九十百千万亿两兩"
_HAN_DATE = (
    rf"(?:(?P<year>\d{{4}}|[{_HAN}]{{4}})\s*年\s*)?(?P<month>\d{{1,2}}|[{_HAN}]{{1,3}})\s*月"
    rf"(?:\s*(?P<day>\d{{1,2}}|[{_HAN}]{{1,3}})\s*[日号號])?"
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
_WEEKDAY = re.compile(rf"\b(?:{_any_of(WEEKDAYS)})\b", re.IGNORECASE)
_SHORT_WEEKDAY = re.compile(rf"(?<=[\s(,])(?:{_any_of(SHORT_WEEKDAYS)})\b")
_HAN_WEEKDAY = re.compile(
    r"(?:星期|周|週|礼拜|禮拜)([一二三四五六日天1-7])|([月火水木金土日])曜|([월화수목금토일])요일"
)
_TIMES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?<![\d:.])(?P<hour>[01]?\d|2[0-4])[:h](?P<minute>[0-5]\d)(?::[0-5]\d)?(?:\s*(?P<half>[ap])\.?m\b\.?)?(?![\d:])",
        r"(?<![\d:.])(?P<hour>1[0-2]|0?\d)(?P<minute>)\s*(?P<half>[ap])\.?m\b\.?",
        rf"\b(?P<hour>\d{{1,2}}|{_any_of(NUMBER_WORDS)})(?P<minute>)\s+(?P<half>)(?:o'clock|uhr)\b",
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
        rest = pattern.sub(_blank, rest)
    rest = _take(_MONTH_ALONE, rest, _month_alone, dates)
    numbers = tuple(sorted(_numbers(rest), key=lambda number: number.place))
    for number in numbers:
        if not number.weak:
            rest = rest[: number.place] + _BLANK.ljust(len(number.text)) + rest[number.place + len(number.text) :]
    unread = tuple(sorted(_DIGITS.findall(rest)))
    rest = rest.replace(_BLANK, "0")
    return Quantities(numbers, _in_order(dates), _in_order(times), frozenset(days), days, unread, rest)


_DIGITS = re.compile(r"\d+")
_BLANK = "\x1f"  # no part of any pattern, and as long as what it replaces is cut to


def _blank(match: re.Match[str]) -> str:
    return _BLANK.ljust(len(match.group()))


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
        return _blank(match)

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


_UNIT_WORD = _any_of(unit for unit in UNITS if unit[0].isalpha() and "/" not in unit)
_SIGN_OF_MONEY = "$€£¥₹"
_UNSPACED = f"{UNSPACED}\uac00-\ud7a3"  # Korean has spaces, but writes its counters and particles on to a number
_SPACED = rf"[^\W{_UNSPACED}]"
_NUMBER = re.compile(
    rf"""
    (?<!{_SPACED})(?<!\.)(?<![^\W\d_][-/])(?P<money>[{_SIGN_OF_MONEY}])?\s?(?P<sign>(?<![\d)\]])[-+])?(?P<money2>[{_SIGN_OF_MONEY}])?
    (?P<body>\d{{1,3}}(?:[ ']\d{{3}})+(?!\d)|\d+(?:[.,]\d+)*)
    (?P<ordinal>(?:st|nd|rd|th)\b)?
    (?:\s?(?P<scale>(?:{_any_of(SCALES)})\b))?
    (?:[\s-]?(?P<unit>%|‰|€|\$|£|°[CF]?|km/h|(?:{_UNIT_WORD})\b))?
    (?![^\W\d_{_UNSPACED}])
    """,
    re.VERBOSE | re.IGNORECASE,
)
_NO_UNITS = frozenset({"an", "mi"})  # words of their own after a number that is spelt out
_SPELLED_UNIT = _any_of(unit for unit in UNITS if len(unit) > 1 and unit.isalpha() and unit not in _NO_UNITS)
_WORD_NUMBER = re.compile(
    rf"\b(?:{_any_of([*NUMBER_WORDS, *ORDINAL_WORDS, *SCALES, 'half', 'twice'])})\b"
    rf"(?:(?:\s+and\s+|[\s-]+)(?:{_any_of([*NUMBER_WORDS, *ORDINAL_WORDS, *SCALES])})\b){{0,12}}"
    rf"(?:[\s-]+(?P<unit>(?:{_SPELLED_UNIT})\b))?",
    re.IGNORECASE,
)
_COUNT_WORD = re.compile(rf"\b(?:{_any_of([*NUMBER_WORDS, *ORDINAL_WORDS, *SCALES, 'half', 'twice'])})\b")
_HAN_NUMBER = re.compile(
    rf"[{_HAN}]+(?P<measure>[个個名人位年天岁歲点點分秒小元块公米斤次只隻张張本台辆輛条條件层層楼樓周季倍度届种種家所%]?)"
)


def _numbers(text: str) -> Iterator[Number]:
    for match in _NUMBER.finditer(text):
        unit = _unit(match.group("money") or match.group("money2") or match.group("unit"))
        scale = SCALES.get((match.group("scale") or "").casefold(), 1)
        value = _canonical(match.group("body"), rounded=unit is not None, scale=scale)
        sign = "-" if match.group("sign") == "-" else ""
        ordinal = "th" if match.group("ordinal") else unit
        yield Number(sign + value, ordinal, weak=False, text=match.group().strip(), place=_start(match))
    text = _NUMBER.sub(_blank, text)
    for match in _WORD_NUMBER.finditer(text):
        unit = match.group("unit")
        counting = match.string[match.start() : match.start("unit") if unit else match.end()]
        words = _COUNT_WORD.findall(counting.casefold())
        weak = len(words) == 1 and (words[0] in WEAK_NUMBERS) and unit is None
        yield Number(_spelled(words), _unit(unit), weak, match.group(), match.start())
    for match in _HAN_NUMBER.finditer(text):
        numeral = match.group().removesuffix(match.group("measure"))
        number = han_number(numeral)
        if number is not None:
            unit = _HAN_UNITS.get(match.group("measure"))
            weak = not match.group("measure") and (len(numeral) == 1 or numeral == "一一")
            yield Number(str(number), unit, weak, match.group(), match.start())


def _start(match: re.Match[str]) -> int:
    """Return where the match begins without the space before it."""
    return match.end() - len(match.group().lstrip())


_HAN_UNITS = {
    "年": "year",
    "天": "day",
    "分": "min",
    "秒": "s",
    "元": "cny",
    "块": "cny",
    "米": "m",
    "%": "%",
    "周": "week",
}


def _unit(word: str | None) -> str | None:
    return UNITS.get(word.casefold()) if word else None


_ENGLISH = re.compile(r"\d{1,3}(?:[, ']\d{3})+(?:\.\d+)?")
_CONTINENTAL = re.compile(r"\d{1,3}(?:\.\d{3})+,\d+|\d{1,3}(?:\.\d{3}){2,}")


def _canonical(body: str, *, rounded: bool, scale: int) -> str:
    """Return one text for one value; versions and addresses stay as they are.

    A lone `1.000` stays too, since it is one in English and a thousand elsewhere. Zeros at the end
    of a decimal count unless it has a unit or a scale: version 3.10 is not 3.1, 3.50 dollars are 3.5.
    """
    if _ENGLISH.fullmatch(body):
        body = re.sub("[, ']", "", body)
    elif _CONTINENTAL.fullmatch(body):
        body = body.replace(".", "").replace(",", ".")
    elif re.fullmatch(r"\d+,\d+", body):
        body = body.replace(",", ".")
    if not re.fullmatch(r"\d+(?:\.\d+)?", body) or len(body) > 40:
        return body
    if "." in body and scale == 1 and not rounded:
        return body
    try:
        return format((Decimal(body) * scale).normalize(), "f")
    except InvalidOperation:
        return body


def _spelled(words: list[str]) -> str:
    """Return the value of a number written in words: hundreds multiply, the rest adds up."""
    total = current = 0
    for word in words:
        if word in SCALES:
            scale = SCALES[word]
            current = max(current, 1) * scale
            if scale >= 1_000:
                total, current = total + current, 0
        elif word in {"half", "twice"}:
            return "0.5" if word == "half" else "2"
        else:
            current += NUMBER_WORDS[word] if word in NUMBER_WORDS else ORDINAL_WORDS[word]
    return str(total + current)


def han_number(numeral: str) -> int | None:
    """Return the value of a Chinese numeral such as 二十三, 两百 or 二〇二六; None when it is none."""
    digits = {"〇": 0, "零": 0, "两": 2, "兩": 2, **{digit: i for i, digit in enumerate("一二三四五六七八九", 1)}}
    if not numeral or any(character not in _HAN for character in numeral):
        return None
    if all(character in digits for character in numeral):
        return int("".join(str(digits[character]) for character in numeral))
    total = section = digit = 0
    for character in numeral:
        if character in digits:
            digit = digits[character]
        elif character in "万亿":
            total += max(section + digit, 1) * (10_000 if character == "万" else 10**8)
            section = digit = 0
        else:
            section += max(digit, 1) * {"十": 10, "百": 100, "千": 1_000}[character]
            digit = 0
    return total + section + digit
