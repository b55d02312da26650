"""A place that no page ended with, behind the head of a cursor that one did, is refused and never fails."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator
from typing import Any

import pytest

from tests.described import DOCUMENT
from tests.functions.http import call
from tests.functions.sandbox import Sandbox
from tests.functions.test_api_pages import ANA, api, filled, lists

__all__ = ["api"]

PARTS: tuple[Any, ...] = (
    *("\0", "\ud800", "0" * 5_000, ""),
    *(-1, 2**15, 2**31, 2**40, 2**63, 10**30, -(10**30)),
    *(-0.5, 1.5, 1e308, float("inf"), float("nan")),
    *(None, True, [], {}, [1], "[null]", '["q"]', "[[]]", "{}", "1", json.dumps(["\0"]), json.dumps(["9" * 30])),
)
"""What stands in place of one part of a true place."""

WHITE_SPACE = (" ", "\t\n", "\u00a0", "\u2003")


def raw(cursor: str) -> bytes:
    return urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))


def printed(content: bytes) -> str:
    return urlsafe_b64encode(content).decode().rstrip("=")


def cursors(api: Sandbox) -> Iterator[tuple[str, dict[str, str], bytes, list[Any]]]:
    """Each list with a query, the head of a cursor of it, and the parts of its place."""
    for path, names in lists():
        for query in [{"scope": "org"}, {"scope": "org", "q": "shed"}] if "q" in names else [{"scope": "org"}]:
            asked = query if "scope" in names else {}
            page = call(api, filled(path), query={**asked, "limit": "1"}, authorizer=ANA)
            content = raw(page.body["next_cursor"])
            end = 8 + 5 * content[0]
            yield path, asked, content[:end], json.loads(content[end:])


def test_a_forged_place_is_refused_by_every_list(api: Sandbox) -> None:
    for path, query, head, place in cursors(api):
        refused = 0
        for number in range(len(place)):
            for part in PARTS:
                forged = [*place[:number], part, *place[number + 1 :]]
                cursor = printed(head + json.dumps(forged).encode())
                answer = call(api, filled(path), query={**query, "limit": "1", "cursor": cursor}, authorizer=ANA)
                assert answer.status in (200, 400), (path, number, part, answer.body)
                refused += answer.status == 400
                if part in ("\0", "\ud800", None):
                    assert answer.status == 400, (path, number, part)
        assert refused >= 10 * len(place), path
        whole = call(
            api, filled(path), query={**query, "cursor": printed(head + json.dumps(place).encode())}, authorizer=ANA
        )
        assert whole.status == 200, path


def test_a_cursor_beyond_all_length_is_of_no_page(api: Sandbox) -> None:
    for path, _names in lists():
        for length in (2_001, 8_001):
            answer = call(api, filled(path), query={"cursor": "A" * length}, authorizer=ANA)
            assert (answer.status, answer.body["fields"][0]["field"]) == (400, "cursor"), path


def test_agents_with_the_longest_names_have_pages(api: Sandbox) -> None:
    names = sorted("\U0001f980" * 199 + letter for letter in "ab")
    actions = [{"agent_id": name, "external_id": "1", "tool": "t", "summary": "s", "risk": "low"} for name in names]
    body = json.dumps({"actions": actions})
    assert call(api, "/brain/autonomy/actions", method="POST", body=body, authorizer=ANA).status == 200
    found: list[str] = []
    cursor: dict[str, str] = {}
    while len(found) < 10:
        page = call(api, "/brain/autonomy", query={"limit": "1", **cursor}, authorizer=ANA)
        assert page.status == 200, page.body
        found += [one["agent_id"] for one in page.body["agents"]]
        if page.body["next_cursor"] is None:
            break
        cursor = {"cursor": page.body["next_cursor"]}
    assert set(names) < set(found)


def written(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to each text within a body."""
    if isinstance(value, str):
        yield path
    elif isinstance(value, dict | list):
        for name, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from written(inner, (*path, name))


def put(value: Any, path: tuple[Any, ...], text: str) -> Any:
    if not path:
        return text
    changed = dict(value) if isinstance(value, dict) else list(value)
    changed[path[0]] = put(value[path[0]], path[1:], text)
    return changed


def bodies() -> Iterator[tuple[str, str, Any]]:
    for path, methods in DOCUMENT["paths"].items():
        for method, described in methods.items():
            content = described.get("requestBody", {}).get("content", {}).get("application/json", {})
            examples = [content["example"]] if "example" in content else []
            examples += [one["value"] for one in content.get("examples", {}).values()]
            yield from ((path, method.upper(), one) for one in examples)


def test_white_space_alone_fails_in_no_text_of_any_body(api: Sandbox) -> None:
    tried = 0
    for path, method, body in bodies():
        route = filled(path)
        for name in ("belief_id", "note_id", "source_id", "relationship_id"):
            route = route.replace(f"{{{name}}}", "00000000-0000-7000-8000-000000000007")
        for place in written(body):
            for text in WHITE_SPACE:
                changed = json.dumps(put(body, place, text))
                answer = call(api, route.replace("{name}", "chat_model"), method=method, body=changed, authorizer=ANA)
                assert answer.status < 500, (method, path, place, text, answer.body)
                tried += 1
    assert tried > 40


@pytest.mark.parametrize("field", ["agent_id", "external_id", "tool", "conversation_id"])
def test_an_action_without_a_name_is_refused_by_its_field(api: Sandbox, field: str) -> None:
    action = {"agent_id": "a", "external_id": "1", "tool": "t", "summary": "s", "risk": "low"}
    for text in (*WHITE_SPACE, "\u0958" * 512):
        body = json.dumps({"actions": [action, {**action, field: text}]})
        answer = call(api, "/brain/autonomy/actions", method="POST", body=body, authorizer=ANA)
        assert answer.status == 422
        assert [one["field"] for one in answer.body["fields"]] == [f"actions.1.{field}"]
