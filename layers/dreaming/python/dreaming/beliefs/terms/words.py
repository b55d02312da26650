"""The terms of a statement: its words without the commonest, in a light stem, counted. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType

from dreaming.beliefs.words import is_unspaced, rare_first, spell_out, token, token_list

TERMS_OF_A_CLAIM = 10
"""How many terms of a claim are looked up; a longer one keeps its rarest."""

_COMMON = frozenset(
    """
    a an the is are was were be been am do does did has have had of in on at to for from by with and or not it its
    this that as der die das und ist in im la le les el los de du et y
    """.split()  # noqa: SIM905 - a list of words reads better than a list of strings
)
_ENDINGS = ("ing", "ed", "es", "s")


@lru_cache(maxsize=1024)  # a new belief is indexed in memory, and then in the database
def terms(statement: str) -> Mapping[int, int]:
    """Return how often each term occurs in a statement; scripts without spaces give character bigrams.

    Frozen with the words' version, because terms are stored.
    """
    return MappingProxyType(Counter(token(_stem(word)) for word in _words(statement)))


def looked_up(statement: str) -> tuple[int, ...]:
    """Return the terms by which a claim's likes are found: all of a short one, the rarest of a long one."""
    ordered = rare_first(dict.fromkeys(_words(statement)))
    return tuple(dict.fromkeys(token(_stem(word)) for word in ordered))[:TERMS_OF_A_CLAIM]


def _words(statement: str) -> Iterator[str]:
    for word in token_list(statement):
        if is_unspaced(word):
            yield from (word[at : at + 2] for at in range(max(1, len(word) - 1)))
        else:
            yield from (part for part in spell_out(word) if part not in _COMMON)


def _stem(word: str) -> str:
    """Return a word without its commonest English ending; "s" of "ss" is none."""
    if not word.isascii() or len(word) < 4 or word.endswith("ss"):
        return word
    ending = next((ending for ending in _ENDINGS if word.endswith(ending) and len(word) - len(ending) >= 3), "")
    return word.removesuffix(ending)
