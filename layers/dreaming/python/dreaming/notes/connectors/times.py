"""Reading of moments as sources write them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo
from email.utils import parsedate_to_datetime

_MILLISECONDS_FROM = 100_000_000_000
"""Unix times from here on are milliseconds: as seconds they would lie beyond the year 5138."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NUMBER = re.compile(r"-?\d{1,17}(?:\.\d{1,9})?")
_IN_NAME = re.compile(
    r"(?<!\d)(?P<year>(?:19|20)\d\d)(?P<dash>[-_.]?)(?P<month>\d\d)(?P=dash)(?P<day>\d\d)(?!\d)"
    r"(?:[T _-](?P<hour>\d\d)[-:.h]?(?P<minute>\d\d)(?:[-:.m]?(?P<second>\d\d))?(?!\d))?"
)


def parse_moment(value: object, timezone: tzinfo) -> datetime | None:
    """Return the aware moment that `value` writes, or None when it writes none.

    Understands ISO 8601 (a date alone is its midnight), RFC 2822, and Unix time in seconds or, from
    10^11 on, milliseconds. A time without an offset is one of `timezone`.
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    if not isinstance(value, str):
        try:
            return _from_unix(float(value), timezone)
        except OverflowError:
            return None
    written = value.strip()
    for parse in (datetime.fromisoformat, _from_number, parsedate_to_datetime):
        try:
            moment = parse(written)
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
        return moment if moment.utcoffset() is not None else moment.replace(tzinfo=timezone)
    return None


def moment_in_name(name: str, timezone: tzinfo) -> datetime | None:
    """Return the date, and the time where there is one, in a file name such as `2024-03-05 standup.vtt`.

    A name with `GMT` or `UTC` right before the date is in UTC.
    """
    for match in _IN_NAME.finditer(name):
        parts = {part: int(digits or 0) for part, digits in match.groupdict().items() if part != "dash"}
        is_utc = name[: match.start()].upper().endswith(("GMT", "UTC"))
        try:
            return datetime(**parts, tzinfo=UTC if is_utc else timezone)
        except ValueError:
            continue
    return None


def _from_number(written: str) -> datetime:
    if not _NUMBER.fullmatch(written):
        raise ValueError("not a number")
    moment = _from_unix(float(written), UTC)
    if moment is None:
        raise ValueError("out of range")
    return moment


def _from_unix(value: float, timezone: tzinfo) -> datetime | None:
    seconds = value / 1000 if abs(value) >= _MILLISECONDS_FROM else value
    try:
        return (_EPOCH + timedelta(seconds=seconds)).astimezone(timezone)
    except (OverflowError, ValueError):
        return None
