"""The semantic step's arithmetic: the cosine of two statements, and what it is worth for one embedding model. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dreaming.beliefs.words import fold

Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Bands:
    """From which cosine two statements match, and from which below that a pair is left for adjudication.

    `other_scripts` is the least Jaccard similarity that a pair in the grey band needs besides where the
    model reads little more than that both statements are in a script it does not know.
    """

    threshold: float = 0.85
    grey: float = 0.60
    other_scripts: float = 0.1


BANDS: Mapping[str, Bands] = {"offline:minilm-l6-int8": Bands(0.85, 0.60, 0.1)}
"""The bands of the embedding models that were measured, by name; a setting that was changed goes before.

Another model takes the settings' defaults until `dream evaluate dedup` has been run with it.
"""


@dataclass(frozen=True, slots=True)
class Nearness:
    """What one model's vectors say: unit vectors by the folded statement, and the bands of the cosine."""

    model: str
    bands: Bands
    vectors: Mapping[str, Vector]

    def cosine(self, left: str, right: str) -> float | None:
        """Return the cosine of two statements, -1..1, or None when one has no vector here."""
        one, other = self.vectors.get(fold(left)), self.vectors.get(fold(right))
        return None if one is None or other is None else float(one @ other)

    def matches(self, cosine: float | None) -> bool:
        """Say whether statements of this cosine are one belief as far as the model can tell."""
        return cosine is not None and cosine >= self.bands.threshold

    def is_grey(self, cosine: float | None, jaccard: float, left: str, right: str) -> bool:
        """Say whether a pair is near enough to be adjudicated."""
        if cosine is None or cosine < self.bands.grey:
            return False
        return jaccard >= self.bands.other_scripts or (_is_latin(left) and _is_latin(right))


_LATIN = re.compile("[A-Za-z\u00c0-\u024f]")
_LETTER = re.compile(r"[^\W\d_]")


def _is_latin(text: str) -> bool:
    """Say whether at least half of the letters are Latin."""
    return 2 * len(_LATIN.findall(text)) >= len(_LETTER.findall(text))


def unit(vector: Vector) -> Vector:
    """Return a vector scaled to length 1, as stored ones are only within half precision."""
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def by_statement(pairs: Iterable[tuple[str, Vector]]) -> dict[str, Vector]:
    """Return unit vectors by the folded statement."""
    return {fold(statement): unit(vector) for statement, vector in pairs}
