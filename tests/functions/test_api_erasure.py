"""Erasure and export over the API: whose it may be, and what is answered."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dreaming.notes.records import Scope, SliceKey
from tests.functions.http import IAM, Answer, call, jwt
from tests.functions.sandbox import Sandbox, load_sandbox
from tests.world import World, note

ANA, ADMIN = jwt(org_id="acme", sub="ana"), IAM
ANAS = SliceKey("acme", Scope.PRIVATE, "ana")
NOTES, MINE, ALL = "/brain/erasure/notes", "/brain/erasure/mine", "/brain/erasure/organization"


@pytest.fixture
def api(installed: World) -> Sandbox:
    installed.ingest(note("1", "The zanzibar key hangs in the shed."), key=ANAS)
    installed.ingest(note("1", "Acme ships on Fridays."))
    installed.drain()
    installed.environment["DREAMING_API_IAM_ORGANIZATION"] = "acme"
    return load_sandbox("api")


def post(api: Sandbox, path: str, body: Any, **options: Any) -> Answer:
    return call(api, path, method="POST", body=json.dumps(body), **options)


def id_of(world: World, key: SliceKey) -> str:
    query = "select note_id from notes join slices using (slice_id) where scope = %s"
    return str(world.rows(query, [key.scope], key)[0][0])


def test_a_user_erases_their_own_note_and_nobody_elses(installed: World, api: Sandbox) -> None:
    mine, everybodys = id_of(installed, ANAS), id_of(installed, SliceKey("acme"))
    body = {"note_ids": [mine, everybodys]}
    answer = post(api, NOTES, {"note_ids": [everybodys]}, authorizer=ANA)
    assert (answer.status, answer.body["deleted"]) == (200, {})
    assert post(api, NOTES, body, authorizer=jwt(org_id="acme", sub="ben")).body["deleted"] == {}
    answer = post(api, NOTES, body, authorizer=ANA)
    assert answer.body["deleted"]["notes"] == answer.body["deleted"]["beliefs"] == answer.body["tombstones"] == 1
    assert answer.body["complete"] is True
    assert post(api, NOTES, body, authorizer=ANA).body["deleted"] == {}
    assert installed.statements() == ["Acme ships on Fridays."]


def test_an_administrator_erases_a_note_of_the_organization_and_lets_it_in_again(
    installed: World, api: Sandbox
) -> None:
    answer = post(api, NOTES, {"note_ids": [id_of(installed, SliceKey("acme"))]}, authorizer=ADMIN)
    assert answer.body["deleted"]["notes"] == 1
    again = {"notes": [{"external_id": "1", "source": "test", "text": "Acme ships on Fridays."}]}
    assert post(api, "/brain/notes", again, authorizer=ANA).body["erased"] == 1
    lift = {"source": "test", "external_ids": ["1"]}
    assert post(api, f"{NOTES}/lift", lift, authorizer=ANA).status == 403
    assert post(api, f"{NOTES}/lift", lift, authorizer=ADMIN).body == {"lifted": 1}
    assert post(api, "/brain/notes", again, authorizer=ANA).body["created"] == 1


def test_all_of_mine_goes_when_i_say_my_name(installed: World, api: Sandbox) -> None:
    assert post(api, MINE, {"confirm": "ben"}, authorizer=ANA).status == 422
    assert post(api, MINE, {"confirm": "acme"}, authorizer=ADMIN).status == 422
    keyed = {"authorizer": ANA, "headers": {"Idempotency-Key": "once"}}
    answer = post(api, MINE, {"confirm": "ana"}, **keyed)
    assert answer.body["deleted"]["slices"] == 1
    assert post(api, MINE, {"confirm": "ana"}, **keyed).status == 200
    assert installed.rows("select count(*) from slices where owner_user_id = 'ana'", key=ANAS) == [(0,)]


def test_only_an_administrator_erases_the_organization(installed: World, api: Sandbox) -> None:
    assert post(api, ALL, {"confirm": "acme"}, authorizer=ANA).status == 403
    assert post(api, ALL, {"confirm": "birch"}, authorizer=ADMIN).status == 422
    assert post(api, ALL, {"confirm": "acme"}, authorizer=ADMIN).body["complete"] is True
    assert installed.rows("select count(*) from slices") == [(0,)]
    assert post(api, ALL, {"confirm": "acme"}, authorizer=ADMIN).body["deleted"] == {}


def test_everything_on_the_caller_is_exported_page_by_page(installed: World, api: Sandbox) -> None:
    records, cursor = [], None
    while True:
        query = {"limit": "3"} | ({"cursor": cursor} if cursor else {})
        body = call(api, "/brain/export", query=query, authorizer=ANA).body
        records += body["records"]
        cursor = body["next_cursor"]
        if cursor is None:
            break
    assert (body["export"]["user_id"], body["export"]["format"]) == ("ana", 1)
    texts = [one["row"]["text"] for one in records if one["record"] == "notes"]
    assert texts == ["The zanzibar key hangs in the shed."]
    assert "Fridays" not in json.dumps(records)


def test_a_slice_of_all_is_exported_to_administrators(installed: World, api: Sandbox) -> None:
    org = {"scope": "org", "limit": "500"}
    assert call(api, "/brain/export", query=org, authorizer=ANA).status == 403
    records = call(api, "/brain/export", query=org, authorizer=ADMIN).body["records"]
    assert "zanzibar" not in json.dumps(records)
    assert [one["row"]["text"] for one in records if one["record"] == "notes"] == ["Acme ships on Fridays."]
    assert call(api, "/brain/export", authorizer=ADMIN).status == 422  # no user, so nobody's data
    assert call(api, "/brain/export", query={"cursor": "bogus"}, authorizer=ANA).status == 400
