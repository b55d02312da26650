"""The description of the API in OpenAPI 3.1: names, examples, who may call, and what every answer can be."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from http import HTTPStatus
from importlib.resources import files
from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver

from dreaming import __version__
from dreaming.api.idempotency.service import HEADER
from dreaming.api.operations import OPERATIONS
from dreaming.api.problems import CONTENT_TYPE

_DESCRIPTION = (
    "What Dreaming has read, believes and waits for. Every route but /health wants a caller whom API Gateway has "
    "verified; the organization and the user come from that alone. Lists end with a `next_cursor` while there is "
    "more. A post that is sent again with the same `Idempotency-Key` within a day is done once. Errors are problem "
    "details (RFC 9457)."
)
_TAGS = {
    "dream": "Where the passes stand, and what their runs did.",
    "notes": "Raw text that came in.",
    "beliefs": "What is believed, why, and what a person says of it.",
    "conflicts": "Beliefs that contradict each other and need a person.",
    "conversations": "Past conversations, captured and found again.",
    "autonomy": "What agents did, and what they may do.",
    "settings": "Settings, consents, and who changed them.",
    "erasure": "What is erased for good, and what is held on somebody.",
    "service": "The service itself.",
}
_SCHEMES: Mapping[str, Any] = {
    "token": {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "JWT",
        "description": "A token whose claims name the organization and the user; on a laptop, the installation's.",
    },
    "aws": {
        "type": "apiKey",
        "in": "header",
        "name": "Authorization",
        "x-amazon-apigateway-authtype": "awsSigv4",
        "description": "A request signed with AWS credentials (Signature Version 4, service `execute-api`).",
    },
}
_OPEN = frozenset({"get_health"})
_ONCE_BY_ITSELF = frozenset({"capture_conversation"})
_PROBLEM = {CONTENT_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
_OF_BODIES = {
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "The body is too long.",
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: "The body is no JSON in UTF-8.",
}
_IDEMPOTENCY = {
    "name": HEADER,
    "in": "header",
    "required": False,
    "schema": {"type": "string", "minLength": 1, "maxLength": 200},
    "description": "The request's own name: sent again with it within a day, the request is done once.",
}


def describe(app: APIGatewayHttpResolver) -> str:
    """Return the description of all routes of `app`, as JSON."""
    written = app.get_openapi_json_schema(title="Dreaming", version=__version__, description=_DESCRIPTION)
    document: dict[str, Any] = json.loads(written)
    document["tags"] = [{"name": name, "description": sentence} for name, sentence in _TAGS.items()]
    document["components"]["securitySchemes"] = dict(_SCHEMES)
    document["security"] = [{name: []} for name in _SCHEMES]
    for method, path, operation in _operations(document):
        _complete(operation, method, path)
    return json.dumps(document, ensure_ascii=False)


def _operations(document: Mapping[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path, operation


def _complete(operation: dict[str, Any], method: str, path: str) -> None:
    known = OPERATIONS.get((method, path))
    if known is None:  # a route that is being written; a test asks for its line
        return
    operation["operationId"] = known.name
    responses = operation["responses"]
    if known.name in _OPEN:
        operation["security"] = []
        responses["422"] = {"description": "A parameter is unknown.", "content": _PROBLEM}
    else:
        responses["429"] = {"description": "API Gateway has seen too many requests; this one never arrived."}
    if method == "POST" and known.name not in _ONCE_BY_ITSELF:
        operation.setdefault("parameters", []).append(_IDEMPOTENCY)
    if "requestBody" in operation:
        for status, sentence in _OF_BODIES.items():
            responses[str(status.value)] = {"description": sentence, "content": _PROBLEM}
    operation["responses"] = dict(sorted(responses.items()))
    example = _examples().get(known.name, {})
    if "request" in example:
        operation["requestBody"]["content"]["application/json"]["example"] = example["request"]
    if "response" in example:
        responses["200"]["content"]["application/json"]["example"] = example["response"]
    for parameter in operation.get("parameters", ()):
        if parameter["name"] in example.get("parameters", {}):
            parameter["example"] = example["parameters"][parameter["name"]]


@cache
def _examples() -> Mapping[str, Any]:
    """Return what a deployment has answered once, by the names of the operations."""
    found: Mapping[str, Any] = json.loads((files("dreaming.api") / "examples.json").read_text("utf-8"))
    return found
