"""Marks around recalled text, so that memory does not feed on its own echo.

What the API hands to an agent is marked; what comes back in a note is stripped of the marked blocks.
"""

from __future__ import annotations

import re

from dreaming.notes.cleaning import clean

_NAME = "dreaming-recall"
_TAG = re.compile(rf"<(/?){_NAME}(?:[ \t][^<>\n]*+)?>", re.IGNORECASE | re.ASCII)
_UNSEEN = "\u00ad\u034f\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
_LOOKALIKE_NAME = f"[{_UNSEEN}]*".join("[-_\u2010-\u2015\u2212]" if one == "-" else one for one in _NAME)
_TAG_START = re.compile(rf"[<\uff1c\ufe64\u2039](?=[\s/\\{_UNSEEN}]*{_LOOKALIKE_NAME})", re.IGNORECASE)
"""What a reader may take for a mark, though `strip` does not."""
_BLANK_LINES = re.compile(r"\n(?:[^\S\n]*+\n)+")
_RECALL_ID = re.compile(r"[A-Za-z0-9._:-]{1,200}")


def mark(text: str, recall_id: str) -> str:
    """Wrap recalled `text` in a block that `strip` removes and that the text cannot close.

    Marks inside the text, and what looks like them, lose their `<`; blank lines are taken out, so that a block
    whose end is cut off is still one paragraph. Raises `ValueError` for an id with other characters than
    letters, digits and `._:-`.
    """
    if not _RECALL_ID.fullmatch(recall_id):
        raise ValueError("recall_id may hold letters, digits and ._:- only, at most 200 of them")
    body = _BLANK_LINES.sub("\n", clean(text).replace("\r\n", "\n").strip())
    body = _TAG_START.sub("&lt;", body)
    return "\n".join(filter(None, (f'<{_NAME} id="{recall_id}">', body, f"</{_NAME}>")))


def strip(text: str) -> str:
    """Return `text` with each marked block replaced by one line break, so that nothing new is joined.

    Blocks nest. A block without its end reaches to the end of its paragraph, which is all of what
    `mark` wrote and no more; an end without its block stays, for what stands before it may be the
    note's own. Text outside of blocks is kept to the character.
    """
    blocks = _blocks(text)
    if not blocks:
        return text
    kept: list[str] = []
    position = 0
    for start, end in blocks:
        kept.append(text[position:start])
        position = end
    kept.append(text[position:])
    return "\n".join(kept)


def _blocks(text: str) -> list[tuple[int, int]]:
    """The marked spans in order, overlapping ones joined."""
    spans: list[tuple[int, int]] = []
    open_starts: list[int] = []
    for tag in _TAG.finditer(text):
        if not tag[1]:
            open_starts.append(tag.start())
        elif open_starts:
            spans.append((open_starts.pop(), tag.end()))
    spans += _unclosed_spans(text, open_starts)
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return joined


def _unclosed_spans(text: str, starts: list[int]) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    paragraph_end = 0
    for start in starts:
        if start >= paragraph_end:
            blank = _BLANK_LINES.search(text, start)
            paragraph_end = blank.start() if blank else len(text)
        spans.append((start, paragraph_end))
    return spans
