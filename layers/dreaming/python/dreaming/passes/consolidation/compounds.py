"""Statements that join two by "and": Tom plays cello and sails on Sundays says that Tom sails on Sundays. Pure."""

from __future__ import annotations

from functools import lru_cache

from dreaming.beliefs.words import tokens
from dreaming.passes.consolidation.lexicon import FUNCTION_WORDS

_AND = frozenset({"and", "und", "et", "y", "e"})
_NOT_PARTED = frozenset(
    """
    not no never none neither nor or either if unless when while only both together between than as same each
    other  all every most some few but would could may might nicht kein oder nur ne pas ou si seulement no ni o
    solo  instead except without
    """.split()  # noqa: SIM905 - a list of words reads better than a list of strings
)
_LEAST_PART = 2
"""Words of a part beside what the parts share: black and white films are not black films and white ones."""

_MOST_SHARED = 4
"""Words before the parts: a subject, at most with a verb."""


@lru_cache(maxsize=4096)
def parts(statement: str) -> frozenset[tuple[str, ...]]:
    """Return, as folded words, what a statement with one "and" says in its two parts; nothing for others.

    The part before the "and", and the beginning of the statement with what follows the "and". Where that
    beginning ends is left to the claim that is compared, which is a statement of its own.
    """
    words = tuple(tokens(statement))
    places = [at for at, word in enumerate(words) if word in _AND]
    if len(places) != 1 or _NOT_PARTED & set(words):
        return frozenset()
    before, after = words[: places[0]], words[places[0] + 1 :]
    found = set()
    if len(after) >= _LEAST_PART:
        for shared in range(1, min(_MOST_SHARED, len(before) - _LEAST_PART) + 1):
            found.update({before, (*before[:shared], *after)})
    return frozenset(found)


def is_part(claim: str, statement: str) -> bool:
    """Say whether `claim` is what `statement` says before its "and" or after it."""
    return tuple(tokens(claim)) in parts(statement)


def remainder_of(statement: str, part: str) -> str | None:
    """Return, in its own spelling, what else a compound says; None when `part` is no part of it."""
    words, wanted = tuple(tokens(statement)), tuple(tokens(part))
    if not is_part(part, statement):
        return None
    at = next(place for place, word in enumerate(words) if word in _AND)
    written = statement.rstrip(".! ").split()
    if len(written) != len(words):
        return None
    if wanted == words[:at]:
        shared = next((place for place, word in enumerate(written) if not word[:1].isupper()), at)
        if words[0] in FUNCTION_WORDS or not 0 < shared < at:
            return None  # where the subject ends is known of names alone
        return " ".join((*written[:shared], *written[at + 1 :])) + "."
    return " ".join(written[:at]) + "."
