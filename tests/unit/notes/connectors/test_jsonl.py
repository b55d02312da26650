"""JSON lines become notes; broken ones are named and the others are read."""

from __future__ import annotations

import gzip
import json
import zlib
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from dreaming.errors import InvalidInput
from dreaming.notes.connectors.jsonl import JsonlOptions, read_jsonl
from dreaming.notes.connectors.records import Item, Skipped
from dreaming.notes.records import IncomingNote

DEFAULT = datetime(2020, 1, 1, tzinfo=UTC)


def read(path: Path, **changes: Any) -> list[Item]:
    options: dict[str, Any] = {
        "text_fields": ("text",),
        "source": "s",
        "max_note_characters": 100_000,
        "default_time": DEFAULT,
    }
    return list(read_jsonl(path, JsonlOptions(**(options | changes))))


def rows(folder: Path, *contents: Any) -> Path:
    path = folder / "in.jsonl"
    lines = (line if isinstance(line, bytes) else json.dumps(line).encode() for line in contents)
    path.write_bytes(b"\n".join(lines) + b"\n")
    return path


def one(folder: Path, row: Any, **changes: Any) -> IncomingNote:
    (item,) = read(rows(folder, row), **changes)
    assert isinstance(item, IncomingNote), item
    return item


def skipped(folder: Path, row: Any, **changes: Any) -> str:
    (item,) = read(rows(folder, row), **changes)
    assert isinstance(item, Skipped), item
    return item.reason


def test_fields_are_mapped_by_dotted_paths(tmp_path: Path) -> None:
    row = {
        "meta": {"id": 7, "when": "2024-03-01T10:00:00+02:00", "tags": ["a"]},
        "subject": "Use Postgres",
        "body": "SQLite locked.",
        "who": "Mia",
        "to": ["Tom", "Tom", "Lena"],
        "thread": "t1",
        "a.b": "dotted",
    }
    note = one(
        tmp_path,
        row,
        text_fields=("subject", "body", "missing"),
        id_fields=("meta.id",),
        time_field="meta.when",
        author_field="who",
        participants_field="to",
        origin_field="thread",
        metadata_fields=("meta.tags", "a.b"),
    )
    assert (note.external_id, note.text) == ("7", "Use Postgres\n\nSQLite locked.")
    assert note.occurred_at.isoformat() == "2024-03-01T10:00:00+02:00"
    assert (note.author, note.participants, note.origin) == ("Mia", ("Tom", "Lena"), "t1")
    assert note.metadata == {"meta.tags": ["a"], "a.b": "dotted"}


def test_several_id_fields_are_joined(tmp_path: Path) -> None:
    assert one(tmp_path, {"text": "x", "file": "f", "line": 3}, id_fields=("file", "line")).external_id == "f:3"


def test_without_an_id_the_content_names_the_note_whatever_its_layout(tmp_path: Path) -> None:
    first = one(tmp_path, b'{"text": "x", "n": 1}')
    assert one(tmp_path, b'{ "n":1,"text":"x" }').external_id == first.external_id
    assert one(tmp_path, b'{"text": "y", "n": 1}').external_id != first.external_id
    assert one(tmp_path, b'{"text": "x", "n": 1}', id_fields=("id",)).external_id == first.external_id
    assert len(one(tmp_path, {"text": "x", "id": "\u4f60" * 400}, id_fields=("id",)).external_id) == 71


def test_a_list_of_turns_is_one_note_or_windows(tmp_path: Path) -> None:
    row = {
        "id": "m1",
        "turns": ["Ann: hello there", "Bo: hi", {"speaker": "Cy", "text": "late"}, {"role": "system", "content": "no"}],
    }
    note = one(tmp_path, row, text_fields=("turns",), id_fields=("id",))
    assert note.text == "Ann: hello there\nBo: hi\nCy: late"
    assert note.participants == ("Ann", "Bo", "Cy")
    found = read(rows(tmp_path, row), text_fields=("turns",), id_fields=("id",), window_characters=10)
    assert [(n.external_id, n.text, n.origin, n.participants) for n in found if isinstance(n, IncomingNote)] == [
        ("m1#0", "Ann: hello there", "s:m1", ("Ann",)),
        ("m1#1", "Bo: hi\nCy: late", "s:m1", ("Ann", "Bo", "Cy")),
    ]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("2024-03-01T10:00:00Z", "2024-03-01T10:00:00+00:00"),
        ("2024-03-01T10:00:00-07:00", "2024-03-01T10:00:00-07:00"),
        ("2024-03-01 10:00", "2024-03-01T10:00:00+02:00"),
        ("2024-03-01", "2024-03-01T00:00:00+02:00"),
        ("Fri, 1 Mar 2024 10:00:00 +0100", "2024-03-01T10:00:00+01:00"),
        (1709287200, "2024-03-01T12:00:00+02:00"),
        (1709287200500, "2024-03-01T12:00:00.500000+02:00"),
        ("1709287200", "2024-03-01T10:00:00+00:00"),
        (None, "2020-01-01T00:00:00+00:00"),
    ],
)
def test_times_are_read_as_they_are_written(tmp_path: Path, written: Any, expected: str) -> None:
    note = one(tmp_path, {"text": "x", "t": written}, time_field="t", timezone=timezone(timedelta(hours=2)))
    assert note.occurred_at.isoformat() == expected


@pytest.mark.parametrize("written", ["soon", True, [1], 1e300, "0001-01-01T00:00:00+14:00", "99999999999999999"])
def test_a_time_that_cannot_be_read_or_kept_skips_the_line(tmp_path: Path, written: Any) -> None:
    reason = skipped(tmp_path, {"text": "secret words", "t": written}, time_field="t")
    assert "time" in reason or "occurred_at" in reason
    assert "secret" not in reason


def test_a_missing_time_skips_the_line_when_there_is_no_default(tmp_path: Path) -> None:
    assert skipped(tmp_path, {"text": "x"}, time_field="t", default_time=None) == "has no time in field 't'"


@pytest.mark.parametrize("role", ["system", "System", "developer"])
def test_a_system_turn_is_no_note(tmp_path: Path, role: str) -> None:
    assert "system turn" in skipped(tmp_path, {"text": "You are a helpful bot", "role": role}, role_field="role")
    assert one(tmp_path, {"text": "hi", "role": "user"}, role_field="role").text == "hi"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"text": "cut of', "is not JSON"),
        (b"[1, 2]", "not an object"),
        (b"null", "not an object"),
        (b'{"text": "caf\xe9"}', "is not UTF-8 at byte 14"),
        (b'{"text": NaN}', "cannot be read"),
        (b'{"text": {"a": 1}}', "neither text nor a list"),
        (b'{"text": [3]}', "neither text nor an object"),
        (b'{"text": "x", "m": 1e999}', "metadata"),
        (b'{"text": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "cannot be read"),
        (b'{"n": ' + b"9" * 5_000 + b"}", "cannot be read"),
        (b'{"text": "' + b"x" * 100_001 + b'"}', "100,001 characters"),
    ],
)
def test_a_broken_line_is_named_by_its_number_and_the_others_are_read(tmp_path: Path, line: bytes, reason: str) -> None:
    first, broken, last = read(rows(tmp_path, {"text": "one"}, b"", line, {"text": "two"}), metadata_fields=("m",))
    assert isinstance(broken, Skipped)
    assert broken.location == "line 3"
    assert reason in broken.reason
    assert isinstance(first, IncomingNote)
    assert isinstance(last, IncomingNote)
    assert (first.text, last.text) == ("one", "two")


def test_nul_and_surrogates_in_escapes_are_cleaned(tmp_path: Path) -> None:
    note = one(tmp_path, b'{"text": "a\\u0000b\\ud800", "m": {"k\\u0000": "\\u0000"}}', metadata_fields=("m",))
    assert note.text == "ab"
    assert note.metadata == {"m": {"k": ""}}


def test_byte_order_marks_and_utf_16_are_understood(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    content = '{"text": "caf\u00e9 \u2028 one"}\r\n{"text": "two"}\r\n'
    for encoding in ("utf-8-sig", "utf-16"):
        path.write_bytes(content.encode(encoding))
        assert [item.text for item in read(path) if isinstance(item, IncomingNote)] == ["caf\u00e9 \u2028 one", "two"]


def test_gzip_is_recognised_by_its_content(tmp_path: Path) -> None:
    path = rows(tmp_path, {"text": "one"}, {"text": "two"})
    plain = read(path)
    path.write_bytes(gzip.compress(path.read_bytes()))
    assert read(path) == plain


def test_a_truncated_gzip_gives_the_lines_before_the_break(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl.gz"
    lines = [json.dumps({"text": f"{number} {number * 7919 % 104729}"}) for number in range(20_000)]
    data = gzip.compress("\n".join(lines).encode())
    cut = data[: len(data) // 2]
    path.write_bytes(cut)
    *before, last = read(path)
    whole = zlib.decompressobj(31).decompress(cut).count(b"\n")
    assert len(before) == whole > 5_000
    assert all(isinstance(item, IncomingNote) for item in before)
    assert isinstance(last, Skipped)
    assert last.location == f"line {whole + 1}"
    assert last.reason.startswith("the file breaks off: the compressed data is cut off (in.jsonl.gz, after ")


@pytest.mark.parametrize("damage", [lambda data: data[:5], lambda data: data[:30] + b"\xff" * 40 + data[70:]])
def test_a_damaged_gzip_is_said_and_not_raised(tmp_path: Path, damage: Any) -> None:
    path = tmp_path / "in.jsonl.gz"
    path.write_bytes(damage(gzip.compress(json.dumps({"text": "x" * 50}).encode() * 50)))
    *_, last = read(path)
    assert isinstance(last, Skipped)
    assert "breaks off" in last.reason


def test_a_huge_line_is_read(tmp_path: Path) -> None:
    text = "word " * 2_000_000
    assert one(tmp_path, {"text": text}, max_note_characters=10_000_000).text == text


def test_progress_counts_bytes_of_the_file(tmp_path: Path) -> None:
    path = rows(tmp_path, *({"text": f"{number}" * 50} for number in range(5_000)))
    reading = read_jsonl(path, JsonlOptions(("text",), "s", 1_000, default_time=DEFAULT))
    places = [reading.done for _ in reading]
    assert places == sorted(places)
    assert len(set(places)) > 10
    assert reading.done == reading.total == path.stat().st_size


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"text_fields": ()}, "text_fields"),
        ({"default_time": None}, "time_field"),
        ({"default_time": datetime(2024, 1, 1)}, "default_time"),  # noqa: DTZ001
        ({"window_characters": 0}, "window_characters"),
    ],
)
def test_options_that_cannot_hold_are_refused(tmp_path: Path, change: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read(rows(tmp_path, {"text": "x"}), **change)
    assert refused.value.field == field


def test_a_path_that_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="is not a file"):
        read(tmp_path)
