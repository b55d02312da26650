"""Notes over the API: brought in, read, withdrawn, retried; and a post that is sent twice."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from dreaming.api.idempotency.service import AT_WORK, KEPT
from dreaming.notes.records import Scope, SliceKey
from tests.functions.http import IAM, Answer, call, jwt
from tests.functions.sandbox import Sandbox, drain, load_sandbox
from tests.world import NOON, World, note

NOTES = "/brain/notes"
ANAS = SliceKey("acme", Scope.PRIVATE, "ana")
BIRCH = jwt(org_id="birch", sub="ana")


def post(api: Sandbox, path: str, body: Any, **options: Any) -> Answer:
    return call(api, path, method="POST", body=json.dumps(body), **options)


def notes(*texts: str, **values: Any) -> dict[str, Any]:
    return {"notes": [{"text": text, "external_id": text[:20], **values} for text in texts]}


def test_notes_are_stored_listed_and_read(installed: World, api: Sandbox) -> None:
    answer = post(api, NOTES, notes("The mill opens at dawn.", "The gate is green.", author="Ana"))
    assert answer.status == 200
    assert answer.body == {"created": 2, "edited": 0, "reinstated": 0, "unchanged": 0, "erased": 0}
    listed = call(api, NOTES).body
    assert [one["external_id"] for one in listed["notes"]] == ["The gate is green.", "The mill opens at da"]
    assert listed["next_cursor"] is None
    assert "text" not in listed["notes"][0]
    read = call(api, f"{NOTES}/{listed['notes'][0]['note_id']}").body
    assert (read["text"], read["author"], read["state"]) == ("The gate is green.", "Ana", "waiting")


def test_a_note_without_a_name_is_named_by_its_text(installed: World, api: Sandbox) -> None:
    body = {"notes": [{"text": "The mill opens at dawn."}]}
    assert post(api, NOTES, body).body["created"] == 1
    installed.now += timedelta(days=1)
    # It keeps the time of its first post, so a later one changes nothing.
    assert post(api, NOTES, body).body["unchanged"] == 1
    assert len(call(api, NOTES).body["notes"]) == 1


def test_a_private_note_is_the_callers_own(installed: World, api: Sandbox) -> None:
    post(api, NOTES, notes("Ana's own."), query={"scope": "private"})
    assert call(api, NOTES).body["notes"] == []
    (mine,) = call(api, NOTES, query={"scope": "private"}).body["notes"]
    ben = jwt(org_id="acme", sub="ben")
    assert call(api, NOTES, query={"scope": "private"}, authorizer=ben).body["notes"] == []
    assert call(api, f"{NOTES}/{mine['note_id']}", authorizer=ben).status == 404
    assert call(api, f"{NOTES}/{mine['note_id']}", authorizer=BIRCH).status == 404
    installed.environment["DREAMING_API_IAM_ORGANIZATION"] = "acme"
    assert call(api, NOTES, query={"scope": "private"}, authorizer=IAM).status == 422


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"notes": []},
        {"notes": [{"text": 7}]},
        {"notes": [{"text": "x", "trust": "absolute"}]},
        {"notes": [{"text": "x", "occurred_at": "2026-01-01T00:00:00"}]},
        {"notes": [{"text": "x", "org_id": "birch"}]},
        {"notes": [{"text": "x"}], "scope": "private"},
        {"notes": [{"text": "x" * 2_000_001}]},
        [],
    ],
)
def test_what_cannot_be_stored_is_refused_whole(installed: World, api: Sandbox, body: Any) -> None:
    answer = post(api, NOTES, body)
    assert answer.status == 422
    assert answer.headers["content-type"] == "application/problem+json"
    assert call(api, NOTES).body["notes"] == []


def test_pages_of_notes_fit_together(installed: World, api: Sandbox) -> None:
    post(api, NOTES, notes(*(f"Gate {number} is green." for number in range(5))))
    seen: list[str] = []
    cursor: str | None = None
    for _ in range(3):
        page = call(api, NOTES, query={"limit": "2", **({"cursor": cursor} if cursor else {})}).body
        seen += [one["external_id"] for one in page["notes"]]
        cursor = page["next_cursor"]
    assert cursor is None
    assert seen == [f"Gate {number} is green." for number in (4, 3, 2, 1, 0)]
    assert call(api, NOTES, query={"cursor": "nonsense"}).status == 400
    assert call(api, NOTES, query={"limit": "0"}).status == 422


def test_a_withdrawn_note_stops_counting(installed: World, api: Sandbox, script: Any) -> None:
    mill = {"kind": "fact", "statement": "The mill opens at dawn.", "quote": "The mill opens at dawn.", "confidence": 1}
    script.write_text(json.dumps({"rules": [{"when": "mill", "claims": [mill]}]}), "utf-8")
    post(api, NOTES, notes("The mill opens at dawn."))
    consolidation = load_sandbox("consolidate")
    consolidation.invoke({})
    drain(installed, consolidation)
    assert len(call(api, "/brain/beliefs").body["beliefs"]) == 1
    gone = {"source": "api", "external_ids": ["The mill opens at da", "unknown"]}
    assert post(api, f"{NOTES}/withdraw", gone).body == {"withdrawn": 1}
    assert post(api, f"{NOTES}/withdraw", gone).body == {"withdrawn": 0}
    assert call(api, "/brain/beliefs").body["beliefs"] == []


def test_retired_notes_are_listed_and_retried(installed: World, api: Sandbox, script: Any) -> None:
    script.write_text('{"default": {"fail": "malformed"}}', "utf-8")
    post(api, NOTES, notes("poison"))
    consolidation = load_sandbox("consolidate")
    for _ in range(3):
        consolidation.invoke({})
        drain(installed, consolidation)
    (retired,) = call(api, f"{NOTES}/retired").body["notes"]
    assert (retired["external_id"], retired["attempts"]) == ("poison", 3)
    assert post(api, f"{NOTES}/retired/retry", {"note_ids": [retired["note_id"]]}).body == {"retried": 1}
    assert call(api, f"{NOTES}/retired").body["notes"] == []


def test_a_post_with_a_key_is_done_once(installed: World, api: Sandbox) -> None:
    keyed = {"headers": {"idempotency-key": "k1"}}
    first = post(api, NOTES, notes("One."), **keyed)
    again = post(api, NOTES, notes("One."), **keyed)
    assert first.body == again.body == {"created": 1, "edited": 0, "reinstated": 0, "unchanged": 0, "erased": 0}
    other = post(api, NOTES, notes("Two."), **keyed)
    assert other.status == 422
    assert other.body["fields"][0]["field"] == "Idempotency-Key"
    # Another caller's key of the same name is another key.
    assert post(api, NOTES, notes("One."), authorizer=jwt(org_id="acme", sub="ben"), **keyed).body["unchanged"] == 1
    installed.now += KEPT + timedelta(seconds=1)
    assert post(api, NOTES, notes("One."), **keyed).body["unchanged"] == 1


def test_a_failed_post_leaves_its_key_free(installed: World, api: Sandbox) -> None:
    keyed = {"headers": {"Idempotency-Key": "k1"}, "query": {"scope": "private"}}
    nobody = jwt(org_id="acme")
    for _ in range(2):
        assert post(api, NOTES, notes("One."), authorizer=nobody, **keyed).status == 422
    assert installed.rows("select * from idempotency_keys") == []


def test_a_request_that_died_is_done_by_the_next_one_after_a_while(installed: World, api: Sandbox) -> None:
    keyed = {"headers": {"Idempotency-Key": "k1"}}
    post(api, NOTES, notes("One."), **keyed)
    with installed.database.transaction(ANAS.tenant) as tx:
        tx.execute("reset role")
        tx.execute("alter table idempotency_keys no force row level security")
        tx.execute("update idempotency_keys set answer = null")
        tx.execute("alter table idempotency_keys force row level security")
    busy = post(api, NOTES, notes("One."), **keyed)
    assert (busy.status, busy.headers["retry-after"]) == (409, "5")
    installed.now = NOON + AT_WORK
    assert post(api, NOTES, notes("One."), **keyed).body["unchanged"] == 1


def test_the_same_post_at_once_is_done_once(installed: World, api: Sandbox) -> None:
    keyed = {"headers": {"Idempotency-Key": "k1"}}
    sandboxes = [load_sandbox("api") for _ in range(4)]
    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(lambda one: post(one, NOTES, notes("One."), **keyed), sandboxes))
    assert {answer.status for answer in answers} <= {200, 409}
    assert [answer.body["created"] for answer in answers if answer.status == 200] == [1] * sum(
        answer.status == 200 for answer in answers
    )
    assert len(call(api, NOTES).body["notes"]) == 1


def test_the_world_of_a_note_is_not_widened_by_ids(installed: World, api: Sandbox) -> None:
    installed.enrol("birch")
    installed.ingest(note("b", "Birch has a secret."), key=SliceKey("birch"))
    (theirs,) = call(api, NOTES, authorizer=BIRCH).body["notes"]
    assert call(api, f"{NOTES}/{theirs['note_id']}").status == 404
    retry = post(api, f"{NOTES}/retired/retry", {"note_ids": [theirs["note_id"]]})
    assert retry.body == {"retried": 0}
