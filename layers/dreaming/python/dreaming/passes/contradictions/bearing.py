"""Whether two statements may be about one thing, though their sentences begin with different words. Pure."""

from __future__ import annotations

import re
from functools import lru_cache

from dreaming.beliefs.words import word_set
from dreaming.passes.consolidation.wording import stem
from dreaming.passes.contradictions.belief_readings import Examined
from dreaming.passes.contradictions.lines import Neighbourhood
from dreaming.passes.contradictions.reading import Reading
from dreaming.passes.contradictions.values import text_key
from dreaming.passes.contradictions.vocabulary import PERSONS, is_known

SPEAKERS = frozenset({"", "we", "i", "author", "they", "it", "you", "people", "everyone", "everybody", "all", "there"})
"""Subjects that say who speaks or acts, not what it is about."""

_SHARED = 0.2
_PARTLY_SHARED = 0.4
_MOSTLY_SHARED = 0.6
FUNCTION_WORDS = frozenset(
    """
    a an the is are was were be been has have had do does did of in on at to for from by with and or not no now we i
    our my their his her its it they he she you said says that this these those who which will would as
    favourite favorite
    """.split()  # noqa: SIM905 - a list of words reads better than a list of strings
)


def may_be_one_thing(left: Reading, right: Reading, statements: tuple[str, str], subjects: tuple[str, str]) -> bool:
    """Tell whether a judge may set two statements against each other.

    `subjects` are the canonical ones. They may where the subject is one; where one names the other's
    subject in its sentence ("Prod runs Postgres 14", "We upgraded prod to Postgres 16"); or where one is
    told of a speaker, or in a form that nobody can take apart, and the words are alike; and where most words
    are the same, or many in sentences that are built differently. Two attributes of
    the table are told of their subjects plainly: there, two subjects are two things.
    """
    if subjects[0] == subjects[1] or left.subject == right.subject:
        return subjects[0] == subjects[1]  # else one name in two senses
    ways = (left, right), (right, left)
    if _stems_alike(left, right) or any(_is_named(*way) or _has_initials(*way) for way in ways):
        return True
    if all(is_known(one.attribute or "") and one.subject not in SPEAKERS for one in (left, right)):
        return False
    told = zip(ways, reversed(statements), strict=True)
    if any(_is_spoken_of(*way, statement) for way, statement in told):
        return True
    loose = any(one.is_opaque or one.subject in SPEAKERS for one in (left, right))
    apart = left.attribute == right.attribute
    return _overlap(*statements) >= (_SHARED if loose else _MOSTLY_SHARED if apart else _PARTLY_SHARED)


def _is_named(one: Reading, other: Reading) -> bool:
    """Tell whether one says what the other calls its subject: "the tool is called Pigeon", "Pigeon was renamed"."""
    return f"{one.subject} {one.value.text}" == other.subject or (
        one.attribute == other.attribute == "name" and one.value.text == other.subject
    )


def _stems_alike(one: Reading, other: Reading) -> bool:
    """Tell whether two subjects differ in endings alone, or, of one attribute, one is told as a part of the other.

    "Lab meetings" and "the lab meeting"; "the last two digits of Ola's phone number" and "Ola's phone number".
    """
    words, others = content(one.subject), content(other.subject)
    if not words or not others:
        return False
    more = {word for word in words ^ others if word in PERSONS or len(word) == 1 or any(map(str.isdecimal, word))}
    part = one.attribute == other.attribute and (words < others or others < words) and not more
    return words == others or part


def _has_initials(one: Reading, other: Reading) -> bool:
    """Tell whether one subject is the other's initials: "hri" of "harbor research institute"."""
    words = other.subject.split()
    return len(words) > 1 and one.subject == "".join(word[0] for word in words)


@lru_cache(maxsize=4096)  # a statement is held against each of its candidates, and each of those against others
def content(statement: str) -> frozenset[str]:
    """Return the stems of the words of a statement that say something."""
    return frozenset(stem(stem(word)) for word in word_set(statement) - FUNCTION_WORDS)


def _is_spoken_of(one: Reading, other: Reading, statement: str) -> bool:
    """Tell whether a statement names the other's subject, or, built differently, a part of it besides its own.

    "Sprint length is two weeks", "we do three-week sprints".
    """
    relative = other.subject.removeprefix(f"{one.subject} ")
    if one.subject in SPEAKERS or one.is_opaque or (relative != other.subject and relative in PERSONS):
        return False  # "Jan", "Jan's sister"
    if f" {one.subject} " in f" {text_key(statement)} ":
        return True
    subjects = content(one.subject), content(other.subject)
    return one.attribute != other.attribute and bool(subjects[0] & (content(statement) - subjects[1]))


def _overlap(left: str, right: str) -> float:
    """Return the share of the shorter one's content words that the other has too."""
    one, other = content(left), content(right)
    return len(one & other) / max(1, min(len(one), len(other)))


def _lead(reading: Reading, statement: str) -> str:
    """Return whom or what a sentence begins with, where a form took it for the value: "Agnes runs the kitchen"."""
    return reading.value.text if _is_turned(reading, statement) else reading.subject


def _is_turned(reading: Reading, statement: str) -> bool:
    text = text_key(statement)
    return text.startswith(reading.value.text) and not text.startswith(reading.subject)


def may_conflict(around: Neighbourhood, left: Examined, right: Examined) -> bool:
    """Tell whether two beliefs may be about one thing, so that a judge may set them against each other."""
    one, other = left.reading, right.reading
    if one is None or other is None:
        return False
    statements = left.belief.statement, right.belief.statement
    leads = [around.resolved(_lead(reading, text)) for reading, text in zip((one, other), statements, strict=True)]
    if leads[0] == leads[1] and leads[0] not in SPEAKERS:
        return True
    return may_be_one_thing(one, other, statements, (around.subject(one), around.subject(other)))


def is_guessed(left: Examined, right: Examined) -> bool:
    """Tell whether an attribute is only guessed: by a form that serves several, or of one clause out of two.

    What "moved to striker" moved to need not be a place, "at 14 Quay Road" is no time of day, and "is called Nettle
    and reads 4 MB a second" says two things.
    """
    return any(_is_unsure(one) for one in (left, right))


def _is_unsure(one: Examined) -> bool:
    reading, statement = one.reading, one.belief.statement
    if reading is None:
        return False
    joined = _JOINED.search(statement) is not None
    moved = reading.attribute == "place" and reading.changes and _MOVED_TO.search(statement) is not None
    clock = reading.attribute == "time" and not reading.value.times
    return moved or clock or joined or _is_turned(reading, statement) or _TWO_CLAUSES.search(statement) is not None


_MOVED_TO = re.compile(r"\b(?:moved|moves|moving|went|goes) (?:back |up |down |over )?(?:in)?to (?:the |an? )?[a-z]")
_JOINED = re.compile(r"\b(?:joined|joins|belongs? to)\b")
_TWO_CLAUSES = re.compile(
    r"(?:,| and| but| so| while|;| since| because)+ (?:(?:now|then|also|so) )?"
    r"(?:(?:it|he|she|they|we|I|the \w+|[A-Z]\w+) )(?:\w+ )?(?:is|are|was|has|had|will|\w+(?:s|ed))\b"
)
