"""Vectors as embedding providers answer them, checked before anything is stored."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dreaming.errors import Misconfigured, UnusableVector


def unit_rows(vectors: Sequence[object], dimension: int) -> NDArray[np.float32]:
    """Return the vectors scaled to unit length, shape `(len(vectors), dimension)`.

    Raises `Misconfigured` for another length, naming both numbers, and `UnusableVector` for what is no
    direction: zeros, NaN, or no numbers at all.
    """
    for vector in vectors:
        if not isinstance(vector, list):
            raise UnusableVector("The embedding server answered something that is no vector.")
        if len(vector) != dimension:
            raise Misconfigured(
                f"The embedding model answers {len(vector)} dimensions, but {dimension} are set up; "
                "choose the model of the stored vectors, or set up the other dimension and embed anew."
            )
    try:
        rows = np.array(vectors, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise UnusableVector("The embedding server answered a vector that holds no numbers.") from None
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or (lengths == 0).any():
        raise UnusableVector("The embedding server answered a vector of zeros or without a number.")
    unit: NDArray[np.float32] = (rows / lengths).astype(np.float32)
    return unit
