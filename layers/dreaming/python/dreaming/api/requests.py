"""Requests as the application takes them: methods that no route names, the size of a body, JSON that is none."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, NoReturn

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver
from aws_lambda_powertools.event_handler.api_gateway import ResponseBuilder, Route

from dreaming.api.operations import OPERATIONS
from dreaming.api.problems import CONTENT_TYPE, Refusal, for_log

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger
    from aws_lambda_powertools.utilities.typing import LambdaContext

_CHARACTERS: Mapping[str, tuple[str, str]] = {"agent_id": (".+", r"(?!.*/permission\Z).+")}
"""What a name in a path is made of inside and at the end, where that is not all but slashes.

API Gateway hands %2F over as a slash; a path that ends as another route does is that route's.
"""

MAX_BODY_BYTES = 4 * 1024 * 1024
"""The longest body, which Lambda's own bound of 6 MB holds in Base64 too."""

SEALED = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
"""Let no answer stay in a cache or be taken for what it is not."""


class Application(APIGatewayHttpResolver):
    """A resolver that answers HEAD as GET without the body, and takes no body that is too long or no text."""

    def __init__(self, logger: Logger) -> None:
        """Make an application without routes, whose requests are validated and whose refusals are logged."""
        super().__init__(enable_validation=True, json_body_deserializer=read_json)
        self._log = logger

    @staticmethod
    def _compile_regex(rule: str, base_regex: str = "^{}$") -> re.Pattern[str]:
        """Return the pattern of a route: a name in a path may have any character, an agent's a slash too."""

        def named(found: re.Match[str]) -> str:
            inside, last = _CHARACTERS.get(found[1], ("[^/]+", "[^/]+"))
            return f"(?P<{found[1]}>{last if found.end() == len(rule) else inside})"

        return re.compile(base_regex.format(re.sub(r"<(\w+)>", named, rule)), re.DOTALL)

    def resolve(self, event: Mapping[str, Any], context: LambdaContext) -> dict[str, Any]:
        """Answer one request, an event of payload format 2.0."""
        http = event["requestContext"]["http"]
        try:
            event = _as_text(event)
        except _NoJsonError as error:
            return self._plain(Refusal(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, str(error)), event)
        except ValueError:
            return self._plain(Refusal(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "the body is no JSON in UTF-8"), event)
        if len(event["body"].encode("utf-8", "replace")) > MAX_BODY_BYTES:
            detail = f"the body is longer than {MAX_BODY_BYTES:,} bytes; send less at once"
            return self._plain(Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, detail), event)
        if http["method"] != "HEAD":
            return super().resolve(event, context)
        request_context = {**event["requestContext"], "http": {**http, "method": "GET"}}
        answer = super().resolve({**event, "requestContext": request_context}, context)
        length = {"Content-Length": str(len(str(answer.get("body") or "").encode("utf-8")))}
        return {**answer, "headers": {**(answer.get("headers") or {}), **length}, "body": ""}

    def note(self, refused: Refusal) -> None:
        """Write a refusal of the current request to the log, under the id that its caller is told."""
        route = self.asked_route()
        self._write(refused, self.current_event.http_method, None if route is None else route.openapi_path)

    def asked_route(self) -> Route | None:
        """Return the route of the current request; None where no route has its path and method."""
        found: Route | None = self.context.get("_route")
        return found if found and (found.method, found.openapi_path) in OPERATIONS else None

    def sent(self) -> Any:
        """Return the current request's body as it was written; None where it is no JSON."""
        try:
            return read_json(self.current_event.body or "null")
        except json.JSONDecodeError:
            return None

    def _resolve(self) -> ResponseBuilder[Any]:
        """Find the route of the current request, whose path is no value of another route's parameter."""
        method = self.current_event.http_method.upper()
        if method not in self.methods():
            return self._handle_not_found(method=method, path=self.current_event.path)
        return super()._resolve()

    def _plain(self, refused: Refusal, event: Mapping[str, Any]) -> dict[str, Any]:
        """Answer a request that no route sees."""
        self._write(refused, event["requestContext"]["http"]["method"], None)
        return {
            "statusCode": refused.status.value,
            "headers": {"Content-Type": CONTENT_TYPE, **SEALED, **refused.headers},
            "body": refused.body(event["requestContext"].get("requestId")),
            "isBase64Encoded": False,
        }

    def _write(self, refused: Refusal, method: str, path: str | None) -> None:
        # A path that was asked for may name people; a route's pattern names nobody.
        if refused.status < HTTPStatus.INTERNAL_SERVER_ERROR:
            self._log.info("request refused", extra={"route": f"{method} {path or '?'}", **for_log(refused)})

    def methods(self) -> list[str]:
        """Return the methods that the current request's path has; none when no route has it.

        A path that routes name as it stands is no value of another route's parameter.
        """
        path = self._remove_prefix(self.current_event.path)
        found: set[str] = set()
        for routes in (self._static_routes, self._dynamic_routes):
            found = found or {route.method for route in routes if route.rule.match(path)}
        return sorted(found | ({"HEAD"} if "GET" in found else set()) | ({"OPTIONS"} if found else set()))


class _NoJsonError(ValueError):
    """The body says of itself that it is something else than JSON."""


def read_json(text: str) -> Any:
    """Read a body; what Python's reader takes beyond JSON, or cannot take, is no JSON either.

    Raises:
        json.JSONDecodeError: it is no JSON, nests too deeply, or has a number without end.
    """
    try:
        return json.loads(text, parse_constant=_refuse)
    except RecursionError as error:
        raise json.JSONDecodeError("nests too deeply", "", 0) from error
    except json.JSONDecodeError:
        raise
    except ValueError as error:
        raise json.JSONDecodeError("has a number that cannot be read", "", 0) from error


def _as_text(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return an event whose body is text; raises `ValueError` when it is none, `_NoJsonError` when it says so."""
    body = event.get("body") or ""
    headers = {name.lower(): value for name, value in (event.get("headers") or {}).items()}
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if body and kind not in ("", "application/json"):
        raise _NoJsonError("the body is not said to be JSON; send Content-Type: application/json")
    if event.get("isBase64Encoded"):
        body = b64decode(body, validate=True).decode("utf-8")
    # As the resolver knows it: in lower case and without its parameters.
    headers |= {"content-type": kind} if kind else {}
    return {**event, "headers": headers, "body": body, "isBase64Encoded": False}


def _refuse(name: str) -> NoReturn:
    raise ValueError(name)
