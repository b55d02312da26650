"""How long a server asks to be left alone."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_LONGEST_WAIT = 86_400.0


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return the seconds to wait by `Retry-After`, as seconds or as an HTTP date (RFC 9110, 10.2.3).

    At most a day; None when the header is absent or unreadable. `headers` has lower-case names, or
    does not mind the case.
    """
    text = headers.get("retry-after", "").strip()
    if re.fullmatch(r"\d{1,9}(?:\.\d{1,6})?", text):
        return min(float(text), _LONGEST_WAIT)
    try:
        until = parsedate_to_datetime(text)
    except (ValueError, TypeError):
        return None
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    return min(max((until - now).total_seconds(), 0.0), _LONGEST_WAIT)
