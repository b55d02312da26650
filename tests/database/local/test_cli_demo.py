"""`dream demo`: from nothing to beliefs with quotes, and again without any change."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from dreaming.errors import Misconfigured
from dreaming.local.commands.demo import read_samples
from dreaming.local.postgres import EmbeddedPostgres
from tests.database.local.conftest import Dream


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    made = tmp_path / "shop"
    subprocess.run(["git", "init", "-q", made], check=True)
    name = ["-c", "user.name=Ana", "-c", "user.email=ana@example.test"]
    message = "Require Python 3.11\n\nThe shop requires Python 3.11 or newer."
    subprocess.run(["git", "-C", made, *name, "commit", "-q", "--allow-empty", "-m", message], check=True)
    return made


def test_the_demo_shows_beliefs_with_quotes_and_nothing_changes_the_second_time(dream: Dream, repository: Path) -> None:
    first = dream.json("demo", "--repository", str(repository))
    notes = first["notes"]
    assert notes["total"] == notes["consolidated"] + notes["empty"] + notes["retired"] + notes["waiting"]
    assert (notes["waiting"], notes["retired"]) == (0, 0)
    assert first["notes_by_source"]["git:shop"] == {"consolidated": 1}
    assert len({belief["kind"] for belief in first["beliefs"]}) >= 3
    assert all(belief["evidence"]["quote"] for belief in first["beliefs"])
    assert first["why"]["arithmetic"]["corroborations"] >= 1
    assert all(source["exact"] for source in first["why"]["sources"])
    assert first["conflicts"]
    second = dream.json("demo", "--repository", str(repository))
    assert second["ingested"] == {**dict.fromkeys(first["ingested"], 0), "unchanged": first["ingested"]["created"]}
    assert set(second["drained"]["totals"].values()) == {0}
    for same in ("notes", "beliefs_by_kind", "beliefs_archived", "conflicts"):
        assert second[same] == first[same]
    assert [one["belief_id"] for one in second["beliefs"]] == [one["belief_id"] for one in first["beliefs"]]
    assert dream.json("doctor", "--demo")["problems"] == 0


def test_the_demo_prints_what_to_look_at_and_keeps_apart_from_the_rest(dream: Dream, repository: Path) -> None:
    shown = dream("demo", "--repository", str(repository), DREAMING_CHAT_PROVIDER="openai").stdout
    for part in ("Nothing leaves this machine", "git:shop", "Why one of them", "Kept apart", "Where to look next"):
        assert part in shown
    assert dream.json("status")["slices"] == []
    assert dream.json("settings", "get", "enabled")["value"] is False
    assert "dream --demo why" in shown
    listed = dream.json("beliefs", "pilot", "--demo")["beliefs"]
    assert listed
    assert all("pilot" in belief["statement"].lower() for belief in listed)


def test_the_demo_works_on_its_own_slice_only(dream: Dream, repository: Path) -> None:
    dream.switch_on()
    dream.notes({"id": "1", "text": "The rent is due on Monday.", "at": "2026-11-01", "author": "Ana"})
    dream("demo", "--repository", str(repository))
    assert dream.json("status")["slices"][0]["notes"]["waiting"] == 1


def test_a_fresh_demo_deletes_nothing_that_it_did_not_make(dream: Dream, tmp_path: Path) -> None:
    assert "DATABASE_URL" in dream("demo", "--fresh", code=2).stderr
    mine = dream.home / "demo" / "thesis.txt"
    mine.parent.mkdir(parents=True)
    mine.write_text("irreplaceable")
    assert "not made by the demo" in dream("demo", "--fresh", code=2, DATABASE_URL="").stderr
    assert mine.read_text() == "irreplaceable"


def test_the_embedded_database_is_started_migrated_and_with_fresh_made_anew(tmp_path: Path, repository: Path) -> None:
    home = tmp_path / "a home"
    dream = Dream(home, {"DATABASE_URL": ""})
    demo = ("demo", "--home", str(home), "--repository", str(repository))
    try:
        first = dream.json(*demo)
        again = dream.json(*demo)
        fresh = dream.json(*demo, "--fresh")
        status = dream.json("status", "--demo", "--home", str(home))
    finally:
        EmbeddedPostgres(home / "demo").remove()
    assert (again["ingested"]["created"], fresh["ingested"]) == (0, first["ingested"])
    assert status["slices"][0]["notes"] == fresh["notes"]


def test_a_repository_that_is_none_is_refused(dream: Dream, tmp_path: Path) -> None:
    assert "not a folder" in dream("demo", "--repository", str(tmp_path / "none"), code=2).stderr


def test_missing_or_broken_sample_notes_say_that_the_installation_is_not_whole(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="missing"):
        read_samples(tmp_path)
    (tmp_path / "notes.jsonl").write_text('{"external_id": "1"}\n')
    with pytest.raises(Misconfigured, match="line 1"):
        read_samples(tmp_path)
    assert len(list(read_samples())) > 20
