"""Transcripts in three formats and several encodings become notes of turn windows."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from dreaming.errors import InvalidInput
from dreaming.notes.connectors.records import Item, Skipped
from dreaming.notes.connectors.transcript import TranscriptOptions, read_transcripts
from dreaming.notes.records import IncomingNote

START = datetime(2024, 3, 5, 14, tzinfo=timezone(timedelta(hours=1)))

VTT = """WEBVTT - standup

NOTE recorded in the
small room

STYLE
::cue { color: red }

intro
00:00:01.000 --> 00:00:03.500 align:start
<v Mia Roth>We use <b>Postgres</b> &amp; pgvector.</v>

00:03.000 --> 00:04.000
<v.loud Tom>Agreed.</v>

00:05.000 --> 00:06.000
and tested.

garbled block
without times

01:00:00.000 --> 01:00:01.000
Lena: Late but here.
"""

SRT = """1
00:00:01,000 --> 00:00:02,000
- Mia: {\\an8}<i>Hello</i> all.
- Tom: Hi.

2
00:01:00,500 --> 00:01:02,000
Shall we start?
"""


def read(path: Path, **changes: Any) -> list[Item]:
    options: dict[str, Any] = {"max_note_characters": 100_000, "date": START}
    return list(read_transcripts(path, TranscriptOptions(**(options | changes))))


def notes(path: Path, **changes: Any) -> list[IncomingNote]:
    items = read(path, **changes)
    assert all(isinstance(item, IncomingNote) for item in items), items
    return [item for item in items if isinstance(item, IncomingNote)]


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_webvtt_gives_speakers_text_and_times(tmp_path: Path) -> None:
    skipped, note = read(write(tmp_path, "standup.vtt", VTT))
    assert isinstance(note, IncomingNote)
    assert note.text == "Mia Roth: We use Postgres & pgvector.\nTom: Agreed. and tested.\nLena: Late but here."
    assert note.participants == ("Mia Roth", "Tom", "Lena")
    assert note.occurred_at == START + timedelta(seconds=1)
    assert (note.external_id, note.source, note.origin) == ("standup.vtt#0", "transcript", "transcript:standup.vtt")
    assert skipped == Skipped("standup.vtt, line 19", "no timing line such as 00:01.000 --> 00:02.000")


def test_each_window_has_the_time_of_its_first_turn(tmp_path: Path) -> None:
    found = notes(write(tmp_path, "a.srt", SRT), window_characters=5)
    assert [note.text for note in found] == ["Mia: Hello all.", "Tom: Hi.", "Tom: Shall we start?"]
    assert [note.occurred_at - START for note in found] == [timedelta(seconds=s) for s in (1, 1, 60.5)]
    assert [note.external_id for note in found] == ["a.srt#0", "a.srt#1", "a.srt#2"]
    assert {note.origin for note in found} == {"transcript:a.srt"}


def test_plain_text_joins_continued_lines_and_drops_time_stamps(tmp_path: Path) -> None:
    path = write(tmp_path, "a.txt", "Notes of Monday\n\n[00:01:02] Mia: We ship\non Friday.\n\n(12:30) Tom: Fine.\n")
    (note,) = notes(path)
    assert note.text == "Notes of Monday\nMia: We ship\non Friday.\nTom: Fine."
    assert note.participants == ("Mia", "Tom")


def test_a_file_that_grew_changes_its_last_note_only(tmp_path: Path) -> None:
    lines = [f"Mia: point number {number} of the long list" for number in range(40)]
    path = write(tmp_path, "a.txt", "\n".join(lines[:25]))
    before = notes(path, window_characters=200)
    path.write_text("\n".join(lines))
    after = notes(path, window_characters=200)
    assert after[: len(before) - 1] == before[:-1]
    assert after[len(before) - 1].external_id == before[-1].external_id
    assert len(after) > len(before)


def test_a_date_in_the_name_stands_before_the_modification_time(tmp_path: Path) -> None:
    content = "Mia: hello"
    named = write(tmp_path, "2024-02-29 standup.txt", content)
    zoom = write(tmp_path, "GMT20240229-140501_Recording.txt", content)
    unnamed = write(tmp_path, "standup-20249999.txt", content)
    os.utime(unnamed, (1_700_000_000, 1_700_000_000))
    zone = timezone(timedelta(hours=2))
    assert [note.occurred_at for path in (named, zoom, unnamed) for note in notes(path, date=None, timezone=zone)] == [
        datetime(2024, 2, 29, tzinfo=zone),
        datetime(2024, 2, 29, 14, 5, 1, tzinfo=UTC),
        datetime.fromtimestamp(1_700_000_000, UTC),
    ]


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1", "cp1252"]
)
def test_the_encoding_is_found_out(tmp_path: Path, encoding: str) -> None:
    text = "Zo\u00eb: The caf\u00e9 opens at nine, says the s\u00f1or."
    (note,) = notes(write(tmp_path, "a.txt", text.encode(encoding)))
    assert note.text == text


def test_a_folder_is_read_with_its_subfolders_in_order_and_what_is_no_transcript_is_named(tmp_path: Path) -> None:
    write(tmp_path, "b/a.txt", "Mia: hi")
    write(tmp_path, "a.vtt", VTT.replace("garbled block\nwithout times\n\n", ""))
    write(tmp_path, "photo.png", b"\x89PNG\x00\x01\x02\x03")
    write(tmp_path, "binary.txt", b"\x00\x01\x02\x03\xff" * 100)
    write(tmp_path, "cut.txt", "Mia: hi".encode("utf-16")[:-1])
    write(tmp_path, "essay.txt", "No one speaks here.")
    write(tmp_path, "empty.srt", "")
    write(tmp_path, ".hidden/c.txt", "Mia: secret")
    items = read(tmp_path)
    assert [item.external_id for item in items if isinstance(item, IncomingNote)] == ["a.vtt#0", "b/a.txt#0"]
    assert {item.location: item.reason for item in items if isinstance(item, Skipped)} == {
        "photo.png": "unknown file type .png; known: .vtt, .srt, .txt",
        "binary.txt": "is not text in UTF-8, UTF-16 or Latin-1",
        "cut.txt": "is not text in UTF-8, UTF-16 or Latin-1",
        "essay.txt": "no line of the form `Speaker: text`",
        "empty.srt": "no block with a timing line",
    }


def test_progress_counts_the_bytes_of_all_files(tmp_path: Path) -> None:
    write(tmp_path, "a.txt", "Mia: hi")
    write(tmp_path, "b.txt", "Tom: hello")
    reading = read_transcripts(tmp_path, TranscriptOptions(max_note_characters=100))
    assert (reading.total, reading.unit) == (17, "bytes")
    assert [reading.done for _ in reading] == [0, 7]
    assert reading.done == 17


def test_a_very_long_turn_stands_alone_and_one_too_long_is_skipped(tmp_path: Path) -> None:
    path = write(tmp_path, "a.txt", f"Mia: hi\nTom: {'word ' * 1_000}\nMia: ok\n")
    assert [len(note.text) for note in notes(path)] == [7, 5_004, 7]
    first, skipped, last = read(path, max_note_characters=4_000)
    assert isinstance(skipped, Skipped)
    assert skipped.location == "a.txt, window 1"
    assert "5,004 characters" in skipped.reason
    assert isinstance(first, IncomingNote)
    assert isinstance(last, IncomingNote)


@pytest.mark.parametrize(
    ("change", "field"),
    [({"window_characters": 0}, "window_characters"), ({"date": datetime(2024, 1, 1)}, "date")],  # noqa: DTZ001
)
def test_options_that_cannot_hold_are_refused(tmp_path: Path, change: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read(tmp_path, **change)
    assert refused.value.field == field


def test_a_path_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="does not exist"):
        read(tmp_path / "missing.vtt")


def test_a_transcript_has_one_origin_whatever_its_source_is_called(tmp_path: Path) -> None:
    """A capture of it has this origin too, so that the two are one witness."""
    (tmp_path / "standup.txt").write_text("Ana: The roof leaks.\n", "utf-8")
    found = read_transcripts(tmp_path / "standup.txt", TranscriptOptions(max_note_characters=1_000, source="meetings"))
    assert [(one.source, one.origin) for one in found if isinstance(one, IncomingNote)] == [
        ("meetings", "transcript:standup.txt")
    ]
