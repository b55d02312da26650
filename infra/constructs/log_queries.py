"""The questions that operators ask of the logs, saved in CloudWatch Logs Insights."""

from __future__ import annotations

from collections.abc import Mapping

QUERIES: Mapping[str, str] = {
    "errors": """
fields @timestamp, service, message, error, detail, exception_name, errorType, errorMessage, correlation_id
| filter level in ["ERROR", "CRITICAL"] or ispresent(errorType)
| sort @timestamp desc
| limit 200
""",
    "one run": """
fields @timestamp, service, message, batch, disposition, reason, next_sent
| filter correlation_id = "put the id of the run here"
| sort @timestamp asc
| limit 1000
""",
    "holds by reason": """
filter message = "batch" and disposition = "held"
| stats count(*) as holds, count_distinct(slice_id) as slices by reason
| sort holds desc
""",
    "ticks": """
fields @timestamp, service, started, reason
| filter message = "tick"
| sort @timestamp desc
| limit 100
""",
    "slowest invocations": """
fields @timestamp, @log, record.metrics.durationMs, record.metrics.maxMemoryUsedMB
| filter type = "platform.report"
| sort record.metrics.durationMs desc
| limit 50
""",
}
"""Saved query by name; fields are those of our structured log and of Lambda's platform events."""
