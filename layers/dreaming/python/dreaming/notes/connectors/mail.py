"""One mail message: its headers, and the text its sender wrote."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from email import message_from_bytes
from email.errors import MessageError
from email.header import decode_header
from email.message import Message
from email.utils import getaddresses
from hashlib import sha256

from dreaming.notes.connectors.decoding import decode
from dreaming.notes.connectors.html_text import html_to_text
from dreaming.notes.connectors.quoting import written_by_sender
from dreaming.notes.connectors.times import parse_moment

_ID = re.compile(r"<([^<>\s]+)>")
_HEADER_END = re.compile(rb"\r?\n\r?\n")
_REPLY = re.compile(
    r"\s*(?:re|aw|antw|antwort|sv|vs|rif|r|odp|res|ynt|回复|回覆|答复|答覆|返信|회신|отв|ответ)\s?(?:\[\d+\]|\^\d+)?\s?[:：]\s*",
    re.IGNORECASE,
)
_FORWARD = re.compile(
    r"\s*(?:fwd?|wg|tr|rv|enc|doorst|vl|vb|pd|i|ilt|转发|轉寄|転送|전달|пересл)\s?[:：]\s*", re.IGNORECASE
)
_OTHER_NAMES = {"ks_c_5601-1987": "cp949", "iso-8859-8-i": "iso-8859-8", "gb2312": "gb18030", "x-gbk": "gb18030"}
_UNRELIABLE = frozenset({"", "us-ascii", "ascii", "iso-8859-1", "latin1"})
"""What mail programs write for lack of better knowledge."""

_FROM_LINE = re.compile(rb"(?:\A|[\r\n])from[ \t]*:", re.IGNORECASE)
_ONE_SENDER = re.compile(
    r"""\s*(?:
        (?:"(?:[^"\\]|\\.)*"|[^"<>(),;:@\\]*)\s*<(?P<angled>[!-~]+@[a-z0-9.-]+)>
        |(?P<bare>[^\s"<>(),;:@\\\[\]]+@[a-z0-9.-]+)
    )\s*(?:\([^()<>,;:@"\\]*\))?\s*""",
    re.IGNORECASE | re.ASCII | re.VERBOSE,
)
"""A header From that every reader takes for the same one address; its domain is ASCII, so no letter looks like it."""

_BARE_ADDRESS = re.compile(r"[^\s<>()\[\],;:\"]+@[^\s<>()\[\],;:\"]+")
_MOST_PARTICIPANTS = 200
_MOST_PARTS = 1_000


@dataclass(frozen=True, slots=True)
class Envelope:
    """What places a message among others.

    `message_id` stands without its brackets; without one it is `sha256:` and the hash of what
    `fingerprint` covers: the headers From, To, Date and Subject, and the body, byte for byte.
    `references` are the ids of the messages it answers, the thread's first one first.
    """

    message_id: str
    references: tuple[str, ...]
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Person:
    """A name as shown, or the address where there is none; `address` is in lower case."""

    name: str
    address: str


@dataclass(frozen=True, slots=True)
class Mail:
    """A message as far as it matters for a note; `sender` only where one is named unambiguously."""

    author: str | None
    sender: Person | None
    recipients: tuple[Person, ...]
    subject: str
    occurred_at: datetime | None
    text: str
    attachments: int

    @property
    def note_text(self) -> str:
        """The subject and what the sender wrote; nothing for a reply that says nothing of its own."""
        subject = bare_subject(self.subject)
        if not self.text:
            return "" if _REPLY.match(self.subject) else subject
        return "\n\n".join(filter(None, (subject, self.text)))


def bare_subject(subject: str) -> str:
    """Return a subject without the prefixes of replies."""
    while match := _REPLY.match(subject):
        subject = subject[match.end() :]
    return subject.strip()


def read_envelope(data: bytes) -> Envelope:
    """Read what places a message among others, without its body."""
    end = _HEADER_END.search(data)
    head = message_from_bytes(data[: end.end()] if end else data)
    body = data[end.end() :] if end else b""
    hashed = sha256()
    for name in ("From", "To", "Date", "Subject"):
        hashed.update(f"{name}:{_raw(head, name)}\n".encode(errors="surrogateescape"))
    hashed.update(body)
    fingerprint = f"sha256:{hashed.hexdigest()}"
    written = _raw(head, "Message-ID").strip()
    found = _ID.search(written)
    message_id = found[1] if found else written.strip("<>").strip()
    answered = _ID.findall(_raw(head, "In-Reply-To"))[:1]
    references = _ID.findall(_raw(head, "References"))
    return Envelope(
        message_id=message_id or fingerprint,
        references=tuple(dict.fromkeys(references or answered)),
        fingerprint=fingerprint,
    )


def read_mail(data: bytes) -> Mail:
    """Read a message.

    The time is that of the header Date or, where it cannot be read, of the last hop in Received. A message
    of several alternatives gives its plain text, or its HTML as text. Attachments are counted only.

    Raises:
        ValueError: the message cannot be read; says why.
    """
    try:
        message = message_from_bytes(data)
        parts, attachments = _text_parts(message)
    except (MessageError, LookupError, UnicodeError, RecursionError, AttributeError, TypeError) as error:
        raise ValueError("the message cannot be taken apart") from error
    subject = _decoded(_raw(message, "Subject"))
    is_reply = bool(_REPLY.match(subject) or _raw(message, "In-Reply-To")) and not _FORWARD.match(subject)
    senders = _people(_all_raw(message, "From"))
    author = senders[0] if senders else next(iter(_people(_all_raw(message, "Sender"))), None)
    is_sure = len(senders) == 1 and _sure_address(data, _all_raw(message, "From")) == senders[0].address
    people = [person for name in ("To", "Cc") for person in _people(_all_raw(message, name))]
    return Mail(
        author=author.name if author else None,
        sender=author if is_sure else None,
        recipients=tuple(dict.fromkeys(people))[:_MOST_PARTICIPANTS],
        subject=subject,
        occurred_at=_moment(message),
        text=written_by_sender("\n\n".join(filter(None, parts)), is_reply=is_reply),
        attachments=attachments,
    )


def _sure_address(data: bytes, written: list[str]) -> str | None:
    """Return the one address of a message's one header From; None where another program might read another one.

    Headers are counted in the bytes: one that this parser passes over could be the one that the server checked.
    """
    end = _HEADER_END.search(data)
    if len(written) != 1 or len(_FROM_LINE.findall(data[: end.start()] if end else data)) != 1:
        return None
    found = _ONE_SENDER.fullmatch(written[0])
    address = (found["angled"] or found["bare"]).lower() if found else ""
    return address if address.count("@") == 1 else None


def _raw(message: Message, name: str) -> str:
    """The first header of a name, or nothing."""
    return next(iter(_all_raw(message, name)), "")


def _all_raw(message: Message, name: str) -> list[str]:
    """The headers of a name on one line each, bytes in the encoding that they most probably have."""
    wanted = name.lower()
    written = [str(value) for key, value in message.raw_items() if key.lower() == wanted]
    return [decode(re.sub(r"[\r\n]+", "", one).encode(errors="surrogateescape")) or "" for one in written]


def _decoded(written: str) -> str:
    """A header's text, its encoded words decoded."""
    try:
        words = decode_header(written)
    except (MessageError, ValueError):
        return " ".join(written.split())
    decoded = (word if isinstance(word, str) else _in_charset(word, charset) for word, charset in words)
    return " ".join("".join(decoded).split())


def _in_charset(data: bytes, charset: str | None) -> str:
    """Decode bytes in the encoding they are said to have, or else as what they look like."""
    name = (charset or "").strip("\"' ").lower()
    name = _OTHER_NAMES.get(name, name)
    read = None if name in _UNRELIABLE else _in_encoding(data, name)
    if read is None:
        read = decode(data)
    return read if read is not None else data.decode("utf-8", "replace")


def _in_encoding(data: bytes, name: str) -> str | None:
    try:
        return data.decode(name)
    except (LookupError, UnicodeError, ValueError):
        return None


def _people(written: list[str]) -> list[Person]:
    people = [
        Person(_decoded(name).strip("'\" ") or address, address.lower())
        for name, address in getaddresses(written)
        if "@" in address
    ]
    if people:
        return people
    return [Person(found, found.lower()) for header in written for found in _BARE_ADDRESS.findall(header)]


def _moment(message: Message) -> datetime | None:
    received = [value.rpartition(";")[2] for value in _all_raw(message, "Received")]
    for written in (_raw(message, "Date"), *received):
        moment = parse_moment(re.sub(r"\s*\([^()]*\)", "", " ".join(written.split())), UTC) if written else None
        if moment is not None:
            return moment
    return None


def _text_parts(message: Message) -> tuple[list[str], int]:
    """The texts of a message in their order, and the number of its attachments."""
    texts: list[str] = []
    attachments = 0
    waiting = [message]
    count = 0
    while waiting and count < _MOST_PARTS:
        part = waiting.pop(0)
        count += 1
        kind = part.get_content_type()
        if part.is_multipart() and kind != "message/rfc822":
            inner = [one for one in part.get_payload() if isinstance(one, Message)]
            waiting[:0] = _preferred(inner) if kind == "multipart/alternative" else inner
        elif (
            kind not in {"text/plain", "text/html"}
            or part.get_content_disposition() == "attachment"
            or part.get_filename()
        ):
            attachments += 1
        else:
            text = _part_text(part)
            texts.append(html_to_text(text) if kind == "text/html" else text)
    return texts, attachments + len(waiting)


def _preferred(parts: list[Message]) -> list[Message]:
    """Of several forms of one text the plain one, if it says anything; else the HTML, or what holds it."""
    plain = [part for part in parts if part.get_content_type() == "text/plain"]
    if plain and _part_text(plain[0]).strip():
        return plain[:1]
    richer = [part for part in parts if part.get_content_type() == "text/html" or part.is_multipart()]
    return richer[-1:] or plain[:1]


def _part_text(part: Message) -> str:
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes):
        return ""
    text = _in_charset(data, _parameter(part, "charset"))
    if _parameter(part, "format") == "flowed":
        return _unflowed(text, delsp=_parameter(part, "delsp") == "yes")
    return text


def _parameter(part: Message, name: str) -> str:
    value = part.get_param(name)
    return (value[2] if isinstance(value, tuple) else value or "").lower()


def _unflowed(text: str, *, delsp: bool) -> str:
    """Join the lines that were only broken for their length (RFC 3676)."""
    lines: list[str] = []
    flows = False
    for line in text.splitlines():
        if flows and not line.startswith(">"):
            lines[-1] += line.removeprefix(" ")
        else:
            lines.append(line if line.startswith(">") else line.removeprefix(" "))
        flows = line.endswith(" ") and line != "-- " and not line.startswith(">")
        if flows and delsp:
            lines[-1] = lines[-1][:-1]
    return "\n".join(lines)
