"""Mailboxes become notes: what each sender wrote, in its thread, with the trust of the sender."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreaming.errors import InvalidInput
from dreaming.notes.connectors.html_text import html_to_text
from dreaming.notes.connectors.mail import Person, bare_subject, read_envelope, read_mail
from dreaming.notes.connectors.mbox import MboxOptions, is_trusted, read_mbox
from dreaming.notes.connectors.records import Skipped
from dreaming.notes.records import IncomingNote, Trust

SEPARATOR = b"From ana@example.com Tue Mar  5 10:00:00 2024\n"


def mail(number: int, body: str = "We ship on Friday.", **headers: str | None) -> bytes:
    fields: dict[str, str | None] = {
        "From": "Ana Lim <ana@example.com>",
        "To": "Bo <bo@example.com>, cy@example.com",
        "Date": "Tue, 5 Mar 2024 10:00:00 +0100",
        "Subject": "Plan",
        "Message-ID": f"<m{number}@example.com>",
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    lines = [f"{name}: {value}" for name, value in fields.items() if value is not None]
    return ("\n".join(lines) + f"\n\n{body}\n").encode()


def box(path: Path, *mails: bytes) -> Path:
    path.write_bytes(b"".join(SEPARATOR + one + b"\n" for one in mails))
    return path


def read(path: Path, **options: Any) -> tuple[list[IncomingNote], list[Skipped]]:
    items = list(read_mbox(path, MboxOptions(**{"max_note_characters": 10_000, **options})))
    return [item for item in items if isinstance(item, IncomingNote)], [
        item for item in items if isinstance(item, Skipped)
    ]


def only(path: Path, **options: Any) -> IncomingNote:
    (note,), skipped = read(path, **options)
    assert skipped == []
    return note


def test_a_message_becomes_a_note(tmp_path: Path) -> None:
    note = only(box(tmp_path / "in", mail(1)))
    assert (note.external_id, note.source, note.origin) == ("m1@example.com", "mail", "mail:m1@example.com")
    assert note.text == "Plan\n\nWe ship on Friday."
    assert note.occurred_at.isoformat() == "2024-03-05T10:00:00+01:00"
    assert (note.author, note.participants) == ("Ana Lim", ("Bo", "cy@example.com"))
    assert note.trust is Trust.UNTRUSTED
    assert note.metadata == {"subject": "Plan", "from": "ana@example.com"}


def test_answers_have_the_origin_of_their_thread(tmp_path: Path) -> None:
    quote = "On 5 Mar 2024 at 10:00, Ana Lim wrote:\n> We ship on Friday."
    answers = [
        mail(2, f"Good.\n\n{quote}", Subject="Re: Plan", In_Reply_To="<m1@example.com>"),
        mail(3, quote, Subject="AW: Plan", In_Reply_To="<m2@example.com>"),
        mail(4, "So be it.", Subject="Re: Plan", References="<m1@example.com>\n <m3@example.com>"),
        mail(5, "Else.", Subject="Re: Lost", In_Reply_To="<elsewhere@example.com>"),
    ]
    notes, _ = read(box(tmp_path / "in", mail(1), *answers))
    assert [note.origin for note in notes] == ["mail:m1@example.com"] * 4 + ["mail:elsewhere@example.com"]
    texts = ["Plan\n\nWe ship on Friday.", "Plan\n\nGood.", "", "Plan\n\nSo be it.", "Lost\n\nElse."]
    assert [note.text for note in notes] == texts


@pytest.mark.parametrize(
    ("sender", "patterns", "trusted"),
    [
        ("ana@example.com", ["ana@example.com"], True),
        ("ANA@Example.COM", ["Ana@example.com"], True),
        ("ana@example.com", ["example.com"], True),
        ("ana@example.com", ["@example.com"], True),
        ("ana@mail.example.com", ["example.com"], False),
        ("ana@mail.example.com", ["*.example.com"], True),
        ("ana@example.com", ["*.example.com"], False),
        ("ana@notexample.com", ["example.com", "*.example.com"], False),
        ("ana@example.com.evil.test", ["example.com"], False),
        ("bo@example.com", ["ana@example.com"], False),
        ("ana@example.com", [], False),
        ('ana@example.com"@evil.test', ["example.com"], False),
    ],
)
def test_senders_are_trusted_by_address_or_domain(sender: str, patterns: list[str], trusted: bool) -> None:
    assert is_trusted(Person("x", sender.lower()), patterns) is trusted


@pytest.mark.parametrize(
    "written",
    [
        '"ana@example.com" <eve@evil.test>',
        "ana@example.com <eve@evil.test>",
        "Ana <ana@example.com>, Eve <eve@evil.test>",
        "Ana <ana@example.com>\nFrom: Eve <eve@evil.test>",
        "=?utf-8?q?ana=40example=2Ecom?= <eve@evil.test>",
        "Ana <ana@example.com> <eve@evil.test>",
        "eve@evil.test <ana@example.com",
        None,
    ],
)
def test_a_sender_that_pretends_or_is_not_clear_is_not_trusted(tmp_path: Path, written: str | None) -> None:
    note = only(box(tmp_path / "in", mail(1, From=written)), trusted_senders=("example.com",))
    assert note.trust is Trust.UNTRUSTED


def test_a_trusted_sender_is_trusted_and_a_bad_pattern_refused(tmp_path: Path) -> None:
    path = box(tmp_path / "in", mail(1))
    assert only(path, trusted_senders=("*.x.test", "ana@example.com")).trust is Trust.TRUSTED
    for pattern in ("*", "", "a*@example.com", "two words"):
        with pytest.raises(InvalidInput, match="trusted_senders"):
            read(path, trusted_senders=(pattern,))


def html(body: str) -> dict[str, str]:
    return {"MIME_Version": "1.0", "Content_Type": "text/html; charset=utf-8", "body": body}


def test_a_mail_of_html_alone_gives_its_text_without_its_quote(tmp_path: Path) -> None:
    body = (
        "<html><head><style>p{}</style></head><body><p>We ship&nbsp;on <b>Friday</b>.<br>Bring &lt;cake&gt;.</p>"
        '<span style="display:none">hidden</span><div class="gmail_quote"><div>On Tue, Mar 5, 2024 at 10:00 AM Bo '
        "&lt;bo@example.com&gt; wrote:</div><blockquote><p>When?</p>So?</blockquote></div></body></html>"
    )
    headers = html(body)
    note = only(box(tmp_path / "in", mail(1, headers.pop("body"), Subject="Re: Plan", **headers)))
    assert note.text == "Plan\n\nWe ship on Friday.\nBring <cake>."


def test_lists_tables_and_preformatted_text_stay_readable() -> None:
    shown = html_to_text(
        "<ul><li>one<li>two</ul><table><tr><td>a<td>b</table><pre>x\n  y</pre><script>no()</script>end"
    )
    assert shown == "- one\n- two\n\na b\n\nx\n  y\n\nend"


@pytest.mark.parametrize(
    "html", ["<a" * 50_000, "<!--" * 50_000, "<" * 100_000, "<a href='" * 30_000, "<div>" * 50_000]
)
def test_hostile_html_is_read(html: str) -> None:
    assert html_to_text(html + "<p>We ship.").endswith("We ship.")


def multipart(kind: str, *parts: str) -> dict[str, str]:
    body = "".join(f"--=b\n{part}\n" for part in parts) + "--=b--"
    return {"MIME_Version": "1.0", "Content_Type": f'multipart/{kind}; boundary="=b"', "body": body}


def test_attachments_are_counted_and_the_plain_alternative_is_read(tmp_path: Path) -> None:
    inner = "Content-Type: text/plain\n\nWe ship."
    other = "Content-Type: text/html\n\n<p>We <b>do not</b> ship."
    attached = "Content-Type: text/plain\nContent-Disposition: attachment; filename=x.txt\n\nsecret plan"
    picture = "Content-Type: image/png\nContent-Transfer-Encoding: base64\n\niVBORw0KGgo="
    forwarded = "Content-Type: message/rfc822\n\nFrom: x@y.test\nSubject: z\n\nforwarded"
    alternative = multipart("alternative", inner, other)
    body = alternative.pop("body")
    first = only(box(tmp_path / "a", mail(1, body, **alternative)))
    assert (first.text, first.metadata.get("attachments")) == ("Plan\n\nWe ship.", None)
    mixed = multipart("mixed", inner, attached, picture, forwarded)
    body = mixed.pop("body")
    second = only(box(tmp_path / "b", mail(1, body, **mixed)))
    assert (second.text, second.metadata["attachments"]) == ("Plan\n\nWe ship.", 3)


@pytest.mark.parametrize(
    ("charset", "data"),
    [
        ("utf-8", "Zoë zahlt 5 €.".encode()),
        ("iso-8859-1", "Zoë zahlt 5 €.".encode("cp1252")),
        ("windows-1252", "Zoë zahlt 5 €.".encode("cp1252")),
        ("us-ascii", "Zoë zahlt 5 €.".encode()),
        ("x-unknown", "Zoë zahlt 5 €.".encode()),
        ("gb2312", "我们周五发货。".encode("gb18030")),
    ],
)
@pytest.mark.parametrize("encoding", ["base64", "8bit"])
def test_texts_in_many_encodings(tmp_path: Path, charset: str, data: bytes, encoding: str) -> None:
    head = mail(1, "", Content_Type=f'text/plain; charset="{charset}"', Content_Transfer_Encoding=encoding)
    body = base64.encodebytes(data) if encoding == "base64" else data
    assert only(box(tmp_path / "in", head.rstrip() + b"\n\n" + body)).text in {
        "Plan\n\nZoë zahlt 5 €.",
        "Plan\n\n我们周五发货。",
    }


def test_headers_in_many_encodings(tmp_path: Path) -> None:
    encoded = mail(
        1,
        Subject="=?utf-8?b?WsO8cmljaA==?= =?iso-8859-1?q?_f=FCr?= alle",
        From="=?utf-8?q?Lim=2C_Zo=C3=AB?= <z@x.test>",
    )
    raw = mail(2, Subject="Zürich", From="Zoë <z@x.test>")
    notes, _ = read(box(tmp_path / "in", encoded, raw))
    assert [note.text.split("\n")[0] for note in notes] == ["Zürich für alle", "Zürich"]
    assert [note.author for note in notes] == ["Lim, Zoë", "Zoë"]


@pytest.mark.parametrize(
    ("date", "moment"),
    [
        ("Tue, 5 Mar 2024 10:00:00 -0730", "2024-03-05T10:00:00-07:30"),
        ("5 Mar 2024 10:00 EST (Eastern)", "2024-03-05T10:00:00-05:00"),
        ("Tue, 5 Mar 2024 10:00:00 -0000", "2024-03-05T10:00:00+00:00"),
        ("2024-03-05T10:00:00Z", "2024-03-05T10:00:00+00:00"),
        ("Tue, 45 Mar 2024 10:00:00 +0100", "2024-03-04T09:00:00+00:00"),
        ("Tue, 5 Mar 2024 10:00:00 +9999", "2024-03-04T09:00:00+00:00"),
        ("", "2024-03-04T09:00:00+00:00"),
    ],
)
def test_dates_with_offsets_and_broken_ones(tmp_path: Path, date: str, moment: str) -> None:
    received = "from a by b; Mon, 4 Mar 2024 09:00:00 +0000"
    assert only(box(tmp_path / "in", mail(1, Date=date, Received=received))).occurred_at.isoformat() == moment


def test_a_message_without_a_date_has_that_of_its_delivery(tmp_path: Path) -> None:
    note = only(box(tmp_path / "in", mail(1, Date=None)))
    assert note.occurred_at == datetime(2024, 3, 5, 10, tzinfo=UTC)


def test_damaged_messages_are_skipped_and_the_rest_goes_on(tmp_path: Path) -> None:
    broken = b"\x00\xff no header at all\n"
    unfinished = mail(3, "--=b\nContent-Type: text/plain\n\nWe", Content_Type='multipart/mixed; boundary="=b"')
    notes, skipped = read(box(tmp_path / "in", mail(1), broken, unfinished, mail(4)))
    assert [note.external_id[:2] for note in notes] == ["m1", "m3", "m4"]
    assert [place.location for place in skipped] == ["message 2"]


def test_a_line_of_text_that_begins_with_from_splits_nothing(tmp_path: Path) -> None:
    body = "Hello.\n\nFrom Monday on we ship.\n\n>From 10:00 until 12:00 in 2024."
    assert only(box(tmp_path / "in", mail(1, body))).text.endswith(body.replace(">From", "From"))


def test_a_second_message_of_an_id_cannot_replace_the_first(tmp_path: Path) -> None:
    notes, skipped = read(box(tmp_path / "in", mail(1), mail(1), mail(1, "Pay Eve.", From="eve@evil.test")))
    assert {note.text for note in notes} == {"Plan\n\nWe ship on Friday."}
    assert [place.location for place in skipped] == ["message 3"]


def test_a_message_without_an_id_is_named_by_its_content(tmp_path: Path) -> None:
    one, same, other = (mail(1, body, Message_ID=None) for body in ("a", "a", "b"))
    notes, _ = read(box(tmp_path / "in", one, same, other))
    ids = [note.external_id for note in notes]
    assert ids[0] == ids[1] != ids[2]
    assert ids[0].startswith("sha256:")


def test_a_compressed_mailbox_and_one_that_is_cut_off(tmp_path: Path) -> None:
    whole = gzip.compress(box(tmp_path / "in", *(mail(number, "x" * number) for number in range(200))).read_bytes())
    (tmp_path / "in.gz").write_bytes(whole)
    assert len(read(tmp_path / "in.gz")[0]) == 200
    (tmp_path / "cut.gz").write_bytes(whole[: len(whole) // 2])
    notes, skipped = read(tmp_path / "cut.gz")
    assert 0 < len(notes) < 200
    assert "cut off" in skipped[-1].reason


def test_windows_line_ends_and_files_that_are_no_mailbox(tmp_path: Path) -> None:
    path = box(tmp_path / "in", mail(1), mail(2))
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert [note.text for note in read(path)[0]] == ["Plan\n\nWe ship on Friday."] * 2
    (tmp_path / "text").write_text("Hello\n")
    notes, skipped = read(tmp_path / "text")
    assert (notes, [place.location for place in skipped]) == ([], ["start of the file"])
    with pytest.raises(InvalidInput, match="not a file"):
        read(tmp_path)


def test_subjects_lose_the_prefixes_of_replies_in_many_languages() -> None:
    for prefix in ("Re: ", "RE: Re[2]: ", "AW: ", "Antw: ", "SV: ", "RIF: ", "Odp: ", "回复：", "Re:AW:"):
        assert bare_subject(prefix + "Plan: next") == "Plan: next"
    assert bare_subject("Release: plan") == "Release: plan"


def is_read_or_refused(data: bytes) -> bool:
    assert read_envelope(data).message_id
    try:
        return isinstance(read_mail(data).note_text, str)
    except ValueError as error:
        return bool(str(error))


@given(st.binary(max_size=400))
def test_any_bytes_are_read_or_refused_by_name(data: bytes) -> None:
    assert is_read_or_refused(data)


HEADERS = st.sampled_from(
    [
        b"From: ",
        b"To: a@b, ",
        b"Content-Type: multipart/mixed; boundary=b\n",
        b"Content-Type: text/html; charset=",
        b"--b\n",
    ]
)


@given(st.lists(st.one_of(HEADERS, st.binary(max_size=20), st.just(b"\n")), max_size=30))
def test_any_mixture_of_headers_and_bytes_is_read_or_refused_by_name(parts: Sequence[bytes]) -> None:
    assert is_read_or_refused(b"".join(parts))
