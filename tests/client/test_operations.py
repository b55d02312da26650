"""The client and the API's description, side by side: every operation has a method that fits it."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import AsyncIterator, Awaitable, Iterator
from typing import Any, assert_type

import httpx
import pytest
from jsonschema import Draft202012Validator

from dreaming.api.operations import OPERATIONS
from dreaming_client import AsyncDreaming, Dreaming, operations, records
from dreaming_client.calls import Call, Pages
from dreaming_client.methods import Methods
from tests.described import DOCUMENT

ID = "01a22c80-27ec-7a79-9df7-26d4c70a2d8d"

WITHOUT = {
    "get_page": "is for browsers",
    "get_description": "is for generators of other clients",
}
"""Operations that no method is for, and why."""

CALLS: dict[str, Call[Any] | Pages[Any]] = {
    "get_status": operations.status("decay", runs=3),
    "list_runs": operations.runs(),
    "get_timeline": operations.timeline(),
    "add_notes": operations.remember("a", {"text": "b", "source": "s"}, scope="private"),
    "list_notes": operations.notes(state="waiting", source="s"),
    "get_note": operations.note(ID),
    "withdraw_notes": operations.withdraw("s", "1"),
    "list_retired_notes": operations.retired(),
    "retry_retired_notes": operations.retry_retired(ID),
    "list_beliefs": operations.beliefs(kind="fact", min_confidence=0.5, archived=True),
    "get_beliefs_summary": operations.beliefs_summary(),
    "explain_belief": operations.why(ID),
    "confirm_belief": operations.confirm(ID),
    "archive_belief": operations.archive(ID),
    "restore_belief": operations.restore(ID),
    "unmerge_belief": operations.unmerge(ID),
    "split_source": operations.split(ID, ID),
    "get_brief": operations.brief(scope="org"),
    "get_fading": operations.forecast(limit=5),
    "list_conflicts": operations.conflicts(),
    "resolve_conflict": operations.resolve(ID, ID, "both"),
    "capture_conversation": operations.capture("c", [{"speaker": "ana", "text": "a"}], agent="bot"),
    "recall": operations.recall("a", scope="org", limit=3),
    "list_agents": operations.agents(),
    "list_actions": operations.actions(agent="bot", scoring="waiting"),
    "log_actions": operations.log_actions(
        {"agent_id": "bot", "external_id": "1", "tool": "mail", "summary": "Wrote.", "risk": "low"}
    ),
    "list_dead_actions": operations.dead_actions(agent="bot"),
    "retry_dead_actions": operations.retry_dead_actions(),
    "get_agent": operations.agent("bot"),
    "set_score": operations.set_score("bot", 70, "because", new=True),
    "get_permission": operations.permission("bot", "low"),
    "get_capabilities": operations.capabilities(),
    "list_audit": operations.audit(kind="beliefs"),
    "change_setting": operations.change_setting("batch_notes", 3),
    "reset_setting": operations.reset_setting("batch_notes"),
    "erase_notes": operations.erase_notes(ID),
    "lift_notes": operations.lift_erasure("s", "1"),
    "erase_mine": operations.erase_mine("ana"),
    "erase_organization": operations.erase_organization("acme"),
    "export": operations.export(scope="private"),
    "get_health": operations.health(),
}
"""A call of every operation, with every argument that it takes."""

MORE = {"search": "list_beliefs", "search_all": "list_beliefs", "fading": "get_fading", "score_changes": "get_agent"}
"""Methods that ask for an operation's answer in another way."""


def first(call: Call[Any] | Pages[Any]) -> Call[Any]:
    return call.page("c") if isinstance(call, Pages) else call


def test_every_operation_has_a_method_or_a_reason_for_none() -> None:
    assert set(CALLS) | set(WITHOUT) == {one.name for one in OPERATIONS.values()}
    assert set(CALLS) & set(WITHOUT) == set()
    assert len(methods()) == len(CALLS) + len(MORE)


def methods() -> dict[str, Any]:
    return {name: one for name, one in vars(Methods).items() if not name.startswith("_")}


def test_every_method_is_of_one_operation_and_both_clients_have_it() -> None:
    made = {
        name
        for name, one in inspect.getmembers(operations, inspect.isfunction)
        if one.__module__ == operations.__name__
    }
    assert set(methods()) == made
    clients = Dreaming("https://memory.test"), AsyncDreaming("https://memory.test")
    for name, one in methods().items():
        assert one.operation is getattr(operations, name)
        for client in clients:
            bound = getattr(client, name)
            assert bound.__doc__
            assert inspect.signature(bound) == inspect.signature(one.operation)


@pytest.mark.parametrize("name", sorted(CALLS))
def test_a_call_fits_the_description_and_reads_its_example(name: str) -> None:
    ((method, path),) = [route for route, one in OPERATIONS.items() if one.name == name]
    call = first(CALLS[name])
    described = DOCUMENT["paths"][path][method.lower()]
    assert call.method == method
    assert re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", path), call.path)
    parameters = {one["name"]: one for one in described.get("parameters", ()) if one["in"] == "query"}
    assert set(call.query) <= set(parameters)
    assert {one for one, told in parameters.items() if told.get("required")} <= set(call.query)
    if "requestBody" in described:
        schema = described["requestBody"]["content"]["application/json"]["schema"]
        validator = Draft202012Validator(schema | {"components": DOCUMENT["components"]})
        assert [error.message for error in validator.iter_errors(json.loads(json.dumps(call.body)))] == []
    assert (call.body is None) == ("requestBody" not in described)
    call.read(described["responses"]["200"]["content"]["application/json"]["example"])


@pytest.mark.parametrize("name", sorted(one for one, call in CALLS.items() if isinstance(call, Pages)))
def test_a_list_hands_its_cursor_back(name: str) -> None:
    call = CALLS[name]
    assert isinstance(call, Pages)
    assert "cursor" not in call.page(None).query
    assert call.page("c").query["cursor"] == "c"


def test_type_checkers_see_what_is_awaited() -> None:
    server = httpx.MockTransport(lambda _request: httpx.Response(200, json={"status": "ok", "version": "1"}))
    now, later = (
        Dreaming("https://memory.test", transport=server),
        AsyncDreaming("https://memory.test", transport=server),
    )
    assert now.health().status == "ok"

    def seen() -> None:
        assert_type(now.why(ID), records.Why)
        assert_type(later.why(ID), Awaitable[records.Why])
        assert_type(now.notes(), Iterator[records.Note])
        assert_type(later.notes(), AsyncIterator[records.Note])

    assert callable(seen)
