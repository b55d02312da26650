"""Statements that join two by "and": Tom plays cello and sails on Sundays says that Tom sails on Sundays. Pure."""

from __future__ import annotations

from functools import lru_cache

from dreaming.beliefs.words import token_list

CONJUNCTIONS = frozenset({"and", "und", "et", "y", "e"})
_NOT_PARTED = frozenset(
    """
    no not never none neither nor either or if unless when while only both together between than as same each
    other  all every most some few but would could may might nicht kein oder nur ne pas ou si seulement no ni o
    solo  instead except without
    """.split()  # noqa: SIM905 - a list of words reads better than a list of strings
)
_LEAST_PART = 2
"""Words of a part beside what the parts share: black and white films are not black films and white ones."""

_MOST_SHARED = 4
"""Words before the parts: a subject, at most with a verb."""


@lru_cache(maxsize=2048)  # a claim and a candidate are parted in turn
def parts(statement: str) -> frozenset[tuple[str, ...]]:
    """Return, as folded words, what a statement with one "and" says in its two parts; nothing for others.

    The part before the "and", and the beginning of the statement with what follows the "and". Where that
    beginning ends is left to the claim that is compared, which is a statement of its own. At most five.
    """
    words = token_list(statement)
    if CONJUNCTIONS.isdisjoint(words):
        return frozenset()
    places = [at for at, word in enumerate(words) if word in CONJUNCTIONS]
    if len(places) != 1 or _NOT_PARTED & set(words):
        return frozenset()
    before, after = words[: places[0]], words[places[0] + 1 :]
    found = set()
    if len(after) >= _LEAST_PART:
        for shared in range(1, min(_MOST_SHARED, len(before) - _LEAST_PART) + 1):
            found.update({before, (*before[:shared], *after)})
    return frozenset(found)
