"""`dream settings` and `dream doctor`."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from psycopg.rows import TupleRow

from dreaming.settings.registry import REGISTRY
from tests.database.local.conftest import Dream


def setting(dream: Dream, name: str, **environment: str) -> Any:
    return dream.json("settings", "get", name, code=0, **environment)


def test_every_setting_and_consent_is_listed_with_its_origin(dream: Dream) -> None:
    listed = {one["name"]: one for one in dream.json("settings")["settings"]}
    assert set(REGISTRY) < set(listed)
    assert {"enrolled", "model_consent", "embedding_consent"} < set(listed)
    assert {one["origin"] for one in listed.values()} == {"default"}
    assert dream.json("settings", "list") == dream.json("settings")
    assert all(name in dream("settings").stdout for name in REGISTRY)


def test_where_a_value_comes_from(dream: Dream) -> None:
    assert setting(dream, "jaccard_threshold", DREAMING_JACCARD_THRESHOLD="0.9")["origin"] == "environment"
    dream("settings", "set", "jaccard_threshold", "0.8")
    kept = setting(dream, "jaccard_threshold", DREAMING_JACCARD_THRESHOLD="0.9")
    assert (kept["value"], kept["origin"]) == (0.8, "organization")
    dream("settings", "set", "enabled", "true")
    assert (setting(dream, "enabled")["value"], setting(dream, "enabled")["origin"]) == (True, "home")
    assert "environment variable DREAMING_ENABLED" in dream("settings", "get", "enabled").stdout


def test_a_deployment_setting_in_the_environment_wins_and_that_is_said(dream: Dream) -> None:
    done = dream("settings", "set", "enabled", "true", DREAMING_ENABLED="false")
    assert "DREAMING_ENABLED" in done.stderr
    assert setting(dream, "enabled", DREAMING_ENABLED="false")["value"] is False


def test_settings_go_back_to_their_defaults(dream: Dream) -> None:
    for name, value in (("enabled", "true"), ("jaccard_threshold", "0.8")):
        dream("settings", "set", name, value)
        assert dream.json("settings", "reset", name)["changed"] is True
        assert setting(dream, name)["origin"] == "default"
        assert dream.json("settings", "reset", name)["changed"] is False


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("set", "jacard_threshold", "0.8"), "jaccard_threshold"),
        (("set", "jaccard_threshold", "2"), "0.5 to 1"),
        (("set", "enabled", "yes"), "true or false"),
        (("set", "model_consent", "perhaps"), "true or false"),
        (("get", "nonsense"), "is not a setting"),
        (("reset", "nonsense"), "is not a setting"),
        (("reset", "enrolled"), "set enrolled false"),
    ],
    ids=str,
)
def test_what_a_setting_does_not_take_is_refused_and_nothing_changes(
    dream: Dream, arguments: tuple[str, ...], said: str
) -> None:
    before = dream.json("settings")
    assert said in dream("settings", *arguments, code=2).stderr
    assert dream.json("settings") == before


def test_changes_are_audited_with_who_made_them(dream: Dream) -> None:
    assert "Nothing was changed" in dream("settings", "audit").stdout
    dream("settings", "set", "model_consent", "true", "--user", "ana")
    dream("settings", "set", "model_consent", "true", "--user", "ana")
    dream("settings", "set", "batch_notes", "20")
    entries = dream.json("settings", "audit")["audit"]
    assert [(one["subject"], one["old_value"], one["new_value"]) for one in entries] == [
        ("batch_notes", None, 20),
        ("model_consent", False, True),
    ]
    assert entries[1]["actor"] == "dream:ana"
    assert "batch_notes" in dream("settings", "audit", "--limit", "1").stdout
    assert dream.json("settings", "audit", "--before", str(entries[1]["audit_id"]))["audit"] == []
    assert dream.json("settings", "audit", "--kind", "settings")["audit"] == entries
    assert dream.json("settings", "audit", "--kind", "beliefs")["audit"] == []
    assert "is -3, below the least" in dream("settings", "set", "batch_notes", "-3", code=2).stderr


def checks(dream: Dream, code: int = 0, **environment: str) -> dict[str, Any]:
    found = dream.json("doctor", code=code, **environment)
    assert all(one["remedy"] for one in found["checks"] if one["state"] != "ok")
    return {one["name"]: one for one in found["checks"]}


def test_a_sound_installation_has_nothing_but_ok(dream: Dream) -> None:
    dream.switch_on()
    dream.notes({"id": "1", "text": "The rent is due on Monday.", "at": "2026-11-01", "author": "Ana"})
    dream("drain")
    found = checks(dream)
    assert {one["state"] for one in found.values()} == {"ok"}
    assert {"versions", "offline model", "database", "counters", "quotes", "queue", "holds", "model"} < set(found)
    assert "1 slice" in found["counters"]["found"]
    assert "0 problems, 0 warnings" in dream("doctor").stdout


def test_what_keeps_runs_from_starting_is_a_warning_with_its_command(dream: Dream) -> None:
    found = dream.json("doctor")
    assert (found["problems"], found["warnings"]) == (0, 3)
    assert "dream settings set enabled true" in dream("doctor").stdout


def test_a_misspelt_variable_is_a_warning_and_an_unreadable_one_a_problem(dream: Dream) -> None:
    assert "DREAMING_ENABLED" in checks(dream, DREAMING_ENABELD="true")["environment"]["remedy"]
    found = checks(dream, code=5, DREAMING_BATCH_NOTES="many")
    assert found["environment"]["state"] == "problem"
    assert "DREAMING_BATCH_NOTES" in found["environment"]["found"]


def test_counters_and_quotes_that_are_not_true_are_problems(dream: Dream, admin: psycopg.Connection[TupleRow]) -> None:
    dream.switch_on()
    dream.notes({"id": "1", "text": "The rent is due on Monday.", "at": "2026-11-01", "author": "Ana"})
    dream.script(
        {
            "when": "rent",
            "claims": [
                {
                    "kind": "fact",
                    "statement": "The rent is due.",
                    "quote": "The rent is due on Monday.",
                    "confidence": 0.8,
                }
            ],
        }
    )
    dream("drain")
    admin.execute("update slice_counters set beliefs_fact = 7")
    admin.execute("update notes set text = 'The dues are rent on Monday.'")
    found = checks(dream, code=5)
    assert "beliefs fact kept as 7, counted 1" in found["counters"]["found"]
    assert "1 quote" in found["quotes"]["found"]
    assert "not what stands in the note" in dream("why", dream.json("beliefs")["beliefs"][0]["belief_id"]).stdout


def test_a_missing_key_is_a_problem(dream: Dream) -> None:
    dream("settings", "set", "chat_provider", "openai")
    assert checks(dream, code=5)["model"]["state"] == "problem"
    dream("settings", "set", "chat_model", "any")
    assert "OPENAI_API_KEY" in checks(dream, code=5)["model"]["remedy"]
    assert checks(dream, OPENAI_API_KEY="sk-test")["model"]["state"] == "ok"


def test_an_unreachable_or_empty_database_is_a_problem(dream: Dream, empty_database_url: str) -> None:
    url = "postgresql://ana:s3cretpw@127.0.0.1:1/notes"
    shown = dream("doctor", "--wait", "0", code=5, DATABASE_URL=url).stdout
    assert "s3cretpw" not in shown
    assert "DATABASE_URL" in shown
    found = checks(dream, code=5, DATABASE_URL=empty_database_url)
    assert found["database"]["remedy"] == "run dream migrate"


def test_a_held_slice_is_a_warning(dream: Dream) -> None:
    dream.switch_on()
    dream.script({"when": "rent", "fail": "missing_key"})
    dream.notes({"id": "1", "text": "The rent is due on Monday.", "at": "2026-11-01", "author": "Ana"})
    dream("drain", code=4)
    assert "missing_key" in checks(dream)["holds"]["found"]


def test_a_setting_stored_by_another_version_is_found_and_can_be_reset(
    dream: Dream, admin: psycopg.Connection[TupleRow]
) -> None:
    admin.execute("insert into settings values ('local', 'gone_by_now', '1', now(), 'test')")
    assert checks(dream, code=5)["settings"]["state"] == "problem"
    assert "gone_by_now" in dream("status", code=0).stdout + dream("settings", code=2).stderr
    dream("settings", "reset", "gone_by_now")
    dream("settings")
