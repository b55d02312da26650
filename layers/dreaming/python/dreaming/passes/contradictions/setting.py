"""What surrounds a statement that names no subject of its own, such as "the price is 40 euros". Pure.

Two of those are about one thing only where what stands around them in their notes does not tell them apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from dreaming.beliefs.words import word_set
from dreaming.passes.contradictions.bearing import FUNCTION_WORDS
from dreaming.passes.contradictions.patterns import NOUN
from dreaming.passes.contradictions.reading import read_statement

AROUND = 300
"""How many characters of a note before a quote, and after it, are looked at."""

_FEW = 2
_MOSTLY = 0.5
_SENTENCE = re.compile(r"(?<=[.!?…:])\s+|\n+")


def needs_setting(statement: str) -> bool:
    """Tell whether a statement leaves open what it is about: "the price is 40 euros", "the door code is 8812"."""
    reading = read_statement(statement)
    if reading is None:
        return False
    told = NOUN.match(statement)
    return reading.subject == "" or (
        told is not None and told["s"].islower() and len(told["s"].split()) <= _FEW and statement.startswith("The ")
    )


def setting_of(surroundings: Iterable[str]) -> frozenset[str]:
    """Return the content words of texts around a statement, without sentences that name no subject either."""
    found: set[str] = set()
    for text in surroundings:
        for sentence in _SENTENCE.split(text):
            if sentence.strip() and not needs_setting(sentence):
                found |= word_set(sentence) - FUNCTION_WORDS
    return frozenset(found)


def may_be_one_setting(left: frozenset[str], right: frozenset[str]) -> bool:
    """Tell whether two settings may be of one thing: one of them is not told, or most of the shorter one is in both."""
    return not left or not right or len(left & right) > _MOSTLY * min(len(left), len(right))
