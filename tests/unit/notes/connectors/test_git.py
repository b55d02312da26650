"""Commits of real repositories become notes."""

from __future__ import annotations

import os
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from dreaming.errors import InvalidInput
from dreaming.notes.connectors.git import read_git
from dreaming.notes.connectors.records import Skipped
from dreaming.notes.records import IncomingNote

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "the project"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main")
    return folder


def git(folder: Path, *arguments: str, date: str = "2024-03-01T10:00:00+02:00", stdin: bytes | None = None) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    dates = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date, "GIT_CONFIG_GLOBAL": os.devnull}
    names = {"GIT_AUTHOR_NAME": "Zoë Quill", "GIT_AUTHOR_EMAIL": "z@example.test"}
    names |= {"GIT_COMMITTER_NAME": "C", "GIT_COMMITTER_EMAIL": "c@example.test"}
    call = ["git", "-C", str(folder), *arguments]
    return (
        subprocess.run(call, env=environment | dates | names, input=stdin, capture_output=True, check=True)
        .stdout.decode()
        .strip()
    )


def commit(folder: Path, message: str | bytes, **options: str) -> str:
    data = message if isinstance(message, bytes) else message.encode()
    git(
        folder,
        "commit",
        "--quiet",
        "--allow-empty",
        "--allow-empty-message",
        "--cleanup=verbatim",
        "-F",
        "-",
        stdin=data,
        **options,
    )
    return git(folder, "rev-parse", "HEAD")


def notes(folder: Path, **options: object) -> list[IncomingNote]:
    items = list(read_git(folder, max_note_characters=1_000, **options))  # type: ignore[arg-type]
    assert all(isinstance(item, IncomingNote) for item in items)
    return [item for item in items if isinstance(item, IncomingNote)]


def test_a_commit_is_a_note_with_its_own_author_time_and_text(repository: Path) -> None:
    sha = commit(repository, "Use Postgres\n\nSQLite locked up.\n\n- twice\n")
    (note,) = notes(repository)
    assert (note.external_id, note.source, note.author) == (sha, "git:the project", "Zoë Quill")
    assert note.text == "Use Postgres\n\nSQLite locked up.\n\n- twice"
    assert note.occurred_at.isoformat() == "2024-03-01T10:00:00+02:00"
    assert note.origin is None


def test_commits_come_oldest_first_with_progress_and_the_same_again(repository: Path) -> None:
    shas = [commit(repository, f"commit {number}", date=f"2024-03-0{number}T00:00:00Z") for number in range(1, 6)]
    reading = read_git(repository, max_note_characters=1_000, name="p")
    assert (reading.total, reading.done, reading.unit) == (5, 0, "commits")
    first = list(reading)
    assert reading.done == 5
    assert [note.external_id for note in first if isinstance(note, IncomingNote)] == shas
    assert list(read_git(repository, max_note_characters=1_000, name="p")) == first


def test_merges_and_old_commits_are_left_out_on_demand(repository: Path) -> None:
    commit(repository, "base", date="2024-01-01T00:00:00Z")
    git(repository, "checkout", "--quiet", "-b", "side")
    commit(repository, "on the side", date="2024-02-01T00:00:00Z")
    git(repository, "checkout", "--quiet", "main")
    commit(repository, "on main", date="2024-02-02T00:00:00Z")
    git(repository, "merge", "--quiet", "--no-ff", "-m", "the merge", "side", date="2024-02-03T00:00:00Z")
    assert {note.text for note in notes(repository)} == {"base", "on the side", "on main"}
    assert "the merge" in {note.text for note in notes(repository, merges=True)}
    assert {note.text for note in notes(repository, since=datetime(2024, 2, 2, tzinfo=UTC))} == {"on main"}


def test_messages_in_any_encoding_are_read(repository: Path) -> None:
    git(repository, "config", "i18n.commitEncoding", "ISO-8859-1")
    commit(repository, "Caf\u00e9 declared".encode("latin-1"))
    git(repository, "config", "--unset", "i18n.commitEncoding")
    commit(repository, "Caf\u00e9 undeclared".encode("latin-1"))
    commit(repository, "\u5496\u5561 \U0001f600")
    assert [note.text for note in notes(repository)] == [
        "Caf\u00e9 declared",
        "Caf\u00e9 undeclared",
        "\u5496\u5561 \U0001f600",
    ]


def test_a_commit_that_is_too_long_is_skipped_and_one_without_a_message_is_a_note(repository: Path) -> None:
    commit(repository, "")
    sha = commit(repository, "x" * 1_001)
    empty, skipped = read_git(repository, max_note_characters=1_000)
    assert isinstance(empty, IncomingNote)
    assert empty.text == ""
    assert isinstance(skipped, Skipped)
    assert skipped.location == sha
    assert "1,001 characters" in skipped.reason


def test_another_repository_in_the_environment_is_not_read(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(repository, "the one meant")
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "--quiet")
    commit(other, "the other one")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    assert [note.text for note in notes(repository)] == ["the one meant"]


def test_a_reader_may_stop_early(repository: Path) -> None:
    shas = [commit(repository, f"commit {number}") for number in range(3)]
    items = iter(read_git(repository, max_note_characters=1_000))
    first = next(items)
    assert isinstance(first, IncomingNote)
    assert first.external_id == shas[0]
    del items


def test_a_bare_repository_is_named_by_its_folder(repository: Path, tmp_path: Path) -> None:
    commit(repository, "one")
    git(tmp_path, "clone", "--quiet", "--bare", str(repository), "shop.git")
    assert [note.source for note in notes(tmp_path / "shop.git")] == ["git:shop"]


def test_what_is_no_repository_with_commits_is_refused(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InvalidInput, match="has no commit"):
        read_git(repository, max_note_characters=1_000)
    with pytest.raises(InvalidInput, match="is not a folder"):
        read_git(tmp_path / "missing", max_note_characters=1_000)
    plain = tmp_path / "plain"
    plain.mkdir()
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    with pytest.raises(InvalidInput, match="is not a git repository"):
        read_git(plain, max_note_characters=1_000)
    monkeypatch.setenv("PATH", str(plain))
    with pytest.raises(InvalidInput, match="git is not installed"):
        read_git(repository, max_note_characters=1_000)


def test_a_history_that_breaks_off_is_said(repository: Path) -> None:
    first = commit(repository, "lost")
    commit(repository, "kept")
    reading = read_git(repository, max_note_characters=1_000)
    (repository / ".git" / "objects" / first[:2] / first[2:]).unlink()
    *_, last = reading
    assert isinstance(last, Skipped)
    assert "git log stopped early" in last.reason
