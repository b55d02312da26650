"""Nobody gets anything of anybody else: requests made of the description, with another tenant's names everywhere.

Each route is asked as one caller with every id, name, cursor and key that another one has, in path, query,
headers and body. No answer may hold a word or an id of the other that the request did not hold itself, and
not a row of the other may change.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dreaming.api.idempotency.service import HEADER
from dreaming.notes.records import Scope, SliceKey, Tenant
from tests.described import DOCUMENT
from tests.functions.http import call, jwt
from tests.functions.sandbox import Sandbox, load_sandbox
from tests.functions.story import post, tell, work, write_script
from tests.world import World

pytestmark = pytest.mark.slow

OPERATIONS = [(method, path) for path, methods in DOCUMENT["paths"].items() for method in methods]
ANA = jwt(org_id="acme", sub="ana", dreaming_admin="true")
KEY = "a-key-of-the-other"
NAME = "kestrel"
"""What every name of the other begins with; it is in no text."""


@dataclass(frozen=True)
class Other:
    """Whose things nobody else may see: a slice, its owner's claims, and the word that its texts hold."""

    key: SliceKey
    user: str
    claims: Mapping[str, Any]
    word: str

    @property
    def scope(self) -> str:
        return self.key.scope.value


OTHERS = {
    "another organization": Other(
        SliceKey("birch"), "eve", jwt(org_id="birch", sub="eve", dreaming_admin="true"), "quince"
    ),
    "another user": Other(SliceKey("acme", Scope.PRIVATE, "ben"), "ben", jwt(org_id="acme", sub="ben"), "medlar"),
}


@dataclass(frozen=True)
class Things:
    """What the other has: ids, names and cursors, by what they are."""

    ids: list[str]
    names: list[str]
    cursors: list[str]


@pytest.fixture(params=OTHERS)
def other(request: pytest.FixtureRequest) -> Other:
    return OTHERS[request.param]


@pytest.fixture
def api(installed: World, script: Path, other: Other) -> Sandbox:
    """Both have something of everything."""
    installed.environment |= {"DREAMING_CONVERSATION_MEMORY": "true"}
    installed.enrol("birch")
    write_script(script, "alder", other.word)
    loaded = load_sandbox("api")
    tell(loaded, ANA, "alder")
    tell(loaded, other.claims, other.word, other.scope, name=NAME)
    body = {"notes": [{"text": f"The {other.word} gate is locked.", "external_id": f"{NAME}-gate"}]}
    post(loaded, "/brain/notes", body, authorizer=other.claims, query={"scope": other.scope}, headers={HEADER: KEY})
    work(installed, "consolidate", "resolve_contradictions", "score_autonomy")
    return loaded


def things(installed: World, api: Sandbox, other: Other) -> Things:
    """Everything that the other has a name for, as the other reads it."""
    found: list[Any] = []
    for table, column in (("notes", "note"), ("beliefs", "belief"), ("sources", "source"), ("dream_runs", "run")):
        query = f"select {column}_id from {table} where slice_id = %s"
        found += installed.rows(query, (installed.slice(other.key).slice_id,), key=other.key)
    cursors = []
    for path in ("/brain/notes", "/brain/beliefs", "/brain/dream/runs"):
        query_of = {"limit": "1"} | ({} if path.endswith("runs") else {"scope": other.scope})
        cursors.append(call(api, path, query=query_of, authorizer=other.claims).body["next_cursor"])
    names = [other.user, f"{NAME}-1", f"{NAME}-talk", f"{NAME}-bot"]
    return Things([str(row[0]) for row in found], names, [cursor for cursor in cursors if cursor])


def test_nobody_gets_anything_of_anybody_else(installed: World, api: Sandbox, other: Other) -> None:
    had = things(installed, api, other)
    assert len(had.ids) > 8
    assert had.cursors
    before = rows(installed, other)
    asked: dict[tuple[str, str], int] = {}
    for method, path in OPERATIONS:
        for one in requests(method, path, had):
            sent = json.dumps(one)
            answer = api.invoke(event(one), seconds=29)
            assert answer["statusCode"] < 500, (one, answer)
            held = {thing for thing in (other.word, *had.ids) if thing in (answer.get("body") or "")}
            assert {thing for thing in held if thing not in sent} == set(), (one, answer)
            if one["path"] != path:
                # What a path names is not there, or is refused: no answer tells that somebody else has it.
                assert answer["statusCode"] in (200, 400, 401, 403, 404, 422), (one, answer)
            asked[method, path] = asked.get((method, path), 0) + 1
    assert set(asked) == set(OPERATIONS)
    assert rows(installed, other) == before
    # The same look, as the other: what was looked for can be found.
    seen = 0
    for method, path in OPERATIONS:
        if method == "get" and "{" not in path:
            query = {"q": other.word, "scope": other.scope} if path in SEARCHED else {}
            body = json.dumps(call(api, path, query=query or None, authorizer=other.claims).body)
            seen += other.word in body
    assert seen >= 3


@pytest.mark.parametrize("authorizer", [None, {}, {"lambda": {"org_id": "acme"}}, jwt(sub="ana")], ids=str)
def test_nobody_without_an_organization_gets_anything(installed: World, authorizer: Any) -> None:
    api = load_sandbox("api")
    for method, path in OPERATIONS:
        if DOCUMENT["paths"][path][method].get("security") == []:
            continue
        for one in requests(method, path, Things([UNKNOWN], ["ana"], [])):
            answer = api.invoke(event(one, authorizer=authorizer), seconds=29)
            # What does not fit the schema may be refused before anybody asks who calls.
            assert answer["statusCode"] in (401, 403, 422), (one, answer)


UNKNOWN = "00000000-0000-7000-8000-000000000007"
SEARCHED = {"/brain/beliefs", "/brain/recall", "/brain/notes"}


def event(one: Mapping[str, Any], *, authorizer: Any = ANA) -> dict[str, Any]:
    from tests.functions.http import request

    return request(**one, authorizer=authorizer)


def requests(method: str, path: str, had: Things) -> Iterator[dict[str, Any]]:
    """Requests of one route that name the other's things wherever it takes a name."""
    operation = DOCUMENT["paths"][path][method]
    parameters = operation.get("parameters", [])
    schema = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    in_path = [one for one in parameters if one["in"] == "path"]
    wider = {"org_id": "birch", "dreaming_admin": "true"}
    wider |= dict.fromkeys(("user_id", "owner_user_id", "sub"), had.names[0])
    for number in range(max(len(had.ids), len(had.names)) if in_path or schema else 1):
        filled = path
        for shift, parameter in enumerate(in_path):
            filled = filled.replace(f"{{{parameter['name']}}}", value_of(parameter, had, number + shift))
        body = None if schema is None else json.dumps(example(schema, had, number))
        for query in queries(parameters, had) if number == 0 else [{}]:
            for headers in ({}, {"idempotency-key": KEY, "x-org-id": "birch", "authorization": "Bearer x"}):
                yield {
                    "path": filled,
                    "method": method.upper(),
                    "query": {**query, **(wider if headers else {})},
                    "headers": headers,
                    "body": body,
                }


def queries(parameters: list[dict[str, Any]], had: Things) -> Iterator[dict[str, str]]:
    """Queries with each scope, each cursor and each name."""
    names = {one["name"]: one for one in parameters if one["in"] == "query"}
    required = {name: value_of(one, had, 0) for name, one in names.items() if one.get("required")}
    yield required
    for scope in ("org", "private", "shared") if "scope" in names else ():
        yield required | {"scope": scope}
    for cursor in had.cursors if "cursor" in names else ():
        yield required | {"cursor": cursor}
    for name in {"agent", "source"} & set(names):
        for value in had.names:
            yield required | {name: value}


def value_of(parameter: Mapping[str, Any], had: Things, number: int) -> str:
    return str(example(parameter["schema"], had, number))


def example(schema: Mapping[str, Any], had: Things, number: int) -> Any:
    """A value of a schema, made of the other's ids and names."""
    if "$ref" in schema:
        return example(DOCUMENT["components"]["schemas"][schema["$ref"].rpartition("/")[2]], had, number)
    if "anyOf" in schema:
        return example(next(one for one in schema["anyOf"] if one.get("type") != "null"), had, number)
    kind = schema.get("type")
    if kind == "object":
        return {name: example(one, had, number) for name, one in schema.get("properties", {}).items()}
    if kind == "array":
        return [example(schema.get("items", {}), had, number)]
    values = schema.get("enum") or PLAIN.get(schema.get("format") or kind) or had.names
    values = had.ids if schema.get("format") == "uuid" else values
    return values[number % len(values)]


PLAIN: Mapping[Any, list[Any]] = {
    "integer": [1],
    "number": [0.5],
    "boolean": [True, False],
    "date-time": ["2026-05-01T12:00:00Z"],
}


def rows(installed: World, other: Other) -> dict[str, Any]:
    """What the other's rows amount to, by table; tables without a slice count for another organization only."""
    columns = installed.rows(
        "select table_name, array_agg(column_name::text) from information_schema.columns "
        "join information_schema.tables using (table_schema, table_name) "
        "where table_schema = 'dreaming' and table_type = 'BASE TABLE' group by 1"
    )
    found: dict[str, Any] = {}
    with installed.database.transaction(Tenant(other.key.org_id, other.user)) as tx:
        for table, names in columns:
            if "slice_id" in names:
                condition = f"slice_id = {installed.slice(other.key).slice_id}"
            elif "org_id" in names and other.key.org_id == "birch":
                condition = "org_id = 'birch'"
            else:
                continue
            digest = "md5(coalesce(string_agg(t::text, '|' order by t::text), ''))"
            found[table] = tx.execute(f"select count(*), {digest} from dreaming.{table} t where {condition}").fetchone()
    assert found["beliefs"][0] > 0
    return found
