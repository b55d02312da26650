"""What is taken out of text at the door, and what text says nothing at all."""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import cache
from typing import Any

_SURROGATE_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")

_STREAM_SAFE_MARKS = 30
"""Longest run of combining marks in natural text, Unicode Standard Annex 15, section 13."""

# Letters and marks that show nothing: Default_Ignorable_Code_Point outside the categories below, and blank Braille.
_IGNORED_RANGES = ((0x180B, 0x180F), (0xFE00, 0xFE0F), (0xE0100, 0xE01EF))
_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0").union(
    chr(code) for first, last in _IGNORED_RANGES for code in range(first, last + 1)
)
_INVISIBLE_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp", "Zs"})


def clean(text: str) -> str:
    """Return `text` without NUL and lone surrogates, in Unicode NFC, and otherwise unchanged.

    Two surrogates that make up one character become that character. A run of more than 30 combining
    marks keeps its order: no script writes one, and normalising it takes time quadratic in its length.
    Cleaning twice is cleaning once.
    """
    if _UNSTORABLE.search(text):
        text = _SURROGATE_PAIR.sub(_joined, text.replace("\x00", ""))
        text = _UNSTORABLE.sub("", text)
    if unicodedata.is_normalized("NFC", text):
        return text
    pieces = _long_mark_runs().split(text)
    return "".join(
        piece if position % 2 else unicodedata.normalize("NFC", piece) for position, piece in enumerate(pieces)
    )


def clean_values(value: Any) -> Any:
    """Clean every string within lists, tuples and dictionaries, their keys included; tuples become lists."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list | tuple):
        return [clean_values(item) for item in value]
    if isinstance(value, dict):
        return {clean_values(key): clean_values(item) for key, item in value.items()}
    return value


def is_empty(text: str) -> bool:
    """Whether `text` shows nothing: only white space, control, format and other invisible characters."""
    if text[:1].isalnum() and text[0] not in _INVISIBLE:
        return False
    return all(
        character.isspace() or character in _INVISIBLE or unicodedata.category(character) in _INVISIBLE_CATEGORIES
        for character in set(text)
    )


def _joined(pair: re.Match[str]) -> str:
    return pair[0].encode("utf-16", "surrogatepass").decode("utf-16")


@cache
def _long_mark_runs() -> re.Pattern[str]:
    marks = "".join(chr(code) for code in range(sys.maxunicode + 1) if unicodedata.combining(chr(code)))
    return re.compile(f"([{re.escape(marks)}]{{{_STREAM_SAFE_MARKS + 1},}})")
