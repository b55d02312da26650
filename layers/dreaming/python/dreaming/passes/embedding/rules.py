"""The decisions of the embedding pass: when a refused text is tried again, and vectors of several parts."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

MOST_ATTEMPTS = 3

_WAITS = (timedelta(hours=1), timedelta(hours=6))


def retry_at(attempts: int, now: datetime) -> datetime | None:
    """Return when a text that was refused `attempts` times is tried again, None when it is left out."""
    return now + _WAITS[attempts - 1] if attempts < MOST_ATTEMPTS else None


def mean_direction(rows: NDArray[np.float32]) -> NDArray[np.float32] | None:
    """Return the mean of unit vectors at unit length, None when they cancel out or hold no number.

    `rows` has the shape (parts, dimension); one part is its own mean.
    """
    mean = rows.mean(axis=0, dtype=np.float64)
    length = float(np.linalg.norm(mean))
    if not length > 1e-6:  # also NaN
        return None
    unit: NDArray[np.float32] = (mean / length).astype(np.float32)
    return unit
