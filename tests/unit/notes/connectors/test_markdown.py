"""A folder of Markdown becomes notes: one for each file, told by its front matter, its name or git."""

from __future__ import annotations

import os
import shutil
import subprocess
import unicodedata
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from dreaming.errors import InvalidInput
from dreaming.notes.connectors.front_matter import split_front_matter
from dreaming.notes.connectors.markdown import MarkdownOptions, first_heading, read_markdown
from dreaming.notes.connectors.records import Skipped
from dreaming.notes.records import IncomingNote, Trust

MODIFIED = datetime(2023, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "the vault"
    made.mkdir()
    return made


def write(folder: Path, name: str, text: str | bytes) -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    os.utime(file, (MODIFIED.timestamp(), MODIFIED.timestamp()))
    return file


def read(folder: Path, **options: Any) -> tuple[dict[str, IncomingNote], dict[str, str]]:
    """The notes by their ids, and the reasons by the places that were skipped."""
    items = list(read_markdown(folder, MarkdownOptions(**{"max_note_characters": 1_000, **options})))
    notes = {item.external_id: item for item in items if isinstance(item, IncomingNote)}
    return notes, {item.location: item.reason for item in items if isinstance(item, Skipped)}


def test_front_matter_says_who_when_and_about_what(folder: Path) -> None:
    matter = (
        "---\ntitle: 'Rent: the rules'\ndate: 2024-03-05 10:00\nauthor: Ana Lim\ntags: [home, '#rent']\nno: no\n---\n"
    )
    write(folder, "house/rent.md", f"{matter}See [the plan](../plan.md) and [[Plan|ours]].\n")
    notes, skipped = read(folder, timezone=timezone(timedelta(hours=1)), trust=Trust.UNTRUSTED)
    note = notes["house/rent.md"]
    assert note.text == "# Rent: the rules\n\nSee [the plan](../plan.md) and [[Plan|ours]].\n"
    assert note.occurred_at.isoformat() == "2024-03-05T10:00:00+01:00"
    assert (note.author, note.participants, note.trust) == ("Ana Lim", ("Ana Lim",), Trust.UNTRUSTED)
    assert note.metadata == {"title": "Rent: the rules", "tags": ["home", "rent"]}
    assert (note.source, note.origin) == ("markdown:the vault", "markdown:the vault:house/rent.md")
    assert skipped == {}


def test_without_front_matter_headings_and_names_say_it(folder: Path) -> None:
    write(folder, "2024-03-05 standup.md", "```\n# no heading\n```\n\nStandup\n=======\nWe ship.\n")
    write(folder, "plan.markdown", "We ship.\n")
    write(folder, "2024-03-06.md", "We ship.\n")
    notes, _ = read(folder, source="vault")
    assert notes["2024-03-05 standup.md"].occurred_at == datetime(2024, 3, 5, tzinfo=UTC)
    assert notes["2024-03-05 standup.md"].metadata == {"title": "Standup"}
    assert notes["2024-03-05 standup.md"].text.startswith("```\n")
    assert (notes["plan.markdown"].text, notes["plan.markdown"].occurred_at) == ("# plan\n\nWe ship.\n", MODIFIED)
    assert notes["2024-03-06.md"].text == "We ship.\n"


def test_files_and_folders_that_are_hidden_or_generated_are_left_out(folder: Path) -> None:
    for name in (".git/a.md", ".obsidian/a.md", "node_modules/a.md", "x/__pycache__/a.md", ".hidden.md", "kept/a.md"):
        write(folder, name, "a")
    assert read(folder) == (read(folder)[0], {})
    assert list(read(folder)[0]) == ["kept/a.md"]


def test_links_are_not_followed_in_circles_or_elsewhere(folder: Path, tmp_path: Path) -> None:
    write(folder, "a/one.md", "one")
    write(tmp_path, "elsewhere/two.md", "two")
    (folder / "a" / "circle").symlink_to(folder)
    (folder / "outside").symlink_to(tmp_path / "elsewhere")
    (folder / "two.md").symlink_to(tmp_path / "elsewhere" / "two.md")
    notes, skipped = read(folder)
    assert list(notes) == ["a/one.md"]
    assert set(skipped) == {"a/circle", "outside", "two.md"}


def test_what_is_no_text_is_skipped_with_a_reason_and_other_encodings_are_read(folder: Path) -> None:
    write(folder, "picture.png", bytes(range(256)))
    write(folder, "binary.md", bytes(range(256)))
    write(folder, "wide.md", "Zoë ships.".encode("utf-16"))
    write(folder, "old.md", "Zoë ships.".encode("cp1252"))
    write(folder, "long.md", "x" * 1_001)
    write(folder, "longer.md", "x" * 5_000)
    write(folder, "empty.md", "")
    os.mkfifo(folder / "pipe.md")
    notes, skipped = read(folder)
    assert {name: note.text for name, note in notes.items()} == {
        "empty.md": "",
        "old.md": "# old\n\nZoë ships.",
        "wide.md": "# wide\n\nZoë ships.",
    }
    assert set(skipped) == {"picture.png", "binary.md", "long.md", "longer.md", "pipe.md"}
    assert "1,0" in skipped["long.md"]


def test_names_that_are_no_utf_8_or_one_but_for_their_form_are_skipped(folder: Path) -> None:
    write(folder, unicodedata.normalize("NFC", "é.md"), "composed")
    write(folder, unicodedata.normalize("NFD", "é.md"), "decomposed")
    (Path(os.fsdecode(os.fsencode(folder) + b"/\xff.md"))).write_text("bytes")
    notes, skipped = read(folder)
    assert list(notes) == ["\u00e9.md"]
    assert len(skipped) == 2


def test_front_matter_that_cannot_be_read_is_named_and_the_note_goes_in(folder: Path) -> None:
    write(folder, "2024-03-05.md", "---\ntitle: a: b: c\ndate: {{date}}\n---\nWe ship.\n")
    write(folder, "soon.md", "---\ndate: soon\n---\nWe ship.\n")
    notes, skipped = read(folder)
    assert notes["2024-03-05.md"].text == "We ship.\n"
    assert notes["soon.md"].occurred_at == MODIFIED
    assert "line 2" in skipped["2024-03-05.md, front matter"]
    assert "'date'" in skipped["soon.md, front matter"]


@pytest.mark.parametrize(
    "text", ["---\nA line between rules.\n---\nText", "--- \nno end", "text\n---\na: b\n---\n", "---\n- a\n- b\n---\nx"]
)
def test_lines_between_rules_are_no_front_matter(text: str) -> None:
    known, body = split_front_matter(text, UTC)
    assert (known.title, known.problems, body) == (None, (), text)


@pytest.mark.parametrize(
    ("written", "authors", "tags"),
    [
        ("authors:\n- name: Ana\n- Bo\ntags: a, b c", ("Ana", "Bo"), ("a", "b", "c")),
        ("author: {name: Ana}\ntags:", ("Ana",), ()),
        ("author: Ana and Bo; Cy", ("Ana", "Bo", "Cy"), ()),
        ("author: [[Ana]]\nkeywords: [1, [2], {}]", (), ("1",)),
    ],
)
def test_authors_and_tags_are_written_in_several_ways(
    written: str, authors: tuple[str, ...], tags: tuple[str, ...]
) -> None:
    known, body = split_front_matter(f"---\n{written}\n---\nx", UTC)
    assert (known.authors, known.tags, body) == (authors, tags, "x")


def test_the_last_change_counts_before_the_creation() -> None:
    known, _ = split_front_matter("---\r\ndate: 2020-01-01\r\nlastmod: 2024-03-05T10:00:00+02:00\r\n---\r\nx", UTC)
    assert known.written_at == datetime(2024, 3, 5, 8, tzinfo=UTC)


@pytest.mark.parametrize(
    "written", ["a: " + "[" * 5_000, "a: &a [*a]\nb: !!python/object/apply:os.system [ls]", "x: " * 50_000]
)
def test_hostile_front_matter_does_no_harm(written: str) -> None:
    known, body = split_front_matter(f"---\n{written}\n---\nx", UTC)
    assert body == "x"
    assert known.title is None


@pytest.mark.parametrize(
    ("text", "heading"),
    [("# One #\n", "One"), ("a\n\n## Two", "Two"), ("#tag\n", None), ("~~~\n# x\n~~~\n", None), ("- a\n===", None)],
)
def test_the_first_heading(text: str, heading: str | None) -> None:
    assert first_heading(text) == heading


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_git_says_when_a_file_was_changed_that_stands_as_committed(folder: Path) -> None:
    write(folder, "docs/a.md", "a")
    write(folder, "docs/é.md", "e")
    date = {"GIT_AUTHOR_DATE": "2022-05-06T07:08:09+02:00", "GIT_COMMITTER_DATE": "2024-01-01T00:00:00Z"}
    name = ["-c", "user.name=Ana", "-c", "user.email=ana@example.test"]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")} | date
    for call in (["init", "-q"], ["add", "."], [*name, "commit", "-qm", "one"]):
        subprocess.run(["git", "-C", folder, *call], check=True, env=environment)
    write(folder, "docs/a.md", "changed since")
    notes, _ = read(folder / "docs")
    assert notes["\u00e9.md"].occurred_at.isoformat() == "2022-05-06T07:08:09+02:00"
    assert notes["a.md"].occurred_at == MODIFIED


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="not a folder"):
        read_markdown(tmp_path / "none", MarkdownOptions(max_note_characters=1))
