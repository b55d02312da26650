"""Whether two statements may be about one thing, though their sentences begin with different words. Pure."""

from __future__ import annotations

from dreaming.beliefs.words import word_set
from dreaming.passes.contradictions.belief_readings import Examined
from dreaming.passes.contradictions.lines import Neighbourhood
from dreaming.passes.contradictions.reading import Reading
from dreaming.passes.contradictions.values import text_key
from dreaming.passes.contradictions.vocabulary import is_known

SPEAKERS = frozenset({"", "we", "i", "author", "they", "it", "you", "people", "everyone", "everybody", "all", "there"})
"""Subjects that say who speaks or acts, not what it is about."""

_SHARED = 0.2
_MOSTLY_SHARED = 0.6
FUNCTION_WORDS = frozenset(
    """
    a an the is are was were be been has have had do does did of in on at to for from by with and or not no now we i
    our my their his her its it they he she you said says that this these those who which will would as
    """.split()  # noqa: SIM905 - a list of words reads better than a list of strings
)


def may_be_one_thing(left: Reading, right: Reading, statements: tuple[str, str], subjects: tuple[str, str]) -> bool:
    """Tell whether a judge may set two statements against each other.

    `subjects` are the canonical ones. They may where the subject is one; where one names the other's
    subject in its sentence ("Prod runs Postgres 14", "We upgraded prod to Postgres 16"); or where one is
    told of a speaker, or in a form that nobody can take apart, and the words are alike; and where most words
    are the same. Two attributes of
    the table are told of their subjects plainly: there, two subjects are two things.
    """
    if subjects[0] == subjects[1]:
        return True
    if left.subject == right.subject:
        return False  # one name in two senses
    if any(_is_named(one, other) for one, other in ((left, right), (right, left))):
        return True
    if all(is_known(one.attribute or "") and one.subject not in SPEAKERS for one in (left, right)):
        return False
    texts = tuple(f" {text_key(one)} " for one in statements)
    if any(
        one.subject not in SPEAKERS and not one.is_opaque and f" {one.subject} " in text
        for one, text in ((left, texts[1]), (right, texts[0]))
    ):
        return True
    loose = any(one.is_opaque or one.subject in SPEAKERS for one in (left, right))
    return _overlap(*statements) >= (_SHARED if loose else _MOSTLY_SHARED)


def _is_named(one: Reading, other: Reading) -> bool:
    """Tell whether one says what the other calls its subject: "the tool is called Pigeon", "Pigeon was renamed"."""
    return f"{one.subject} {one.value.text}" == other.subject or (
        one.attribute == other.attribute == "name" and one.value.text == other.subject
    )


def _overlap(left: str, right: str) -> float:
    """Return the share of the shorter one's content words that the other has too."""
    one, other = (word_set(text) - FUNCTION_WORDS for text in (left, right))
    return len(one & other) / max(1, min(len(one), len(other)))


def may_conflict(around: Neighbourhood, left: Examined, right: Examined) -> bool:
    """Tell whether two beliefs may be about one thing, so that a judge may set them against each other."""
    one, other = left.reading, right.reading
    if one is None or other is None:
        return False
    statements = left.belief.statement, right.belief.statement
    return may_be_one_thing(one, other, statements, (around.subject(one), around.subject(other)))
