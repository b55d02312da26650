"""The limits of model calls that an organization's settings set, whichever pass makes the calls."""

from __future__ import annotations

from dataclasses import dataclass

from dreaming.errors import BudgetSpent
from dreaming.settings.resolution import Settings


@dataclass(frozen=True, slots=True)
class CallLimits:
    """How long and how costly calls may be.

    `output_tokens` bounds one answer, `timeout_seconds` one call, `concurrency` the calls of a batch in
    flight at once, `per_day` the organization's metered calls in one UTC day.
    """

    output_tokens: int
    timeout_seconds: float
    concurrency: int
    per_day: int

    def spent(self) -> BudgetSpent:
        """Return the hold of an organization that has made its calls of the day."""
        return BudgetSpent(f"the {self.per_day:,} model calls of today are used up; see model_calls_per_day")


def call_limits(settings: Settings) -> CallLimits:
    """Return the limits in force for the organization."""
    return CallLimits(
        output_tokens=settings.integer("max_output_tokens"),
        timeout_seconds=float(settings.integer("model_timeout_seconds")),
        concurrency=settings.integer("model_concurrency"),
        per_day=settings.integer("model_calls_per_day"),
    )
