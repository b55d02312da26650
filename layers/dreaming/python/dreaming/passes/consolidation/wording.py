"""A statement taken apart for comparison: its words in order, names, identifiers and negations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from dreaming.beliefs.words import UNSPACED, is_unspaced, spell_out, tokens
from dreaming.passes.consolidation.lexicon import (
    FUNCTION_WORDS,
    MONTHS,
    NEGATORS,
    NOT_NEGATING,
    SHORT_WEEKDAYS,
    UNITS,
    WEEKDAYS,
)
from dreaming.passes.consolidation.quantities import plain


@dataclass(frozen=True, slots=True)
class Name:
    """A capitalised word; `certain` unless it is capitalised for standing at the start of a sentence."""

    word: str
    certain: bool
    place: int


@dataclass(frozen=True, slots=True)
class Wording:
    """The words of a statement, folded and in order; runs of unspaced script are one word each."""

    text: str
    words: tuple[str, ...]
    names: tuple[Name, ...]
    identifiers: frozenset[str]
    negated: tuple[str, ...]

    @property
    def word_set(self) -> frozenset[str]:
        """The words without their order."""
        return frozenset(self.words)


@lru_cache(maxsize=4096)
def read_wording(text: str) -> Wording:
    """Take a statement apart."""
    text = plain(text)
    words = tuple(part for word in tokens(text) for part in spell_out(word))
    return Wording(
        text, words, tuple(names(text)), frozenset(identifiers(text)), (*_negated(words), *_negated_unspaced(text))
    )


_RAW = re.compile(rf"(?:(?![{UNSPACED}])\w)+(?:(?:[.'\-/@&]|::?)(?:(?![{UNSPACED}])\w)+)*[+#]*")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;\n])[\s\"'(\[*>-]*$")
_MEASURE = re.compile(
    rf"\d[\d.,:/-]*(?:st|nd|rd|th|er|[ap]m|x|k|{'|'.join(re.escape(u) for u in UNITS)})?", re.IGNORECASE
)
_COUNTED = re.compile(r"\d+(?:[.,]\d+)*-[^\W\d_]+(?:-[^\W\d_]+)*")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d(?:T[\d:.]+)?Z?", re.IGNORECASE)
_CAMEL = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]{2}.*[A-Z]")


def identifiers(text: str) -> Iterator[str]:
    """Yield, folded, the tokens that name something by their spelling: ABC-123, v1.2, a_b, x@y.z, C++."""
    for match in _RAW.finditer(text):
        token = match.group()
        if _is_identifier(token):
            yield token.casefold().removesuffix("'s")


def _is_identifier(token: str) -> bool:
    if token.isalpha() and token.islower():
        return False
    if _MEASURE.fullmatch(token) or _COUNTED.fullmatch(token) or _MOMENT.fullmatch(token):
        return False
    has_letter = any(map(str.isalpha, token))
    return has_letter and (
        any(map(str.isdecimal, token))
        or any(sign in token for sign in "_@")
        or "::" in token
        or token[-1] in "+#"
        or re.search(r"\w\.\w{2}", token) is not None
        or (_CAMEL.search(token) is not None and "-" not in token)
    )


_CALENDAR = {*MONTHS, *WEEKDAYS, *(word.casefold() for word in SHORT_WEEKDAYS)}
_NO_NAMES = FUNCTION_WORDS | _CALENDAR
_ACRONYMS = frozenset({"US", "IT", "WHO"})


def names(text: str) -> Iterator[Name]:
    """Yield the words written as proper names; calendar words and grammar words are none."""
    place = -1
    for match in _RAW.finditer(text):
        token = match.group()
        place += 1
        if not token[0].isupper() or _is_identifier(token):
            continue
        initial = _SENTENCE_START.search(text, max(0, match.start() - 16), match.start()) is not None
        initial = initial and (match.start() < 16 or text[match.start() - 16 : match.start()].strip() != "")
        for part in re.split(r"[-/&:]", token):
            word = part.casefold().removesuffix("'s").rstrip("'")
            if word and part[0].isupper() and (word not in _NO_NAMES or part in _ACRONYMS):
                yield Name(word, certain=not initial or (len(part) > 1 and part.isupper()), place=place)


_TURKISH_NEGATION = re.compile(r"\w{2,}m[iıuü]yor\w*")


def _negated(words: tuple[str, ...]) -> Iterator[str]:
    """Yield for each negating word the content word after it, or the empty text at the end."""
    for at, word in enumerate(words):
        if _TURKISH_NEGATION.fullmatch(word):
            yield word
        if (word in NEGATORS or word.startswith("n'")) and words[at : at + 2] not in NOT_NEGATING:
            rest = (later for later in words[at + 1 :] if later not in FUNCTION_WORDS and later not in NEGATORS)
            yield next(rest, "")


_UNSPACED_NEGATION = re.compile(
    "不(?![但仅过断久得禁])|(?<!差)没|沒|無(?!論)|无(?![论锡疑])|非(?!常|洲)|未(?![来來])|勿|别再|아니|않|없|ない|なかった|なく|ません|せず|なし|ไม่"
)
_NO_NEGATION = re.compile("差不多|对不起|了不起|要不|不得不|不同")


def _negated_unspaced(text: str) -> Iterator[str]:
    if text.isascii():
        return
    for match in _UNSPACED_NEGATION.finditer(_NO_NEGATION.sub(" ", text)):
        yield match.group()


def stem(word: str) -> str:
    """Return a word without the commonest English endings, so that forms of one word compare equal."""
    if is_unspaced(word):
        return word
    for ending in ("ing", "ies", "ied", "es", "ed", "s", "e", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word
