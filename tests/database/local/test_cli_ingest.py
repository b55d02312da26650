"""`dream ingest`: what is read, what is skipped with its place and reason, and what is refused."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.database.local.conftest import Dream

FIELDS = ("--id-field", "id", "--time-field", "at")


def row(number: int, **changes: Any) -> str:
    return json.dumps({"id": f"n{number}", "text": f"Note {number}.", "at": "2026-03-05", **changes})


def commit(repository: Path, message: str) -> None:
    name = ["-c", "user.name=Ana", "-c", "user.email=ana@example.test"]
    subprocess.run(["git", "-C", repository, *name, "commit", "-q", "--allow-empty", "-m", message], check=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    made = tmp_path / "a shop"
    subprocess.run(["git", "init", "-q", made], check=True)
    commit(made, "Require Python 3.11")
    commit(made, "Move the store to PostgreSQL")
    return made


def test_a_history_comes_in_once(dream: Dream, repository: Path) -> None:
    first = dream.json("ingest", "git", str(repository))
    assert first["counts"] == {"created": 2, "edited": 0, "reinstated": 0, "unchanged": 0, "erased": 0, "skipped": 0}
    commit(repository, "Add a button")
    second = dream.json("ingest", "git", str(repository))
    assert (second["counts"]["created"], second["counts"]["unchanged"]) == (1, 2)


def test_a_history_without_commits_or_no_repository_is_refused(dream: Dream, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", tmp_path / "empty"], check=True)
    assert "no commit" in dream("ingest", "git", str(tmp_path / "empty"), code=2).stderr
    assert "not a folder" in dream("ingest", "git", str(tmp_path / "nowhere"), code=2).stderr
    assert "--since" in dream("ingest", "git", str(tmp_path / "empty"), "--since", "soon", code=2).stderr


def test_broken_lines_are_named_and_the_rest_goes_in(dream: Dream, tmp_path: Path) -> None:
    file = tmp_path / "notes.jsonl"
    lines = [row(1), "{broken", row(2), '["a", "list"]', row(3, at="never"), row(4)]
    file.write_bytes("\n".join(lines).encode() + b'\n{"id": "n5", "text": "caf\xe9", "at": "2026-03-05"}\n')
    found = dream.json("ingest", "jsonl", str(file), *FIELDS)
    assert found["counts"]["created"] == 3
    assert [place["location"] for place in found["skipped"]] == ["line 2", "line 4", "line 5", "line 7"]
    assert all(place["reason"] for place in found["skipped"])
    assert found["counts"]["skipped"] == 4


def test_at_most_twenty_skipped_places_are_shown_and_all_are_in_json(dream: Dream, tmp_path: Path) -> None:
    file = tmp_path / "notes.jsonl"
    file.write_text("\n".join([row(1), *["{broken"] * 30]))
    shown = dream("ingest", "jsonl", str(file), *FIELDS).stdout
    assert shown.count("  skipped line ") == 20
    assert "10 more" in shown
    assert len(dream.json("ingest", "jsonl", str(file), *FIELDS)["skipped"]) == 30


def test_a_file_in_which_nothing_can_be_read_is_2(dream: Dream, tmp_path: Path) -> None:
    picture = tmp_path / "picture.png"
    picture.write_bytes(bytes(range(256)) * 10)
    assert "0 created" in dream("ingest", "jsonl", str(picture), *FIELDS, code=2).stdout
    shown = dream("ingest", "transcript", str(picture), code=2).stdout
    assert "unknown file type .png" in shown
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    assert dream.json("ingest", "jsonl", str(empty), *FIELDS)["counts"]["created"] == 0


def test_missing_files_and_options_are_refused_by_name(dream: Dream, tmp_path: Path) -> None:
    file = tmp_path / "notes.jsonl"
    file.write_text(row(1))
    assert "--time-field" in dream("ingest", "jsonl", str(file), code=2).stderr
    assert "not a file" in dream("ingest", "jsonl", str(tmp_path / "none"), *FIELDS, code=2).stderr
    assert "--timezone" in dream("ingest", "jsonl", str(file), *FIELDS, "--timezone", "Mars", code=2).stderr
    assert "--default-time" in dream("ingest", "jsonl", str(file), "--default-time", "soon", code=2).stderr
    assert "does not exist" in dream("ingest", "transcript", str(tmp_path / "none.vtt"), code=2).stderr


def test_a_compressed_file_with_mapped_fields(dream: Dream, tmp_path: Path) -> None:
    file = tmp_path / "mails.jsonl.gz"
    mail = {"head": {"id": "m1", "at": 1772700000}, "subject": "Rent", "body": "Due on Monday.", "from": "Ana"}
    file.write_bytes(gzip.compress(json.dumps(mail).encode()))
    fields = ("--id-field", "head.id", "--text-field", "subject", "--text-field", "body", "--time-field", "head.at")
    found = dream.json("ingest", "jsonl", str(file), *fields, "--author-field", "from", "--trust", "untrusted")
    assert found["counts"]["created"] == 1
    assert found["slice"] == {"org_id": "local", "scope": "org", "owner_user_id": None}


def test_a_note_that_is_too_long_is_skipped_with_its_length(dream: Dream, tmp_path: Path) -> None:
    dream("settings", "set", "max_note_characters", "1000")
    file = tmp_path / "notes.jsonl"
    file.write_text("\n".join([row(1, text="x" * 1001), row(2)]))
    found = dream.json("ingest", "jsonl", str(file), *FIELDS)
    assert found["counts"]["created"] == 1
    assert "1,001" in found["skipped"][0]["reason"]


def test_transcripts_of_several_kinds(dream: Dream, tmp_path: Path) -> None:
    folder = tmp_path / "meetings"
    folder.mkdir()
    (folder / "2026-03-05 standup.txt").write_text("Ana: We use PostgreSQL 16.\nBo: Agreed.\n")
    cue = "WEBVTT\n\n00:00:01.000 --> 00:00:03.000\n<v Ana>The rent is due on Monday.\n"
    (folder / "2026-03-06 rent.vtt").write_text(cue)
    (folder / "notes.docx").write_bytes(b"PK\x03\x04")
    found = dream.json("ingest", "transcript", str(folder), "--timezone", "Europe/Brussels")
    assert found["counts"]["created"] == 2
    assert [place["location"] for place in found["skipped"]] == ["notes.docx"]


def test_two_files_of_one_name_would_be_taken_for_each_other(dream: Dream, tmp_path: Path) -> None:
    files = [tmp_path / part / "standup.txt" for part in ("monday", "tuesday")]
    for file in files:
        file.parent.mkdir()
        file.write_text("Ana: Hello there.\n")
    said = dream("ingest", "transcript", *map(str, files), code=2).stderr
    assert "same name" in said
    assert dream.json("status")["slices"] == []


def test_private_notes_are_seen_by_their_owner_only(dream: Dream, tmp_path: Path) -> None:
    file = tmp_path / "notes.jsonl"
    file.write_text(row(1))
    dream("ingest", "jsonl", str(file), *FIELDS, "--scope", "private", "--user", "ana")
    assert dream.json("status")["slices"] == []
    assert [one["owner_user_id"] for one in dream.json("status", "--user", "ana")["slices"]] == ["ana"]
    assert dream.json("status", "--user", "ana", "--org", "other")["slices"] == []


def test_a_withdrawn_note_comes_back_when_it_is_ingested_again(dream: Dream, tmp_path: Path) -> None:
    file = tmp_path / "notes.jsonl"
    file.write_text("\n".join([row(1), row(2)]))
    ingest = ("ingest", "jsonl", str(file), *FIELDS, "--source", "wiki")
    dream(*ingest)
    assert dream.json("withdraw", "wiki", "n1", "unheard-of") == {"withdrawn": 1, "unknown": 1}
    notes = dream.json("status")["slices"][0]["notes"]
    assert (notes["total"], notes["withdrawn"]) == (1, 1)
    assert dream.json(*ingest)["counts"]["reinstated"] == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_file_without_permission_is_an_error_without_a_traceback(dream: Dream, tmp_path: Path) -> None:
    file = tmp_path / "notes.jsonl"
    file.write_text(row(1))
    file.chmod(0)
    assert "notes.jsonl" in dream("ingest", "jsonl", str(file), *FIELDS, code=2).stderr


def test_only_what_is_new_is_read_and_a_full_reading_is_still_possible(dream: Dream, tmp_path: Path) -> None:
    file = tmp_path / "notes.jsonl"
    file.write_text(row(1) + "\n{broken\n")
    ingest = ("ingest", "jsonl", str(file), *FIELDS)
    assert dream.json(*ingest)["counts"]["created"] == 1
    with file.open("a") as more:
        more.write(row(2) + "\n")
    found = dream.json(*ingest, "--incremental")
    assert found["counts"] == {"created": 1, "edited": 0, "reinstated": 0, "unchanged": 0, "erased": 0, "skipped": 0}
    assert sum(dream.json(*ingest, "--incremental")["counts"].values()) == 0
    whole = dream.json(*ingest)["counts"]
    assert (whole["created"], whole["unchanged"], whole["skipped"]) == (0, 2, 1)


def test_each_slice_remembers_for_itself(dream: Dream, repository: Path) -> None:
    ingest = ("ingest", "git", str(repository), "--incremental")
    assert dream.json(*ingest)["counts"]["created"] == 2
    assert dream.json(*ingest, "--org", "other")["counts"]["created"] == 2
    assert dream.json(*ingest, "--scope", "private", "--user", "ana")["counts"]["created"] == 2
    commit(repository, "Add a button")
    assert dream.json(*ingest)["counts"]["created"] == 1
    assert sum(dream.json(*ingest)["counts"].values()) == 0


def test_a_markdown_folder_whose_files_come_and_go(dream: Dream, tmp_path: Path) -> None:
    folder = tmp_path / "vault"
    (folder / "house").mkdir(parents=True)
    (folder / "house" / "rent.md").write_text("# Rent\n\nDue on Monday.")
    (folder / "plan.md").write_text("We ship on Friday.")
    ingest = ("ingest", "markdown", str(folder), "--incremental")
    (folder / "picture.png").write_bytes(b"PNG")
    assert dream.json(*ingest)["counts"]["created"] == 2
    assert dream.json(*ingest)["counts"]["skipped"] == 1
    (folder / "house" / "rent.md").unlink()
    found = dream.json(*ingest)
    assert (found["missing"], found["withdrawn"]) == (["house/rent.md"], 0)
    shown = dream(*ingest).stdout
    assert "1 file gone" in shown
    assert "--withdraw-missing" in shown
    assert dream.json(*ingest, "--withdraw-missing")["withdrawn"] == 1
    notes = dream.json("status")["slices"][0]["notes"]
    assert (notes["total"], notes["withdrawn"]) == (1, 1)
    assert dream.json(*ingest)["missing"] == []
    (folder / "house" / "rent.md").write_text("# Rent\n\nDue on Monday.")
    assert dream.json(*ingest)["counts"]["reinstated"] == 1


def test_a_folder_without_any_file_withdraws_nothing(dream: Dream, tmp_path: Path) -> None:
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / "plan.md").write_text("We ship on Friday.")
    ingest = ("ingest", "markdown", str(folder))
    dream(*ingest)
    (folder / "plan.md").unlink()
    assert "no file is left" in dream(*ingest, "--withdraw-missing", code=2).stderr
    assert dream.json("status")["slices"][0]["notes"]["total"] == 1


def test_mailboxes_with_senders_that_are_trusted(dream: Dream, tmp_path: Path) -> None:
    mails = [
        f"From x Tue Mar  5 10:00:0{number} 2024\nFrom: {sender}\nDate: Tue, 5 Mar 2024 10:00:00 +0100\n"
        f"Message-ID: <m{number}@x>\nSubject: Plan\n\nWe ship on Friday.\n\n"
        for number, sender in enumerate(("ana@example.com", "eve@evil.test"))
    ]
    (tmp_path / "Inbox").write_text("".join(mails))
    (tmp_path / "Archive").write_text(mails[0])
    files = (str(tmp_path / "Inbox"), str(tmp_path / "Archive"))
    found = dream.json("ingest", "mbox", *files, "--trusted-sender", "example.com")
    assert (found["counts"]["created"], found["counts"]["unchanged"]) == (2, 1)
    assert sum(dream.json("ingest", "mbox", files[1], "--incremental")["counts"].values()) == 1
    assert "trusted_senders" in dream("ingest", "mbox", *files, "--trusted-sender", "*", code=2).stderr


def test_a_named_field_that_no_line_has_is_refused_before_anything_is_stored(dream: Dream, tmp_path: Path) -> None:
    file = tmp_path / "notes.jsonl"
    file.write_text("\n".join([row(1, author="Ana"), row(2)]))
    said = dream("ingest", "jsonl", str(file), "--id-field", "nope", "--time-field", "at", code=2).stderr
    assert "--id-field: no line has the field 'nope'; the fields are id, text, at, author" in said
    assert dream.json("status")["slices"] == []
    assert dream.json("ingest", "jsonl", str(file), *FIELDS, "--author-field", "author")["counts"]["created"] == 2


def test_front_matter_that_cannot_be_read_is_a_warning_on_a_note_that_counts_once(dream: Dream, tmp_path: Path) -> None:
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / "plan.md").write_text("---\ntitle: a: b: c\n---\nWe ship on Friday.\n")
    found = dream.json("ingest", "markdown", str(folder))
    assert (found["counts"]["created"], found["counts"]["skipped"], found["skipped"]) == (1, 0, [])
    assert [one["location"] for one in found["warnings"]] == ["plan.md, front matter"]
    shown = dream("ingest", "markdown", str(folder)).stdout
    assert "0 skipped" in shown
    assert "  warning plan.md, front matter: is not YAML" in shown
