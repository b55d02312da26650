"""Every list of the API has the same pages: made of the description, so a list to come is asked too."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from psycopg import Cursor

from dreaming.database import Transaction
from tests.described import DOCUMENT
from tests.functions.http import call, jwt
from tests.functions.sandbox import Sandbox, load_sandbox
from tests.functions.story import post, tell, work, write_script
from tests.world import World

ANA = jwt(org_id="acme", sub="ana", dreaming_admin="true")
BEN = jwt(org_id="acme", sub="ben", dreaming_admin="true")
EVE = jwt(org_id="birch", sub="eve", dreaming_admin="true")
WORDS = ("alder", "cedar", "hazel")

WITHOUT_PAGES = {"/brain/recall": "the best hits, ten at most"}
"""What takes a limit and has no pages, and why."""

ITEMS = {
    "/brain/dream/runs": "runs",
    "/brain/notes": "notes",
    "/brain/notes/retired": "notes",
    "/brain/beliefs": "beliefs",
    "/brain/fading": "next_ones",
    "/brain/conflicts": "conflicts",
    "/brain/autonomy": "agents",
    "/brain/autonomy/agents/{agent_id}": "changes",
    "/brain/autonomy/actions": "actions",
    "/brain/autonomy/actions/dead": "actions",
    "/brain/settings/audit": "entries",
    "/brain/export": "records",
}
"""What the items of each list stand under."""

FILTERS: dict[str, dict[str, str]] = {
    "scope": {"scope": "shared"},
    "state": {"state": "waiting"},
    "source": {"source": "elsewhere"},
    "q": {"q": "shed"},
    "kind": {"kind": "fact"},
    "min_confidence": {"min_confidence": "0.1"},
    "archived": {"archived": "true"},
    "as_of": {"as_of": "2026-05-01T12:00:00Z"},
    "believed_at": {"believed_at": "2026-05-01T12:00:00Z"},
    "agent": {"agent": "alder-bot"},
    "scoring": {"scoring": "waiting"},
}
"""Another value of each filter."""


def lists() -> Iterator[tuple[str, set[str]]]:
    """Every route that takes a limit, with the names of its parameters."""
    for path, methods in DOCUMENT["paths"].items():
        names = {one["name"] for one in methods.get("get", {}).get("parameters", ()) if one["in"] == "query"}
        if "limit" in names and path not in WITHOUT_PAGES:
            yield path, names


def test_every_list_has_pages() -> None:
    found = dict(lists())
    assert set(found) == set(ITEMS)
    for path, names in found.items():
        described = DOCUMENT["paths"][path]["get"]
        assert "cursor" in names
        assert "400" in described["responses"]
        schema = described["responses"]["200"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
        assert "next_cursor" in DOCUMENT["components"]["schemas"][schema]["properties"]
        assert names - {"limit", "cursor"} <= set(FILTERS)


@pytest.fixture
def api(installed: World, script: Path) -> Sandbox:
    """An organization with several of everything."""
    write_script(script, *WORDS)
    loaded = load_sandbox("api")
    for word in WORDS:
        tell(loaded, ANA, word)
    work(installed, "consolidate", "resolve_contradictions")
    with installed.transaction() as tx:
        give_up(tx)
    for size in ("3", "4", "5"):
        body = json.dumps({"value": int(size)})
        call(loaded, "/brain/settings/batch_notes", method="PUT", body=body, authorizer=ANA)
        score = json.dumps({"score": 70 + int(size), "reason": "looked at"})
        call(loaded, filled("/brain/autonomy/agents/{agent_id}"), method="PUT", body=score, authorizer=ANA)
    return loaded


def give_up(tx: Transaction) -> None:
    tx.execute(
        "insert into autonomy_dead_letters"
        " (action_id, org_id, agent_id, reason, attempts, first_unreadable_at, dead_at) "
        "select action_id, org_id, agent_id, 'unparseable', 3, acted_at, acted_at from autonomy_actions"
    )


def filled(path: str) -> str:
    """The path with the names of things that there are."""
    return path.replace("{agent_id}", "alder-bot")


def walk(api: Sandbox, path: str, query: dict[str, str]) -> list[Any]:
    found: list[Any] = []
    cursor: dict[str, str] = {}
    while True:
        answer = call(api, filled(path), query={**query, "limit": "1", **cursor}, authorizer=ANA)
        assert answer.status == 200, (path, answer.body)
        assert len(answer.body[ITEMS[path]]) <= 1
        found += answer.body[ITEMS[path]]
        if answer.body["next_cursor"] is None:
            return found
        cursor = {"cursor": answer.body["next_cursor"]}
        assert len(found) < 200


def test_pages_come_to_the_whole_and_a_cursor_fits_its_list_alone(api: Sandbox) -> None:
    cursors = {}
    for path, names in lists():
        query = {"scope": "org"} if "scope" in names else {}
        whole = call(api, filled(path), query={**query, "limit": "200"}, authorizer=ANA).body[ITEMS[path]]
        assert len(whole) >= 2, path
        assert walk(api, path, query) == whole, path
        cursor = call(api, filled(path), query={**query, "limit": "1"}, authorizer=ANA).body["next_cursor"]
        cursors[path] = cursor
        for name in names - {"limit", "cursor"}:
            changed = {"kind": "settings"} if path.endswith("audit") else FILTERS[name]
            other = call(api, filled(path), query={**query, **changed, "cursor": cursor}, authorizer=ANA)
            assert other.status == 400, (path, name)
            assert f"another '{name}'" in other.body["detail"]
            assert [one["field"] for one in other.body["fields"]] == ["cursor"]
        for who in (BEN, EVE):
            other = call(api, filled(path), query={**query, "cursor": cursor}, authorizer=who)
            assert (other.status, "another caller" in other.body["detail"]) == (400, True), path
    for path in cursors:
        for theirs, cursor in cursors.items():
            if theirs != path:
                assert call(api, filled(path), query={"cursor": cursor}, authorizer=ANA).status == 400


def test_a_page_of_conflicts_costs_the_same_statements_for_one_pair_and_for_all(
    installed: World, api: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts: list[int] = []
    execute = Cursor.execute

    def counted(self: Cursor[Any], *args: Any, **options: Any) -> Any:
        counts[-1] += 1
        return execute(self, *args, **options)

    monkeypatch.setattr(Cursor, "execute", counted)
    for limit in ("1", "200"):
        counts.append(0)
        found = call(api, "/brain/conflicts", query={"limit": limit}, authorizer=ANA).body["conflicts"]
        assert len(found) == (1 if limit == "1" else len(WORDS))
        assert all(len(side["sources"]) == 1 for one in found for side in (one["left"], one["right"]))
    assert counts[0] == counts[1] > 0


def test_the_audit_is_narrowed_to_what_it_is_asked_for(api: Sandbox) -> None:
    (first, *_) = call(api, "/brain/beliefs", authorizer=ANA).body["beliefs"]
    assert post(api, f"/brain/beliefs/{first['belief_id']}/confirm", authorizer=ANA).status == 200
    erased = {"note_ids": [call(api, "/brain/notes", authorizer=ANA).body["notes"][0]["note_id"]]}
    assert post(api, "/brain/erasure/notes", erased, authorizer=ANA).status == 200
    actions = {}
    for kind in ("settings", "beliefs", "erasure"):
        entries = call(api, "/brain/settings/audit", query={"kind": kind}, authorizer=ANA).body["entries"]
        actions[kind] = {one["action"] for one in entries}
    assert actions == {
        "settings": {"setting_changed", "enrolment_changed"} & actions["settings"],
        "beliefs": {"belief_confirmed"},
        "erasure": {"notes_erased"},
    }
    assert "setting_changed" in actions["settings"]
    everything = call(api, "/brain/settings/audit", query={"limit": "200"}, authorizer=ANA).body["entries"]
    assert {one["action"] for one in everything} == set().union(*actions.values())
