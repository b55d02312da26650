"""The words by which conversations are found: folded, without function words, lightly stemmed.

A query and a conversation must give the same terms, in any language: scripts without spaces give
character pairs (Han and Kana single characters too, so that a query of one finds something), vowel
points and accents do not count, and symbols with a meaning, such as emoji, are words.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files

from dreaming.beliefs.words import is_unspaced, spell_out, token, tokens
from dreaming.notes.secrets import MASK

_FUNCTION_WORDS = """
    a about above after again all also am an and any are as at be because been before being below between both but by
    can could did do does doing don down during each else few for from further get go got had has have having he her
    here hers herself him himself his how i if in into is it its itself just kind know let like ll lot may maybe me
    mean might mm more most much must my myself no nor not now of off oh ok okay on once one only or other our ours
    out over own quite rather re really right same say see shall she should so some sort such than that the their
    theirs them themselves then there these they thing things think this those though through to too uh uhh um under
    until up us ve very was we well were what when where whether which while who whom whose why will with within
    without would yeah yep yes yet you your yours yourself
    el la los las un una unos unas de del y o que en es por con para su sus se lo al como
    le les des une du et ou qui dans est pour par avec sur au aux ce cette il elle nous vous
    der die das den dem ein eine einen einem einer und oder ist im mit zu von auf für nicht ich sie wir
"""
_STOP_WORDS = frozenset(_FUNCTION_WORDS.split())
"""Words of function and of filling, mostly English; in a language without any here, rarity does their work."""

_FREQUENCIES = "word_frequencies_1.txt"
"""English words from the commonest, as the package of beliefs holds them; here only the order of size counts."""

_ONE_CHARACTER = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_PARTS = re.compile(r"[^\W_]+")
_VOWEL = re.compile("[aeiouy]")
_DOUBLED = re.compile(r"([bdfgmnprt])\1$")

# Points of Hebrew and Arabic, and accents above and below; not the vowel signs and viramas of Indic scripts.
_FIRST_POINT, _LAST_POINT, _FIRST_ACCENT = 10, 35, 200


def terms(text: str) -> Counter[int]:
    """Return the terms of a text with how often each occurs: signed 64-bit hashes of its words."""
    return Counter(term for one in tokens(text.replace(MASK, " ")) for term in _terms_of(one, single=True))


def distinct_terms(text: str) -> set[int]:
    """Return the distinct terms of a text, each stretch between white space read once for many texts."""
    return {term for stretch in text.replace(MASK, " ").split() for term in _terms_of_stretch(stretch)}


@lru_cache(maxsize=16384)
def _terms_of_stretch(stretch: str) -> tuple[int, ...]:
    return tuple(terms(stretch))


def query_terms(query: str) -> list[int]:
    """Return the distinct terms of a query, in its order; a lone ideograph counts, pairs come without theirs."""
    found = (term for one in tokens(query.replace(MASK, " ")) for term in _terms_of(one, single=False))
    return list(dict.fromkeys(found))


def words(text: str) -> Iterator[str]:
    """Yield the words under which a text is found, in order and as often as they occur."""
    for one in tokens(text):
        yield from _words_of(one, single=True)


@lru_cache(maxsize=65536)
def _terms_of(one: str, *, single: bool) -> tuple[int, ...]:
    return tuple(token(word) for word in _words_of(one, single=single))


@lru_cache(maxsize=65536)
def _words_of(one: str, *, single: bool) -> tuple[str, ...]:
    """The words of a folded token; `single` adds each character of an unspaced run to its pairs."""
    if is_unspaced(one):
        return tuple(_pairs(one, single=single))
    word = spell_out(one)[0]
    if word in _STOP_WORDS or not word:
        return ()
    parts = _PARTS.findall(word) if "." in word or "_" in word or "'" in word else ()
    return (stem(word), *(stem(part) for part in parts if part != word and part not in _STOP_WORDS))


def _pairs(run: str, *, single: bool) -> Iterator[str]:
    if len(run) == 1:
        yield run
        return
    yield from (run[place : place + 2] for place in range(len(run) - 1))
    if single:
        yield from _ONE_CHARACTER.findall(run)


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Return a word without accents and without its commonest English endings.

    Light on purpose: plurals, -ing, -ed and -ly, as in Harman's "How effective is suffixing?" (1991) and
    step 1 of Porter's algorithm (1980), and a final e, so that both forms of a verb meet.
    """
    if not word.isascii():
        word = _without_points(word)
    if not word.isascii() or not word.isalpha() or len(word) < 4:
        return word
    word = _without_plural(word)
    if word.endswith("eed"):
        word = word[:-1]
    for ending in ("ing", "ed", "ly"):
        rest = word[: -len(ending)]
        if word.endswith(ending) and len(rest) >= 3 and _VOWEL.search(rest):
            word = _DOUBLED.sub(r"\1", rest)
            break
    if word.endswith("e") and len(word) > 3:
        word = word[:-1]
    return word[:-1] + "i" if word.endswith("y") and len(word) > 3 else word


def rarity(stemmed: str) -> float:
    """Return how much a word says by itself: 0 for the commonest in English, the most for an unknown one."""
    ranks = _ranks()
    return math.log1p(ranks.get(stemmed, len(ranks)))


@lru_cache(maxsize=1)
def _ranks() -> dict[str, int]:
    """The rank of each stem: that of its commonest word, from 0."""
    ranks: dict[str, int] = {}
    for rank, word in enumerate((files("dreaming.beliefs") / _FREQUENCIES).read_text("utf-8").split()):
        ranks.setdefault(stem(word), rank)
    return ranks


def _without_plural(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _without_points(word: str) -> str:
    kept = [
        character
        for character in unicodedata.normalize("NFD", word)
        if not _FIRST_POINT <= (mark := unicodedata.combining(character)) <= _LAST_POINT and mark < _FIRST_ACCENT
    ]
    return unicodedata.normalize("NFC", "".join(kept))
