"""The quote check: a quote must stand in the note, and what is stored is the exact source span.

Text is folded for the comparison only: compatibility forms (NFKC), runs of white space, kinds of
quotation marks and dashes, the ellipsis, hyphens between letters together with a line break after
them, runs of the mask of a secret (models miscount them), and characters that cannot be seen. Case
counts. Folding keeps a map back to the source, so the span is in code points of the note's text and
is stored as the note has it, secrets masked.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from functools import lru_cache

from dreaming.beliefs.words import MARKS, UNSPACED
from dreaming.errors import RejectClaim
from dreaming.notes.secrets import MASK
from dreaming.passes.consolidation.prompt import INSTRUCTIONS
from dreaming.passes.consolidation.records import QuoteSpan

MIN_WORDS = 3
MIN_CHARACTERS = 12
MIN_IDEOGRAPHS = 6
MAX_CHARACTERS = 600
"""Limits of a quote; it needs one of the three least sizes, counted without what cannot be seen."""

_PROMPT_WORDS = 8  # from here on, words that are also in our prompt are not there by chance
_MAX_OCCURRENCES = 1_000  # tried before a quote that keeps ending inside words is given up
_MAX_RAW = 10 * MAX_CHARACTERS  # a quote longer than that, however it folds, is not folded at all
_A_RUN = "{1,30}"
_A_FEW = "{0,30}"  # no script writes more marks in a row (Unicode Standard Annex 15, section 13)
_MAX_INVISIBLE = 64  # characters that cannot be seen, looked through at either end of a quote

_DASHES = "\\-\u00ad\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"
_INVISIBLE = (
    "\x00\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e01ef"
)
_SPACE = f"[\\s{_INVISIBLE}]"
_LETTER = "[^\\W\\d_]"
_CHANGING = (
    # A soft hyphen is both a dash and invisible: no two parts may divide a run of them, or time is cubic in its length.
    f"(?P<hyphen>(?<={_LETTER}|[{MARKS}])(?=[{_INVISIBLE}]*[{_DASHES}])[{_INVISIBLE}{_DASHES}]++"
    f"(?:[^\\S\\n]*+\\n{_SPACE}*+)?(?={_LETTER}))"
    f"|(?P<space>{_SPACE}{{2,}}|[^\\S ]|[{_INVISIBLE}])"
    f"|(?P<dash>[{_DASHES}]{{2,}}|(?!-)[{_DASHES}])"
    f"|(?P<mask>{MASK}{{2,}})"
)
_ALIKE = str.maketrans(
    {
        **dict.fromkeys(
            '"`\u00b4\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f\u2032\u2033\u00ab\u00bb\u2039\u203a', "'"
        ),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
    }
)
# Characters without a combining class that still join the one before (Unicode, NFC_Quick_Check=Maybe).
_JOINING = frozenset(
    "\u09be\u09d7\u0b3e\u0b56\u0b57\u0bbe\u0bd7\u0cc2\u0cd5\u0cd6\u0d3e\u0d57\u0dcf\u0ddf\u102e\u1b35"
).union(map(chr, range(0x1160, 0x1200)))
_UNSPACED = re.compile(f"[{UNSPACED}]")
_INVISIBLE_CHARACTER = re.compile(f"[{_INVISIBLE}]")
_EDGES = " '-.,;:!?()[]{}*_#>|\u3002\u3001"
_WORD = re.compile(r"\w+(?:'\w+)*")
_SPLICE = re.compile(r"[\[(]?\.{3,}[\])]?")


class FoldedText:
    """A text folded once for many quotes; folding takes time linear in its length."""

    __slots__ = ("_folded_at", "_source_at", "folded", "source")

    def __init__(self, source: str) -> None:
        """Fold `source`, keeping where each folded stretch comes from.

        Stretches that folding leaves as they are map one to one; each other one maps as a whole.
        """
        self.source = source
        pieces: list[str] = []
        self._folded_at = [0]  # where a stretch begins in the folded text, beside ...
        self._source_at = [0]  # ... where it begins in the source; stretches alternate: kept, changed
        folded = end = 0
        for match in _changing(source).finditer(source):
            start = match.start()
            pieces.append(source[end:start])
            folded += start - end
            replacement = _replacement(match)
            pieces.append(replacement)
            end = match.end()
            self._folded_at += (folded, folded + len(replacement))
            self._source_at += (start, end)
            folded += len(replacement)
        pieces.append(source[end:])
        self.folded = "".join(pieces)

    def source_start(self, position: int) -> int:
        """Return where in the source the folded character at `position` begins."""
        stretch = bisect_right(self._folded_at, position) - 1
        offset = position - self._folded_at[stretch]
        return self._source_at[stretch] + (0 if stretch % 2 else offset)

    def source_end(self, position: int) -> int:
        """Return where in the source the folded character before `position` ends."""
        stretch = bisect_right(self._folded_at, position - 1) - 1
        offset = position - self._folded_at[stretch]
        return self._source_at[stretch + 1] if stretch % 2 else self._source_at[stretch] + offset

    def folded_from(self, offset: int) -> int:
        """Return the first folded position that does not begin before the source's `offset`."""
        stretch = bisect_right(self._source_at, offset) - 1
        if stretch % 2:
            return self._folded_at[stretch] if offset == self._source_at[stretch] else self._folded_at[stretch + 1]
        return self._folded_at[stretch] + offset - self._source_at[stretch]


@lru_cache(maxsize=8192)
def _joins(character: str) -> bool:
    """Say whether a character can join or reorder with the one before it."""
    first = unicodedata.normalize("NFKC", character)[0]
    return unicodedata.combining(first) != 0 or first in _JOINING


@lru_cache(maxsize=8192)
def _changes(character: str) -> bool:
    """Say whether folding changes a character that stands alone."""
    return _alike(character) != character


def _alike(text: str) -> str:
    return unicodedata.normalize("NFKC", text.translate(_ALIKE)).translate(_ALIKE)


def _changing(text: str) -> re.Pattern[str]:
    """Return the pattern of the stretches of `text` that folding changes."""
    if text.isascii():
        return _CHANGING_ASCII
    odd = [character for character in set(text) if not character.isascii() and not _IN_FIXED_PATTERN.match(character)]
    joining = "".join(sorted(filter(_joins, odd)))
    changing = "".join(sorted(character for character in odd if _changes(character) and not _joins(character)))
    alone = f'["`{re.escape(changing)}]'
    if not joining:
        return re.compile(f"{_CHANGING}|(?P<cluster>{alone})")
    joined = f"[{re.escape(joining)}]"
    # A longer run of marks is folded in parts: normalising it whole takes time quadratic in its length.
    return re.compile(f"{_CHANGING}|(?P<cluster>[^\\s{_INVISIBLE}{_DASHES}]?{joined}{_A_RUN}|{alone}{joined}{_A_FEW})")


_CHANGING_ASCII = re.compile(f'{_CHANGING}|(?P<cluster>["`])')
_IN_FIXED_PATTERN = re.compile(f"[\\s{_INVISIBLE}{_DASHES}]")


def _replacement(match: re.Match[str]) -> str:
    if match.lastgroup == "hyphen":
        return ""
    if match.lastgroup == "space":
        return " " if any(map(str.isspace, match.group())) else ""
    if match.lastgroup == "mask":
        return MASK
    return "-" if match.lastgroup == "dash" else _alike(match.group())


_PROMPT = FoldedText(INSTRUCTIONS).folded


def locate_quote(quote: str, note: FoldedText | str, *, start: int = 0, end: int | None = None) -> QuoteSpan:
    """Return the first span of the note between `start` and `end` (code points) that says `quote`.

    A quote may carry punctuation or an ellipsis at its ends that the note has not; it may not begin
    or end inside a word.

    Raises:
        RejectClaim: rule `quote_short` (fewer than 3 words, 12 characters and 6 ideographs),
            `quote_long` (over 600 characters), `quote_prompt` (from our own instructions),
            `quote_spliced` (pieces of the note joined by an ellipsis), or `quote_missing`.
    """
    if len(quote) > _MAX_RAW:
        raise RejectClaim("quote_long", f"the quote is longer than {MAX_CHARACTERS} characters")
    wanted = FoldedText(quote).folded.strip()
    bare = wanted.strip(_EDGES)
    if not _is_long_enough(bare):
        raise RejectClaim("quote_short", "the quote is too short to show anything")
    if len(wanted) > MAX_CHARACTERS:
        raise RejectClaim("quote_long", f"the quote is longer than {MAX_CHARACTERS} characters")
    folded = FoldedText(note) if isinstance(note, str) else note
    limit = len(folded.source) if end is None else end
    from_prompt = bare in _PROMPT
    span = _find(folded, wanted, start, limit) or _find(folded, bare, start, limit)
    if from_prompt and (span is None or len(_WORD.findall(bare)) >= _PROMPT_WORDS):
        raise RejectClaim("quote_prompt", "the quote is a piece of the instructions")
    if span is None:
        pieces = [piece.strip(_EDGES) for piece in _SPLICE.split(bare)]
        if len(pieces) > 1 and all(_find(folded, piece, start, limit) for piece in pieces if piece):
            raise RejectClaim("quote_spliced", "the quote joins places of the note that are apart")
        raise RejectClaim("quote_missing", "the quote is not in the note, or ends inside a word")
    if span.end - span.start > MAX_CHARACTERS:
        raise RejectClaim("quote_long", f"the quoted span is longer than {MAX_CHARACTERS} characters")
    return span


def _is_long_enough(folded: str) -> bool:
    """Apply the least sizes, of which one is enough."""
    return (
        len(folded) >= MIN_CHARACTERS
        or len(_WORD.findall(folded)) >= MIN_WORDS
        or len(_UNSPACED.findall(folded)) >= MIN_IDEOGRAPHS
    )


def _find(note: FoldedText, wanted: str, start: int, end: int) -> QuoteSpan | None:
    """Return the first occurrence within the window that does not split a word at either end."""
    position = note.folded.find(wanted, note.folded_from(start))
    for _ in range(_MAX_OCCURRENCES):
        if position < 0:
            break
        first, last = note.source_start(position), note.source_end(position + len(wanted))
        if last > end:
            break
        if not _splits_word(note.source, first) and not _splits_word(note.source, last):
            return QuoteSpan(first, last, note.source[first:last])
        position = note.folded.find(wanted, position + 1)
    return None


def _splits_word(text: str, at: int) -> bool:
    """Say whether `at` lies inside a word, looking through characters that cannot be seen."""
    before, after = at - 1, at
    while before >= 0 and at - before < _MAX_INVISIBLE and _INVISIBLE_CHARACTER.match(text, before):
        before -= 1
    while after < len(text) and after - at < _MAX_INVISIBLE and _INVISIBLE_CHARACTER.match(text, after):
        after += 1
    if before < 0 or after >= len(text):
        return False
    if unicodedata.category(text[after]).startswith("M"):
        return True
    return _in_word(text[before]) and _in_word(text[after])


def _in_word(character: str) -> bool:
    if _UNSPACED.match(character):
        return False
    return character.isalnum() or unicodedata.category(character).startswith("M")
