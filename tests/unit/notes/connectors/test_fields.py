"""Fields that were named and that no line of a file has are refused; one that some lines have is not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dreaming.errors import InvalidInput
from dreaming.notes.connectors.fields import check_fields
from dreaming.notes.connectors.jsonl import JsonlOptions, read_jsonl
from dreaming.notes.connectors.mbox import MboxOptions, read_mbox


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "in.jsonl"
    rows = [{"id": 1, "text": "a", "who": {"name": None}}, {"id": 2, "a.b": "c", "late": "x"}]
    made.write_text("\n".join(["{broken", "[1]", *map(json.dumps, rows)]))
    return made


def test_a_field_in_no_line_is_refused_with_those_that_there_are(file: Path) -> None:
    with pytest.raises(InvalidInput) as caught:
        check_fields(file, {"--text-field": ["text"], "--id-field": ["id", "nope"]})
    expected = "--id-field: no line has the field 'nope'; the fields are id, text, who, a.b, late"
    assert str(caught.value) == expected


@pytest.mark.parametrize("field", ["who.other", "id.name", "late.x"])
def test_a_path_into_what_is_not_there_is_refused(file: Path, field: str) -> None:
    with pytest.raises(InvalidInput, match="no line has"):
        check_fields(file, {"--author-field": [field]})


def test_a_field_of_some_lines_even_without_a_value_is_there(file: Path) -> None:
    named = {"--text-field": ["text", "late"], "--author-field": ["who.name"], "--role-field": ["a.b"]}
    check_fields(file, named)
    *others, _ = file.read_text().splitlines()
    file.write_text("\n".join(others))
    with pytest.raises(InvalidInput, match="'late'"):
        check_fields(file, named)


def test_a_file_without_any_object_is_left_to_the_reading(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_bytes(b"\x00\xff\n[1]\n")
    check_fields(path, {"--id-field": ["id"]})
    path.write_bytes(b'\x00\xff\n[1]\n{"one": 1}\n')
    with pytest.raises(InvalidInput, match="the fields are one"):
        check_fields(path, {"--id-field": ["id"]})


def test_of_many_fields_some_are_told(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text(json.dumps({f"{number}" * 50: 1 for number in range(1000, 1100)}))
    with pytest.raises(InvalidInput, match="and 70 more") as caught:
        check_fields(tmp_path / "in.jsonl", {"--id-field": ["id"]})
    assert len(str(caught.value)) < 2000


def test_a_gz_that_is_no_gzip_is_refused_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "in.gz"
    path.write_text('{"text": "a"}')
    problem = "in.gz' is called .gz and is no gzip file"
    with pytest.raises(InvalidInput, match=problem):
        read_jsonl(path, JsonlOptions(("text",), "s", 1000, time_field="at"))
    with pytest.raises(InvalidInput, match=problem):
        read_mbox(path, MboxOptions(max_note_characters=1000))
