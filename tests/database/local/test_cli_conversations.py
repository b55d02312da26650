"""`dream converse` and `dream recall`: transcripts captured and found again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dreaming.notes.echo import strip
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
        assert dream(*command, code=3, DREAMING_CONVERSATION_MEMORY="1").exit_code == 3


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
    assert "another user" in dream("converse", str(files / "boat.vtt"), "--user", "ana").stdout
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
