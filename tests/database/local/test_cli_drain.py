"""`dream run` and `dream drain`: what starts, what comes of it, and why nothing does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any
from uuid import UUID

import pytest

from dreaming.local.queue import LocalQueue
from dreaming.passes.records import BatchMessage, message_group
from tests.database.local.conftest import Dream

RENT = {"id": "1", "text": "The rent is due on Monday.", "at": "2026-11-01T10:00:00Z", "author": "Ana"}
UNREACHABLE = "http://127.0.0.1:1/v1"


def claim(statement: str, **changes: Any) -> dict[str, Any]:
    return {"kind": "fact", "statement": statement, "quote": statement, "confidence": 0.8, **changes}


def test_nothing_runs_until_everything_is_switched_on(dream: Dream) -> None:
    dream.notes(RENT)
    for name, reason in (("enabled", "disabled"), ("enrolled", "not_enrolled"), ("model_consent", "no_model_consent")):
        for command in ("run", "drain"):
            found = dream.json(command, code=4)
            assert reason in [one["reason"] for one in found["stopped"]]
            said = dream(command, code=4).stdout
            assert f"dream settings set {name} true" in said
        dream("settings", "set", name, "true")
    assert dream.json("drain")["totals"]["notes_consolidated"] == 1


def test_an_empty_organization_has_nothing_to_run(dream: Dream) -> None:
    dream.switch_on()
    assert dream.json("run", "consolidation") == {"started": [], "running": 0, "stopped": [], "passes": {}}
    assert "no note is waiting" in dream("run").stdout
    assert "Nothing was waiting" in dream("drain").stdout


def test_a_run_is_started_once_and_a_drain_works_through_it(dream: Dream) -> None:
    dream.switch_on()
    dream.script({"when": "rent", "claims": [claim("The rent is due on Monday.")]})
    dream.notes(RENT)
    assert len(dream.json("run")["started"]) == 1
    again = dream.json("run")
    assert (again["started"], again["running"]) == ([], 1)
    drained = dream.json("drain")
    assert drained["waiting"] == 0
    assert drained["totals"]["beliefs_created"] == 1
    assert "Nothing was waiting" in dream("drain").stdout


def test_a_drain_says_what_came_of_it(dream: Dream) -> None:
    dream.switch_on()
    good, made_up = claim("The rent is due on Monday."), claim("Ana lives on the Moon.", quote="lives on the Moon")
    dream.script({"when": "rent", "claims": [good, made_up]})
    dream.notes(RENT, {**RENT, "id": "2"}, {**RENT, "id": "3", "text": " "})
    drained = dream.json("drain")
    totals = drained["totals"]
    assert (totals["notes_consolidated"], totals["beliefs_created"], totals["beliefs_corroborated"]) == (2, 1, 1)
    assert totals["claims_rejected"] == sum(drained["rejected_by_rule"].values()) == 2
    assert drained["stopped"] == []


def test_an_unreachable_model_holds_and_loses_nothing(dream: Dream) -> None:
    dream.switch_on()
    for name, value in (("chat_provider", "openai"), ("chat_model", "any"), ("chat_base_url", UNREACHABLE)):
        dream("settings", "set", name, value)
    dream.notes(RENT)
    held = dream.json("drain", code=4)["stopped"]
    assert [one["reason"] for one in held] == ["provider_unavailable"]
    assert "dream drain" in held[0]["remedy"]
    status = dream.json("status")["slices"][0]
    assert (status["cursor"]["held_reason"], status["notes"]["waiting"]) == ("provider_unavailable", 1)
    assert "provider_unavailable" in dream("status").stdout
    dream("settings", "set", "chat_provider", "offline")
    assert dream.json("drain")["totals"]["notes_consolidated"] == 1
    assert dream.json("status")["slices"][0]["cursor"]["held_reason"] is None


def test_a_missing_key_holds_and_says_what_to_set(dream: Dream) -> None:
    dream.switch_on()
    dream("settings", "set", "chat_provider", "openai")
    dream("settings", "set", "chat_model", "any")
    dream.notes(RENT)
    said = dream("drain", code=4).stdout
    assert "missing_key" in said
    assert "OPENAI_API_KEY" in said


def test_a_note_that_fails_three_times_is_retired_listed_and_retried(dream: Dream) -> None:
    dream.switch_on()
    dream.script({"when": "rent", "fail": "malformed"})
    dream.notes(RENT, {**RENT, "id": "2", "text": "The printer is on the second floor."})
    for _ in range(4):
        dream("drain")
    listed = dream.json("retired")["retired"]
    assert [(one["external_id"], one["reason"], one["attempts"]) for one in listed] == [("1", "malformed", 3)]
    assert "malformed" in dream("retired").stdout
    assert dream.json("status")["slices"][0]["notes"]["retired"] == 1
    dream("settings", "set", "chat_provider", "offline")
    end = listed[0]["note_id"][-8:]
    assert dream.json("retired", "retry", end) == {"retried": 1}
    dream("drain")
    assert dream.json("retired")["retired"] == []
    assert "No note is retired" in dream("retired").stdout
    assert dream.json("retired", "retry", "--all") == {"retried": 0}


@pytest.mark.parametrize("arguments", [(), ("ffffffff",), ("ff",), ("--all", "ffffffff")])
def test_a_retry_that_names_no_note_is_refused(dream: Dream, arguments: tuple[str, ...]) -> None:
    assert "ID" in dream("retired", "retry", *arguments, code=2).stderr


def test_consent_withdrawn_stops_the_next_drain(dream: Dream) -> None:
    dream.switch_on()
    dream.notes(RENT)
    dream("run")
    dream("settings", "set", "model_consent", "false")
    stopped = dream.json("drain", code=4)["stopped"]
    assert "no_model_consent" in [one["reason"] for one in stopped]
    assert dream.json("status")["slices"][0]["notes"]["waiting"] == 1


def test_an_unreachable_database_is_4_with_a_remedy_and_without_its_password(dream: Dream) -> None:
    url = "postgresql://ana:s3cretpw@127.0.0.1:1/notes"
    for command in (("status",), ("drain",), ("beliefs",), ("migrate",), ("settings",)):
        said = dream(*command, "--wait", "0", code=4, DATABASE_URL=url).stderr
        assert "DATABASE_URL" in said
        assert "s3cretpw" not in said


def test_a_database_without_migrations_says_which_command_mends_it(dream: Dream, empty_database_url: str) -> None:
    assert "dream migrate" in dream("status", code=3, DATABASE_URL=empty_database_url).stderr
    before = dream.json("migrate", "--status", DATABASE_URL=empty_database_url)
    assert before["applied"] == []
    assert before["pending"]
    done = dream.json("migrate", DATABASE_URL=empty_database_url)
    assert (done["newly_applied"], done["pending"]) == (before["pending"], [])
    assert "up to date" in dream("migrate", DATABASE_URL=empty_database_url).stdout
    dream("status", DATABASE_URL=empty_database_url)


def test_the_program_as_a_process_keeps_the_result_and_the_progress_apart(dream: Dream) -> None:
    dream.switch_on()
    dream.notes(RENT)
    code = "from dreaming.local.cli import main; main()"
    kept = {name: value for name, value in os.environ.items() if not name.startswith("DREAMING_")}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, "drain", "--json"],
        env={**kept, **dream.environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["totals"]["notes_consolidated"] == 1
    assert done.stderr.splitlines() == ["consolidate: 1 of 1 notes, 1 belief"]


def test_a_reader_that_has_seen_enough_ends_the_program_quietly(dream: Dream) -> None:
    code = "from dreaming.local.cli import main; main()"
    kept = {name: value for name, value in os.environ.items() if not name.startswith("DREAMING_")}
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as broken:
        done = subprocess.run(
            [sys.executable, "-c", code, "settings", "--json"],
            env={**kept, **dream.environment},
            stdout=broken,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_drain_leaves_what_waits_of_other_organizations(dream: Dream) -> None:
    dream.notes(RENT)
    dream.environment["DREAMING_ORG"] = "acme"
    dream.switch_on()
    dream.notes(RENT)
    dream("run")
    dream.environment["DREAMING_ORG"] = "local"
    dream.switch_on()
    first = dream.json("drain")
    assert (first["report"]["batches"], first["report"]["dead"]) == (1, 0)
    assert dream.json("status", "--org", "acme")["slices"][0]["notes"]["waiting"] == 1
    everything = dream.json("drain", "--all")
    assert everything["report"]["batches"] == 1
    assert dream.json("status", "--org", "acme")["slices"][0]["notes"]["waiting"] == 0


def test_a_drain_takes_the_private_notes_of_all_its_users_along(dream: Dream) -> None:
    dream.switch_on()
    file = dream.home.parent / "notes.jsonl"
    file.write_text(json.dumps(RENT))
    own = ("--scope", "private", "--user", "ana")
    dream("ingest", "jsonl", str(file), "--id-field", "id", "--time-field", "at", *own)
    assert dream.json("drain", "consolidation")["report"]["batches"] == 1
    assert dream.json("status", "--user", "ana")["slices"][0]["notes"]["waiting"] == 0


def test_the_progress_of_a_private_slice_counts_its_own_beliefs(dream: Dream) -> None:
    dream.switch_on()
    dream.notes(RENT, {**RENT, "id": "2", "text": "The well is nine metres deep."})
    dream("drain", "consolidation")
    file = dream.home.parent / "notes.jsonl"
    file.write_text(json.dumps({**RENT, "text": "Ana decided to keep bees."}))
    own = ("--scope", "private", "--user", "ana")
    dream("ingest", "jsonl", str(file), "--id-field", "id", "--time-field", "at", *own)
    assert dream("drain", "consolidation", *own).stderr.splitlines() == ["consolidate: 1 of 1 notes, 1 belief"]


def test_a_redrive_is_of_ones_own_organization(dream: Dream) -> None:
    dream.switch_on()
    for org in ("local", "acme"):
        dream.environment["DREAMING_ORG"] = org
        dream.notes(RENT)
    dream.environment["DREAMING_ORG"] = "local"
    slices = {org: dream.json("status", "--org", org)["slices"][0]["slice_id"] for org in ("local", "acme")}
    with LocalQueue(dream.home / "queue.sqlite", "consolidation", max_receive_count=1) as queue:
        for slice_id in slices.values():
            message = BatchMessage(slice_id=slice_id, run_id=UUID(int=slice_id), generation=1, batch=1)
            body = message.model_dump_json()
            queue.send(body, group_id=message_group(slice_id), deduplication_id=f"dead-{slice_id}")
            assert queue.receive(holder="gone", visibility_timeout=0) is not None
        assert queue.counts().dead == 2
        mine = dream.json("drain", "consolidation", "--redrive")
        assert mine["redriven"] == {"consolidation": 1}
        assert [one.group_id for one in queue.dead_letters()] == [message_group(slices["acme"])]
        assert "Queued again for 'local': 0 messages" in dream("drain", "--redrive").stdout
        told = dream("drain", "--redrive", "--all-orgs").stdout
        assert "Queued again for every organization: 1 message (1 of consolidation)" in told
        assert queue.counts().dead == 0
