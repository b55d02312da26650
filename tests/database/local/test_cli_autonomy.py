"""`dream autonomy`: logging actions, why a score is what it is, what blocks it, and what an agent may do."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from psycopg.rows import TupleRow

from tests.autonomy_world import judgement
from tests.database.local.conftest import Dream

NOW = datetime.now(UTC)


def action(number: int, outcome: str = "approved", **changes: Any) -> dict[str, Any]:
    return {
        "agent_id": "mail-bot",
        "external_id": f"a{number}",
        "tool": "mail.send",
        "summary": f"Answered letter {number}, password: hunter2secret",
        "risk": "low",
        "acted_at": (NOW - timedelta(hours=number + 1)).isoformat(),
        "outcome": outcome,
        **changes,
    }


def record(dream: Dream, *actions: dict[str, Any], code: int = 0) -> Any:
    file = dream.home.parent / "actions.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in actions))
    return dream("autonomy", "record", str(file), code=code)


@pytest.fixture
def busy(dream: Dream) -> Dream:
    """Thirty approved actions and a success, scored where no model judges; then the score was moved once."""
    dream.switch_on()
    record(dream, *(action(number) for number in range(30)), action(30, "success"))
    dream("drain", "autonomy")
    return dream


def test_without_any_agent_it_says_how_to_begin(dream: Dream) -> None:
    assert "autonomy record" in dream("autonomy").stdout
    assert dream.json("autonomy") == {"agents": []}
    assert "No action is logged" in dream("autonomy", "log").stdout
    assert "No action was given up" in dream("autonomy", "log", "--dead").stdout


def test_why_shows_evidence_blocks_outlook_and_the_course(busy: Dream) -> None:
    shown = busy("autonomy", "why", "mail-bot").stdout
    whole = busy("autonomy").stdout  # the only agent is shown in full
    assert whole.split("Score over time")[0] == shown.split("Score over time")[0]
    for part in (
        "mail-bot  80  spot-check",
        "not critical (90)",
        "30 scored actions, half as heavy every 30 days: capability 1.000, which asks for 100",
        "competence        0.45   1.000",
        "no action was scored since the last adjustment",
        "one more scored action",
        "30 approved, 1 success",
        "1 wait for a model's judgement: the offline provider has no model that can judge",
        "80 spot-check",
    ):
        assert part in shown
    document = busy.json("autonomy", "why", "mail-bot")
    assert (document["score"], document["band"], document["unjudged"]) == (80, "spot-check", 1)
    assert document["may_do"] == ["none", "low", "medium", "high"]
    assert [block["kind"] for block in document["blocks"]] == ["no_news"]
    assert document["capability"]["value"] == 1.0
    assert [change["new_score"] for change in document["changes"]] == [80]
    assert busy.json("autonomy")["agents"][0]["score"] == 80


def test_several_agents_are_a_table(busy: Dream) -> None:
    record(busy, action(0, "denied", agent_id="new-bot"))
    outcomes = ["approved"] * 20 + ["rejected"] * 10
    record(busy, *(action(number, one, agent_id="deploy-bot") for number, one in enumerate(outcomes)))
    busy("autonomy", "set", "deploy-bot", "20", "--reason", "on trial")
    busy("drain", "autonomy")
    shown = busy("autonomy").stdout
    lines = {line.split()[0]: line for line in shown.splitlines() if line.split()}
    assert "waits for news" in lines["mail-bot"]
    assert "too few actions" in lines["new-bot"]
    assert "blocked: cool down, error rate" in lines["deploy-bot"]


def test_a_score_set_by_hand_shows_in_history_check_and_blocks(busy: Dream) -> None:
    assert "80 → 60" in busy("autonomy", "set", "mail-bot", "60", "--reason", "wrote to a customer").stdout
    shown = busy("autonomy", "history", "mail-bot").stdout
    for part in ("75 → 80", "80 → 60", "wrote to a customer", "^ set by a person"):
        assert part in shown
    assert [one["action"] for one in busy.json("autonomy", "history", "mail-bot")["changes"]] == ["adjusted", "set"]
    assert "cool-down" in busy("autonomy", "why", "mail-bot").stdout
    assert "yes" in busy("autonomy", "check", "mail-bot", "low").stdout
    assert busy.json("autonomy", "check", "mail-bot", "medium", code=5)["allowed"] is False
    assert "`new`" in busy("autonomy", "set", "mail-bto", "10", "--reason", "r", code=2).stderr
    busy("autonomy", "set", "new-bot", "10", "--reason", "on trial", "--new")
    busy("autonomy", "check", "new-bot", "low", code=5)


def test_an_outcome_is_recorded_and_scored_anew(busy: Dream) -> None:
    busy("autonomy", "outcome", "mail-bot", "a0", "denied")
    assert "known" in busy("autonomy", "outcome", "mail-bot", "a0", "denied").stdout
    assert "a0" in busy("autonomy", "log", "--waiting").stdout
    busy("drain", "autonomy")
    page = busy.json("autonomy", "log", "--limit", "1")
    first = page["actions"][0]
    rest = busy.json("autonomy", "log", "--cursor", page["next_cursor"])
    assert [first, *rest["actions"]] == busy.json("autonomy", "log", "--limit", "100")["actions"]
    assert "another 'waiting'" in busy("autonomy", "log", "--waiting", "--cursor", page["next_cursor"], code=2).stderr
    assert (first["outcome"], first["flags"]["competence"]) == ("denied", 0)
    assert "cannot follow" in busy("autonomy", "outcome", "mail-bot", "a0", "success", code=2).stderr
    assert "has no action" in busy("autonomy", "outcome", "mail-bot", "zz", "denied", code=2).stderr
    at = ("--at", "2020-01-01T00:00:00Z")
    assert busy.json("autonomy", "outcome", "mail-bot", "a1", "denied", *at) == {"changed": False}
    assert "offset" in busy("autonomy", "outcome", "mail-bot", "a1", "denied", "--at", "2026-01-01", code=2).stderr


def test_the_log_hides_secrets(busy: Dream) -> None:
    for arguments in (("log",), ("log", "--json"), ("log", "--waiting")):
        shown = busy("autonomy", *arguments).stdout
        assert "Answered letter" in shown
        assert "hunter2secret" not in shown


def test_a_model_judges_and_what_it_could_not_is_listed_and_retried(dream: Dream, admin: Any) -> None:
    dream.switch_on()
    dream.script({"when": "letter 1,", "answer": "a poem"}, default={"answer": judgement()})
    record(dream, action(1, "success"), action(2, "failure"))
    dream("drain", "autonomy")
    flags = {one["external_id"]: one["scoring"] for one in dream.json("autonomy", "log")["actions"]}
    assert flags == {"a1": "waiting", "a2": "scored"}
    admin.execute(
        """
        update autonomy_actions
        set first_unreadable_at = first_unreadable_at - interval '3 days', retry_at = now() - interval '1 day'
        where scoring = 'waiting'
        """
    )
    admin.execute("update due_times set due_at = now() - interval '1 day'")
    dream("drain", "autonomy")
    shown = dream("autonomy", "log", "--dead").stdout
    assert "it is not JSON" in shown
    assert "hunter2secret" not in shown
    (dead,) = dream.json("autonomy", "log", "--dead")["dead"]
    assert (dead["reason"], dead["attempts"]) == ("it is not JSON", 2)
    assert "1 given up" in dream("autonomy", "why", "mail-bot").stdout
    assert "is missing" in dream("autonomy", "retry", code=2).stderr
    assert "no action" in dream("autonomy", "retry", "ffff", code=2).stderr
    dream.script(default={"answer": judgement()})
    assert dream.json("autonomy", "retry", dead["action"]["action_id"][-8:]) == {"retried": 1}
    dream("drain", "autonomy")
    assert {one["scoring"] for one in dream.json("autonomy", "log")["actions"]} == {"scored"}


def test_a_line_that_is_no_action_is_named_and_nothing_is_logged(dream: Dream) -> None:
    assert "line 2, risk" in record(dream, action(1), action(2, risk="huge"), code=2).stderr
    assert "line 1, acted_at: " in record(dream, action(-99), code=2).stderr
    said = record(dream, action(1), action(2, colour="red"), code=2).stderr
    assert "line 2, colour: is no field here; leave it out, or see dream autonomy record --help" in said
    file = dream.home.parent / "broken.jsonl"
    for content, problem in ((b"{", "line 1"), (b"\xff\n", "UTF-8"), (b"[1]\n", "line 1")):
        file.write_bytes(content)
        assert problem in dream("autonomy", "record", str(file), code=2).stderr
    assert dream.json("autonomy", "log") == {"actions": [], "next_cursor": None}
    assert dream.json("autonomy") == {"agents": []}


def test_recording_again_changes_nothing(dream: Dream) -> None:
    lines = [action(number) for number in range(3)]
    record(dream, *lines)
    assert "0 actions logged, 0 with another outcome, 3 known" in record(dream, *lines).stdout


def test_unknown_agents_are_named(dream: Dream) -> None:
    for command in ("why", "history"):
        assert "has no record" in dream("autonomy", command, "nobody", code=2).stderr
    assert "where every agent starts" in dream("autonomy", "check", "nobody", "medium").stdout
    assert "given with --dead" in dream("autonomy", "log", "--waiting", "--dead", code=2).stderr


def test_doctor_compares_each_score_with_its_audit_record(busy: Dream, admin: psycopg.Connection[TupleRow]) -> None:
    def scores(code: int) -> list[dict[str, Any]]:
        return [one for one in busy.json("doctor", code=code)["checks"] if one["name"] == "scores"]

    assert [(one["state"], one["found"]) for one in scores(0)] == [("ok", "1 score as the audit record says")]
    admin.execute("update dreaming.autonomy_agents set score = 95")
    assert [one["found"] for one in scores(5)] == ["mail-bot: kept as 95, its audit record leads to 80"]
    admin.execute("update dreaming.autonomy_audit set old_score = 60")
    assert "entry 1 of the audit record does not follow" in scores(5)[0]["found"]
