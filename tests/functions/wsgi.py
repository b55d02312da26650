"""The API's function behind WSGI: a gateway that verifies one token and hands requests on as events."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl

from tests.functions.http import request
from tests.functions.sandbox import Sandbox

TOKEN = "Bearer ana"
OPEN = {"/health", "/brain/dashboard"}


class Gateway:
    """An application of WSGI. Who sends `TOKEN` is `authorizer`; others get no further than open paths."""

    def __init__(self, api: Sandbox, authorizer: Mapping[str, Any]) -> None:
        self._api = api
        self._authorizer = authorizer

    def __call__(self, environ: Mapping[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        answer = self._answer(environ)
        status = HTTPStatus(answer["statusCode"])
        start_response(f"{status.value} {status.phrase}", list((answer.get("headers") or {}).items()))
        return [(answer.get("body") or "").encode()]

    def _answer(self, environ: Mapping[str, Any]) -> dict[str, Any]:
        path = environ["PATH_INFO"].encode("latin-1").decode("utf-8", "replace")
        headers = {
            name.removeprefix("HTTP_").replace("_", "-").lower(): value
            for name, value in environ.items()
            if name.startswith("HTTP_") or name == "CONTENT_TYPE"
        }
        verified = headers.pop("authorization", None) == TOKEN
        if not verified and path not in OPEN:
            problem = '{"type":"about:blank","title":"Unauthorized","status":401,"fields":[]}'
            return {"statusCode": 401, "headers": {"Content-Type": "application/problem+json"}, "body": problem}
        text = environ.get("QUERY_STRING", "")
        event = request(
            path,
            authorizer=self._authorizer if verified else None,
            method=environ["REQUEST_METHOD"],
            query=dict(parse_qsl(text, keep_blank_values=True)),
            headers=headers,
            body=environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0)).decode("utf-8", "replace"),
        )
        return dict(self._api.invoke(event | {"rawQueryString": text}, seconds=29))
