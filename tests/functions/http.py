"""Requests as API Gateway hands them to the API's function (payload format 2.0), and its answers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.functions.sandbox import Sandbox


def jwt(**claims: str) -> dict[str, Any]:
    """What the JWT authorizer writes of a token that it has verified."""
    return {"jwt": {"claims": claims, "scopes": None}}


IAM = {"iam": {"accountId": "000000000000", "userArn": "arn:aws:iam::000000000000:user/ci", "userId": "AIDA"}}
ANA = jwt(org_id="acme", sub="ana")


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: Any


def request(
    path: str,
    *,
    authorizer: Mapping[str, Any] | None = ANA,
    method: str = "GET",
    query: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    body: str | None = None,
) -> dict[str, Any]:
    """An event; without an authorizer the route has none."""
    context: dict[str, Any] = {
        "accountId": "000000000000",
        "apiId": "api",
        "domainName": "api.execute-api.localhost",
        "http": {"method": method, "path": path, "protocol": "HTTP/1.1", "sourceIp": "127.0.0.1", "userAgent": "test"},
        "requestId": "request-1",
        "routeKey": "ANY /{proxy+}",
        "stage": "$default",
        "time": "01/Jun/2026:12:00:00 +0000",
        "timeEpoch": 1780315200000,
    }
    if authorizer is not None:
        context["authorizer"] = dict(authorizer)
    event = {
        "version": "2.0",
        "routeKey": "ANY /{proxy+}",
        "rawPath": path,
        "rawQueryString": "&".join(f"{name}={value}" for name, value in (query or {}).items()),
        "headers": {"accept": "application/json", **(headers or {})},
        "requestContext": context,
        "isBase64Encoded": False,
    }
    return event | ({"queryStringParameters": dict(query)} if query else {}) | ({"body": body} if body else {})


def call(api: Sandbox, path: str, **options: Any) -> Answer:
    """Invoke the API's function with a request."""
    raw = api.invoke(request(path, **options), seconds=29)
    headers = {name.lower(): value for name, value in raw["headers"].items()}
    return Answer(raw["statusCode"], headers, json.loads(raw["body"]))
