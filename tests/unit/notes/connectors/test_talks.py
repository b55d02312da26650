"""Conversations in lines of JSON: their names, their turns, and when these were said."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from dreaming.notes.connectors.records import Skipped
from dreaming.notes.connectors.talks import Talk, read_talks

FILE_TIME = datetime(2026, 1, 2, tzinfo=UTC)
SAID = datetime(2019, 5, 5, 10, tzinfo=UTC)


def read(folder: Path, *rows: Any, name: str = "chats.jsonl") -> list[Talk | Skipped]:
    file = folder / name
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    os.utime(file, (FILE_TIME.timestamp(), FILE_TIME.timestamp()))
    return list(read_talks(file))


def said(folder: Path, row: dict[str, Any], name: str = "chats.jsonl") -> list[datetime]:
    [talk] = read(folder, row, name=name)
    assert isinstance(talk, Talk)
    return list(talk.said)


@pytest.mark.parametrize("key", ["said_at", "at", "timestamp", "time", "created_at", "date"])
@pytest.mark.parametrize(
    "written",
    [
        *("2019-05-05T10:00:00Z", "2019-05-05T12:00+02:00", "2019-05-05T10:00", SAID.timestamp()),
        *(SAID.timestamp() * 1000, str(int(SAID.timestamp()))),
    ],
)
def test_a_turn_was_said_when_it_says(tmp_path: Path, key: str, written: object) -> None:
    assert said(tmp_path, {"turns": [{"speaker": "Ana", "text": "The stove is old.", key: written}]}) == [SAID]


def test_a_turn_without_a_time_has_that_of_the_one_before_it(tmp_path: Path) -> None:
    turns = ["Ana: Well.", {"text": "So.", "at": "2019-05-05T10:00Z"}, {"text": "Yes.", "at": None}]
    assert said(tmp_path, {"turns": turns}) == [SAID] * 3
    began = datetime(2019, 5, 4, tzinfo=UTC)
    assert said(tmp_path, {"started_at": "2019-05-04", "messages": turns}) == [began, SAID, SAID]
    assert said(tmp_path, {"created_at": began.timestamp(), "turns": ["Ana: Well.", "Ben: So."]}) == [began] * 2


def test_without_any_time_the_files_counts(tmp_path: Path) -> None:
    row = {"turns": ["Ana: Well."]}
    assert said(tmp_path, row) == [FILE_TIME]
    assert said(tmp_path, row, name="2019-05-05 chats.jsonl") == [datetime(2019, 5, 5, tzinfo=UTC)]


@pytest.mark.parametrize(
    "written", ["yesterday", "10:00", 12.5, "12.5", True, ["2019-05-05"], 10**40, "0001-01-01T00:00+14:00"]
)
def test_a_time_that_cannot_be_read_skips_its_line_alone(tmp_path: Path, written: object) -> None:
    bad = {"turns": ["Ana: Well.", {"text": "So.", "time": written}]}
    whole = {"started_at": written, "turns": ["Ana: Well."]}
    first, second, third = read(tmp_path, bad, whole, {"id": "good", "turns": ["Ana: Well."]})
    assert isinstance(first, Skipped)
    assert isinstance(second, Skipped)
    assert first.location == "chats.jsonl, line 1"
    assert "field 'time' of turn 2 that cannot be read" in first.reason
    assert (second.location, "field 'started_at' that" in second.reason) == ("chats.jsonl, line 2", True)
    assert isinstance(third, Talk)


def test_a_clock_time_beside_a_date_is_left_out(tmp_path: Path) -> None:
    turn = {"text": "So.", "time": "10:00", "date": "2019-05-05"}
    assert said(tmp_path, {"turns": [turn]}) == [datetime(2019, 5, 5, tzinfo=UTC)]


@pytest.mark.parametrize(
    "row", [[1], "text", 5, None, {}, {"turns": {}}, {"turns": []}, {"turns": [{"role": "system"}]}]
)
def test_what_is_no_conversation_is_skipped(tmp_path: Path, row: Any) -> None:
    [skipped] = read(tmp_path, row)
    assert isinstance(skipped, Skipped)
    assert skipped.location == "chats.jsonl, line 1"


def test_subtitles_were_said_after_the_start(tmp_path: Path) -> None:
    file = tmp_path / "2019-05-05 10.00 boat.vtt"
    file.write_text("WEBVTT\n\n00:30.000 --> 00:31.000\n<v Ben>Hm.\n")
    [talk] = read_talks(file)
    assert isinstance(talk, Talk)
    assert talk.said == (SAID.replace(second=30),)
