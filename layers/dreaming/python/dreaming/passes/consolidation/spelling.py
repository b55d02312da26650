"""The guard over what folding drops: a sign before a word, and capitals that make it another one. Pure."""

from __future__ import annotations

from unicodedata import normalize

_OPENING = "([{\"'“”‘’«»‹›„‚¿¡`*_"
_CLOSING = ".,;:!…。、，．！；：)]}\"'“”‘’«»‹›`*_"
_QUESTION = "?？؟"

_SHORTEST_NAME = 4
"""From so many letters on, capitals are a habit of writing: "github", "GitHub"."""

_SHORTEST_ACRONYM = 3
"""From so many letters on, so are capitals throughout: "api", "API". Below: "IT" is not "it"."""

_CAPITONYMS = frozenset(
    {
        "aids",
        "arm",
        "august",
        "bill",
        "china",
        "cologne",
        "earth",
        "ford",
        "frank",
        "grant",
        "guinea",
        "jack",
        "japan",
        "jersey",
        "job",
        "led",
        "lima",
        "march",
        "mark",
        "mass",
        "mercury",
        "mobile",
        "nice",
        "pole",
        "polish",
        "ram",
        "reading",
        "rich",
        "rose",
        "scone",
        "turkey",
        "welsh",
        "who",
        "will",
    }
)
"""Words that mean another thing with capitals."""


def spelling(left: str, right: str) -> tuple[str, str] | None:
    """Words that fold to the same must be written alike, up to what writing habits change.

    Only statements of the same words in the same places are compared; what else differs is for other
    guards. A question is no statement of the same.
    """
    of_left, of_right = normalize("NFKC", left).split(), normalize("NFKC", right).split()
    if _asks(left) != _asks(right):
        return ("?", "") if _asks(left) else ("", "?")
    if len(of_left) != len(of_right):
        return None
    if left.isupper() or right.isupper():
        # Capitals throughout tell words from no others.
        of_left, of_right = [word.casefold() for word in of_left], [word.casefold() for word in of_right]
    for place, (one, other) in enumerate(zip(of_left, of_right, strict=True)):
        bare, other_bare = _bare(one), _bare(other)
        if bare != other_bare and _letters(bare) == _letters(other_bare) and not _is_habit(bare, other_bare, place):
            return bare, other_bare
    return None


def _asks(statement: str) -> bool:
    return statement.rstrip().rstrip("\"'“”’»)").endswith(tuple(_QUESTION))


def _bare(word: str) -> str:
    return word.rstrip(_CLOSING + _QUESTION).lstrip(_OPENING)


def _letters(word: str) -> str:
    return "".join(character for character in word.casefold() if character.isalnum())


def _is_habit(one: str, other: str, place: int) -> bool:
    """Say whether two writings of the same letters and digits are one word."""
    if one.casefold() != other.casefold():
        # A hyphen or an apostrophe within; a sign at either end says something.
        return (
            bool(one and other) and one[0].isalnum() == other[0].isalnum() and one[-1].isalnum() == other[-1].isalnum()
        )
    if not one.isalpha():
        return False
    if place == 0 and one[1:] == other[1:]:
        return True
    if one.casefold() in _CAPITONYMS:
        return False
    is_acronym = len(one) >= _SHORTEST_ACRONYM and {one.upper(), one.lower()} == {one, other}
    return is_acronym or len(one) >= _SHORTEST_NAME
