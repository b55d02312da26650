"""What two statements still differ in when everything that means the same is taken away.

The other guards know what contradicts; these two know what does not. Each word of the one statement
must have its counterpart in the other (`content`), and the counterparts must stand in the same order, or
in one that English or Chinese allow for the same thing (`arrangement`). What is not known to be harmless
counts, in every language. Both functions are symmetric and return what they saw, or None.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from dreaming.beliefs.words import is_unspaced, spell_out, tokens
from dreaming.passes.consolidation.quantities import read_quantities
from dreaming.passes.consolidation.rewordings import (
    ADVERBIAL,
    AMOUNTS,
    ARTICLES,
    BE,
    EMPTY,
    HAVE,
    LOOSE,
    REPORT,
    VERBS,
    WHEN,
    bases,
    is_past,
    plain_japanese,
)


@dataclass(frozen=True, slots=True)
class Term:
    """A word that counts: what it may be a form of, whether it is past or passive, and the words before it.

    `before` are the words since the term before, a 0 for a number or date; `loose` says that the word may
    be missing on the other side, and which kind of word it must not stand against.
    """

    word: str
    bases: frozenset[str]
    form: str = ""
    before: tuple[str, ...] = ()
    loose: str | None = None

    def means(self, other: Term) -> bool:
        """Say whether one may stand for the other."""
        if self.word == other.word and self.form == other.form:
            return True
        if not self.bases & other.bases or self._is_other_number(other):
            return False
        return self.form == other.form or REPORT in self.bases & other.bases

    def _is_other_number(self, other: Term) -> bool:
        """Say whether the one is the plural of the other, and not a verb with a plural subject."""
        short, long = sorted((self, other), key=lambda term: len(term.word))
        if not long.word.endswith("s") or short.word not in bases(long.word) - {long.word}:
            return False
        return short.word not in VERBS or bool(ARTICLES & {*short.before[-1:], *long.before[-1:]})


_LIST = re.compile(r"\b[A-Z0]\w*(?:, [A-Z0]\w*)+,? (?:and|or|und|oder|et|ou|y|o) [A-Z0]\w*\b")
_NOT_ONLY = re.compile(r"\bnot only\b(.*?)\bbut(?: also)?\b", re.IGNORECASE)
_WRITTEN_OUT = (
    (re.compile(r"(?<=\w)'ll\b"), " will"),
    (re.compile(r"(?<=\w)'d\b"), " would"),
    (re.compile(r"(?<=\w)'ve\b"), " have"),
    (re.compile(r"\b(US|IT|WHO)\b"), r"\1\1"),  # names, however much like us, it and who
    (re.compile(r"(?<=[\w,] )A\b(?!')"), "AA"),  # plan A
)
_PARTICLES = frozenset("的了啊呀呢吧嘛啦哦喔")
_NEGATION = frozenset({"not"})
_MEASURES = frozenset("个個名位只隻张張本台辆輛条條件种種家所")
_COUNTED = "0"
_WAS = frozenset({"was", "were"})
_HAS = HAVE - {"had"}


@lru_cache(maxsize=4096)
def read_terms(text: str) -> tuple[Term, ...]:
    """Take a statement's words that count, in order; numbers and dates are compared elsewhere."""
    rest = _LIST.sub(_in_order, _NOT_ONLY.sub(r"\1 and", plain_japanese(read_quantities(text).rest)))
    for pattern, written_out in _WRITTEN_OUT:
        rest = pattern.sub(written_out, rest)
    parts = [part for token in tokens(rest) for part in _parts(token)]
    words = [word for at, word in enumerate(parts) if word not in _MEASURES or parts[at - 1 : at] != [_COUNTED]]
    reported = any(REPORT in bases(word) for word in words)
    terms: list[Term] = []
    before: list[str] = []
    for place, word in enumerate(words):
        term = _term(word, words, place, tuple(before), reported)
        before.append(word)
        if term is not None:
            terms.append(term)
            if term.loose is None:
                before.clear()
    return tuple(terms)


def _in_order(items: re.Match[str]) -> str:
    """Return an enumeration of single words in the order of the alphabet."""
    words = re.findall(r"\w+", items.group().casefold())
    return ", ".join([*sorted((*words[:-2], words[-1])), words[-2]])


def _parts(token: str) -> Iterator[str]:
    if token[0].isdecimal() or token[0] in "+-":
        yield _COUNTED
    elif is_unspaced(token):
        yield from (character for character in token if character not in _PARTICLES)
    else:
        yield from spell_out(token)


def _term(word: str, words: Sequence[str], place: int, before: tuple[str, ...], reported: bool) -> Term | None:
    """Return a word as a term, or None when it says nothing of its own here."""
    following = words[place + 1] if place + 1 < len(words) else ""
    if word in _WAS or (word == "got" and is_past(following)):
        return None if reported else Term(word, frozenset({"=was"}), before=before)
    if word in AMOUNTS and before[-1:] == ("a",):
        return Term(f"a {word}", frozenset({f"a {word}"}), before=before[:-1])
    if _is_empty(word, following, words, place):
        return None
    if word in HAVE:
        return Term(word, frozenset({"have"}), "past" if word == "had" else "", before)
    return Term(word, bases(word), "" if word in LOOSE else _form(word, words, place), before, LOOSE.get(word))


def _is_empty(word: str, following: str, words: Sequence[str], place: int) -> bool:
    """Say whether a word only helps another one, or leads a number or a date."""
    return (
        word in EMPTY
        or word == _COUNTED
        or (word in ("get", "gets") and is_past(following))
        or (word in _HAS and _is_auxiliary(words, place))
        or (LOOSE.get(word) == "relation" and following == _COUNTED and word in WHEN)
    )


def _is_auxiliary(words: Sequence[str], place: int) -> bool:
    following = next((word for word in words[place + 1 :] if word not in _NEGATION | EMPTY - BE), "")
    return following in BE or following == "to" or is_past(following) or following.endswith("en")


def _form(word: str, words: Sequence[str], place: int) -> str:
    """Say whether an English verb stands in the past, is a passive or a participle, or neither."""
    if not is_past(word):
        return ""
    earlier = [other for other in words[max(0, place - 4) : place] if other not in _NEGATION | (EMPTY - BE)][-2:]
    return "passive" if BE & set(earlier[-1:]) else "past"


def content(left: str, right: str) -> tuple[str, str] | None:
    """Each word that counts must have its counterpart; a loose one may be missing, but not be another."""
    of_left, of_right = read_terms(left), read_terms(right)
    pairs = _pairs(of_left, of_right)
    only_left = [term for at, term in enumerate(of_left) if at not in pairs]
    taken = set(pairs.values())
    only_right = [term for at, term in enumerate(of_right) if at not in taken]
    only_left, only_right = _uncounted(only_left, left, right), _uncounted(only_right, right, left)
    order = [pairs[at] for at in sorted(pairs)]
    counts = any(
        term.loose is None or (term.loose == "relation" and term.word not in _DROPPED and order == sorted(order))
        for term in (*only_left, *only_right)
    )
    against = {term.loose for term in only_left} & {term.loose for term in only_right}
    if (counts or against) and not (_is_passive_of(left, right) or _is_passive_of(right, left)):
        return _words(only_left), _words(only_right)
    return None


_DROPPED = frozenset({"of", "and", "de"})  # half of the seats, half the seats


def _uncounted(terms: list[Term], text: str, other: str) -> list[Term]:
    """Leave out words that are numbers here (the first) when the other statement has the same number (the 1st)."""
    values = {number.value for number in read_quantities(other).numbers}
    counted = {
        number.text.casefold() for number in read_quantities(text).numbers if number.weak and number.value in values
    }
    return [term for term in terms if term.word not in counted]


def _pairs(left: Sequence[Term], right: Sequence[Term]) -> dict[int, int]:
    """Give each term on the left its counterpart on the right: the same word first, then another form of it."""
    pairs: dict[int, int] = {}
    free = set(range(len(right)))
    for same in (True, False):
        for at, term in enumerate(left):
            if at in pairs:
                continue
            found = min(
                (to for to in free if (term.word == right[to].word or not same) and term.means(right[to])), default=None
            )
            if found is not None:
                pairs[at] = found
                free.discard(found)
    return pairs


def _words(terms: Sequence[Term]) -> str:
    return " ".join(term.word for term in terms)


def arrangement(left: str, right: str) -> tuple[str, str] | None:
    """Numbers, dates and words must stand in the same order, or differ in a way that changes nothing."""
    seen = _counted_order(left, right)
    if seen:
        return seen
    of_left, of_right = ([term for term in read_terms(text) if term.loose is None] for text in (left, right))
    pairs = _pairs(of_left, of_right)
    matched = sorted(pairs)
    places = {at: rank for rank, at in enumerate(sorted(pairs.values()))}
    order = [places[pairs[at]] for at in matched]
    if order == sorted(order):
        return None
    mine = [of_left[at] for at in matched]
    theirs = [of_right[at] for at in sorted(pairs.values())]
    if _is_harmless(order, mine, theirs) or _is_passive_of(left, right) or _is_passive_of(right, left):
        return None
    return _words(mine), _words(theirs)


def _counted_order(left: str, right: str) -> tuple[str, str] | None:
    of_left, of_right = read_quantities(left), read_quantities(right)
    for mine, theirs in (
        ([number.value for number in of_left.numbers], [number.value for number in of_right.numbers]),
        ([str(day) for day in of_left.weekday_order], [str(day) for day in of_right.weekday_order]),
        ([str(sorted(m.readings)) for m in of_left.times], [str(sorted(m.readings)) for m in of_right.times]),
        (
            [str(sorted(map(str, m.readings))) for m in of_left.dates],
            [str(sorted(map(str, m.readings))) for m in of_right.dates],
        ),
    ):
        if mine != theirs and sorted(mine) == sorted(theirs):
            return ", ".join(mine), ", ".join(theirs)
    return None


def _is_harmless(order: Sequence[int], mine: Sequence[Term], theirs: Sequence[Term]) -> bool:
    """Say whether one block of words moved, to where it says the same.

    `order[i]` is the place on the right of the i-th term on the left.
    """
    start = next(at for at, to in enumerate(order) if at != to)
    end = next(at for at in range(len(order), 0, -1) if order[at - 1] != at - 1)
    moved = [to - start for to in order[start:end]]
    here, there = mine[start:end], theirs[start:end]
    size = len(moved)
    for split in range(1, size):
        if moved == [*range(size - split, size), *range(size - split)]:
            later, other = here[split].before, there[size - split].before  # what leads the second block of each
            whole = size == len(mine)
            apart = end == len(mine) or bool(mine[end].before and theirs[end].before)
            return (
                (whole and (_is_adverbial(here[split], there[0]) or _is_adverbial(there[size - split], here[0])))
                or (whole and 1 in (split, size - split) and _is_named(here[:split], here[split:], later, other))
                or (_is_joined(later) and _is_joined(other))
                or (apart and (_is_owned(later, other) or _is_owned(other, later)))
                or any(
                    len(b) <= _REPORT_SIZE and any(REPORT in t.bases for t in b) for b in (here[:split], here[split:])
                )
            )
    back = sorted(range(size), key=moved.__getitem__)
    return _is_turned(moved, here, there) or _is_turned(back, there, here) or _is_exchange(moved, here)


def _is_named(first: Sequence[Term], second: Sequence[Term], later: Sequence[str], other: Sequence[str]) -> bool:
    """Say whether an "is" stands between one word and a description, as in: the treasurer is Marc."""
    described = len(first) + len(second) > 2 or _DEFINITE & set(later) ^ _DEFINITE & set(other)
    plain = set(later) | set(other) <= _IS | _DEFINITE | ARTICLES
    return bool(plain and _IS & set(later) and _IS & set(other) and described)


_DEFINITE = frozenset({"the", "our", "my", "your", "his", "her", "their"})
_REPORT_SIZE = 3  # words of "Priya Shah confirmed"
_IS = frozenset({"is", "are"})
_SAME_PLACE = {"within": "in", "inside": "in", "at": "in"}


def _is_adverbial(mine: Term, theirs: Term) -> bool:
    """Say whether the block that begins with this term is led by the same word of place or time on both sides."""
    if mine.word == theirs.word and mine.word in ADVERBIAL:
        return True
    led = [
        {_SAME_PLACE.get(word, word) for word in term.before if word in ADVERBIAL or word == _COUNTED}
        for term in (mine, theirs)
    ]
    return bool(led[0]) and led[0] == led[1]


def _is_turned(moved: Sequence[int], here: Sequence[Term], there: Sequence[Term]) -> bool:
    """Say whether an adverbial came to the front and the verb before its subject, as in German."""
    size = len(moved)
    return any(
        list(moved) == [lead + 1, lead, *range(lead + 2, size), *range(lead)]
        and _is_adverbial(here[size - lead], there[0])
        for lead in range(1, size - 1)
    )


_AND = frozenset({"and", "or", "und", "oder", "et", "ou", "y", "e", "o"})


def _is_joined(before: Sequence[str]) -> bool:
    """Say whether nothing but an "and" leads here."""
    return bool(_AND & set(before)) and set(before) <= _AND | ARTICLES | EMPTY | {_COUNTED, "both"}


_OWNING = frozenset({"of", "in", "on", "at", "de", "du", "des", "von", "del", "di"})


def _is_owned(beside: Sequence[str], owning: Sequence[str]) -> bool:
    """Say whether two words stand side by side here and as "A of B" there."""
    return not beside and bool(set(owning) & _OWNING) and set(owning) <= _OWNING | ARTICLES


_HAN_AND = frozenset("和与與及や")


def _is_exchange(moved: Sequence[int], here: Sequence[Term]) -> bool:
    """Say whether two parts change places around a Chinese or Japanese "and"."""
    size = len(moved)
    for middle in range(1, size - 1):
        if here[middle].word not in _HAN_AND:
            continue
        for last in range(middle + 1, size):
            tail = size - last
            expected = [*range(size - middle, size), *range(tail, tail + last - middle), *range(tail)]
            if list(moved) == expected:
                return True
    return False


def _is_passive_of(passive: str, active: str) -> bool:
    """Say whether the one is the passive of the other: B is done by A, A does B."""
    terms, others = read_terms(passive), [term for term in read_terms(active) if term.loose is None]
    by = next((at for at, term in enumerate(terms) if term.word == "by"), 0)
    said = [term for term in terms[:by] if term.loose is None]
    past = any("=was" in term.bases or "been" in term.before for term in said)
    said = [term for term in said if "=was" not in term.bases]
    agent = [term for term in terms[by + 1 :] if term.loose is None]
    if not by or not agent or not said or said[-1].form != "passive":
        return False
    expected = [*agent, said[-1], *said[:-1]]
    return (
        len(expected) == len(others)
        and all(one.bases & other.bases for one, other in zip(expected, others, strict=True))
        and others[len(agent)].form == ("past" if past else "")
    )
