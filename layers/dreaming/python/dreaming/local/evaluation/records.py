"""What a measurement reports: figures, with a goal where there is one, and the environment."""

from __future__ import annotations

import operator
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dreaming import __version__

_COMPARISONS = {"<=": operator.le, ">=": operator.ge}


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured value with its unit; `goal` as in `<= 2`, and whether it is met."""

    value: float
    unit: str
    goal: str | None
    ok: bool | None

    @classmethod
    def of(cls, value: float, unit: str, goal: tuple[str, float] | None) -> Figure:
        """Return the figure, rounded to two decimals and held against its goal: `<=` or `>=`, and a bound."""
        rounded = round(value, 2)
        if goal is None:
            return cls(rounded, unit, None, None)
        comparison, bound = goal
        return cls(rounded, unit, f"{comparison} {bound:g}", _COMPARISONS[comparison](value, bound))


@dataclass(frozen=True, slots=True)
class Report:
    """One measurement, in the shape that every evaluation and benchmark shares."""

    name: str
    figures: Mapping[str, Figure]
    environment: Mapping[str, Any]

    @property
    def ok(self) -> bool:
        """Whether every goal is met."""
        return all(figure.ok is not False for figure in self.figures.values())


def environment(**details: Any) -> dict[str, Any]:
    """Return what a figure depends on: versions, the machine's kind, and the details of the measurement."""
    return {
        "dreaming": __version__,
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        **details,
    }
