"""Where sentences start and end, in many scripts and in time linear in the text.

Rules of thumb, not a model: full stops that end an abbreviation, an initial or a number do not end a
sentence, a wrapped line goes on, and a list item, a speaker's turn or a blank line starts anew.
"""

from __future__ import annotations

import re

_TERMINATORS = r".!?\u2026\u203c\u2047-\u2049"
# Marks that end a sentence whatever follows: ideographic, Indic, Arabic, Ethiopic, Khmer, Burmese, Armenian.
_FIRM_TERMINATORS = r"\u3002\uff01\uff1f\uff61\u0964\u0965\u061f\u06d4\u1362\u17d4\u104b\u0589"
_CLOSERS = r"\"'\u2019\u201d\u00bb\u203a\u300d\u300f\u3011\u300b\uff09\uff3d\uff63)\]}*_"
_BREAKS = r"\n\r\v\f\x1c-\x1e\x85\u2028\u2029"

# A run of terminators is met only at its first one, and nothing is given back: linear on any input.
_CANDIDATE = re.compile(
    rf"(?P<firm>[{_FIRM_TERMINATORS}]++[{_TERMINATORS}]*+[{_CLOSERS}]*+)"
    rf"|(?<![{_TERMINATORS}])(?P<stop>[{_TERMINATORS}]++[{_FIRM_TERMINATORS}]*+)(?P<closers>[{_CLOSERS}]*+)"
    rf"|(?P<line>[{_BREAKS}]\s*+)"
)
_BREAK = re.compile(rf"\r\n|[{_BREAKS}]")
_ITEM = re.compile(r"(?:[-*+>|#\u2022\u2013\u2014]|#{2,6}|\(?(?:\d{1,3}|[a-zA-Z])[.)]|\[[ xX\d:]{1,8}\])\s")
_SPEAKER = re.compile(r"[^\W\d_a-z][^\n:]{0,39}:\s")
_WORD_BEFORE = re.compile(r"[^\s(\[\"'\u2018\u201c]+\Z")
_NUMBER_LABEL = re.compile(r"[\s(]*\d{1,3}\Z")

_LONGEST_ABBREVIATION = 12
_WRAPPED_FROM = 45
"""Shortest line, in characters, that was probably wrapped; a shorter one stands alone, like a headline."""

# Before a name or an example: never the end of a sentence.
_ABBREVIATED = re.compile(
    r"adm|approx|bzw|ca|capt|cf|cmdr|dr|eqs?|figs?|gov|hon|lt|maj|messrs|mlle|mme|mrs?|ms|mt|mx|nr|pp|prof|refs?|reps?"
    r"|rev|sgt|sr|st|vgl|viz|vs|d\.h|e\.g|eg|i\.e|ie|z\.b"
)
# Before a number no end, otherwise one: "No. 5", "the answer is no."
_NUMBERED = re.compile(r"apr|art|aug|ch|dec|ed|feb|jan|jul|jun|mar|nos?|nov|oct|op|p|par|pt|sect?|sept?|tel|vols?")


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return the sentences of `text` as (start, end) in code points, in order and without overlap.

    `text[start:end]` has no white space at either end; all other characters lie in exactly one span.
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for end in _boundaries(text):
        _append_trimmed(spans, text, start, end)
        start = end
    _append_trimmed(spans, text, start, len(text))
    return spans


def _append_trimmed(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    body = piece.strip()
    if body:
        first = start + len(piece) - len(piece.lstrip())
        spans.append((first, first + len(body)))


def _boundaries(text: str) -> list[int]:
    ends: list[int] = []
    start = 0
    line_start = 0
    for match in _CANDIDATE.finditer(text):
        if match["line"] is not None:
            is_end = _line_ends(text, line_start, match)
            line_start = match.end()
        else:
            is_end = match["firm"] is not None or _stop_ends(text, start, line_start, match)
        if is_end:
            start = match.end()
            ends.append(start)
    return ends


def _stop_ends(text: str, start: int, line_start: int, match: re.Match[str]) -> bool:
    """Whether `.`, `!`, `?` or an ellipsis ends the sentence that began at `start`."""
    following = text[match.end() : match.end() + 1]
    if following and not following.isspace():
        return _is_ideographic(following)
    next_letter = _next_visible(text, match.end())
    if "." not in match["stop"]:
        return not (match["closers"] and next_letter.islower())
    if next_letter.islower() or match["stop"] != ".":
        return not next_letter.islower()
    before = text[max(start, line_start, match.start() - _LONGEST_ABBREVIATION - 1) : match.start()]
    if match.start() - line_start <= len(before) and _NUMBER_LABEL.fullmatch(before):
        return False
    return not _is_abbreviated(before, next_letter)


def _is_abbreviated(before: str, next_letter: str) -> bool:
    """Whether the full stop between `before` and `next_letter` belongs to an abbreviation or an initial."""
    found = _WORD_BEFORE.search(before)
    if found is None:
        return False
    word = found[0]
    folded = word.lower()
    if _ABBREVIATED.fullmatch(folded) or (next_letter.isdigit() and _NUMBERED.fullmatch(folded)):
        return True
    return len(word) == 1 and word.isupper() and word != "I"


def _line_ends(text: str, line_start: int, match: re.Match[str]) -> bool:
    """Whether a line break ends a sentence, rather than wrapping it."""
    space = match["line"]
    if len(_BREAK.findall(space)) > 1:
        return True
    rest = text[match.end() : match.end() + 50]
    if _ITEM.match(rest) or _SPEAKER.match(rest):
        return True
    if rest[:1].islower():
        return False
    return match.start() - line_start < _WRAPPED_FROM


def _next_visible(text: str, position: int) -> str:
    """The next character that is neither white space nor an opening mark, looked for nearby."""
    ahead = text[position : position + 20].lstrip().lstrip("\"'\u2018\u201c\u00ab([{*_")
    return ahead[:1]


def _is_ideographic(character: str) -> bool:
    return "\u2e80" <= character <= "\u9fff" or "\uf900" <= character <= "\uffef"
