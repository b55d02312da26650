"""Splits a passage into sentences that know their exact span and who speaks them.

One walk over the lines: code, quotations, logs, headers and headings end a block and are left out,
speaker labels and list items begin one, wrapped lines join. Time grows linearly with the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from dreaming.models.offline_cues import (
    ASSISTANT_ROLES,
    FIELD_LABELS,
    PROMPT_MARKS,
    PROMPT_OPENING,
    SYSTEM_ROLES,
    USER_ROLES,
)
from dreaming.models.protocols import Passage
from dreaming.notes.sentences import sentence_spans


class Voice(StrEnum):
    """Whose words a sentence is."""

    WRITTEN = "written"
    SPOKEN = "spoken"
    COMMIT = "commit"


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence as `passage.text[start:end]`; `speaker` is who "I" means, if that is known.

    `next_text` is the beginning of what follows, which may take the sentence back ("just kidding").
    """

    text: str
    start: int
    end: int
    voice: Voice
    speaker: str | None
    next_text: str = ""


@dataclass(frozen=True, slots=True)
class _Turn:
    """Who speaks from here on; a role lasts over blank lines, a muted turn is left out."""

    voice: Voice
    speaker: str | None
    role: bool = False
    muted: bool = False


@dataclass(frozen=True, slots=True)
class _Block:
    """Lines that belong together, `text[start:end]`."""

    start: int
    end: int
    voice: Voice
    speaker: str | None


_LABEL = re.compile(
    r"\s{0,3}(?:[\[(]?\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d{1,3})?)?[\])]?\s{1,3})?"
    r"(?:<(?P<nick>[^<>\s]{1,40})>|\*{0,2}(?P<name>[^\s:*<>{}][^:\n<>{}]{0,59}):\*{0,2})(?=\s|$)\s*"
)
_BULLET = re.compile(r"\s*(?:[-*+•–]|\d{1,3}[.)]|\[[ xX]\])\s+(?:\[[ xX]\]\s+)?")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_SKIPPED_LINE = re.compile(
    r"\s*(?:>|#{1,6}\s|\||={3,}|-{3,}|\*{3,}|WEBVTT\b|\S{1,20} --> )"
    r"|(?: {4}|\t)"
    r"|\s*[\[(]?\d{4}-\d\d-\d\d[T ]\d\d:\d\d"
    r"|\s*\[?(?-i:ERROR|INFO|DEBUG|WARN|WARNING|TRACE|FATAL|CRITICAL)\b"
    r"|\s*(?:Traceback \(|File \"|at [\w$.]+\(|\$ |>>> |diff --git |@@ |index [0-9a-f]{6,}|commit [0-9a-f]{7,40}\b)"
    r"|\s*(?:From|To|Cc|Bcc|Subject|Date|Sent|Reply-To|Message-ID|Signed-off-by|Co-authored-by|Reviewed-by|Acked-by"
    r"|Tested-by|Reported-by|Change-Id|Closes|Fixes|Refs|See-also): "
    r"|\s*On .{5,100} wrote:\s*$",
    re.IGNORECASE,
)
_LINE = re.compile(r"[^\n\r\u2028\u2029\x0b\x0c\x85]+")
_SPOKEN_NAME = re.compile(r"[^\W\d_][\w.'’\-]*(?: [^\W\d_][\w.'’\-]*){0,3}\Z")
_SIGNATURE = re.compile(r"-- ?\Z")
_WRAP_WIDTH = 50  # a line at least this long may have been wrapped; a shorter one ended on purpose
_MAX_SENTENCE = 600  # longer ones cannot be quoted anyway


def sentences(passage: Passage, *, commit: bool = False) -> Iterator[Sentence]:
    """Yield the sentences of `passage` that somebody may have meant; `commit` reads a commit message.

    Turns of an assistant or a system prompt, and paragraphs that drive a language model, are left out.
    """
    written = person(passage.author)
    blocks = list(_blocks(passage, written, commit))
    for place, block in enumerate(blocks):
        following = _glance(passage.text, blocks[place + 1].start) if place + 1 < len(blocks) else ""
        found = sentence_spans(passage.text[block.start : block.end])
        spans = [(block.start + start, block.start + end) for start, end in found]
        for index, (start, end) in enumerate(spans):
            if end - start <= _MAX_SENTENCE:
                after = _glance(passage.text, spans[index + 1][0]) if index + 1 < len(spans) else following
                yield Sentence(passage.text[start:end], start, end, block.voice, block.speaker, after)


def person(author: str | None) -> str | None:
    """Return the person's name in `author`, or None where it is an address, an id or a role.

    `Priya Rao <p@x.test>` gives `Priya Rao`; `u::77::chat-3` gives None.
    """
    name = (author or "").split("<", 1)[0].strip().strip("\"'")
    roles = ASSISTANT_ROLES | SYSTEM_ROLES | USER_ROLES
    return name if _SPOKEN_NAME.match(name) and name.casefold() not in roles else None


def _glance(text: str, start: int) -> str:
    return text[start : start + 40]


def _blocks(passage: Passage, author: str | None, commit: bool) -> Iterator[_Block]:
    walk = _Walk(passage, _Turn(Voice.COMMIT if commit else Voice.WRITTEN, author))
    previous_end = 0
    for line in _LINE.finditer(passage.text):
        if passage.text.count("\n", previous_end, line.start()) > 1 or not line.group().strip():
            yield from walk.end_paragraph()
        previous_end = line.end()
        if line.group().strip():
            yield from walk.read_line(line.start(), line.end())
    yield from walk.close()


class _Walk:
    """The state at the current line: the open block, whose turn it is, and whether code is open."""

    def __init__(self, passage: Passage, home: _Turn) -> None:
        self._text = passage.text
        self._participants = {name.casefold() for name in passage.participants}
        self._home = home
        opens_prompt = PROMPT_OPENING.match(passage.text)
        self._turn = _Turn(home.voice, None, role=True, muted=True) if opens_prompt else home
        self._start = self._end = 0
        self._fenced = False
        self._prompted = False

    def close(self) -> Iterator[_Block]:
        """Hand out the open block, unless its paragraph drives a language model."""
        if self._end > self._start:
            self._prompted |= PROMPT_MARKS.search(self._text, self._start, self._end) is not None
        if self._end > self._start and not self._turn.muted and not self._prompted:
            yield _Block(self._start, self._end, self._turn.voice, self._turn.speaker)
        self._start = self._end = 0

    def end_paragraph(self) -> Iterator[_Block]:
        """A blank line ends a person's turn, but not a role's: an assistant writes paragraphs."""
        yield from self.close()
        self._prompted = False
        if not self._turn.role:
            self._turn = self._home

    def read_line(self, start: int, end: int) -> Iterator[_Block]:
        """Take one line that is not blank."""
        text = self._text
        if _FENCE.match(text, start, end):
            yield from self.close()
            self._fenced = not self._fenced
        elif self._fenced:
            return
        elif (label := _LABEL.match(text, start, end)) and (turn := self._turn_of(label)):
            yield from self.close()
            self._turn, self._start, self._end, self._prompted = turn, label.end(), end, False
        elif _SIGNATURE.match(text, start, end):
            yield from self.close()
            self._turn = _Turn(self._home.voice, None, role=True, muted=True)
        elif _SKIPPED_LINE.match(text, start, end):
            yield from self.close()
        elif (bullet := _BULLET.match(text, start, end)) or not self._continues(start, end):
            yield from self.close()
            self._start, self._end = bullet.end() if bullet else start, end
        else:
            self._end = end

    def _turn_of(self, label: re.Match[str]) -> _Turn | None:
        name = (label["nick"] or label["name"]).strip(" *")
        folded = name.casefold()
        if folded in ASSISTANT_ROLES or folded in SYSTEM_ROLES:
            return _Turn(Voice.SPOKEN, None, role=True, muted=True)
        if folded in USER_ROLES:
            return _Turn(Voice.SPOKEN, self._home.speaker or f"The {folded}", role=True)
        if self._home.voice is Voice.COMMIT:
            return None
        if label["nick"] or folded in self._participants:
            return _Turn(Voice.SPOKEN, name)
        named = _SPOKEN_NAME.match(name) and all(word[0].isupper() for word in name.split())
        return _Turn(Voice.SPOKEN, name) if named and folded.split()[0] not in FIELD_LABELS else None

    def _continues(self, start: int, end: int) -> bool:
        if self._end <= self._start:
            return False
        last_line = self._text.rfind("\n", self._start, self._end) + 1
        width = self._end - max(last_line, self._start)
        first = self._text[start:end].lstrip()[:1]
        return width >= _WRAP_WIDTH or first.islower()
