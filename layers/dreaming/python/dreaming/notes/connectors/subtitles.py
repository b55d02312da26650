"""Reading of WebVTT and SubRip, both blocks of a timing line and what is said then."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from datetime import timedelta

from dreaming.notes.connectors.records import Skipped
from dreaming.notes.connectors.turns import Turn, parse_turn

_CLOCK = r"(?:(\d{1,4}):)?(\d{1,2}):(\d{2})[.,](\d{1,3})"
_TIMING = re.compile(rf"\s*{_CLOCK}\s*-->\s*{_CLOCK}(?:\s.*)?")
_VOICE = re.compile(r"<v(?:\.[^\s>]*)?[ \t]+([^<>]*)>")
_TAG = re.compile(r"</?[a-zA-Z][^<>\n]{0,200}>|</?\d[\d:.]*>|\{\\[^{}\n]{0,80}\}")
_DASH = re.compile(r"\A[-\u2013\u2014]\s+")
_NOT_SPOKEN = ("WEBVTT", "NOTE", "STYLE", "REGION")


def parse_subtitles(text: str) -> Iterator[Turn | Skipped]:
    """Yield what is said, part by part with its offset; a block without a timing line is skipped.

    Speakers come from `<v Name>` or from `Name:` at the start of a line. Markup is taken out.
    """
    for number, lines in _blocks(text):
        if lines[0].split(maxsplit=1)[0] in _NOT_SPOKEN:
            continue
        timing = next((place for place, line in enumerate(lines[:2]) if _TIMING.fullmatch(line)), None)
        if timing is None:
            if not _is_number_alone(lines):
                yield Skipped(f"line {number}", "no timing line such as 00:01.000 --> 00:02.000")
            continue
        yield from _parts(lines[timing + 1 :], _offset(lines[timing]))


def _blocks(text: str) -> Iterator[tuple[int, list[str]]]:
    """Runs of lines that are not blank, each with the number of its first line."""
    block: list[str] = []
    for number, line in enumerate([*text.splitlines(), ""], start=1):
        if line.strip():
            block.append(line)
        elif block:
            yield number - len(block), block
            block = []


def _is_number_alone(lines: list[str]) -> bool:
    return len(lines) == 1 and lines[0].strip().isdigit()


def _offset(timing: str) -> timedelta:
    match = _TIMING.fullmatch(timing)
    hours, minutes, seconds, fraction = match.groups()[:4] if match else ("0",) * 4
    return timedelta(
        hours=int(hours or 0), minutes=int(minutes), seconds=int(seconds), milliseconds=int(fraction.ljust(3, "0"))
    )


def _parts(lines: list[str], offset: timedelta) -> Iterator[Turn]:
    before, *voices = _VOICE.split("\n".join(lines))
    for line in before.splitlines():
        turn = parse_turn(_DASH.sub("", _plain(line), count=1))
        if turn.text or turn.speaker:
            yield Turn(turn.speaker, turn.text, offset)
    for speaker, said in zip(voices[::2], voices[1::2], strict=True):
        yield Turn(_plain(speaker) or None, " ".join(_plain(said).split()), offset)


def _plain(marked: str) -> str:
    return html.unescape(_TAG.sub("", marked)).strip()
