"""Notes from mailboxes in the mbox format, plain or compressed with gzip: one for each message."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from dreaming.errors import InvalidInput
from dreaming.notes.connectors.lines import BREAKS, LineStream, break_reason, check_packing
from dreaming.notes.connectors.mail import Envelope, Mail, Person, read_envelope, read_mail
from dreaming.notes.connectors.marks import Feed, Mark, Marks, OpenMarks
from dreaming.notes.connectors.records import Item, Reading, Skipped, note_or_skipped, short_id
from dreaming.notes.connectors.times import parse_moment
from dreaming.notes.records import Trust

_SEPARATOR = re.compile(
    rb"From (?:\S.*)?(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? .*\d:\d\d.*\b\d{4}\b.*\r?\n?"
    rb"|From \S+ +\S+ .*\d:\d\d.*\b\d{4}\b.*\r?\n?"
)
_ESCAPED = re.compile(rb">+From ")
_MESSAGES = "messages"
_MOST_BYTES = 100_000_000
_MOST_PARTICIPANTS = 200


@dataclass(frozen=True, slots=True)
class MboxOptions:
    """How messages become notes.

    `trusted_senders`: addresses (`ana@example.com`), domains (`example.com`, this one alone) and domains
    with those below them (`*.example.com`). Everybody else is untrusted. The address is the one in the
    header From, which anyone can write: name only senders whose mail your server checks.
    """

    max_note_characters: int
    source: str = "mail"
    trusted_senders: tuple[str, ...] = ()


@dataclass(slots=True)
class _Message:
    """A message as it stands in the file: its number, its lines, and the position behind it, if it is whole."""

    number: int
    separator: bytes
    lines: list[bytes] = field(default_factory=list)
    size: int = 0
    end: Mark | None = None
    done: int = 0
    broken: str | None = None

    def add(self, line: bytes) -> None:
        self.size += len(line)
        if self.size <= _MOST_BYTES:
            self.lines.append(line[1:] if _ESCAPED.match(line) else line)

    @property
    def data(self) -> bytes:
        return b"".join(self.lines)

    @property
    def sent_at(self) -> datetime | None:
        """The time in the separator, which is that of the delivery."""
        written = re.sub(rb"\AFrom \S+\s+", b"", self.separator).decode("ascii", "replace").strip()
        return parse_moment(written, UTC)


@dataclass(slots=True)
class _Threads:
    """What is known of the messages so far: the fingerprint of each, and where its thread began."""

    fingerprints: dict[str, str] = field(default_factory=dict)
    roots: dict[str, str] = field(default_factory=dict)

    def add(self, envelope: Envelope) -> bool:
        """Take in a message; false when another one with other content had its id before."""
        first = self.fingerprints.setdefault(envelope.message_id, envelope.fingerprint)
        start = envelope.references[0] if envelope.references else envelope.message_id
        self.roots.setdefault(envelope.message_id, self.roots.get(start, start))
        return first == envelope.fingerprint


def read_mbox(path: Path, options: MboxOptions, open_marks: OpenMarks = Marks) -> Reading:
    """Read the messages of a mailbox; progress in bytes of the file.

    A note's id is the Message-ID without its brackets or, without one, a hash of the headers From, To,
    Date and Subject and of the body. Its origin is the thread, named by its first message. Its text is the
    subject and what the sender wrote, without quotes and signatures; a reply that only quotes is empty.
    Its author is the sender, its participants are the recipients. Attachments are counted in the metadata.
    A second message with the id of an earlier one and other content is skipped, lest a stranger replace
    what someone else wrote.

    Remembered is the end of the last message that another one follows, with a hash of all before it,
    uncompressed. The messages before it are then only looked at for their ids.

    Raises:
        InvalidInput: the file cannot be opened, or a pattern cannot hold.
    """
    for pattern in options.trusted_senders:
        if not re.fullmatch(r"[^\s@*]+@[^\s@*]+|@?(?:\*\.)?[^\s@*]+", pattern):
            raise InvalidInput(
                "trusted_senders", f"has {pattern!r}", "write ana@example.com, example.com or *.example.com"
            )
    if not path.is_file():
        raise InvalidInput("path", f"{str(path)!r} is not a file", "name a mailbox in the mbox format, plain or gzip")
    check_packing(path)
    marks = open_marks(Feed.of("mbox", options.source, str(path.resolve())), repr(options))
    return Reading(_items(path, options, marks), total=path.stat().st_size, unit="bytes", marks=marks)


def is_trusted(sender: Person | None, patterns: Sequence[str]) -> bool:
    """Whether a sender's address is one of the patterns', or its domain; see `MboxOptions`."""
    if sender is None or sender.address.count("@") != 1:
        return False
    domain = sender.address.rpartition("@")[2]
    return any(_is_meant(sender.address, domain, written.lower().removeprefix("@")) for written in patterns)


def _is_meant(address: str, domain: str, pattern: str) -> bool:
    if "@" in pattern:
        return address == pattern
    return domain.endswith(pattern[1:]) if pattern.startswith("*.") else domain == pattern


def _items(path: Path, options: MboxOptions, marks: Marks) -> Iterator[tuple[int, Item]]:
    read_before = _unchanged_bytes(path, marks.known(_MESSAGES))
    threads = _Threads()
    for message in _messages(path):
        for item in _message_items(message, threads, options, read_before):
            yield message.done, item
        if message.end is not None:
            marks.put(_MESSAGES, message.end)


def _unchanged_bytes(path: Path, mark: Mark | None) -> int:
    with path.open("rb") as file:
        stream = LineStream(file)
        return stream.bytes if stream.resume(mark) else 0


def _messages(path: Path) -> Iterator[_Message]:
    """Split a file at the lines that begin a message; what stands before the first is a message of number 0."""
    with path.open("rb") as file:
        stream = LineStream(file)
        message = _Message(0, b"")
        is_start = True
        try:
            while True:
                before = stream.position if is_start else None
                line = stream.readline()
                if not line:
                    break
                if is_start and _SEPARATOR.fullmatch(line):
                    message.end, message.done = before, stream.done
                    yield message
                    message = _Message(message.number + 1, line)
                else:
                    message.add(line)
                is_start = not line.strip() or not message.lines
        except BREAKS as error:
            message.broken = break_reason(error)
        message.done = stream.done
        yield message


def _message_items(message: _Message, threads: _Threads, options: MboxOptions, read_before: int) -> Iterator[Item]:
    location = f"message {message.number}"
    if message.number == 0:
        if message.data.strip():
            yield Skipped(
                "start of the file", "is no message: it does not begin with a line such as `From ana@… Mon …`"
            )
    elif message.size > _MOST_BYTES:
        yield Skipped(location, f"has {message.size:,} bytes, more than {_MOST_BYTES:,}")
    elif not message.broken:
        envelope = read_envelope(message.data)
        is_first = threads.add(envelope)
        if message.end is not None and cast("int", message.end["bytes"]) <= read_before:
            return
        if not is_first:
            yield Skipped(location, "has the Message-ID of an earlier message and other content")
        else:
            yield _note(message, envelope, threads.roots[envelope.message_id], options)
    if message.broken:
        yield Skipped(location, f"the file breaks off: {message.broken}")


def _note(message: _Message, envelope: Envelope, root: str, options: MboxOptions) -> Item:
    location = f"message {message.number}"
    try:
        mail = read_mail(message.data)
    except ValueError as error:
        return Skipped(location, str(error))
    occurred_at = mail.occurred_at or message.sent_at
    if mail.author is None and mail.occurred_at is None:
        return Skipped(location, "has neither a sender nor a date that can be read")
    if occurred_at is None:
        return Skipped(location, "has no date that can be read")
    return note_or_skipped(
        location,
        max_note_characters=options.max_note_characters,
        external_id=short_id(envelope.message_id),
        source=options.source,
        origin=short_id(f"mail:{root}"),
        text=mail.note_text,
        occurred_at=occurred_at,
        author=mail.author,
        participants=_participants(mail),
        trust=Trust.TRUSTED if is_trusted(mail.sender, options.trusted_senders) else Trust.UNTRUSTED,
        metadata=_metadata(mail),
    )


def _participants(mail: Mail) -> tuple[str, ...]:
    return tuple(dict.fromkeys(person.name for person in mail.recipients))[:_MOST_PARTICIPANTS]


def _metadata(mail: Mail) -> dict[str, object]:
    known: dict[str, object] = {"subject": mail.subject}
    if mail.sender:
        known["from"] = mail.sender.address
    if mail.attachments:
        known["attachments"] = mail.attachments
    return known
