"""What a claim has to do with a statement that joins two by "and": it is a part of it, or leaves the rest. Pure."""

from __future__ import annotations

from dreaming.beliefs.compounds import CONJUNCTIONS, parts
from dreaming.beliefs.words import token_list
from dreaming.passes.consolidation.lexicon import FUNCTION_WORDS


def is_part(claim: str, statement: str) -> bool:
    """Say whether `claim` is what `statement` says before its "and" or after it."""
    found = parts(statement)
    return bool(found) and token_list(claim) in found


def remainder_of(statement: str, part: str) -> str | None:
    """Return, in its own spelling, what else a compound says; None when `part` is no part of it."""
    if not is_part(part, statement):
        return None
    words, wanted = token_list(statement), token_list(part)
    at = next(place for place, word in enumerate(words) if word in CONJUNCTIONS)
    written = statement.rstrip(".! ").split()
    if len(written) != len(words):
        return None
    if wanted == words[:at]:
        shared = next((place for place, word in enumerate(written) if not word[:1].isupper()), at)
        if words[0] in FUNCTION_WORDS or not 0 < shared < at:
            return None  # where the subject ends is known of names alone
        return " ".join((*written[:shared], *written[at + 1 :])) + "."
    return " ".join(written[:at]) + "."
