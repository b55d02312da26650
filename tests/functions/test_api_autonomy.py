"""Autonomy over the API: actions are logged once, scores are read and set, and permission is asked for."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.functions.http import Answer, call, jwt
from tests.functions.sandbox import Sandbox

AUTONOMY = "/brain/autonomy"
ADMIN = jwt(org_id="acme", sub="ana", dreaming_admin="true")
BIRCH = jwt(org_id="birch", sub="ana")


def log(api: Sandbox, *actions: dict[str, Any], **options: Any) -> Answer:
    body = {
        "actions": [{"agent_id": "mailer", "tool": "mail", "summary": "s", "risk": "low", **one} for one in actions]
    }
    return call(api, f"{AUTONOMY}/actions", method="POST", body=json.dumps(body), **options)


def permission(api: Sandbox, risk: str, agent: str = "mailer") -> dict[str, Any]:
    return dict(call(api, f"{AUTONOMY}/agents/{agent}/permission", query={"risk": risk}).body)


def test_actions_are_logged_once_and_get_a_later_outcome(api: Sandbox) -> None:
    assert log(api, {"external_id": "1"}, {"external_id": "2", "outcome": "approved"}).body["logged"] == 2
    assert log(api, {"external_id": "1"}).body == {"logged": 0, "changed": 0, "unchanged": 1}
    (agent,) = call(api, AUTONOMY).body["agents"]
    assert (agent["score"], agent["band"], agent["actions_waiting"]) == (75, "approval-required", 1)
    found = call(api, f"{AUTONOMY}/actions", query={"scoring": "waiting"}).body["actions"]
    assert [one["external_id"] for one in found] == ["2"]
    assert call(api, AUTONOMY, authorizer=BIRCH).body["agents"] == []
    assert call(api, f"{AUTONOMY}/agents/mailer", authorizer=BIRCH).status in {404, 422}


@pytest.mark.parametrize(
    "action",
    [
        {"external_id": "1", "risk": "enormous"},
        {"external_id": "1", "stated_confidence": 1.5},
        {"external_id": ""},
        {"external_id": "1", "org_id": "birch"},
        {"external_id": "1", "acted_at": "2026-01-01"},
    ],
)
def test_what_is_no_action_is_refused_whole(api: Sandbox, action: dict[str, Any]) -> None:
    assert log(api, {"external_id": "good"}, action).status == 422
    assert call(api, AUTONOMY).body["agents"] == []


def test_permission_compares_the_score_with_the_risk(api: Sandbox) -> None:
    assert permission(api, "medium")["allowed"] is True
    denied = permission(api, "high")
    assert (denied["allowed"], denied["floor"], denied["score"]) == (False, 80, 75)
    assert "80" in denied["reason"]


def test_only_administrators_set_a_score(api: Sandbox) -> None:
    body = json.dumps({"score": 95, "reason": "proved itself elsewhere", "new": True})
    path = f"{AUTONOMY}/agents/mailer"
    assert call(api, path, method="PUT", body=body).status == 403
    change = call(api, path, method="PUT", body=body, authorizer=ADMIN).body
    assert (change["old_score"], change["new_score"], change["actor"]) == (75, 95, "api:ana")
    assert permission(api, "critical")["allowed"] is True
    history = call(api, path).body
    assert [one["reason"] for one in history["changes"]] == ["proved itself elsewhere"]
    assert call(api, f"{AUTONOMY}/agents/nobody").status == 404


def test_an_agent_may_have_any_name(api: Sandbox) -> None:
    """API Gateway decodes a path before it hands it over, so an encoded slash is one."""
    body = json.dumps({"score": 90, "reason": "known"})
    for agent in ("team/bot", "/a//b", "bot?", "a#b", "né 🤖", 'x"y', "50%", "a/", "a b", "permission"):
        assert log(api, {"external_id": "1", "agent_id": agent}).status == 200
        path = f"{AUTONOMY}/agents/{agent}"
        assert permission(api, "low", agent)["agent_id"] == agent
        assert call(api, path, method="PUT", body=body, authorizer=ADMIN).body["new_score"] == 90, agent
        assert call(api, path).body["agent"]["agent_id"] == agent
    assert call(api, f"{AUTONOMY}/agents/team").status == 404
    # A path that ends as that of a permission is one, whatever stands before.
    assert permission(api, "low", "a/permission")["agent_id"] == "a/permission"
    put = call(api, f"{AUTONOMY}/agents/a/permission", method="PUT", body=body, authorizer=ADMIN)
    assert (put.status, put.headers["allow"]) == (405, "GET, HEAD, OPTIONS")


def test_the_changes_of_a_score_come_page_by_page_the_latest_first(api: Sandbox) -> None:
    log(api, {"external_id": "1"})
    path = f"{AUTONOMY}/agents/mailer"
    for score in (60, 70, 80):
        body = json.dumps({"score": score, "reason": "by hand"})
        call(api, path, method="PUT", body=body, authorizer=ADMIN)
    first = call(api, path, query={"limit": "2"}).body
    assert ([one["new_score"] for one in first["changes"]], first["agent"]["score"]) == ([80, 70], 80)
    rest = call(api, path, query={"limit": "2", "cursor": first["next_cursor"]}).body
    assert ([one["new_score"] for one in rest["changes"]], rest["next_cursor"]) == ([60], None)
    log(api, {"external_id": "1", "agent_id": "other"})
    other = call(api, f"{AUTONOMY}/agents/other", query={"limit": "2", "cursor": first["next_cursor"]})
    assert (other.status, other.body["fields"][0]["field"]) == (400, "cursor")
