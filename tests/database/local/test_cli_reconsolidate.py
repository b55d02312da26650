"""`dream reconsolidate`, and what `status` and `doctor` say of it."""

from __future__ import annotations

from typing import Any

from tests.database.local.conftest import Dream

RENT = {
    "id": "rent",
    "text": "The rent is due on the first Monday.",
    "at": "2026-05-01T10:00:00+00:00",
    "author": "Ana",
}
TEA = {"id": "tea", "text": "Ana prefers green tea.", "at": "2026-05-20T10:00:00+00:00", "author": "Ana"}


def believing(dream: Dream) -> Dream:
    dream.switch_on()
    dream.notes(RENT, TEA)
    dream("drain")
    return dream


def readers(dream: Dream, code: int = 0, **environment: str) -> dict[str, Any]:
    checks = dream.json("doctor", code=code, **environment)["checks"]
    [check] = [check for check in checks if check["name"] == "readers"]
    return dict(check)


def test_notes_are_read_again_and_beliefs_keep_their_ids(dream: Dream) -> None:
    believing(dream)
    before = dream.json("beliefs")["beliefs"]
    assert before
    assert dream.json("status")["slices"][0]["reconsolidation"] is None
    said = dream("reconsolidate").stdout
    assert "2 notes waiting again" in said
    assert "drain" in said
    [slice_] = dream.json("status")["slices"]
    assert (slice_["reconsolidation"]["position"], slice_["reconsolidation"]["goal"]) == (0, 2)
    assert "being read again" in dream("status").stdout
    dream("drain")
    assert dream.json("status")["slices"][0]["reconsolidation"] is None
    assert [one["belief_id"] for one in dream.json("beliefs")["beliefs"]] == [one["belief_id"] for one in before]


def test_only_what_is_meant_is_read_again(dream: Dream) -> None:
    believing(dream)
    assert dream.json("reconsolidate", "--since", "2026-05-10") == {"waiting_again": 1}
    assert dream.json("reconsolidate", "--source", "elsewhere") == {"waiting_again": 0}
    assert "nothing is read again" in dream("reconsolidate", "--source", "elsewhere").stdout
    assert "--since" in dream("reconsolidate", "--since", "soon", code=2).stderr


def test_doctor_counts_the_notes_that_another_model_read(dream: Dream) -> None:
    believing(dream)
    assert readers(dream)["remedy"] is None
    claims = [{"kind": "fact", "statement": "Rent is due", "quote": "The rent is due on", "confidence": 0.9}]
    dream.script({"when": "rent", "claims": claims})
    told = readers(dream)
    assert "offline:rules-1" in told["found"]
    assert "reconsolidate" in told["remedy"]
    dream("reconsolidate")
    dream("drain")
    assert readers(dream)["remedy"] is None


def test_doctor_misses_the_key_of_anthropic(dream: Dream) -> None:
    believing(dream)
    dream.environment |= {
        "ANTHROPIC_API_KEY": "",
        "DREAMING_CHAT_PROVIDER": "anthropic",
        "DREAMING_CHAT_MODEL": "claude",
    }
    [check] = [check for check in dream.json("doctor", code=5)["checks"] if check["name"] == "model"]
    assert check["state"] == "problem"
    assert "ANTHROPIC_API_KEY" in check["remedy"]
    dream.environment["ANTHROPIC_API_KEY"] = "sk-test"
    [check] = [check for check in dream.json("doctor")["checks"] if check["name"] == "model"]
    assert check["state"] == "ok"
