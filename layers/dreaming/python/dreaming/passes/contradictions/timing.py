"""When what a note says holds, by its own words against the note's own time and offset. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache

from dreaming.passes.consolidation.lexicon import MONTHS, NUMBER_WORDS, WEEKDAYS

_MONTH = "|".join(sorted((month for month in MONTHS if len(month) > 2), key=len, reverse=True))
_DAY = "|".join(sorted(WEEKDAYS, key=len, reverse=True))
_COUNT = "|".join(["a", "an", *(word for word in NUMBER_WORDS if word.isascii())])
_SEASON = "spring|summer|autumn|fall|winter"
_WEEKDAY = "|".join(sorted((day for day in WEEKDAYS if day.isascii() and day.endswith("day")), key=len, reverse=True))
_MOMENT = (
    r"(?P<iso>\d{4}-\d\d-\d\d)"
    rf"|(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<m>{_MONTH})\b\.?(?:,? (?P<y>\d{{4}}))?"
    rf"|(?P<m2>{_MONTH})\b\.? (?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\b(?!\d)(?:,? (?P<y2>\d{{4}}))?"
    r"|(?P<d4>\d{1,2})\.(?P<m4>\d{1,2})\.(?P<y6>\d{4})"
    rf"|(?:the (?:start|beginning) of |early |mid[- ]|late )?(?P<m3>{_MONTH})\b(?: (?:of )?(?P<y3>\d{{4}}))?"
    r"|(?P<season>spring|summer|autumn|fall|winter|Q[1-4])(?: of)? (?P<y5>(?:19|20)\d\d)\b"
    r"|(?:the (?:start|beginning) of )?(?P<y4>(?:19|20)\d\d)\b"
    r"|(?P<rel>the day before yesterday|the day after tomorrow|yesterday|today|tomorrow)"
    rf"|(?P<which>last|this|next|past) (?P<unit>week|month|year|{_SEASON}|{_DAY}|{_MONTH})\b"
    rf"|(?P<n>\d+|{_COUNT}) (?P<per>day|week|month|year)s? (?P<dir>ago|earlier|back)"
    rf"|in (?P<n2>\d+|{_COUNT}) (?P<per2>day|week|month|year)s?\b(?:['’]? time)?"
    rf"|(?:the coming )?(?P<wd>{_WEEKDAY})\b(?! (?:to|until|till|through|and)\b|[-–])"
)
_FROM = re.compile(
    rf"\b(?:since|from|as of|as from|starting(?: on| in)?|beginning(?: on| in)?|effective|with effect from"
    rf"|ever since) (?:on |in )?(?:{_MOMENT})",
    re.IGNORECASE,
)
_UNTIL = re.compile(
    rf"\b(?:until|till|up to|(?P<incl>through)|up until|ended (?:in|on)|ending(?: in| on)?|expires? (?:in"
    rf"|on)) (?:on |in "
    rf"|(?P<last>the end of ))?(?:{_MOMENT})",
    re.IGNORECASE,
)
_AT = re.compile(
    rf"(?:\b(?:in|on|during|back in) )?\b(?<!\bsince )(?<!\buntil )(?<!\bfrom )(?:{_MOMENT})", re.IGNORECASE
)
_FOR = re.compile(
    rf"\b(?:has|have|['’]ve)\b.* for (?:the (?:last|past) )?(?P<n>\d+|{_COUNT}) (?P<per>day|week|month|year)s?\b",
    re.IGNORECASE,
)
_RANGE = re.compile(
    r"\b(?:from|between) (?P<a>(?:19|20)\d\d) (?:to|until|and|till) (?P<b>(?:19|20)\d\d)\b", re.IGNORECASE
)
_EVENT = re.compile(
    r"\b(?:moved|joined|found|started|began|left|quit|resigned|switched|changed|became|replaced|renamed|migrated"
    r"|retired|married|relocated|got|was (?:appointed|promoted|named|elected|moved|raised|renamed)"
    r"|lived|worked|was|were|used to|led|ran|took over|transferred|adopted|dropped|stopped|gave up|sold"
    r"|divorced|went|raised|increased|lowered|reduced|in \d{4},?|will|upgraded|bumped|took|ended|expired"
    r"|closed|opened"
    r"|bought|hired|came|arrived|set|cut|elected|appointed|promoted|moves|starts|begins|takes over|stops|leaves|ends"
    r"|switches|goes|has been|have been|postponed|pushed|handed over|succeeded|swapped|traded|cancelled|canceled"
    r"|acquired|signed|introduced|launched|shipped|retires|joins|settled|transferred|became|replaces)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Span:
    """From when, and until when, a claim says that it holds; None where it does not say."""

    start: datetime | None = None
    end: datetime | None = None


@lru_cache(maxsize=8192)
def span_of(statement: str, occurred_at: datetime, *, dated_value: bool) -> Span:
    """Return what the statement's own words say; `occurred_at` carries the note's offset.

    `dated_value`: the value is itself a date, so that only "since" and "until" are times of holding.
    """
    both = _RANGE.search(statement)
    if both:
        return Span(_year(both["a"], occurred_at), _year(both["b"], occurred_at))
    until = _UNTIL.search(statement)
    end = _moment(until, occurred_at) if until else None
    if until and end:
        end = _taken_in(until, end)
    since = _FROM.search(statement)
    if since and (not dated_value or _leads(since, statement)):
        return Span(_moment(since, occurred_at, backward=since.group().lower().startswith(("since", "ever"))), end)
    lasting = _FOR.search(statement)
    if lasting and not dated_value:
        return Span(_lasting(lasting, occurred_at), end)
    if not dated_value and _EVENT.search(statement):
        for found in _AT.finditer(statement):
            if _tells_no_start(found):
                continue
            moment = _moment(found, occurred_at, backward=not _COMING.search(statement))
            if moment is not None and (until is None or found.start() < until.start() or found.end() <= until.start()):
                return Span(moment, end)
    return Span(None, end)


def _tells_no_start(found: re.Match[str]) -> bool:
    """Tell whether a time says when, but not since when: "the Tuesday meeting", "Jan quit", "this year"."""
    text = found.group().lower()
    if found["wd"]:
        return not text.startswith("on ")
    if found["m3"] and not found["y3"]:
        return _IN_MONTH.match(text) is None
    return (found["which"] or "").lower() == "this" and (found["unit"] or "").lower() in ("year", *_SEASONS)


def tells_event(statement: str) -> bool:
    """Tell whether a statement speaks of something that happened, so that what was before may be over."""
    return _EVENT.search(statement) is not None


_IN_MONTH = re.compile(r"(?:in|during|back|the|early|mid|late)\b", re.IGNORECASE)
_COMING = re.compile(r"\b(?:will|going to|moves|starts|begins|takes over|stops|leaves|ends|switches|joins|retires)\b")


_WHEN_VALUE = re.compile(rf"\b(?:{_WEEKDAY})s?\b|\d:\d\d|\b\d{{1,2}} ?[ap]m\b", re.IGNORECASE)


def _leads(since: re.Match[str], statement: str) -> bool:
    """Whether a time stands apart from a value that is itself a date: at the very beginning, or said to take effect."""
    taking_effect = since.group().lower().startswith(("as of", "as from", "effective", "with effect", "since", "ever"))
    told = statement[: since.start()].rpartition(":")[2]
    follows = since["wd"] is None and _WHEN_VALUE.search(told) is not None
    return not told.strip() or (taking_effect and since.start() > 0) or follows


def _taken_in(until: re.Match[str], end: datetime) -> datetime:
    """Until 2023 takes in the whole of 2023, until the end of May the whole of May."""
    if until["y4"]:
        return end.replace(year=end.year + 1)
    whole = until["m3"] or (until["unit"] or "").lower() in ("month", *MONTHS)
    if whole and (until["last"] or until["incl"]):
        return end.replace(year=end.year + (end.month == 12), month=end.month % 12 + 1)
    if (until["last"] or until["incl"]) and (until["unit"] or "").lower() == "week":
        return end + timedelta(days=7)
    if (until["last"] or until["incl"]) and (until["unit"] or "").lower() == "year":
        return end.replace(year=end.year + 1)
    return end


def _lasting(found: re.Match[str], occurred_at: datetime) -> datetime | None:
    """Return when what has lasted so long began, unless that is before the calendar."""
    try:
        return _back(_midnight(occurred_at), _count(found["n"]), found["per"].lower())
    except (ValueError, OverflowError):
        return None


def _midnight(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def _year(text: str, occurred_at: datetime) -> datetime:
    return _midnight(occurred_at).replace(year=int(text), month=1, day=1)


def _moment(found: re.Match[str], occurred_at: datetime, *, backward: bool = False) -> datetime | None:
    """Return the beginning of the moment that was named, in the note's offset.

    `backward`: a weekday is the one before the note, else the one after it.
    """
    day = _midnight(occurred_at)
    try:
        if found["wd"]:
            return _weekday(day, WEEKDAYS[found["wd"].lower()], backward=backward)
        return _dated(found, day) or _relative(found, day)
    except (ValueError, OverflowError):
        return None


def _dated(found: re.Match[str], day: datetime) -> datetime | None:
    """Return the beginning of a day, month, season or year that is named by its name or number."""
    if found["iso"]:
        year, month, date = map(int, found["iso"].split("-"))
        return day.replace(year=year, month=month, day=date)
    if found["y4"] or found["season"]:
        month = _SEASONS.get((found["season"] or "").lower(), 1)
        return day.replace(year=int(found["y4"] or found["y5"]), month=month, day=1)
    if found["y6"]:
        return day.replace(year=int(found["y6"]), month=int(found["m4"]), day=int(found["d4"]))
    for number in ("", "2", "3"):
        name = found[f"m{number}"]
        if name:
            if (
                number == "3"
                and name.lower() in ("may", "march", "mar", "sep", "mai", "nov", "dec", "jan")
                and not name[0].isupper()
            ):
                return None
            return _in_month(day, name, found["d" + number] if number != "3" else None, found[f"y{number}"])
    return None


def _in_month(day: datetime, name: str, date: str | None, year: str | None) -> datetime:
    """A date without a year is the one nearest before the note, unless it is less than half a year ahead."""
    moment = day.replace(year=int(year) if year else day.year, month=MONTHS[name.lower()], day=int(date or 1))
    if year is None and moment - day > timedelta(days=183):
        return moment.replace(year=moment.year - 1)
    if year is None and day - moment > timedelta(days=335):
        return moment.replace(year=moment.year + 1)
    return moment


_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12, "q1": 1, "q2": 4, "q3": 7, "q4": 10}


def _weekday(day: datetime, weekday: int, *, backward: bool) -> datetime:
    """Return the nearest such day: today or before it, or after today."""
    if backward:
        return day - timedelta(days=(day.weekday() + 1 - weekday) % 7)
    return day + timedelta(days=(weekday - day.weekday() - 1) % 7 or 7)


def _count(word: str) -> int:
    word = word.lower()
    return int(word) if word.isdecimal() else 1 if word in ("a", "an") else int(NUMBER_WORDS[word])


_RELATIVE = {"the day before yesterday": -2, "yesterday": -1, "today": 0, "tomorrow": 1, "the day after tomorrow": 2}
_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}


def _relative(found: re.Match[str], day: datetime) -> datetime | None:
    if found["rel"]:
        return day + timedelta(days=_RELATIVE[found["rel"].lower()])
    if found["n"]:
        return _back(day, _count(found["n"]), found["per"].lower())
    if found["n2"]:
        return _back(day, -_count(found["n2"]), found["per2"].lower())
    if found["which"]:
        return _which(found["which"].lower(), found["unit"].lower(), day)
    return None


def _back(day: datetime, count: int, unit: str) -> datetime:
    if unit == "year":
        return day.replace(year=day.year - count, day=min(day.day, 28))
    if unit == "month":
        months = day.year * 12 + day.month - 1 - count
        return day.replace(year=months // 12, month=months % 12 + 1, day=min(day.day, 28))
    return day - timedelta(days=_DAYS[unit] * count)


def _which(which: str, unit: str, day: datetime) -> datetime:
    """Return the beginning of last, this or next week, month, year, weekday or month by name."""
    step = {"last": -1, "past": -1, "this": 0, "next": 1}[which]
    if unit == "week":
        return day - timedelta(days=day.weekday()) + timedelta(days=7 * step)
    if unit == "year":
        return day.replace(year=day.year + step, month=1, day=1)
    if unit == "month":
        months = day.year * 12 + day.month - 1 + step
        return day.replace(year=months // 12, month=months % 12 + 1, day=1)
    if unit in WEEKDAYS:
        days = (WEEKDAYS[unit] - 1 - day.weekday()) % 7
        return day + timedelta(days=days if step > 0 and days else days - 7 if step < 0 or not days else days)
    month = _SEASONS.get(unit) or MONTHS[unit]
    year = day.year - (month >= day.month) if step < 0 else day.year + (month <= day.month) * (step > 0)
    return day.replace(year=year, month=month, day=1)
