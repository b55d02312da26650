"""What `dream run`, `drain` and `status` say of conversations that wait, and of passes that are switched off."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.database.local.conftest import Dream

SAID = "Ana: The boat needs new sails.\nBen: I order them on Monday.\n"
NEXT = "1 conversation waits to become notes; the next is due 20"


@pytest.fixture
def talk(dream: Dream) -> Path:
    """A conversation of this moment, where conversations are remembered."""
    dream.environment["DREAMING_CONVERSATION_MEMORY"] = "true"
    dream.switch_on()
    file = dream.home.parent / "boat.txt"
    file.write_text(SAID)
    return file


def test_it_is_told_how_many_conversations_wait_and_until_when(dream: Dream, talk: Path) -> None:
    assert dream("drain", "synthesis").stdout == "Nothing was waiting.\n"
    dream("converse", str(talk))
    for command in (("drain", "synthesis"), ("drain",), ("run", "synthesis"), ("run",), ("status",)):
        told = dream(*command).stdout
        assert NEXT in told
        assert "Nothing was waiting" not in told
    found = dream.json("status")["waiting_conversations"]
    assert (found["conversations"], found["due"]) == (1, 0)
    assert found == dream.json("drain", "synthesis")["waiting_conversations"]
    assert "conversation waits" not in dream("status", DREAMING_CONVERSATION_MEMORY="false").stdout


def test_a_pass_that_is_switched_off_says_so_in_every_way(dream: Dream) -> None:
    dream.switch_on()
    off = {"DREAMING_ENABLED": "false"}
    for name in ("synthesis", "embedding", "contradictions", "decay", "autonomy", "consolidation"):
        for command in ("drain", "run"):
            stopped = dream.json(command, name, code=4, **off)["stopped"]
            assert [one["pass_name"] for one in stopped if one["reason"] == "disabled"] == [name]
            assert all("dream settings set enabled true" in one["remedy"] for one in stopped[:1])
    assert "Stopped: synthesis disabled" in dream("run", "synthesis", code=4, **off).stdout
    assert dream("drain", code=4, **off).stdout.count("Stopped:") == 1
    assert [one["reason"] for one in dream.json("drain", "synthesis", code=4)["stopped"]] == ["off"]
    assert "embedding_provider minilm" in dream("drain", "embedding", code=4).stdout
    assert dream.json("drain")["stopped"] == []


def test_conversations_from_before_the_consent_are_embedded_and_progress_is_shown(dream: Dream, talk: Path) -> None:
    dream("converse", str(talk))
    dream("settings", "set", "embedding_provider", "minilm")
    dream("settings", "set", "embedding_consent", "true")
    assert dream.json("recall", "sails")["reason"] == "not_embedded_yet"
    assert "dream drain embedding" in dream("recall", "sails").stderr
    drained = dream("drain", "embedding")
    assert drained.stdout == "embedding: model calls 1, texts embedded 1\n"
    assert drained.stderr == "embedding: 1 of 1 texts, 1 batch\n"
    assert dream.json("recall", "sails")["reason"] is None


def test_work_in_scopes_that_one_does_not_see_is_only_counted(dream: Dream, talk: Path) -> None:
    dream("settings", "set", "conversation_idle_minutes", "0")
    dream("converse", str(talk), "--scope", "private", "--user", "ana")
    told = dream("drain").stdout
    assert "synthesis: work of scopes that you do not see was done and is not shown (1 batch)" in told
    assert "consolidated" not in told
    assert "nothing changed" not in told
    assert dream.json("status", "--user", "ana")["slices"][0]["notes"]["consolidated"] == 1
