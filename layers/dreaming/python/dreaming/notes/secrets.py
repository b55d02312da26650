"""Masking of secrets: keys, tokens, passwords and card numbers, before a text leaves for a model.

A secret is known by its own shape, by what stands in front of it ("password:", "密码是"), or by its check
digit (cards). The mask is as long as what it hides, so places in a text stay true. Left alone are what is
no credential although it looks like one: hashes, UUIDs, dates, telephone numbers, pictures in base64, and
IBANs, which are printed on invoices and are facts worth knowing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from dreaming.notes.records import Note
from dreaming.notes.secret_formats import FORMATS
from dreaming.notes.secret_labels import labelled

MASK = "\N{FULL BLOCK}"
"""Stands in place of each hidden character; line breaks inside a secret stay."""

_SHORT = 3 * MASK
_RUN = re.compile(f"{MASK}{{4,}}")
_MOST_ROUNDS = 8


@dataclass(frozen=True, slots=True)
class Secret:
    """Where a secret stood, in code points, and what kind it was."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Masked:
    """A text of unchanged length without its secrets, and where they were, in order, never overlapping."""

    text: str
    secrets: tuple[Secret, ...]


def mask(text: str) -> Masked:
    """Hide every secret of a text; takes time linear in its length, and masking twice changes nothing."""
    masked, found = text, []
    # What a mask leaves behind may read as one secret with it: a label's value whose first half was a card number.
    for _ in range(_MOST_ROUNDS):
        new = [secret for secret in _all(masked) if masked[secret.start : secret.end].strip(MASK)]
        if not new:
            break
        found += new
        masked = _hide(masked, new)
    return Masked(masked, tuple(_joined(found)))


def _hide(text: str, secrets: Iterable[Secret]) -> str:
    pieces: list[str] = []
    end = 0
    for secret in _joined(secrets):
        pieces += [text[end : secret.start], _hidden(text[secret.start : secret.end])]
        end = secret.end
    pieces.append(text[end:])
    return "".join(pieces)


def masked_note(note: Note) -> Note:
    """Return the note as a model may see it: text, people and source without secrets, every place unchanged."""
    return replace(
        note,
        source=mask(note.source).text,
        text=mask(note.text).text,
        author=mask(note.author).text if note.author else note.author,
        participants=tuple(mask(participant).text for participant in note.participants),
    )


def shortened(text: str) -> str:
    """Return a text with every longer run of the mask cut to three; the length of a secret says something."""
    return _RUN.sub(_SHORT, text)


def is_span(quote: str, span: str) -> bool:
    """Say whether a stored quote is a span of its note: equal to it but for what is masked."""
    return len(quote) == len(span) and all(one in {MASK, other} for one, other in zip(quote, span, strict=True))


def _hidden(secret: str) -> str:
    return _NOT_LINE_BREAK.sub(MASK, secret)


_NOT_LINE_BREAK = re.compile(r"[^\r\n]")


def _joined(secrets: Iterable[Secret]) -> Iterator[Secret]:
    """Yield what was found in order; what overlaps is one secret, called by the one that begins first."""
    current: Secret | None = None
    for secret in sorted(secrets, key=lambda one: (one.start, -one.end)):
        if current is None or secret.start >= current.end:
            if current is not None:
                yield current
            current = secret
        elif secret.end > current.end:
            current = replace(current, end=secret.end)
    if current is not None:
        yield current


def _all(text: str) -> Iterator[Secret]:
    for form in FORMATS:
        if form.needs not in text:
            continue
        group = "secret" if "secret" in form.pattern.groupindex else 0
        for match in form.pattern.finditer(text):
            start, end = match.span(group)
            if not form.digit or _DIGIT.search(text, start, end):
                yield Secret(form.kind, start, end)
    lowered = text.replace("İ", "i").lower()  # İ alone would become two characters
    yield from (Secret(kind, start, end) for kind, start, end in labelled(text, lowered))
    yield from _bearers(text, lowered)
    yield from _cards(text)


_DIGIT = re.compile("[0-9]")

_BEARER_START = re.compile(
    r"bearer(?<![a-z]bearer)[^\S\n]{1,4}"
    r"|authorization[\"']?\s?[:=]\s?[\"']?(?:basic|bearer|token|digest)[^\S\n]{1,4}"
)
_BEARER_VALUE = re.compile(r"[A-Za-z0-9._~+/=-]{12,}")


def _bearers(text: str, lowered: str) -> Iterator[Secret]:
    for match in _BEARER_START.finditer(lowered):
        value = _BEARER_VALUE.match(text, match.end())
        if value and _DIGIT.search(value.group()):
            yield Secret("bearer token", value.start(), value.end())


_GAP = r"[ \u00a0\u2009\u202f-]"
_CARD = re.compile(
    rf"[2-6](?<![0-9A-Za-z_.+/-][2-6])(?:[0-9]{{12,18}}|[0-9]{{3}}(?:{_GAP}[0-9]{{4}}){{2}}{_GAP}[0-9]{{1,7}}"
    rf"|[0-9]{{3}}{_GAP}[0-9]{{6}}{_GAP}[0-9]{{4,5}})(?![0-9A-Za-z_-]|[.,/][0-9])"
)
_ISSUERS = (
    (re.compile("4"), {13, 16, 19}),  # Visa
    (re.compile("5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720"), {16}),  # Mastercard
    (re.compile("3[47]"), {15}),  # American Express
    (re.compile("6011|65|64[4-9]|62"), {16, 17, 18, 19}),  # Discover, UnionPay
    (re.compile("30[0-5]|36|38|39"), {14}),  # Diners Club
    (re.compile("35(?:2[89]|[3-8])"), {16}),  # JCB
    (re.compile("50|5[6-8]|63|67"), {16, 17, 18, 19}),  # Maestro
)


def _cards(text: str) -> Iterator[Secret]:
    """Yield numbers of an issuer's beginning and length whose check digit is right (ISO/IEC 7812-1)."""
    for match in _CARD.finditer(text):
        digits = "".join(filter(str.isdecimal, match.group()))
        if any(len(digits) in lengths and beginning.match(digits) for beginning, lengths in _ISSUERS) and _luhn(digits):
            yield Secret("card number", match.start(), match.end())


def _luhn(digits: str) -> bool:
    odd = sum(int(digit) for digit in digits[-1::-2])
    even = sum(sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    return (odd + even) % 10 == 0
