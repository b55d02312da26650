"""The API and its page on this machine: HTTP requests become the events of API Gateway.

The real handler answers them. Only this machine reaches the server, and only who holds its token is
answered, except about the service's health and the page itself, which hold nothing of anybody.
"""

from __future__ import annotations

import hmac
import logging
import os
import secrets
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import parse_qsl, unquote, urlsplit
from uuid import uuid4

from dreaming.api.door import identity_rules
from dreaming.api.problems import CONTENT_TYPE, Refusal, for_log
from dreaming.api.requests import SEALED
from dreaming.errors import InvalidInput
from dreaming.local.functions import Function
from dreaming.local.home import make_home, private_file
from dreaming.notes.records import Tenant

ADDRESS = "127.0.0.1"

TIMEOUT_SECONDS = 29.0
"""The time-out of the API's function, as in AWS."""

MAX_BODY_BYTES = 6 * 1024 * 1024
"""What Lambda takes of a request."""

_log = logging.getLogger(__name__)

_LONGEST_LENGTH = 20
_OPEN_PATHS = frozenset({"/health", "/brain/dashboard"})
_TOKEN_FILE = "api-token"
_URL_FILE = "api-url"


def api_token(home: Path) -> str:
    """Return the installation's token, making it at first; only the home folder's owner can read it."""
    path = home / _TOKEN_FILE
    make_home(home)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_text("ascii").strip()
    with closing(os.fdopen(descriptor, "w", encoding="ascii")) as file:
        token = secrets.token_urlsafe(32)
        file.write(token)
    return token


@contextmanager
def announced(home: Path, url: str) -> Iterator[None]:
    """Let clients on this machine find the API's address in the home folder for as long as it is served."""
    path = private_file(home / _URL_FILE)
    path.write_text(url, "ascii")
    try:
        yield
    finally:
        # Another process may have taken over meanwhile.
        if path.exists() and path.read_text("ascii") == url:
            path.unlink()


class LocalApi:
    """Serves the API's function until it is stopped; the caller is `tenant` and administers."""

    def __init__(
        self, function: Function, *, tenant: Tenant, token: str, environment: Mapping[str, str], port: int
    ) -> None:
        """Bind the port; 0 takes a free one.

        Raises:
            InvalidInput: the port cannot be had.
        """
        handler = type("Handler", (_Handler,), {"gateway": _Gateway(function, tenant, token, environment)})
        try:
            self._server = _Server((ADDRESS, port), handler)
        except OSError as error:
            remedy = "stop what listens there, or name another with --port"
            raise InvalidInput("port", f"{port} cannot be had: {error.strerror}", remedy) from error
        self.port: int = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, name="api", daemon=True)

    @property
    def url(self) -> str:
        """The address of the API."""
        return f"http://{ADDRESS}:{self.port}"

    def start(self) -> None:
        """Serve in the background."""
        self._thread.start()

    def stop(self) -> None:
        """Answer what is under way, then stop."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    """Serves each connection in a thread; a client that goes away is no news."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report what is not the client's doing."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


class _Gateway:
    """What API Gateway is to the function: it verifies the caller and makes the event."""

    def __init__(self, function: Function, tenant: Tenant, token: str, environment: Mapping[str, str]) -> None:
        self._function = function
        self._token = token
        rules = identity_rules(environment)
        claims = {rules.org_claim: tenant.org_id, rules.admin_claim: "true"}
        if tenant.user_id is not None:
            claims[rules.user_claim] = tenant.user_id
        self._authorizer = {"jwt": {"claims": claims, "scopes": None}}
        # The application keeps its current request in itself, as one sandbox has one request at a time.
        self._lock = threading.Lock()

    def is_verified(self, headers: Mapping[str, str]) -> bool:
        """Tell whether the request carries the token."""
        scheme, _, token = headers.get("authorization", "").strip().partition(" ")
        return scheme.lower() == "bearer" and hmac.compare_digest(
            token.strip().encode("utf-8", "replace"), self._token.encode()
        )

    def answer(
        self, method: str, target: str, headers: dict[str, str], body: str, *, request_id: str, verified: bool
    ) -> dict[str, Any]:
        """Invoke the function with a request."""
        event = _event(method, target, headers, body, request_id)
        if verified:
            event["requestContext"]["authorizer"] = self._authorizer
        with self._lock:
            return self._function.invoke(event, request_id=request_id)


class _Handler(BaseHTTPRequestHandler):
    """Takes one request at a time from a connection."""

    gateway: ClassVar[_Gateway]
    protocol_version = "HTTP/1.1"
    server_version = "dreaming"
    sys_version = ""
    timeout = 60

    def _serve(self) -> None:
        self._request_id = uuid4().hex
        headers = {name.lower(): value for name, value in self.headers.items()}
        if unreadable := _unreadable(headers):
            # Where this body ends is not looked for, so what follows it is no request.
            self.close_connection = True
            return self._refuse(*unreadable)
        content = self.rfile.read(int(headers.get("content-length", "0")))
        verified = self.gateway.is_verified(headers)
        if refused := _refused(self.path, headers, verified=verified):
            return self._refuse(*refused)
        try:
            body = content.decode("utf-8")
        except UnicodeDecodeError:
            return self._refuse(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "the body is no UTF-8")
        answer = self.gateway.answer(
            self.command, self.path, headers, body, request_id=self._request_id, verified=verified
        )
        return self._send(answer["statusCode"], dict(answer.get("headers") or {}), str(answer.get("body") or ""))

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = _serve  # noqa: N815 - the base class's

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Say nothing: paths may name people."""

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Refuse what is no request, as everything else is refused."""
        self.close_connection = True
        self.request_version = self.protocol_version
        self._request_id = uuid4().hex
        self._refuse(HTTPStatus(code), message or HTTPStatus(code).phrase)

    def _refuse(self, status: HTTPStatus, detail: str) -> None:
        challenge = {"WWW-Authenticate": 'Bearer realm="dreaming"'} if status is HTTPStatus.UNAUTHORIZED else {}
        headers = {"Content-Type": CONTENT_TYPE, **SEALED, **challenge}
        refused = Refusal(status, detail)
        # Neither the path nor the method: both are whatever the client has sent.
        _log.warning("request refused", extra={"correlation_id": self._request_id, **for_log(refused)})
        self._send(status.value, headers, refused.body(self._request_id))

    def _send(self, status: int, headers: Mapping[str, str], body: str) -> None:
        encoded = body.encode("utf-8")
        self.send_response(status)
        # Of an answer to HEAD the function says how long the body would be.
        for name, value in {"Content-Length": str(len(encoded)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(encoded)


_Refused = tuple[HTTPStatus, str]


def _unreadable(headers: Mapping[str, str]) -> _Refused | None:
    """Return why a request's body is not read, if it is not."""
    length = headers.get("content-length", "0")
    if "transfer-encoding" in headers or not (length.isascii() and length.isdigit()):
        return HTTPStatus.LENGTH_REQUIRED, "send the body whole, with its Content-Length"
    if len(length) > _LONGEST_LENGTH or int(length) > MAX_BODY_BYTES:
        return HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the body is longer than {MAX_BODY_BYTES:,} bytes"
    return None


def _refused(target: str, headers: Mapping[str, str], *, verified: bool) -> _Refused | None:
    """Return why a request does not reach the function, if it does not."""
    try:
        path = urlsplit(target).path
        host = urlsplit(f"//{headers.get('host', '')}").hostname
    except ValueError:
        return HTTPStatus.BAD_REQUEST, "the address or the host is none"
    # A page of another site whose name was pointed here must not read anything.
    if host not in {ADDRESS, "localhost"}:
        return HTTPStatus.MISDIRECTED_REQUEST, f"ask at {ADDRESS} or localhost"
    if verified or path in _OPEN_PATHS:
        return None
    return HTTPStatus.UNAUTHORIZED, f"send Authorization: Bearer and the token in the home folder's {_TOKEN_FILE}"


def _query(written: str) -> dict[str, str]:
    """Return the parameters; one that comes again is joined with commas, as an HTTP API hands it over."""
    found: dict[str, str] = {}
    for name, value in parse_qsl(written, keep_blank_values=True):
        found[name] = f"{found[name]},{value}" if name in found else value
    return found


def _event(method: str, target: str, headers: Mapping[str, str], body: str, request_id: str) -> dict[str, Any]:
    """Return the event of payload format 2.0 for a request."""
    parts = urlsplit(target)
    path = unquote(parts.path)  # as an HTTP API hands it over
    query = _query(parts.query)
    event: dict[str, Any] = {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": parts.query,
        "headers": {name: value for name, value in headers.items() if name != "authorization"},
        "requestContext": {
            "accountId": "000000000000",
            "apiId": "local",
            "domainName": ADDRESS,
            "http": {"method": method, "path": path, "protocol": "HTTP/1.1", "sourceIp": ADDRESS},
            "requestId": request_id,
            "routeKey": "$default",
            "stage": "$default",
        },
        "isBase64Encoded": False,
    }
    return event | ({"queryStringParameters": query} if query else {}) | ({"body": body} if body else {})
