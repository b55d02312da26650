"""A small OpenID provider on this machine: discovery, authorization and token endpoint, code flow with PKCE."""

from __future__ import annotations

import json
import threading
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

CLIENT = "the-page"
FAR = 4_102_444_800
CODE = "a-code"


@dataclass
class Provider:
    """What the provider was asked, and what it answers: `claims` override those of the ID token."""

    access_token: str
    url: str = ""
    claims: dict[str, Any] = field(default_factory=dict)
    echoed: dict[str, str] = field(default_factory=dict)
    refuses: str = ""
    asked: dict[str, str] = field(default_factory=dict)
    exchanged: dict[str, str] = field(default_factory=dict)

    def discovery(self) -> dict[str, str]:
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
        }

    def redirect(self, query: dict[str, str]) -> str:
        """Where somebody who has agreed, or was refused, is sent back to."""
        self.asked = query
        answer = {"error": "access_denied", "error_description": self.refuses} if self.refuses else {"code": CODE}
        return f"{query['redirect_uri']}?{urlencode({**answer, 'state': query['state'], **self.echoed})}"

    def token(self, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        """The token endpoint's answer; the verifier must be the one of the challenge."""
        self.exchanged = form
        challenge = urlsafe_b64encode(sha256(form["code_verifier"].encode()).digest()).decode().rstrip("=")
        sent_back = form["redirect_uri"] == self.asked["redirect_uri"]
        if form["code"] != CODE or challenge != self.asked["code_challenge"] or not sent_back:
            return 400, {"error": "invalid_grant"}
        claims = {"iss": self.url, "aud": CLIENT, "nonce": self.asked["nonce"], "exp": FAR, "sub": "ana", **self.claims}
        parts = [
            urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in ({"alg": "none"}, claims)
        ]
        return 200, {"access_token": self.access_token, "id_token": ".".join([*parts, ""]), "token_type": "Bearer"}


@contextmanager
def provider(access_token: str) -> Iterator[Provider]:
    """Serve a provider for the length of the block."""
    made = Provider(access_token)
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"provider": made}))
    made.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    provider: Provider

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        if parts.path == "/authorize":
            self.send_response(302)
            self.send_header("Location", self.provider.redirect(dict(parse_qsl(parts.query))))
            self.send_header("Content-Length", "0")
            self.end_headers()
        else:
            self._answer(200, self.provider.discovery())

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self._answer(*self.provider.token(dict(parse_qsl(body))))

    def _answer(self, status: int, body: dict[str, Any]) -> None:
        encoded = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Access-Control-Allow-Origin", "*")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(encoded)))
        self.end_headers()
        self.wfile.write(encoded)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        return
