"""What of a mail its sender wrote: without quoted mails, signatures and the footers of lists.

Marked quotes (`>`) are taken out wherever they stand. Everything else is only taken out where it has the
whole shape of what a mail program writes, so that a sentence of the sender's is never lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby

from dreaming.notes.connectors import mail_phrases as phrases


def _any(words: Iterable[str]) -> str:
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True)))


_QUOTED = re.compile(r"[ \t]{0,3}(?P<signs>[>\uff1e](?:[ \t]?[>\uff1e])*).*")
_PROMPT_DEPTH = 3

_NO_PRONOUN = "".join(rf"(?<!\b{pronoun} )" for pronoun in phrases.PRONOUNS)
_VERB = rf"{_NO_PRONOUN}(?:\b(?:{_any(phrases.WROTE)})(?!\w)|(?:{_any(phrases.WROTE_UNSPACED)}))"
_ADDRESS = re.compile(r"[^\s<>()\[\]]+@[^\s<>()\[\]]+")
_NAMES = r"(?:[ \t]+(?-i:[^\s:a-z])[^\s:]*){1,5}"
_TAIL = rf"[^\n]{{0,80}}<?{_ADDRESS.pattern}[^\n]{{0,5}}| (?:{_any(phrases.THE_FOLLOWING)})|{_NAMES}"
_VERB_AND_TAIL = re.compile(rf".*?{_VERB}(?:{_TAIL})?[ \t]?[:：][ \t]*", re.IGNORECASE)
_OPENER = re.compile(
    rf"[ \t]*(?:(?:{_any(phrases.ON)})\s+)?(?:\S+\s+){{0,2}}\S{{0,20}}\d",
    re.IGNORECASE,
)
_ALONE = re.compile(rf"\W{{0,3}}[^\W\d_a-z]\S*(?: \S+){{0,3}} {_VERB}[ \t]?[:：][ \t]*")
_TIME = re.compile(r"\d{1,2}[:.h]\d{2}")
_YEAR = re.compile(r"(?:19|20)\d\d")
_SENTENCE_END = (".", "!", "?", ":", ";")
_MOST_ATTRIBUTION_LINES = 4
_LONGEST_ATTRIBUTION = 400

_ORIGINAL = re.compile(
    rf"[ \t]*[-_=*]{{2,}}[ \t]*(?:{_any(phrases.ORIGINAL_MESSAGE)})[ \t]*[-_=*]{{2,}}[ \t]*", re.IGNORECASE
)
_RULE = re.compile(r"[ \t]*(?:_{5,}|-{5,}|\u2014{3,})[ \t]*")
_FROM_FIELD = re.compile(rf"[ \t]*\*?(?:{_any(phrases.FROM)})\*?[ \t]?[:：]\*?[ \t]*\S.*", re.IGNORECASE)
_FIELD = re.compile(
    rf"[ \t]*\*?(?:{_any(phrases.FROM)}|{_any(phrases.OTHER_FIELDS)})\*?[ \t]?[:：]\*?.*",
    re.IGNORECASE,
)
_FEWEST_FIELDS = 3

_SIGNATURE_LINE = "-- "
_MOST_SIGNATURE_LINES = 15
_MOST_BARE_SIGNATURE_LINES = 6
_LONGEST_SIGNATURE_LINE = 120
_DEVICE = re.compile(rf"[ \t]*(?:{'|'.join(phrases.DEVICE_LINES)})", re.IGNORECASE)
_LONGEST_DEVICE = 80
_LIST_NAME = re.compile(r"\S.*\b(?:mailing list|mailingliste|liste de diffusion)\b.*|.*\S+@\S+.*", re.IGNORECASE)
_LIST_LINK = re.compile(r".*(?:https?://|mailto:|unsubscribe).*", re.IGNORECASE)
_LIST_SIGN = re.compile(r"unsubscribe|listinfo|mailman|//lists?\.|groups\.google|-request@|mailing list", re.IGNORECASE)
_LONGEST_FOOTER = 12


def written_by_sender(text: str, *, is_reply: bool) -> str:
    """Return `text` without quotes of other mails, signatures and list footers; line ends become line feeds.

    What was forwarded stays, for nobody else may have it. So in mails that are no replies, marked lines are
    only taken out below a line that announces a quote, and quotes without marks, such as Outlook makes, not
    at all. In a reply such a quote reaches to the end of the text.
    A mail that quotes and says nothing gives an empty string.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    lines = [line if line == _SIGNATURE_LINE else line.rstrip() for line in lines]
    if is_reply:
        lines = lines[: _unmarked_quote(lines)]
    lines = _without_list_footer(lines)
    kept: list[str] = []
    own: list[str] = []
    for quoted, block in _blocks(lines):
        if not quoted:
            own = block
            continue
        announced = _without_attribution(own)
        is_reply = is_reply or len(announced) < len(own)
        kept += [*_without_signature(announced), ""] if is_reply else own + block
        own = []
    kept += _without_signature(own)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in kept)).strip("\n")


def _blocks(lines: list[str]) -> Iterator[tuple[bool, list[str]]]:
    """Runs of marked and of other lines, in turn. `>>>` where nothing is marked less deeply is a prompt."""
    matches = [_QUOTED.fullmatch(line) for line in lines]
    depths = [len(re.sub(r"\s", "", match["signs"])) if match else 0 for match in matches]
    if min(filter(None, depths), default=0) >= _PROMPT_DEPTH:
        depths = [0] * len(lines)
    for quoted, run in groupby(zip(depths, lines, strict=True), key=lambda line: line[0] > 0):
        yield quoted, [line for _, line in run]


def _without_attribution(lines: list[str]) -> list[str]:
    """Take the line that announces a quote off the end of what stands before the quote."""
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    if end and _ORIGINAL.fullmatch(lines[end - 1]):
        return lines[: end - 1]
    start = _attribution_start(lines, end)
    return lines if start is None else lines[:start]


def _attribution_start(lines: list[str], end: int) -> int | None:
    """Where the attribution begins whose last line is before `end`, or None when there is none."""
    if not end or not lines[end - 1].rstrip().endswith((":", "\uff1a")):
        return None
    for count in range(min(_MOST_ATTRIBUTION_LINES, end), 0, -1):
        part = [line.strip() for line in lines[end - count : end]]
        if all(part) and not any(line.endswith(_SENTENCE_END) for line in part[:-1]) and _is_dated(" ".join(part)):
            return end - count
    for count in (1, 2):
        part = [line.strip() for line in lines[max(0, end - count) : end]]
        joined = " ".join(part)
        starts = end == count or (end > count and not lines[end - count - 1].strip())
        if starts and all(part) and len(joined) <= _LONGEST_ATTRIBUTION and _names_writer(joined):
            return end - count
    return None


def _is_dated(joined: str) -> bool:
    """Whether a line is of the form: a date and a time, who, a verb of writing or at least an address."""
    if len(joined) > _LONGEST_ATTRIBUTION or not _OPENER.match(joined):
        return False
    has_time, has_year = _TIME.search(joined) is not None, _YEAR.search(joined) is not None
    if _VERB_AND_TAIL.fullmatch(joined):
        return has_time or has_year
    return has_time and has_year and re.search(rf"<{_ADDRESS.pattern}>\s?[:：]$", joined) is not None


def _names_writer(joined: str) -> bool:
    """Whether a line is of the form: who wrote, without a date."""
    return bool(_ALONE.fullmatch(joined) or (_ADDRESS.search(joined) and _VERB_AND_TAIL.fullmatch(joined)))


def _unmarked_quote(lines: list[str]) -> int:
    """Where a quote without marks begins, which reaches to the end; the number of lines when none does."""
    for number, line in enumerate(lines):
        if _FROM_FIELD.fullmatch(line) and _is_header(lines, number):
            start = number
            while start and not lines[start - 1].strip():
                start -= 1
            if start and (_ORIGINAL.fullmatch(lines[start - 1]) or _RULE.fullmatch(lines[start - 1])):
                start -= 1
            return start
        if line.endswith((":", "\uff1a")) and _is_full_attribution(lines, number):
            begun = _attribution_start(lines, number + 1)
            return number if begun is None else begun
    return len(lines)


def _is_header(lines: list[str], number: int) -> bool:
    fields = 0
    for line in lines[number : number + 12]:
        if not line.strip():
            # Some programs write the fields with blank lines in between.
            if fields >= _FEWEST_FIELDS:
                break
            continue
        if not _FIELD.fullmatch(line) and not (fields and line.startswith((" ", "\t"))):
            break
        fields += 1
    return fields >= _FEWEST_FIELDS


def _is_full_attribution(lines: list[str], number: int) -> bool:
    """Whether a line ends an attribution with an address, a verb and a time, and no marked quote comes after it."""
    start = _attribution_start(lines, number + 1)
    if start is None:
        return False
    joined = " ".join(line.strip() for line in lines[start : number + 1])
    after = next((line for line in lines[number + 1 :] if line.strip()), "")
    is_full = _is_dated(joined) and _ADDRESS.search(joined) and _VERB_AND_TAIL.fullmatch(joined)
    return bool(is_full) and not _QUOTED.fullmatch(after)


def _without_signature(lines: list[str]) -> list[str]:
    """Take off what stands from a line of `-- ` on, when it is as short as signatures are, and device lines."""
    lines = lines[: _signature_start(lines)]
    end = len(lines)
    while end and (not lines[end - 1].strip() or _is_device(lines[end - 1])):
        end -= 1
    return lines[:end]


def _signature_start(lines: list[str]) -> int:
    """Where the longest signature begins; the number of lines when there is none."""
    start = len(lines)
    count = 0
    for number in range(len(lines) - 1, -1, -1):
        line = lines[number]
        most = _MOST_SIGNATURE_LINES if line == _SIGNATURE_LINE else _MOST_BARE_SIGNATURE_LINES
        if line.rstrip() == _SIGNATURE_LINE.rstrip() and count <= most:
            start = number
        count += bool(line.strip())
        if count > _MOST_SIGNATURE_LINES or len(line) > _LONGEST_SIGNATURE_LINE:
            break
    return start


def _is_device(line: str) -> bool:
    return len(line) <= _LONGEST_DEVICE and _DEVICE.fullmatch(line) is not None


def _without_list_footer(lines: list[str]) -> list[str]:
    """Take off the footer of a list: a rule, the list's name, its links, and nothing else."""
    for number in range(max(0, len(lines) - _LONGEST_FOOTER), len(lines)):
        if not re.fullmatch(r"[_-]{20,}", lines[number]):
            continue
        rest = [line for line in lines[number + 1 :] if line.strip()]
        named = any(_LIST_SIGN.search(line) for line in rest)
        if named and all(_LIST_NAME.fullmatch(line) or _LIST_LINK.fullmatch(line) for line in rest):
            return lines[:number]
    return lines
