"""What a connector remembers: the next reading yields what is new, and never less than that."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreaming.notes.connectors.git import read_git
from dreaming.notes.connectors.jsonl import JsonlOptions, read_jsonl
from dreaming.notes.connectors.markdown import MarkdownOptions, read_markdown
from dreaming.notes.connectors.marks import Feed, Mark, Marks
from dreaming.notes.connectors.mbox import MboxOptions, read_mbox
from dreaming.notes.connectors.records import Reading
from dreaming.notes.connectors.transcript import TranscriptOptions, read_transcripts
from dreaming.notes.records import IncomingNote, Trust
from tests.unit.notes.connectors.test_git import commit, git
from tests.unit.notes.connectors.test_mbox import SEPARATOR, mail


@dataclass
class Memory:
    """Keeps marks between readings, as the database does."""

    kept: dict[Feed, dict[str, Mark]] = field(default_factory=dict)

    def open(self, feed: Feed, options: str) -> Marks:
        return Marks(feed, options, self.kept.get(feed, {}))

    def read(self, reading: Reading, most: int | None = None) -> list[str]:
        """The ids of the notes; after `most` of them the reading is broken off, its marks kept till there."""
        found = []
        for item in reading:
            if isinstance(item, IncomingNote):
                found.append(item.external_id)
                if len(found) == most:
                    break
        assert reading.marks is not None
        taken = json.loads(json.dumps(reading.marks.take()))
        self.kept.setdefault(reading.marks.feed, {}).update(taken)
        return found


def jsonl(path: Path, memory: Memory, **options: Any) -> Reading:
    values = {
        "text_fields": ("text",),
        "source": "s",
        "max_note_characters": 100,
        "id_fields": ("id",),
        "time_field": "at",
    }
    return read_jsonl(path, JsonlOptions(**{**values, **options}), memory.open)


def row(number: int) -> bytes:
    return json.dumps({"id": f"n{number}", "text": "x", "at": "2024-03-05"}).encode() + b"\n"


Write = Callable[[Path, bytes], object]
WRITERS: list[Write] = [
    lambda path, data: path.write_bytes(data),
    lambda path, data: path.write_bytes(gzip.compress(data)),
    lambda path, data: path.write_bytes(b"".join(gzip.compress(line) for line in data.splitlines(keepends=True))),
]


@pytest.mark.parametrize("write", WRITERS, ids=["plain", "gzip", "gzip of many members"])
def test_of_json_lines_only_those_appended_are_read(tmp_path: Path, write: Write) -> None:
    memory, path = Memory(), tmp_path / "in.jsonl"
    write(path, row(1) + b"{broken\n" + row(2))
    assert memory.read(jsonl(path, memory)) == ["n1", "n2"]
    assert memory.read(jsonl(path, memory)) == []
    write(path, row(1) + b"{broken\n" + row(2) + b"\n" + row(3))
    assert memory.read(jsonl(path, memory)) == ["n3"]


def test_a_line_that_is_still_being_written_is_read_again(tmp_path: Path) -> None:
    memory, path = Memory(), tmp_path / "in.jsonl"
    for size in range(len(row(1) + row(2)) + 1):
        path.write_bytes((row(1) + row(2))[:size])
        memory.read(jsonl(path, memory))
    path.write_bytes(row(1) + row(2).rstrip())
    memory = Memory()
    assert memory.read(jsonl(path, memory)) == ["n1", "n2"]
    assert memory.read(jsonl(path, memory)) == ["n2"]


@pytest.mark.parametrize("changed", [row(9) + row(2) + row(3), row(1), b"", row(3) + row(1) + row(2)])
def test_a_file_that_begins_otherwise_is_read_from_the_start(tmp_path: Path, changed: bytes) -> None:
    memory, path = Memory(), tmp_path / "in.jsonl"
    path.write_bytes(row(1) + row(2))
    memory.read(jsonl(path, memory))
    path.write_bytes(changed)
    assert memory.read(jsonl(path, memory)) == [json.loads(line)["id"] for line in changed.splitlines()]


def test_other_options_read_from_the_start(tmp_path: Path) -> None:
    memory, path = Memory(), tmp_path / "in.jsonl"
    path.write_bytes(row(1))
    memory.read(jsonl(path, memory))
    for options in ({"trust": Trust.UNTRUSTED}, {"max_note_characters": 200}, {"source": "other"}):
        assert memory.read(jsonl(path, memory, **options)) == ["n1"]


def test_numbers_of_skipped_lines_go_on(tmp_path: Path) -> None:
    memory, path = Memory(), tmp_path / "in.jsonl"
    path.write_bytes(row(1) + b"\n" + row(2))
    memory.read(jsonl(path, memory))
    path.write_bytes(row(1) + b"\n" + row(2) + b"{broken\n")
    assert [getattr(item, "location", None) for item in jsonl(path, memory)] == ["line 4"]


@given(st.lists(st.integers(1, 6), max_size=8), st.lists(st.integers(1, 3), max_size=8))
def test_readings_that_break_off_anywhere_lose_nothing(
    tmp_path_factory: pytest.TempPathFactory, growth: list[int], breaks: list[int]
) -> None:
    memory, path = Memory(), tmp_path_factory.mktemp("feed") / "in.jsonl"
    path.touch()
    found: set[str] = set()
    written = 0
    for grown, most in zip(growth, [*breaks, *[None] * len(growth)], strict=False):
        with path.open("ab") as file:
            file.writelines(row(written + number) for number in range(grown))
        written += grown
        found.update(memory.read(jsonl(path, memory), most))
    found.update(memory.read(jsonl(path, memory)))
    assert found == {f"n{number}" for number in range(written)}


def mbox(path: Path, memory: Memory) -> Reading:
    return read_mbox(path, MboxOptions(max_note_characters=1_000), memory.open)


@pytest.mark.parametrize("write", WRITERS, ids=["plain", "gzip", "gzip of many members"])
def test_of_a_mailbox_the_last_message_is_read_again_with_those_appended(tmp_path: Path, write: Write) -> None:
    memory, path = Memory(), tmp_path / "in"
    mails = [SEPARATOR + mail(number) + b"\n" for number in range(4)]
    write(path, b"".join(mails[:2]))
    assert memory.read(mbox(path, memory)) == ["m0@example.com", "m1@example.com"]
    assert memory.read(mbox(path, memory)) == ["m1@example.com"]
    write(path, b"".join(mails))
    assert memory.read(mbox(path, memory)) == [f"m{number}@example.com" for number in (1, 2, 3)]
    write(path, b"".join(mails[1:]))
    assert memory.read(mbox(path, memory)) == [f"m{number}@example.com" for number in (1, 2, 3)]


def test_threads_and_repeated_ids_are_known_from_messages_read_before(tmp_path: Path) -> None:
    memory, path = Memory(), tmp_path / "in"
    answers = [mail(1, In_Reply_To="<m0@example.com>"), mail(2, In_Reply_To="<m1@example.com>"), mail(0, "Pay Eve.")]
    path.write_bytes(b"".join(SEPARATOR + one + b"\n" for one in [mail(0), answers[0]]))
    memory.read(mbox(path, memory))
    path.write_bytes(b"".join(SEPARATOR + one + b"\n" for one in [mail(0), *answers]))
    whole = [item.origin for item in mbox(path, Memory()) if isinstance(item, IncomingNote)]
    later = [item.origin for item in mbox(path, memory) if isinstance(item, IncomingNote)]
    assert whole == ["mail:m0@example.com"] * 3
    assert later == whole[1:]


def transcripts(path: Path, memory: Memory) -> Reading:
    return read_transcripts(path, TranscriptOptions(max_note_characters=1_000), memory.open)


def markdown(path: Path, memory: Memory) -> Reading:
    return read_markdown(path, MarkdownOptions(max_note_characters=1_000), memory.open)


def write(file: Path, text: str, seconds: int) -> None:
    file.write_text(text)
    os.utime(file, (seconds, seconds))


@pytest.mark.parametrize(("read", "suffix"), [(transcripts, "#0"), (markdown, "")])
def test_of_a_folder_only_files_with_other_content_are_read(
    tmp_path: Path, read: Callable[[Path, Memory], Reading], suffix: str
) -> None:
    memory = Memory()
    kind = "txt" if suffix else "md"
    one, two = tmp_path / f"1.{kind}", tmp_path / f"2.{kind}"
    ids = [f"1.{kind}{suffix}", f"2.{kind}{suffix}"]
    write(one, "Ana: one", 1_700_000_000)
    write(two, "Ana: two", 1_700_000_000)
    assert memory.read(read(tmp_path, memory)) == ids
    assert memory.read(read(tmp_path, memory)) == []
    write(one, "Ana: one", 1_700_000_001)
    write(two, "Ana: 222", 1_700_000_001)
    assert memory.read(read(tmp_path, memory)) == ids[1:]
    two.write_text("Ana: 333")  # just now, so the size and the time alone prove nothing
    assert memory.read(read(tmp_path, memory)) == ids[1:]
    status = two.stat()
    two.write_text("Ana: 444")
    os.utime(two, ns=(status.st_mtime_ns, status.st_mtime_ns))
    assert memory.read(read(tmp_path, memory)) == ids[1:]


def test_files_that_could_not_be_read_are_tried_again(tmp_path: Path) -> None:
    memory, file = Memory(), tmp_path / "1.md"
    file.write_bytes(bytes(range(256)))
    assert memory.read(markdown(tmp_path, memory)) == []
    write(file, "ok", 1_700_000_000)
    assert memory.read(markdown(tmp_path, memory)) == ["1.md"]
    write(file, "---\ndate: soon\n---\nok", 1_700_000_002)
    for _ in range(2):
        assert memory.read(markdown(tmp_path, memory)) == ["1.md"]


def test_files_that_are_gone_are_named_until_they_are_forgotten(tmp_path: Path) -> None:
    memory, folder = Memory(), tmp_path / "vault"
    (folder / "a").mkdir(parents=True)
    write(folder / "a" / "1.md", "---\ndate: soon\n---\none", 1_700_000_000)
    write(folder / "a" / "2.md", "two", 1_700_000_000)
    reading = markdown(folder, memory)
    memory.read(reading)
    assert reading.missing == ()
    (folder / "a" / "1.md").unlink()
    (folder / "a" / "2.md").rename(folder / "a" / "3.md")
    for _ in range(2):
        reading = markdown(folder, memory)
        memory.read(reading)
        assert reading.missing == ("a/1.md", "a/2.md")


with_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main")
    return folder


def history(folder: Path, memory: Memory, **options: Any) -> list[str]:
    return memory.read(read_git(folder, max_note_characters=1_000, open_marks=memory.open, **options))


@with_git
def test_of_a_history_only_new_commits_are_read_whatever_the_branch(repository: Path) -> None:
    memory = Memory()
    first = [commit(repository, text) for text in ("one", "two")]
    assert history(repository, memory) == first
    assert history(repository, memory) == []
    git(repository, "switch", "--quiet", "--create", "topic")
    topic = commit(repository, "three")
    assert history(repository, memory) == [topic]
    git(repository, "switch", "--quiet", "main")
    assert history(repository, memory) == []
    git(repository, "switch", "--quiet", "--detach", "topic")
    assert history(repository, memory) == []
    assert history(repository, memory, merges=True) == [*first, topic]


@with_git
def test_a_rewritten_history_is_read_from_where_it_parts(repository: Path) -> None:
    memory = Memory()
    one, _ = commit(repository, "one"), commit(repository, "two")
    history(repository, memory)
    git(repository, "reset", "--quiet", "--soft", one)
    rewritten = commit(repository, "two, better")
    assert history(repository, memory) == [rewritten]


@with_git
def test_a_history_whose_old_commits_are_gone_is_read_whole(repository: Path, tmp_path: Path) -> None:
    memory = Memory()
    commit(repository, "one")
    history(repository, memory)
    shutil.rmtree(repository / ".git")
    git(repository, "init", "--quiet", "--initial-branch=main")
    other = [commit(repository, text) for text in ("uno", "due")]
    assert history(repository, memory) == other


@with_git
def test_a_history_that_is_made_deeper_is_read_whole(repository: Path, tmp_path: Path) -> None:
    memory = Memory()
    commits = [commit(repository, text) for text in ("one", "two", "three")]
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{repository}", str(clone))
    assert history(clone, memory) == commits[2:]
    git(clone, "fetch", "--quiet", "--unshallow")
    assert history(clone, memory) == commits
    assert history(clone, memory) == []


@with_git
def test_a_history_whose_reading_broke_off_is_read_again(repository: Path) -> None:
    memory = Memory()
    commits = [commit(repository, text) for text in ("one", "two")]
    reading = read_git(repository, max_note_characters=1_000, open_marks=memory.open)
    assert memory.read(reading, 1) == commits[:1]
    assert history(repository, memory) == commits
