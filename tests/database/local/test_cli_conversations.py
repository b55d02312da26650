"""`dream converse` and `dream recall`: transcripts captured and found again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dreaming.notes.echo import strip
from dreaming.recall.capture import Capturing
from dreaming.recall.records import CaptureAnswer
from tests.database.local.conftest import Dream

ON = {"DREAMING_CONVERSATION_MEMORY": "true"}


@pytest.fixture
def files(dream: Dream) -> Path:
    folder = dream.home.parent / "talks"
    folder.mkdir()
    (folder / "2026-05-04 roof.txt").write_text("Ana: The roof leaks above the kitchen.\nHelper: I call a roofer.\n")
    (folder / "boat.vtt").write_text("WEBVTT\n\n00:01.000 --> 00:02.000\n<v Ben>The boat needs paint.\n")
    rows = [
        {"id": "chat-1", "messages": [{"role": "user", "content": "my key is sk-TEST1234567890abcdef"}]},
        {"id": "chat-2", "turns": ["Ana: 猫が好きです"]},
        {"id": "empty", "turns": []},
    ]
    (folder / "export.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows) + "broken\n")
    (folder / "picture.png").write_bytes(b"\x89PNG")
    return folder


def test_without_the_flag_nothing_is_done_and_the_remedy_is_said(dream: Dream, files: Path) -> None:
    for command in (("converse", str(files)), ("recall", "roof")):
        result = dream(*command, code=3)
        assert "DREAMING_CONVERSATION_MEMORY=true" in result.stderr
        for value in ("1", "TRUE", "true "):
            told = " ".join(dream(*command, code=3, DREAMING_CONVERSATION_MEMORY=value).stderr.split())
            assert f"DREAMING_CONVERSATION_MEMORY is {value!r}, and must be exactly `true`" in told


def test_transcripts_are_captured_and_found_again(dream: Dream, files: Path) -> None:
    dream.environment |= ON
    document = dream.json("converse", str(files), "--agent", "Helper")
    captured = {row["conversation_id"]: row["answer"]["captured"] for row in document["conversations"]}
    assert captured == dict.fromkeys(["2026-05-04 roof.txt", "boat.vtt", "chat-1", "chat-2"], True)
    assert sorted(skipped["location"] for skipped in document["skipped"]) == [
        *("export.jsonl, line 3", "export.jsonl, line 4", "picture.png")
    ]
    found = dream.json("recall", "leaking", "roofs")["conversations"][0]
    assert found["conversation_id"] == "2026-05-04 roof.txt"
    assert found["last_at"].startswith("2026-05-04")
    assert found["passage"]["text"] == "The roof leaks above the kitchen."
    shown = dream("recall", "roofs")
    assert "Ana: “The roof leaks above the kitchen.”" in shown.stdout
    assert "embedding_consent true" in shown.stderr
    assert "sk-TEST1234567890abcdef" not in dream("recall", "key").stdout
    assert "chat-2" in dream("recall", "猫").stdout


def test_text_for_an_agent_is_marked(dream: Dream, files: Path) -> None:
    dream.environment |= ON
    dream("converse", str(files))
    marked = dream("recall", "roof", "--agent").stdout
    assert "roof leaks" in marked
    assert "roof leaks" not in strip(marked)


def test_a_private_conversation_needs_its_owner(dream: Dream, files: Path) -> None:
    dream.environment |= ON
    dream("converse", str(files / "boat.vtt"), "--scope", "private", "--user", "ben")
    assert dream.json("recall", "boat")["conversations"] == []
    assert dream.json("recall", "boat", "--user", "ana")["conversations"] == []
    assert len(dream.json("recall", "boat", "--user", "ben")["conversations"]) == 1
    assert len(dream.json("recall", "boat", "--user", "ben", "--scope", "private")["conversations"]) == 1
    assert dream("recall", "boat", "--scope", "private", code=2).exit_code == 2
    refused = dream("converse", str(files / "boat.vtt"), "--user", "ana", code=2).stdout
    assert "another user" in refused
    assert "rename the file" in " ".join(refused.split())
    assert "Find one" not in refused
    assert "No conversation matches, of 1" in dream("recall", "zephyr", "--user", "ben").stdout


def test_an_empty_answer_says_why_and_what_to_do(dream: Dream, files: Path) -> None:
    off = dream("recall", "boat", code=3)
    assert "DREAMING_CONVERSATION_MEMORY=true" in off.stderr
    dream.environment |= ON
    for blank in ("", "  "):
        refused = dream("recall", blank, code=2).stderr
        assert "QUERY: is empty" in refused
        assert 'recall "how we moved the database"' in refused
    nobody = dream("recall", "boat").stdout
    assert "No conversation was captured for local" in nobody
    assert "No organization 'local' is known here" in nobody
    dream("converse", str(files / "boat.vtt"))
    assert "No conversation matches, of 1" in dream("recall", "zephyr").stdout
    stranger = dream("recall", "zephyr", "--user", "zoe", "--scope", "private").stdout
    assert "No user 'zoe' is known here" in stranger
    assert "dream --scope private --user zoe converse" in stranger


def test_files_of_one_name_in_two_folders_are_two_conversations(dream: Dream, files: Path) -> None:
    dream.environment |= ON
    (files / "march").mkdir()
    (files / "march" / "boat.vtt").write_text("WEBVTT\n\n00:01.000 --> 00:02.000\n<v Ben>The boat is sold.\n")
    (files / "march" / "long.txt").write_text("".join(f"Ana: line {number}\n" for number in range(20_001)))
    document = dream.json("converse", str(files))
    assert {"boat.vtt", "march/boat.vtt"} <= {row["conversation_id"] for row in document["conversations"]}
    assert any(one["location"] == "march/long.txt" and "20,001 turns" in one["reason"] for one in document["skipped"])
    assert {one["conversation_id"] for one in dream.json("recall", "boat")["conversations"]} == {
        *("boat.vtt", "march/boat.vtt")
    }


def lines(folder: Path, name: str, *rows: object) -> str:
    file = folder / name
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(file)


def test_old_turns_stay_old(dream: Dream, tmp_path: Path) -> None:
    dream.environment |= ON
    turn = {"speaker": "Ana", "text": "The stove is serviced by Haddock.", "said_at": "2019-05-05T10:00:00Z"}
    dream("converse", lines(tmp_path, "old.jsonl", {"conversation_id": "old", "turns": [turn]}))
    assert dream.json("recall", "stove")["conversations"][0]["last_at"].startswith("2019-05-05T10:00:00")


def test_a_conversation_of_a_taken_name_is_skipped_unless_it_goes_on(dream: Dream, tmp_path: Path) -> None:
    dream.environment |= ON
    rows = [
        {"id": "one", "turns": ["Ana: The stove is old."]},
        {"id": "one", "turns": ["Ana: The stove is old.", "Ben: I see."]},
        {"id": "one", "turns": ["Ana: The boat is blue."]},
    ]
    file = lines(tmp_path, "a.jsonl", *rows)
    other = lines(tmp_path, "b.jsonl", {"id": "one", "turns": ["Ana: The stove is old."]})
    result = dream("converse", file, other)
    assert "1 conversation captured of 1, 2 skipped." in result.stdout
    told = " ".join((result.stdout + result.stderr).split())
    assert "skipped a.jsonl, line 3: has the conversation's name of a.jsonl, line 2 with other turns" in told
    assert "skipped b.jsonl, line 1: has the conversation's name of a.jsonl, line 2 with other turns" in told
    [found] = dream.json("recall", "stove")["conversations"]
    assert found["turns"] == 2
    assert dream.json("recall", "boat")["conversations"] == []


def test_an_erased_conversation_names_the_command_that_lets_it_in(dream: Dream, tmp_path: Path) -> None:
    dream.environment |= ON
    file = lines(tmp_path, "a.jsonl", {"id": "two words", "turns": ["Ana: The stove is old."]})
    dream("converse", file, "--user", "ana")
    dream("erase", "owner", "--user", "ana", "--yes")
    refused = dream("converse", file, "--user", "ana", code=2).stdout
    assert "dream --user ana erase lift-conversation 'two words'" in refused
    assert "erase lift-organization" in " ".join(refused.split())
    assert "doctor" not in refused
    dream("erase", "lift-conversation", "two words", "--user", "ana")
    assert "1 conversation captured of 1." in dream("converse", file, "--user", "ana").stdout


def test_consent_and_embedder_are_asked_for_at_once(dream: Dream, tmp_path: Path) -> None:
    dream.environment |= ON
    file = lines(tmp_path, "a.jsonl", {"id": "one", "turns": ["Ana: The stove is old."]})
    for told in (dream("converse", file).stdout, dream("recall", "stove").stderr):
        assert "DREAMING_EMBEDDING_PROVIDER=minilm" in told
        assert "settings set embedding_consent true" in " ".join(told.split())
    dream.environment["DREAMING_EMBEDDING_PROVIDER"] = "minilm"
    for told in (dream("converse", file).stdout, dream("recall", "stove").stderr):
        assert "DREAMING_EMBEDDING_PROVIDER" not in told
        assert "embedding_consent" in told


@pytest.mark.parametrize(
    ("reason", "pending", "code"),
    [
        *(("database_unavailable", False, 4), ("misconfigured", False, 3), ("not_owner", False, 2)),
        *(("throttled", True, 0), ("provider_unavailable", True, 0)),
    ],
)
def test_the_exit_code_says_why_nothing_was_stored(
    dream: Dream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reason: str, pending: bool, code: int
) -> None:
    dream.environment |= ON
    answer = CaptureAnswer(captured=False, reason=reason, pending=pending)
    monkeypatch.setattr(Capturing, "capture", lambda *_, **__: answer)
    file = lines(tmp_path, "a.jsonl", {"id": "one", "turns": ["Ana: The stove is old."]})
    assert ("Find one" in dream("converse", file, code=code).stdout) == (code == 0)


def test_a_name_that_says_nothing_is_skipped(dream: Dream, tmp_path: Path) -> None:
    dream.environment |= ON
    rows = [{"id": "\0", "turns": ["Ana: So."]}, {"id": "two", "turns": ["Ana: Well \ud800."]}]
    document = dream.json("converse", lines(tmp_path, "a.jsonl", *rows))
    [skipped] = document["skipped"]
    assert (skipped["location"], "conversation_id" in skipped["reason"]) == ("a.jsonl, line 1", True)
    assert len(document["conversations"]) == 1
