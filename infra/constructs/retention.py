"""How long CloudWatch keeps a log group."""

from __future__ import annotations

from aws_cdk import aws_logs as logs

from dreaming.errors import Misconfigured

_DAYS = {
    1: logs.RetentionDays.ONE_DAY,
    7: logs.RetentionDays.ONE_WEEK,
    14: logs.RetentionDays.TWO_WEEKS,
    30: logs.RetentionDays.ONE_MONTH,
    90: logs.RetentionDays.THREE_MONTHS,
    180: logs.RetentionDays.SIX_MONTHS,
    365: logs.RetentionDays.ONE_YEAR,
}


def retention(days: int) -> logs.RetentionDays:
    """Return CloudWatch's own constant for a number of days.

    Raises:
        Misconfigured: CloudWatch has no such period, or we do not offer it.
    """
    if days not in _DAYS:
        raise Misconfigured(f"dreaming:log_days is {days}; choose one of {', '.join(map(str, _DAYS))}")
    return _DAYS[days]
