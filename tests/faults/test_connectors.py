"""Lines and files that break readers elsewhere are skipped by name, and everything around them is read."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from dreaming.notes.connectors.jsonl import JsonlOptions, read_jsonl
from dreaming.notes.connectors.records import Skipped
from dreaming.notes.connectors.transcript import TranscriptOptions, read_transcripts

GOOD = {"id": "good", "text": "The mill opens at dawn", "t": 1_700_000_000}


def read(folder: Path, *rows: dict[str, Any] | str, **options: Any) -> tuple[list[str], list[Skipped]]:
    """The ids of the notes, and what was skipped."""
    file = folder / "notes.jsonl"
    file.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    given = {"text_fields": ("text",), "id_fields": ("id",), "time_field": "t", **options}
    items = list(read_jsonl(file, JsonlOptions(source="test", max_note_characters=10_000, **given)))
    skipped = [item for item in items if isinstance(item, Skipped)]
    return [item.external_id for item in items if not isinstance(item, Skipped)], skipped


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (json.dumps({**GOOD, "id": "bad"}).replace("1700000000", "1" + "0" * 400), "time"),
        (json.dumps({**GOOD, "id": "bad"})[:-1] + ', "m": ' + "[" * 500 + "]" * 500 + "}", "nested"),
        ({"id": "bad", "txet": "The mill opens", "t": 1}, "no field 'text'"),
        ({"id": "good", "text": "Quite another text", "t": 1}, "has the id of line 1"),
    ],
    ids=["time beyond floats", "metadata nested deeply", "text field missing", "id comes again"],
)
def test_a_bad_line_between_good_ones_is_skipped_by_its_number(tmp_path: Path, row: Any, reason: str) -> None:
    ids, skipped = read(tmp_path, GOOD, row, {**GOOD, "id": "last"}, metadata_fields=("m",))
    assert ids == ["good", "last"]
    [skip] = skipped
    assert skip.location == "line 2"
    assert reason in skip.reason


def test_the_same_line_twice_is_no_fault(tmp_path: Path) -> None:
    assert read(tmp_path, GOOD, GOOD) == (["good", "good"], [])


def test_joined_ids_never_collide(tmp_path: Path) -> None:
    rows = [{**GOOD, "a": "x:y", "b": "z"}, {**GOOD, "a": "x", "b": "y:z"}]
    ids, skipped = read(tmp_path, *rows, id_fields=("a", "b"))
    assert len(set(ids)) == 2
    assert skipped == []


def test_a_transcript_beyond_the_calendar_is_skipped(tmp_path: Path) -> None:
    file = tmp_path / "t.vtt"
    file.write_text("WEBVTT\n\n00:00:05.000 --> 00:00:06.000\n<v Ines>The mill opens at dawn\n")
    options = TranscriptOptions(max_note_characters=10_000, date=datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC))
    [skipped] = list(read_transcripts(file, options))
    assert isinstance(skipped, Skipped)
    assert "9999" in skipped.reason
