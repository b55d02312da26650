"""`dream erase` and `dream export` on a database of their own."""

from __future__ import annotations

import errno
import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from dreaming.erasure.export.service import Export
from tests.database.local.conftest import Dream

NOTE = {"id": "n1", "text": "The zanzibar depot opens in May.", "at": "2026-03-01T09:00:00Z", "author": "Ines"}


@pytest.fixture
def told(dream: Dream) -> Dream:
    dream.switch_on()
    dream.notes(NOTE)
    dream("drain", "consolidation")
    return dream


def exported(dream: Dream, *arguments: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in dream("export", *arguments).stdout.splitlines()]


def note_id(dream: Dream) -> str:
    (row,) = [one["row"] for one in exported(dream, "--slice") if one["record"] == "notes"]
    return str(row["note_id"])  # type: ignore[index]


def test_a_note_is_erased_kept_out_and_let_in_again(told: Dream) -> None:
    found = note_id(told)
    assert told("erase", "note", found, code=2).stdout == ""  # nobody said yes
    erased = told.json("erase", "note", found, "--yes")
    assert (erased["deleted"]["notes"], erased["tombstones"], erased["complete"]) == (1, 1, True)
    assert "nothing of it was here" in told("erase", "note", found, "--yes").stdout
    told.notes(NOTE)
    assert "zanzibar" not in told("export", "--slice").stdout
    assert told.json("erase", "lift", "n1", "--source", "test") == {"lifted": 1}
    told.notes(NOTE)
    assert "zanzibar" in told("export", "--slice").stdout


def test_an_id_that_is_none_is_refused(told: Dream) -> None:
    assert "is no whole id" in told("erase", "note", "4f1c09ab", "--yes", code=2).stderr
    assert "--user" in told("erase", "owner", "--yes", code=2).stderr
    assert "--user" in told("export", code=2).stderr


def test_an_owner_and_an_organization_go_whole(told: Dream) -> None:
    told("--scope", "private", "--user", "mia", "ingest", "jsonl", str(told.home.parent / "notes.jsonl"), *_FIELDS)
    assert "zanzibar" in told("export", "--user", "mia").stdout
    shown = told("erase", "owner", "--user", "mia", "--yes").stdout
    assert "notes" in shown
    assert "1 kept from coming back" in shown
    assert [one["record"] for one in exported(told, "--user", "mia")] == ["export", "end"]
    assert told.json("erase", "organization", "--yes")["complete"]
    told.notes(NOTE)
    assert [one["record"] for one in exported(told, "--slice")] == ["export", "end"]
    assert told.json("erase", "lift-organization") == {"lifted": 1}
    assert "nothing of that name" in told("erase", "lift-organization").stdout


_FIELDS = ("--id-field", "id", "--time-field", "at", "--author-field", "author", "--source", "test")


def test_an_export_goes_to_a_new_file_of_ones_own(told: Dream, tmp_path: Path) -> None:
    file = tmp_path / "all.jsonl"
    told("export", "--slice", "--output", str(file))
    assert file.stat().st_mode & 0o777 == 0o600
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert lines[-1]["counts"]["notes"] == 1
    assert "choose another name, or remove it" in told("export", "--slice", "--output", str(file), code=2).stderr
    document = told.json("export", "--slice")
    assert [one["record"] for one in document["records"]] == [one["record"] for one in lines]


def test_an_export_that_fails_leaves_no_file(told: Dream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "exports"
    folder.mkdir()

    def break_off(self: Export, *, now: datetime) -> Iterator[str]:
        yield "{}"
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Export, "lines", break_off)
        said = told("export", "--slice", "--output", str(folder / "all.jsonl"), code=4).stderr
    assert f"disk full at {folder / 'all.jsonl'}:" in said
    assert list(folder.iterdir()) == []
    said = told("export", "--slice", "--output", str(folder / "nowhere" / "all.jsonl"), code=2).stderr
    assert f"{folder / 'nowhere' / 'all.jsonl'}: No such file" in said
