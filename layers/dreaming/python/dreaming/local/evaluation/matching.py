"""Whether a kept claim says what a label says: by place, words, numbers, people, negation and modality. Pure.

No judge is needed, and the same answer gives the same figures. The rule reads words, not meaning: what it
gets wrong is measured on pairs labelled by hand, see docs/evaluation.md.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache

from dreaming.beliefs.records import Kind
from dreaming.beliefs.words import is_unspaced
from dreaming.local.evaluation.labelled_notes import Expected, LabelledNote, Trap
from dreaming.passes.consolidation.lexicon import FUNCTION_WORDS, NEGATORS
from dreaming.passes.consolidation.quantities import plain, read_quantities
from dreaming.passes.consolidation.wording import read_wording, stem

SHARED_SPAN = 0.5
"""Of the shorter of two quotes, at least so much must be common to both."""

SHARED_WORDS = 0.5
"""Of a label's content words, so many must be in the claim's statement, of a claim's and of a trap's."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A claim that passed every check: what it states, where its quote stands, and what it is."""

    statement: str
    start: int
    end: int
    kind: Kind


def found(kept: Kept, expected: Expected, note: LabelledNote) -> float:
    """Return how much of the expected claim a kept one says: 0 when it is another, else from a half to 1."""
    if not overlaps((kept.start, kept.end), note.span(expected)) or (
        _unsettled(kept.statement) and not _unsettled(expected.statement)
    ):
        return 0.0
    return max(
        _agreement(kept.statement, statement, expected.quote, note.people)
        for statement in (expected.statement, *expected.also)
    )


def _agreement(said: str, label: str, quote: str, people: Collection[str]) -> float:
    agrees = (
        _negative(label) == _negative(said)
        and _same_people(said, label, people)
        and _numbers(label) & _numbers(quote) <= _numbers(said)
        and _dates_agree(said, label)
    )
    return _enough(share(label, said, people)) if agrees else 0.0


def believed(kept: Kept, trap: Trap, note: LabelledNote) -> float:
    """Return how much of a trap a kept claim asserts, as above; that somebody said or asked it is no assertion."""
    asserts = (
        overlaps((kept.start, kept.end), note.span(trap))
        and _negative(kept.statement) == _negative(trap.statement)
        and not _unsettled(kept.statement)
        and not _REPORTED.search(kept.statement)
    )
    return _enough(share(trap.statement, kept.statement, note.people)) if asserts else 0.0


def _enough(shared: float) -> float:
    return shared if shared >= SHARED_WORDS else 0.0


def overlaps(left: tuple[int, int], right: tuple[int, int]) -> bool:
    """Say whether two spans have at least half of the shorter one in common."""
    common = min(left[1], right[1]) - max(left[0], right[0])
    return common > 0 and common >= SHARED_SPAN * min(left[1] - left[0], right[1] - right[0])


def share(label: str, statement: str, people: Collection[str] = ()) -> float:
    """Return how many of a label's content words a statement has, 0..1; forms of one word count as one.

    The names of `people` count only where there is nothing else: "I" stands for one of them.
    """
    names = frozenset(word for person in people for word in content_words(person))
    wanted, there = content_words(label), content_words(statement)
    wanted = wanted - names or wanted
    return sum(_has(there, word) for word in wanted) / len(wanted) if wanted else 0.0


@lru_cache(maxsize=8192)
def content_words(text: str) -> frozenset[str]:
    """Return the words that carry the meaning, without grammar and negation.

    Where no spaces are written these are single ideographs and runs of katakana, or pairs of characters in
    scripts that have neither.
    """
    words: set[str] = set()
    for word in read_wording(text).words:
        if is_unspaced(word):
            words.update(_MEANINGFUL.findall(word) or _pairs(word))
        elif word not in _GRAMMAR and any(map(str.isalnum, word)):
            words.add(word)
    return frozenset(words)


_GRAMMAR = FUNCTION_WORDS | NEGATORS | {"er", "sie", "es", "wir", "ihr", "ich", "sich"}
_MEANINGFUL = re.compile(r"[\u3005-\u3007\u3400-\u9fff\uf900-\ufaff]|[\u30a1-\u30ff]{2,}")


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]


def _has(words: Collection[str], word: str) -> bool:
    return word in words or any(_alike(word, other) for other in words)


@lru_cache(maxsize=65536)
def _alike(left: str, right: str) -> bool:
    """Say whether two words are forms of one: equal stems, or a common beginning of all but two letters."""
    if is_unspaced(left) or is_unspaced(right) or not (left.isalpha() and right.isalpha()):
        return False
    if stem(left) == stem(right):
        return True
    common = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        common += 1
    return common >= max(4, min(len(left), len(right)) - 2)


def _numbers(text: str) -> frozenset[str]:
    """Return the digits of a text, without what groups thousands."""
    joined = re.sub(r"(?<=\d)[.,](?=\d{3}(?!\d))", "", plain(text))
    return frozenset(digits.lstrip("0") or "0" for digits in re.findall(r"\d+", joined))


def _dates_agree(statement: str, label: str) -> bool:
    """Say whether a day that both name is the same one; the year may be left out."""
    said, meant = _days(statement), _days(label)
    return not said or not meant or bool(said & meant)


@lru_cache(maxsize=8192)
def _days(text: str) -> frozenset[tuple[int, int]]:
    dates = read_quantities(text).dates
    return frozenset((month, day) for date in dates for _, month, day in date.readings if day is not None)


def _same_people(statement: str, label: str, people: Collection[str]) -> bool:
    """Say whether no other person of the note stands in the statement than in the label."""
    said, meant = _named(statement, people), _named(label, people)
    return not said or not meant or bool(said & meant)


def _named(text: str, people: Collection[str]) -> frozenset[str]:
    folded = " ".join(["", *re.findall(r"[^\W_]+", text.casefold()), ""])
    return frozenset(
        person
        for person in people
        if any((part in folded if is_unspaced(part) else f" {part} " in folded) for part in person.casefold().split())
    )


def _negative(statement: str) -> bool:
    """Say whether a statement denies, forbids or gives up something."""
    return bool(read_wording(statement).negated or _GIVEN_UP.search(statement))


def _unsettled(statement: str) -> bool:
    """Say whether a statement leaves open whether it holds."""
    return _OPEN.search(statement) is not None


def _phrases(*rows: str) -> re.Pattern[str]:
    """Match any of the words, whole; a row that begins with `~` is of a script without spaces."""
    spaced = "|".join(row for row in rows if not row.startswith("~"))
    unspaced = "|".join(row[1:] for row in rows if row.startswith("~"))
    return re.compile(rf"(?<!\w)(?:{spaced})(?!\w)|(?:{unspaced})", re.IGNORECASE)


_GIVEN_UP = _phrases(
    "forbidden|prohibited|banned|against|rejected|rejects|declined|dropped|drops|abandoned|cancell?ed|stopped|refused",
    "gave up|gives? up",
    "verboten|verworfen|verwarf|abgelehnt|entfällt|abgesagt|gesperrt",
    "prohibid[oa]s?|prohíbe|descart\\w+|rechaz\\w+|abandon\\w+|deja|dejó",
    "~禁止|見送|取りやめ|やめ[たる]|やめま|使えな",
)
"""What turns a statement round as "not" does: a rule may be told either way."""

_OPEN = _phrases(
    "would|could|might|maybe|perhaps|if|whether|possibly|probably",
    "würden?|könnten?|hätten?|wären?|vielleicht|wenn|ob",
    "podrían?|habría|quizás?|tal vez|si|ojalá",
    "~もし|かもしれ|でしょう|かどうか|だろう|ていれば",
)
_REPORTED = _phrases(
    "suggest\\w*|propos\\w+|asks?|asked|jok\\w+|wants?|wanted|consider\\w*|thought|hoped|claims?|claimed|says|told",
    "wonders?|believes?|planned|plans|doubts?|alleged\\w*|according|dropped|instructs?",
    "schlägt|schlug|vorgeschlagen|behaupte\\w+|meinte?n?|sagt|fragte?|scherzt?e?|geplant|wollten?|heißt es|laut|sei",
    "propon\\w+|propuso|dicen?|decía|dijo|pregunt\\w+|brome\\w+|broma|pensaba\\w*|según|pide",
    "~提案|冗談|と言|言われ|検討|予定でし|質問|尋ね|という",
)
