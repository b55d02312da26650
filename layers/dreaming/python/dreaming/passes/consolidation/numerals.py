"""Numbers and their units, in digits or in words, read from text as comparable values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation

from dreaming.beliefs.words import UNSPACED
from dreaming.passes.consolidation.lexicon import NUMBER_WORDS, ORDINAL_WORDS, SCALES, UNITS, WEAK_NUMBERS

HAN = "〇零一二三四五六七八九十百千万亿两兩"
BLANK = "\x1f"  # no part of any pattern, and as long as what it replaces is cut to


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


def any_of(words: Iterable[str]) -> str:
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
    pattern = "|".join(re.escape(first) + any_of(rest) for first, rest in sorted(branches.items()))
    return f"(?:{pattern})?" if whole else f"(?=[{starts}])(?:{pattern})" if len(branches) > 4 else f"(?:{pattern})"


_UNIT_WORD = any_of(unit for unit in UNITS if unit[0].isalpha() and "/" not in unit)
_SIGN_OF_MONEY = "$€£¥₹"
_UNSPACED = f"{UNSPACED}\uac00-\ud7a3"  # Korean has spaces, but writes its counters and particles on to a number
_SPACED = rf"[^\W{_UNSPACED}]"
_NUMBER = re.compile(
    rf"""
    (?<!{_SPACED})(?<!\.)(?<![^\W\d_][-/])(?P<money>[{_SIGN_OF_MONEY}])?\s?(?P<sign>(?<![\d)\]])[-+])?(?P<money2>[{_SIGN_OF_MONEY}])?
    (?P<body>\d{{1,3}}(?:[ ']\d{{3}})+(?!\d)|\d+(?:[.,]\d+)*)
    (?P<ordinal>(?:st|nd|rd|th)\b)?
    (?:\s?(?P<scale>(?:{any_of(SCALES)})\b))?
    (?:[\s-]?(?P<unit>%|‰|€|\$|£|°[CF]?|km/h|(?:{_UNIT_WORD})\b))?
    (?![^\W\d_{_UNSPACED}])
    """,
    re.VERBOSE | re.IGNORECASE,
)
_NO_UNITS = frozenset({"an", "mi"})  # words of their own after a number that is spelt out
_SPELLED_UNIT = any_of(unit for unit in UNITS if len(unit) > 1 and unit.isalpha() and unit not in _NO_UNITS)
_WORD_NUMBER = re.compile(
    rf"\b(?:{any_of([*NUMBER_WORDS, *ORDINAL_WORDS, *SCALES, 'half', 'twice'])})\b"
    rf"(?:(?:\s+and\s+|[\s-]+)(?:{any_of([*NUMBER_WORDS, *ORDINAL_WORDS, *SCALES])})\b){{0,12}}"
    rf"(?:[\s-]+(?P<unit>(?:{_SPELLED_UNIT})\b))?",
    re.IGNORECASE,
)
_COUNT_WORD = re.compile(rf"\b(?:{any_of([*NUMBER_WORDS, *ORDINAL_WORDS, *SCALES, 'half', 'twice'])})\b")
_HAN_NUMBER = re.compile(
    rf"[{HAN}]+(?P<measure>[个個名人位年天岁歲点點分秒小元块公米斤次只隻张張本台辆輛条條件层層楼樓周季倍度届种種家所%]?)"
)


def blank(match: re.Match[str]) -> str:
    """Return what takes the place of text that was read: as long as the match."""
    return BLANK.ljust(len(match.group()))


def read_numbers(text: str) -> Iterator[Number]:
    """Yield the numbers of a text: those in digits, then those in words, then the Chinese ones."""
    for match in _NUMBER.finditer(text):
        unit = _unit(match.group("money") or match.group("money2") or match.group("unit"))
        scale = SCALES.get((match.group("scale") or "").casefold(), 1)
        value = _canonical(match.group("body"), rounded=unit is not None, scale=scale)
        sign = "-" if match.group("sign") == "-" else ""
        ordinal = "th" if match.group("ordinal") else unit
        yield Number(sign + value, ordinal, weak=False, text=match.group().strip(), place=_start(match))
    text = _NUMBER.sub(blank, text)
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
    if not numeral or any(character not in HAN for character in numeral):
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
