"""Mail that pretends to come from somebody who is trusted: whatever its headers do, it stays untrusted."""

from __future__ import annotations

from pathlib import Path

import pytest

from dreaming.notes.connectors.mbox import MboxOptions, read_mbox
from dreaming.notes.records import IncomingNote, Trust

TRUSTED = ("trusted.com", "boss@partner.org", "*.inside.example")
SEPARATOR = b"From x@evil.org Tue Mar  5 10:00:00 2024\n"
REST = b"To: us@trusted.com\nDate: Tue, 5 Mar 2024 10:00:00 +0100\nSubject: Plan\nMessage-ID: <1@evil.org>\n"

FORGED = {
    "two addresses": b"From: x@evil.org, boss@trusted.com\n",
    "two addresses, the trusted one first": b"From: boss@trusted.com, x@evil.org\n",
    "an address and a word": b"From: boss@trusted.com, evil\n",
    "an empty first place": b"From: ,boss@trusted.com\n",
    "a trusted display name": b'From: "boss@trusted.com" <x@evil.org>\n',
    "a bare trusted display name": b"From: boss@trusted.com <x@evil.org>\n",
    "an encoded display name": b"From: =?utf-8?q?boss=40trusted=2Ecom?= <x@evil.org>\n",
    "an encoded display name that ends the address": b"From: =?utf-8?q?boss=40trusted=2Ecom=3E?= <x@evil.org>\n",
    "an encoded address": b"From: =?utf-8?q?Boss?= <=?utf-8?q?boss=40trusted=2Ecom?=>\n",
    "an encoded header": b"From: =?utf-8?b?Ym9zc0B0cnVzdGVkLmNvbQ==?=\n",
    "an encoded line break": b"From: =?utf-8?q?x=40evil.org=0AFrom:_boss=40trusted.com?= <x@evil.org>\n",
    "a reply address": b"From: x@evil.org\nReply-To: boss@trusted.com\n",
    "a sender": b"From: x@evil.org\nSender: boss@trusted.com\n",
    "a sender alone": b"Sender: boss@trusted.com\n",
    "two headers": b"From: x@evil.org\nFrom: boss@trusted.com\n",
    "two headers, the trusted one first": b"From: boss@trusted.com\nFrom: x@evil.org\n",
    "two headers of the same address": b"From: boss@trusted.com\nFrom: boss@trusted.com\n",
    "two headers, one before a space": b"From : x@evil.org\nFrom: boss@trusted.com\n",
    "two headers, one after a bare return": b"X-A: b\rFrom: x@evil.org\nFrom: boss@trusted.com\n",
    "a header within another's line": b"From: x@evil.org\nX-A: b\rFrom: boss@trusted.com\n",
    "a header behind what is none": b"From: boss@trusted.com\nno header here\nFrom: x@evil.org\n",
    "capitals": b"FROM: x@evil.org\nfrom: boss@trusted.com\n",
    "a domain that begins like it": b"From: boss@trusted.com.evil.org\n",
    "a domain that ends like it": b"From: boss@nottrusted.com\n",
    "a domain below it": b"From: boss@mail.trusted.com\n",
    "a domain that ends like the one above": b"From: boss@evilinside.example\n",
    "a domain with a dot behind": b"From: boss@trusted.com.\n",
    "another person of a domain with one friend": b"From: x@partner.org\n",
    "a person below a friend's domain": b"From: boss@partner.org.evil.org\n",
    "Cyrillic letters": "From: boss@trust\u0435d.com\n".encode(),
    "a letter that becomes a trusted one in lower case": "From: boss@partner.org\n".replace("p", "\uff50").encode(),
    "a Kelvin sign": "From: boss@\u212atrusted.com\n".encode(),
    "a long s": "From: boss@tru\u017fted.com\n".encode(),
    "an ideographic full stop": "From: boss@trusted\u3002com\n".encode(),
    "a full-width at": "From: boss\uff20trusted.com\n".encode(),
    "Latin-1 in the domain": b"From: boss@trusted\xad.com\n",
    "a zero-width space": "From: boss@trusted.com\u200b\n".encode(),
    "a zero-width space within": "From: boss@trus\u200bted.com\n".encode(),
    "a domain in punycode": b"From: boss@xn--trustd-4of.com\n",
    "a NUL behind": b"From: boss@trusted.com\x00.evil.org\n",
    "a NUL at the end": b"From: boss@trusted.com\x00\n",
    "a NUL between two": b"From: x@evil.org\x00boss@trusted.com\n",
    "a folded list": b"From: x@evil.org,\n boss@trusted.com\n",
    "a folded address": b"From: x@evil.org\n\tboss@trusted.com\n",
    "a folded display name": b'From: "boss@trusted.com\n " <x@evil.org>\n',
    "two angles": b"From: <boss@trusted.com> <x@evil.org>\n",
    "nested angles": b"From: <x@evil.org<boss@trusted.com>>\n",
    "a comment": b"From: x@evil.org (boss@trusted.com)\n",
    "a comment within": b"From: boss@trusted.com(@evil.org)\n",
    "a comment before the domain": b"From: x@(evil.org)trusted.com\n",
    "a comment with a second address": b"From: boss@trusted.com (x@evil.org)\n",
    "a quoted local part": b'From: "x@evil.org"@trusted.com\n',
    "a quoted address": b'From: "boss@trusted.com"\n',
    "a group": b"From: Team: boss@trusted.com, x@evil.org;\n",
    "a group of one": b"From: Team: boss@trusted.com;\n",
    "a group's name": b"From: boss@trusted.com: x@evil.org;\n",
    "a route": b"From: <@trusted.com:x@evil.org>\n",
    "a route through evil": b"From: <@evil.org:boss@trusted.com>\n",
    "two ats": b"From: x@evil.org@trusted.com\n",
    "a percent hack": b"From: boss%trusted.com@evil.org\n",
    "a bang path": b"From: trusted.com!boss@evil.org\n",
    "a domain literal": b"From: boss@[trusted.com]\n",
    "a semicolon": b"From: x@evil.org; boss@trusted.com\n",
    "a space in the domain": b"From: boss@trusted.com evil.org\n",
    "no header": b"",
    "an empty header": b"From:\n",
    "a trusted recipient": b"From: x@evil.org\nCc: boss@trusted.com\n",
    "a resent one": b"From: x@evil.org\nResent-From: boss@trusted.com\n",
    "an envelope": b"From: x@evil.org\nReturn-Path: <boss@trusted.com>\nX-Sender: boss@trusted.com\n",
}

HONEST = {
    "an address": b"From: boss@trusted.com\n",
    "a name": b"From: The Boss <boss@trusted.com>\n",
    "a quoted name": b'From: "Boss, The" <boss@trusted.com>\n',
    "an encoded name": b"From: =?utf-8?q?B=C3=B6ss?= <boss@trusted.com>\n",
    "a name in its own letters": "From: B\u00f6ss <boss@trusted.com>\n".encode(),
    "capitals": b"FROM: BOSS@Trusted.COM\n",
    "a folded header": b"From: The Boss\n <boss@trusted.com>\n",
    "an old comment": b"From: boss@trusted.com (The Boss)\n",
    "the friend": b"From: boss@partner.org\n",
    "a domain below": b"From: boss@mail.inside.example\n",
}


def trust(path: Path, header: bytes) -> Trust:
    path.write_bytes(SEPARATOR + header + REST + b"\nFrom: boss@trusted.com\nWe pay at once.\n")
    (note,) = read_mbox(path, MboxOptions(max_note_characters=10_000, trusted_senders=TRUSTED))
    assert isinstance(note, IncomingNote)
    return note.trust


@pytest.mark.parametrize("header", FORGED.values(), ids=list(FORGED))
def test_a_forged_sender_is_not_trusted(tmp_path: Path, header: bytes) -> None:
    assert trust(tmp_path / "in", header) is Trust.UNTRUSTED
    assert trust(tmp_path / "crlf", header.replace(b"\n", b"\r\n")) is Trust.UNTRUSTED


@pytest.mark.parametrize("header", HONEST.values(), ids=list(HONEST))
def test_a_plain_sender_is_trusted(tmp_path: Path, header: bytes) -> None:
    assert trust(tmp_path / "in", header) is Trust.TRUSTED
