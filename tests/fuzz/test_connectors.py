"""Files and histories of any content: every connector yields notes or named places, and never raises on its way."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreaming.errors import InvalidInput
from dreaming.notes.connectors.git import read_git
from dreaming.notes.connectors.jsonl import JsonlOptions, read_jsonl
from dreaming.notes.connectors.mail import read_envelope, read_mail
from dreaming.notes.connectors.markdown import MarkdownOptions, read_markdown
from dreaming.notes.connectors.mbox import MboxOptions, read_mbox
from dreaming.notes.connectors.records import Item, Skipped
from dreaming.notes.connectors.transcript import TranscriptOptions, read_transcripts
from dreaming.notes.records import IncomingNote, Trust
from tests.fuzz.endurance import any_text, fuzzed, keep_going, mosaic_bytes, no_hang

pytestmark = pytest.mark.fuzz

LONGEST = 20_000

COMMON = (
    b"\n",
    b"\r\n",
    b"\r",
    b"\x00",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\x80",
    b" ",
    b"\t",
    b"Ada sails.",
    b"\xf0\x9f",
)
MAIL = (
    *(b"From ada@x.test Mon Jun  1 12:00:00 2026\n", b"\nFrom ", b">From ", b"From: Ada <ada@x.test>\n", b"To: "),
    *(b"Date: Mon, 1 Jun 2026 12:00:00 +9999\n", b"Date: 0\n", b"Message-ID: <1@x>\n", b"In-Reply-To: <1@x>\n"),
    *(b"Subject: =?utf-8?B?//8=?=\n", b"=?x?Q?=00?=", b'Content-Type: multipart/mixed; boundary="b"\n', b"--b\n"),
    *(b"--b--\n", b"Content-Type: text/html; charset=rot13\n", b"Content-Transfer-Encoding: base64\n", b"\n\n"),
    *(b"Content-Transfer-Encoding: uuencode\n", b"begin 644 x\n", b"format=flowed; delsp=yes\n", b"<script>", b"<!--"),
    *(b"Content-Type: message/rfc822\n", b"On Monday Ada wrote:\n", b"> ", b">> ", b"-- \n", b"charset*0*=%"),
    *(
        b"References: ",
        b"<a@b> ",
        b"filename*=utf-8''%00",
        b'Content-Type: text/plain; charset="utf-16"\n',
        b"Cc: a@b,",
    ),
)
MARKDOWN = (b"---\n", b"# ", b"title: ", b"date: 2026-13-45\n", b"[[", b"]]", b"```\n", b"![](", b")", b"- [ ] ", b"|")
TRANSCRIPT = (
    *(
        b"Ada: ",
        b"[00:01:02] ",
        b"WEBVTT\n\n",
        b"00:00:01.000 --> 00:00:02.000\n",
        b"<v Ada>",
        b"1\n",
        b"-->",
        b"99:99:99",
    ),
    *(b"**Ada** (10:00): ", b"Speaker 1  0:01\n", b'{"text": ', b"[2026-06-01] ", b": "),
)
JSONL = (
    *(
        b'{"text": "Ada sails.", "time": "2026-06-01T12:00:00Z"}\n',
        b'{"text": [',
        b'"',
        b"\\u0000",
        b"\\ud800",
        b"}",
        b"]",
    ),
    *(
        b'{"id": 1e999, ',
        b'"time": 99999999999999999999',
        b'"text": null',
        b"{",
        b"[",
        b",",
        b": ",
        b"NaN",
        b"9" * 5_000,
    ),
    *(b'{"text": "x", "role": "system"}\n', b'"speaker": "Ada", "text": "hm"', b'"time": -1}\n', b'"meta": {"a": '),
)


def drained(items: Iterable[Item]) -> list[Item]:
    """Every item of a reading, each checked: a note fits ingest, and a skipped place quotes nothing."""
    found = list(items)
    for item in found:
        assert isinstance(item, IncomingNote | Skipped)
        if isinstance(item, Skipped):
            assert "Ada sails" not in item.reason
        else:
            assert len(item.text) <= LONGEST
            item.text.encode("utf-8")
            assert "\x00" not in item.text
    return found


def test_mailboxes_are_read_or_refused_in_words(tmp_path: Path) -> None:
    path = tmp_path / "box.mbox"

    @fuzzed()
    @given(data=mosaic_bytes((*MAIL, *COMMON)))
    def check(data: bytes) -> None:
        path.write_bytes(data)
        with no_hang():
            items = drained(read_mbox(path, MboxOptions(max_note_characters=LONGEST, trusted_senders=("bo@y.test",))))
            assert all(item.trust is Trust.UNTRUSTED for item in items if isinstance(item, IncomingNote))
            read_envelope(data)
            read_mail(data)

    keep_going(check, "mailboxes")


def test_markdown_folders_are_read_or_refused_in_words(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()

    @fuzzed()
    @given(data=mosaic_bytes((*MARKDOWN, *COMMON)))
    def check(data: bytes) -> None:
        (folder / "a.md").write_bytes(data)
        with no_hang():
            items = drained(read_markdown(folder, MarkdownOptions(max_note_characters=LONGEST)))
            assert sum(isinstance(item, IncomingNote) for item in items) <= 1

    keep_going(check, "Markdown")


def test_transcripts_are_read_or_refused_in_words(tmp_path: Path) -> None:
    @fuzzed()
    @given(data=mosaic_bytes((*TRANSCRIPT, *COMMON)), ending=st.sampled_from(["txt", "vtt", "srt"]))
    def check(data: bytes, ending: str) -> None:
        path = tmp_path / f"talk.{ending}"
        path.write_bytes(data)
        options = TranscriptOptions(max_note_characters=LONGEST, date=datetime(2026, 6, 1, tzinfo=UTC))
        with no_hang():
            drained(read_transcripts(path, options))

    keep_going(check, "transcripts")


def test_json_lines_are_read_or_refused_in_words(tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    fields = st.sampled_from(["text", "time", "id", "meta", "meta.a", "speaker", "role", "a.b.c"])

    @fuzzed()
    @given(
        data=mosaic_bytes((*JSONL, *COMMON)),
        text=st.lists(fields, min_size=1, max_size=2).map(tuple),
        time=st.none() | fields,
        other=st.none() | fields,
        window=st.none() | st.integers(1, 3_000),
    )
    def check(data: bytes, text: tuple[str, ...], time: str | None, other: str | None, window: int | None) -> None:
        path.write_bytes(data)
        options = JsonlOptions(
            text_fields=text,
            source="feed",
            max_note_characters=LONGEST,
            id_fields=("id",),
            time_field=time,
            default_time=datetime(2026, 6, 1, tzinfo=UTC),
            author_field=other,
            participants_field=other,
            origin_field=other,
            role_field="role",
            metadata_fields=("meta",),
            window_characters=window,
        )
        with no_hang():
            try:
                drained(read_jsonl(path, options))
            except InvalidInput:
                return  # an option that cannot hold

    keep_going(check, "JSON lines")


def test_git_histories_are_read_or_refused_in_words(tmp_path: Path) -> None:
    git = ["git", "-C", str(tmp_path), "-c", "user.name=x", "-c", "user.email=x@x.test"]
    subprocess.run([*git, "init", "--quiet"], check=True)
    tree = subprocess.run([*git, "mktree"], input=b"", capture_output=True, check=True).stdout.strip().decode()

    @fuzzed(20)
    @given(
        message=mosaic_bytes((b"Fix ", b"Co-authored-by: Ada <a@x>\n", b"\x1e", b"\x1f", b"--format=%x00", *COMMON)),
        author=any_text(20),
        when=st.sampled_from(["0 +0000", "4102444800 -1400", "253402300799 +1400", "99999999999 +9999", "1 +0099"]),
    )
    def check(message: bytes, author: str, when: str) -> None:
        # The object is written as it stands: git itself would refuse some of these.
        name = author.encode("utf-8", "surrogatepass").replace(b"\n", b"").replace(b"\x00", b"")
        person = name + b" <a@x.test> " + when.encode()
        body = b"tree " + tree.encode() + b"\nauthor " + person + b"\ncommitter " + person + b"\n\n" + message
        made = subprocess.run(
            [*git, "hash-object", "-t", "commit", "-w", "--stdin", "--literally"],
            input=body,
            capture_output=True,
            check=True,
        )
        commit = made.stdout.strip().decode()
        (tmp_path / ".git" / "HEAD").write_text(f"{commit}\n", "utf-8")
        with no_hang():
            assert len(drained(read_git(tmp_path, max_note_characters=LONGEST))) == 1

    keep_going(check, "git histories")
