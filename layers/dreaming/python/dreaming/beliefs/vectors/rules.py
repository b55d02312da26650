"""Which vectors may be stored, and how they are written for the database."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dreaming.errors import InvalidInput, Misconfigured

LONGEST_VECTOR = 4_000
"""What fits into a row of the table."""


def check_dimension(given: int, expected: int, model: str) -> None:
    """Raise `Misconfigured`, naming both numbers, when a vector has another length than its space."""
    if given != expected:
        raise Misconfigured(
            f"a vector of {model} has {given} dimensions, but those of this space have {expected}; "
            "choose the model of the stored vectors, or one whose name differs, and everything is embedded anew"
        )


def storable(vector: NDArray[np.floating]) -> NDArray[np.float16]:
    """Return a vector as half precision holds it; its length is kept, so only its direction counts.

    Raises:
        InvalidInput: it is no flat row of 1 to `LONGEST_VECTOR` numbers, or no direction: zeros, NaN,
            an infinity, or numbers that half precision cannot tell from those.
    """
    if vector.ndim != 1 or not 1 <= vector.shape[0] <= LONGEST_VECTOR:
        raise InvalidInput(
            "vector", f"has the shape {vector.shape}", f"give one row of at most {LONGEST_VECTOR} numbers"
        )
    with np.errstate(over="ignore"):
        half: NDArray[np.float16] = vector.astype(np.float16)
    if not np.isfinite(half).all() or not half.any():
        raise InvalidInput("vector", "is no direction: zeros, or something that is no number", "embed the text anew")
    return half


def written(vector: NDArray[np.floating]) -> str:
    """Write a storable vector as text for the database; five digits are more than half precision has."""
    return "[" + ",".join(f"{number:.5g}" for number in storable(vector).tolist()) + "]"


def read(sent: bytes) -> NDArray[np.float32]:
    """Return a vector from the database's binary form: length and zero as 16 bits each, then the halves."""
    return np.frombuffer(sent, dtype=">f2", offset=4).astype(np.float32)
