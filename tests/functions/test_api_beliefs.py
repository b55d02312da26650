"""Beliefs over the API: listed, explained, confirmed, archived, restored, merged and split, and their conflicts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.functions.http import Answer, call, jwt
from tests.functions.sandbox import Sandbox, drain, load_sandbox
from tests.world import World, claim

BELIEFS = "/brain/beliefs"
UNKNOWN = "00000000-0000-7000-8000-000000000007"
BIRCH = jwt(org_id="birch", sub="ana")


@pytest.fixture
def api(installed: World, script: Any) -> Sandbox:
    """An organization that believes two things about its shed, which cannot both hold, and one about its mill."""
    rules = [
        {
            "when": text,
            "claims": [claim(text, subject=subject, attribute=attribute, value=value, confidence=confidence)],
        }
        for text, subject, attribute, value, confidence in (
            ("The shed is green.", "shed", "colour", "green", 0.9),
            ("The shed is red.", "shed", "colour", "red", 0.9),
            ("The mill opens at dawn.", "mill", "opening", "dawn", 0.7),
        )
    ]
    script.write_text(json.dumps({"rules": rules}), "utf-8")
    loaded = load_sandbox("api")
    notes = [{"text": rule["when"], "external_id": rule["when"]} for rule in rules]
    assert post(loaded, "/brain/notes", {"notes": notes}).status == 200
    work(installed, "consolidate")
    return loaded


def work(world: World, function: str) -> None:
    """Let a pass do all that is due."""
    sandbox = load_sandbox(function)
    sandbox.invoke({})
    drain(world, sandbox)


def post(api: Sandbox, path: str, body: Any = None, **options: Any) -> Answer:
    return call(api, path, method="POST", body=None if body is None else json.dumps(body), **options)


def listed(api: Sandbox, **query: str) -> list[dict[str, Any]]:
    return list(call(api, BELIEFS, query=query).body["beliefs"])


def find(api: Sandbox, word: str) -> str:
    return str(listed(api, q=word)[0]["belief_id"])


def test_beliefs_are_listed_by_confidence_with_their_quote(api: Sandbox) -> None:
    found = listed(api)
    assert [one["statement"] for one in found][-1] == "The mill opens at dawn."
    assert {one["evidence"]["quote"] for one in found} == {one["statement"] for one in found}
    assert 0 < found[0]["aged"] <= found[0]["confidence"]
    assert [one["statement"] for one in listed(api, q="mill")] == ["The mill opens at dawn."]
    assert listed(api, min_confidence="0.99") == []
    assert listed(api, kind="decision") == []
    assert call(api, BELIEFS, query={"kind": "rumour"}).status == 422
    assert call(api, BELIEFS, authorizer=BIRCH).body["beliefs"] == []


def test_pages_of_beliefs_fit_together(api: Sandbox) -> None:
    page = call(api, BELIEFS, query={"limit": "2"}).body
    rest = call(api, BELIEFS, query={"limit": "2", "cursor": page["next_cursor"]}).body
    assert len(page["beliefs"]) == 2
    assert [one["statement"] for one in rest["beliefs"]] == ["The mill opens at dawn."]
    assert rest["next_cursor"] is None
    assert call(api, BELIEFS, query={"cursor": "x"}).status == 400


def test_a_belief_says_why(api: Sandbox) -> None:
    why = call(api, f"{BELIEFS}/{find(api, 'mill')}").body
    assert why["belief"]["statement"] == "The mill opens at dawn."
    (source,) = why["sources"]
    assert (source["quote"], source["exact"], source["note"]["external_id"]) == (
        "The mill opens at dawn.", True, "The mill opens at dawn.",
    )  # fmt: skip
    assert why["arithmetic"]["base"] == 0.7
    assert [one["event"] for one in why["history"]] == ["created"]


def test_a_person_confirms_archives_and_restores(api: Sandbox) -> None:
    belief = find(api, "mill")
    confirmed = post(api, f"{BELIEFS}/{belief}/confirm").body
    assert (confirmed["changed"], confirmed["confidence"]) == (True, 1.0)
    archived = post(api, f"{BELIEFS}/{belief}/archive").body
    assert (archived["changed"], archived["archive_reason"]) == (True, "person")
    assert post(api, f"{BELIEFS}/{belief}/archive").body["changed"] is False
    assert listed(api, q="mill") == []
    assert [one["belief_id"] for one in listed(api, archived="true")] == [belief]
    assert post(api, f"{BELIEFS}/{belief}/restore").body["changed"] is True
    assert listed(api, q="mill")[0]["confidence"] == 1.0


@pytest.mark.parametrize("act", ["confirm", "archive", "restore", "unmerge", f"sources/{UNKNOWN}/split"])
def test_nothing_is_done_to_a_belief_of_somebody_else(api: Sandbox, act: str) -> None:
    belief = find(api, "mill")
    assert post(api, f"{BELIEFS}/{belief}/{act}", authorizer=BIRCH).status == 404
    assert post(api, f"{BELIEFS}/{UNKNOWN}/{act}").status == 404
    assert call(api, f"{BELIEFS}/{belief}", authorizer=BIRCH).status == 404
    assert listed(api, q="mill")[0]["confidence"] == 0.7


def test_a_conflict_is_shown_side_by_side_and_resolved(installed: World, api: Sandbox) -> None:
    work(installed, "resolve_contradictions")
    (conflict,) = call(api, "/brain/conflicts").body["conflicts"]
    sides = {conflict[side]["belief"]["statement"]: conflict[side]["belief"]["belief_id"] for side in ("left", "right")}
    assert set(sides) == {"The shed is green.", "The shed is red."}
    assert conflict["left"]["sources"][0]["quote"]
    body = {"left_id": sides["The shed is green."], "right_id": sides["The shed is red."], "keep": "left"}
    assert post(api, "/brain/conflicts/resolve", body, authorizer=BIRCH).status == 404
    assert post(api, "/brain/conflicts/resolve", body | {"keep": "none"}).status == 422
    assert post(api, "/brain/conflicts/resolve", body).body["keep"] == "left"
    assert [one["statement"] for one in listed(api, q="shed")] == ["The shed is green."]
    assert call(api, "/brain/conflicts").body["conflicts"] == []


def test_a_merge_by_a_person_can_be_taken_back(api: Sandbox) -> None:
    green, red = find(api, "green"), find(api, "red")
    body = {"left_id": green, "right_id": red, "keep": "merge"}
    assert post(api, "/brain/conflicts/resolve", body).status == 200
    (kept,) = listed(api, q="shed")
    assert kept["sources"] == 2
    undone = post(api, f"{BELIEFS}/{kept['belief_id']}/unmerge").body
    assert {undone["belief_id"], undone["other_belief_id"]} == {green, red}
    assert {one["belief_id"] for one in listed(api, q="shed")} == {green, red}
    assert post(api, f"{BELIEFS}/{green}/unmerge").status == 422
