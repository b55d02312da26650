"""Words of a statement: the folded text, its word set, and the prefix filter that finds near-duplicates.

The word set and the order of words are frozen per `WORDS_VERSION`, because prefixes are stored. Two
sets with Jaccard >= t share a word among the first n - ceil(t n) + 1 of either set under one common
order of words, and their sizes lie within ceil(t n) .. floor(n / t) (Chaudhuri, Ganti and Kaushik,
"A primitive operator for similarity joins in data cleaning", 2006; Bayardo, Ma and Srikant, "Scaling
up all pairs similarity search", 2007). Rare words first keeps the candidates few.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Set
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path

WORDS_VERSION = 1
"""Version of the word set and of the order; a change of either needs a new one and a re-index."""

STORED_THRESHOLD = 0.5
"""The threshold of stored prefixes: the lower bound of the setting `jaccard_threshold`."""

UNSPACED = (
    "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3100-\u312f"
    "\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Character ranges of scripts without spaces: Thai to Tibetan, Myanmar, Khmer, Kana, Bopomofo, Han."""

MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc"
    "\u06df-\u06e4\u0900-\u0963\u0971-\u0dff\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
)
"""Character ranges of marks that belong to the letter before, among them whole Indic blocks."""

# Counted over permissively licensed English by tests/evaluation/make_word_frequencies.py; only the order is kept.
_FREQUENCIES = Path(__file__).with_name(f"word_frequencies_{WORDS_VERSION}.txt")
_LETTER = f"(?:(?![{UNSPACED}])[\\w{MARKS}])"
_TOKEN = re.compile(
    f"""
    (?P<unspaced>[{UNSPACED}]+)
  | (?P<number>(?:(?<![^\\s(])[-+])?(?<![\\w.])\\d+(?:[.,:/-]\\d+)*(?!{_LETTER}))
  | (?P<word>{_LETTER}+(?:['.]{_LETTER}+)*(?:[+\\#]+(?!{_LETTER}))?)
  | (?P<symbol>[^\\s\\w])
    """,
    re.VERBOSE,
)
_UNSPACED_RUN = re.compile(f"[{UNSPACED}]+")
_SPELLING = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4\u02bc`", "'"),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
    }
)
_SYMBOLS = frozenset("%#@&*=/\\^~|")  # meaningful although Unicode files them under punctuation
_THOUSANDS = re.compile(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_IRREGULAR = {"can't": ("can", "not"), "won't": ("will", "not"), "shan't": ("shall", "not"), "cannot": ("can", "not")}
_ENDINGS = ("'s", "'re", "'ve", "'ll", "'d", "'m")
# Chinese particles that colour a sentence without changing what it says.
_PARTICLES = str.maketrans("", "", "的了啊呀呢吧嘛啦哦喔")


@lru_cache(maxsize=8192)
def _is_symbol(character: str) -> bool:
    """Say whether a character that is neither word nor space means something: currency, arithmetic, pictures."""
    return character in _SYMBOLS or unicodedata.category(character) in {"Sc", "Sm", "So"}


def _fold_characters(text: str) -> str:
    """Fold compatibility forms, case, quotes and dashes, and drop characters that cannot be seen."""
    if text.isascii():
        return text.replace("`", "'").casefold()
    text = text.translate(_SPELLING)  # before NFKC, which takes an acute accent apart
    if text.isascii():
        return text.casefold()
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).translate(_SPELLING)
    return "".join(character for character in text if unicodedata.category(character) not in {"Cf", "Cs", "Cn", "Co"})


@lru_cache(maxsize=2048)  # a statement is compared by its text, its words and its parts, one after the other
def token_list(statement: str) -> tuple[str, ...]:
    """Return the folded tokens of a statement in order."""
    return tuple(tokens(statement))


def tokens(statement: str) -> list[str]:
    """Return the folded tokens in order: words, numbers, runs of unspaced script, and meaningful symbols."""
    # No token reaches over a space, and a piece of plain letters and digits is one: most need no pattern.
    text = _fold_characters(statement).rstrip(" .!?").replace(", ", " ")
    if _is_plain(text.replace(" ", "")):
        return text.split()
    return [word for piece in text.split() for word in ((piece,) if _is_plain(piece) else _matched(piece))]


def _is_plain(text: str) -> bool:
    """Say whether a text has ASCII letters and digits alone."""
    return text.isascii() and text.isalnum()


def _matched(text: str) -> Iterator[str]:
    for match in _TOKEN.finditer(text):
        token = match.group()
        if match.lastgroup == "symbol":
            if _is_symbol(token):
                yield token
        elif match.lastgroup == "number" and _THOUSANDS.fullmatch(token):
            yield token.replace(",", "")
        else:
            yield token.strip("_") or token


@lru_cache(maxsize=2048)
def fold(statement: str) -> str:
    """Return the text two statements share exactly when they differ only in form.

    Folded away: compatibility forms, case, white space, punctuation, invisible characters. Kept:
    everything that can change the meaning, such as signs, decimal points, currency and apostrophes.
    """
    return " ".join(token_list(statement))


def statement_hash(folded: str) -> int:
    """Return a signed 64-bit hash of a folded statement, for the index; equal hashes are then compared."""
    return _hash(folded, b"statement")


@lru_cache(maxsize=4096)  # a claim's words are looked up, ordered, and stored under two indexes
def token(word: str) -> int:
    """Return the signed 64-bit token under which a word is stored."""
    return _hash(word, b"word")


def _hash(text: str, purpose: bytes) -> int:
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8, person=purpose).digest()
    return int.from_bytes(digest, "big", signed=True)


@lru_cache(maxsize=2048)  # a batch has at most a few candidates for each of its claims
def word_set(statement: str) -> frozenset[str]:
    """Return the set of words by which statements are compared.

    Short forms are spelt out as far as they negate ("isn't" gives "is" and "not"), other endings
    after an apostrophe are dropped. Scripts without spaces give their character bigrams.
    """
    words = token_list(statement)
    if _is_plain("".join(words)) and "cannot" not in words:
        return frozenset(words)  # as `_words` gives them
    return frozenset(_words(words))


def _words(folded: Iterable[str]) -> Iterator[str]:
    for word in folded:
        if is_unspaced(word):
            run = word.translate(_PARTICLES) or word
            yield from (run[i : i + 2] for i in range(max(1, len(run) - 1)))
        else:
            yield from spell_out(word)


def is_unspaced(folded: str) -> bool:
    """Say whether a folded token is a run of a script without spaces."""
    return folded[0] >= "\u0e00" and _UNSPACED_RUN.fullmatch(folded) is not None


def spell_out(word: str) -> tuple[str, ...]:
    """Return a folded word without its ending after an apostrophe, and with "not" spelt out."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if "'" not in word:
        return (word,)
    if word.endswith("n't") and len(word) > 3:
        return (word[:-3], "not")
    ending = next((ending for ending in _ENDINGS if word.endswith(ending) and word != ending), "")
    return (word[: len(word) - len(ending)],)


@lru_cache(maxsize=1)
def _ranks() -> dict[str, int]:
    """Return the rank of each known word, 0 for the most common."""
    return {word: rank for rank, word in enumerate(_FREQUENCIES.read_text("utf-8").split())}


def rare_first(words: Iterable[str]) -> list[str]:
    """Sort words under the frozen order: unknown words by their hash, then known ones from the rarest."""
    ranks = _ranks()

    def place(word: str) -> tuple[int, int, str]:
        rank = ranks.get(word)
        return (0, token(word), word) if rank is None else (1, -rank, word)

    return sorted(words, key=place)


def prefix(words: Set[str], threshold: float) -> list[str]:
    """Return the first n - ceil(threshold n) + 1 words under the frozen order; none of no words."""
    return rare_first(words)[: prefix_length(len(words), threshold)]


def prefix_length(size: int, threshold: float) -> int:
    """Return n - ceil(threshold n) + 1 for a set of `size` words; 1 for none."""
    return size - _ceiling(size * threshold) + 1


def size_bounds(size: int, threshold: float) -> tuple[int, int]:
    """Return the least and the greatest size of a set that can reach `threshold` with one of `size`."""
    return _ceiling(size * threshold), math.floor(size / threshold + _SLACK)


def least_overlap(left_size: int, right_size: int, threshold: float) -> int:
    """Return how many words two sets of these sizes must share to reach `threshold`.

    From Jaccard = shared / (left + right - shared) ≥ t follows shared ≥ t / (1 + t) × (left + right).
    """
    return _ceiling(threshold / (1 + threshold) * (left_size + right_size))


def jaccard(left: Set[str], right: Set[str]) -> float:
    """Return the size of the intersection over the size of the union; 0 when both are empty."""
    shared = len(left & right)
    union = len(left) + len(right) - shared
    return shared / union if union else 0.0


# Far above the rounding error of a product of a threshold and a size, far below 1 / size.
_SLACK = 1e-9


def _ceiling(product: float) -> int:
    """Round up, forgiving the rounding error of the product: 0.7 * 10 is 7, 0.55 * 100 is 55."""
    return math.ceil(product - _SLACK)
