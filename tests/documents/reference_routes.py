"""The page of the routes, from the committed description of the API and what the code says of each route."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from aws_lambda_powertools import Logger

from dreaming.api.application import build
from dreaming.api.operations import OPERATIONS
from tests.architecture.modules import ROOT

_HEAD = """# Routes

Written from [openapi.json](../openapi.json) by `make docs`. What all routes keep to (errors, pages, times, callers) is
told in [The HTTP API](../api.md); [the client](../client.md) has a method for most.

"""
_EXAMPLE_CHARACTERS = 1_200


def routes_page() -> str:
    """Return the page, in Markdown."""
    document = json.loads((ROOT / "docs" / "openapi.json").read_text("utf-8"))
    sentences = _sentences()
    pieces = [_HEAD]
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            pieces += _route(
                method.upper(), path, operation, document["components"]["schemas"], sentences[method.upper(), path]
            )
    return "".join(pieces)


def _no_request() -> NoReturn:
    raise AssertionError("no request is made")


def _sentences() -> dict[tuple[str, str], str]:
    """Return what the code says of each route."""
    app = build(_no_request, Logger(service="documents"))
    found = {}
    for route in (*app._static_routes, *app._dynamic_routes):
        name = route.method, re.sub(r"<(\w+)>", r"{\1}", route.path)
        found[name] = " ".join((route.func.__doc__ or "").split())
    return found


def _route(
    method: str, path: str, operation: Mapping[str, Any], schemas: Mapping[str, Any], sentences: str
) -> Iterator[str]:
    known = OPERATIONS[method, path]
    yield f"## `{method} {path}`\n\n{sentences}\n\n"
    yield f"{_who(operation)}{f' The command: `dream {known.command}`.' if known.command else ''}\n"
    given = [*_parameters(operation, schemas), *_body(operation, schemas)]
    if given:
        yield "\n| given | in | type | meaning |\n|---|---|---|---|\n"
        yield from given
    yield f"\nAnswers {', '.join(operation['responses'])}. "
    content = operation["responses"]["200"]["content"]["application/json"]
    yield f"With 200: {_kind(content['schema'], schemas)}.\n"
    if "requestBody" in operation:
        yield from _example("Sent", operation["requestBody"]["content"]["application/json"].get("example"))
    yield from _example("Answered", content.get("example"))
    yield "\n"


def _who(operation: Mapping[str, Any]) -> str:
    if operation.get("security") == [] or "401" not in operation["responses"]:
        return "Anybody may ask."
    return "Callers with a token or AWS credentials; the organization and the user come from these."


def _parameters(operation: Mapping[str, Any], schemas: Mapping[str, Any]) -> Iterator[str]:
    for one in operation.get("parameters", ()):
        meaning = " ".join(str(one.get("description", "")).split())
        needed = "" if one.get("required") else _default(one["schema"])
        yield _row(one["name"], one["in"], _kind(one["schema"], schemas), f"{meaning}{needed}")


def _body(operation: Mapping[str, Any], schemas: Mapping[str, Any]) -> Iterator[str]:
    if "requestBody" not in operation:
        return
    schema = operation["requestBody"]["content"]["application/json"]["schema"]
    body = schemas[schema["$ref"].rsplit("/", 1)[1]] if "$ref" in schema else schema
    for name, field in body.get("properties", {}).items():
        needed = "" if name in body.get("required", ()) else _default(field)
        yield _row(
            name, "body", _kind(field, schemas), f"{' '.join(str(field.get('description', '')).split())}{needed}"
        )


def _row(*cells: str) -> str:
    first, *rest = (cell.replace("|", "&#124;") for cell in cells)
    return f"| `{first}` | {' | '.join(rest)} |\n"


def _default(schema: Mapping[str, Any]) -> str:
    default = schema.get("default")
    return " Optional." if default is None else f" `{json.dumps(default)}` unless given."


def _kind(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        choices = schemas[name].get("enum")
        return ", ".join(f"`{one}`" for one in choices) if choices else f"`{name}`"
    if "anyOf" in schema:
        return " or ".join(_kind(one, schemas) for one in schema["anyOf"] if one.get("type") != "null")
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}), schemas)}"
    if "enum" in schema:
        return ", ".join(f"`{one}`" for one in schema["enum"])
    return str(schema.get("format") or schema.get("type") or "any")


def _example(title: str, example: Any) -> Iterator[str]:
    if example is None:
        return
    text = json.dumps(example, indent=1, ensure_ascii=False)
    if len(text) > _EXAMPLE_CHARACTERS:
        text = text[:_EXAMPLE_CHARACTERS].rsplit("\n", 1)[0] + "\n …"
    yield f"\n{title}:\n\n```text\n{text}\n```\n"
