"""Settings over the API: who may change them, what is recorded, and what holds then."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dreaming.settings.registry import REGISTRY
from tests.functions.http import IAM, Answer, call, jwt
from tests.functions.sandbox import Sandbox, drain, load_sandbox
from tests.world import World, note

ADMIN = jwt(org_id="acme", sub="ana", dreaming_admin="true")


def put(api: Sandbox, name: str, value: Any, authorizer: Any = ADMIN) -> Answer:
    body = json.dumps({"value": value})
    return call(api, f"/brain/settings/{name}", method="PUT", body=body, authorizer=authorizer)


def reading(api: Sandbox, name: str) -> dict[str, Any]:
    (found,) = [one for one in call(api, "/brain/capabilities").body["settings"] if one["name"] == name]
    return dict(found)


def test_capabilities_name_every_setting_with_its_origin_and_reader(api: Sandbox) -> None:
    body = call(api, "/brain/capabilities").body
    assert [one["name"] for one in body["settings"]] == list(REGISTRY)
    assert body["consents"]["enrolled"] is True
    batch = reading(api, "batch_notes")
    assert (batch["value"], batch["default"], batch["origin"]) == (2, REGISTRY["batch_notes"].default, "environment")
    assert batch["reader"] == "dreaming.passes.consolidation.run"


def test_an_organizations_value_overrides_and_can_be_reset(installed: World, api: Sandbox) -> None:
    assert put(api, "batch_notes", 5).body == {
        "name": "batch_notes", "changed": True, "old_value": None, "new_value": 5,
    }  # fmt: skip
    assert put(api, "batch_notes", 5).body["changed"] is False
    assert reading(api, "batch_notes")["origin"] == "organization"
    other = call(api, "/brain/capabilities", authorizer=jwt(org_id="birch", sub="ana")).body
    assert [one["value"] for one in other["settings"] if one["name"] == "batch_notes"] == [2]
    reset = call(api, "/brain/settings/batch_notes", method="DELETE", authorizer=ADMIN).body
    assert (reset["changed"], reset["old_value"]) == (True, 5)
    assert reading(api, "batch_notes")["value"] == 2


def test_every_change_is_recorded_with_who_made_it(api: Sandbox) -> None:
    put(api, "batch_notes", 5)
    put(api, "model_consent", False)
    put(api, "embedding_excluded_sources", ["mail"])
    page = call(api, "/brain/settings/audit", query={"limit": "2"}).body
    assert [(one["subject"], one["actor"]) for one in page["entries"]] == [
        ("embedding_excluded_sources", "api:ana"),
        ("model_consent", "api:ana"),
    ]
    rest = call(api, "/brain/settings/audit", query={"limit": "2", "cursor": page["next_cursor"]}).body
    assert rest["entries"][0]["subject"] == "batch_notes"
    theirs = call(api, "/brain/settings/audit", authorizer=jwt(org_id="birch", sub="ana")).body
    assert theirs["entries"] == []


@pytest.mark.parametrize(
    "authorizer",
    [
        jwt(org_id="acme", sub="ana"),
        jwt(org_id="acme", sub="ana", dreaming_admin="false"),
        jwt(org_id="acme", sub="ana", admin="true"),
    ],
)
def test_only_administrators_change_the_organization(api: Sandbox, authorizer: Any) -> None:
    refused = put(api, "batch_notes", 5, authorizer)
    assert refused.status == 403
    assert "api_admin_claim" in refused.body["detail"]
    assert call(api, "/brain/settings/batch_notes", method="DELETE", authorizer=authorizer).status == 403
    assert reading(api, "batch_notes")["value"] == 2


def test_callers_with_aws_credentials_administer(installed: World, api: Sandbox) -> None:
    installed.environment["DREAMING_API_IAM_ORGANIZATION"] = "acme"
    assert put(api, "batch_notes", 5, IAM).status == 200


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("batch_notes", 0),
        ("batch_notes", "many"),
        ("batch_notes", True),
        ("enabled", True),
        ("model_consent", "yes"),
        ("batch_notes", ["a"]),
        ("embedding_excluded_sources", "mail"),
    ],
)
def test_a_value_that_a_setting_does_not_take_is_refused(api: Sandbox, name: str, value: Any) -> None:
    answer = put(api, name, value)
    assert answer.status == 422
    assert answer.body["fields"][0]["problem"]


def test_a_setting_holds_from_the_next_tick_on(installed: World, api: Sandbox) -> None:
    """The same warm sandboxes all along: nothing is deployed or restarted."""
    consolidation = load_sandbox("consolidate")

    def batches(name: str) -> list[int]:
        """Bring four notes in and work them off; how many notes each batch read."""
        installed.ingest(*[note(f"{name}-{number}", f"The {name} is {number} metres long.") for number in range(4)])
        before = len(consolidation.metrics)
        consolidation.invoke({})
        drain(installed, consolidation)
        read = [sum(document.get("notes_consolidated", ())) for document in consolidation.metrics[before:]]
        return [int(count) for count in read if count]

    assert batches("shed") == [2, 2]
    assert put(api, "batch_notes", 1).body["new_value"] == 1
    assert batches("mill") == [1, 1, 1, 1]
    assert call(api, "/brain/settings/batch_notes", method="DELETE", authorizer=ADMIN).body["changed"] is True
    assert batches("gate") == [2, 2]
    assert put(api, "model_consent", False).status == 200
    assert batches("well") == []
    assert put(api, "model_consent", True).status == 200
    assert sum(batches("wall")) == 8
