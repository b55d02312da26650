"""What of SQS the handlers call, on this machine: it takes every request and keeps it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import md5
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


@dataclass
class SqsService:
    """`requests` are the actions with their parameters, in order; `refuse` makes it answer as if it were down."""

    url: str = ""
    refuse: bool = False
    requests: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    @property
    def environment(self) -> dict[str, str]:
        """That of a function whose queue is here."""
        return {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_REGION": "eu-west-1",
            "AWS_DEFAULT_REGION": "eu-west-1",
            "AWS_MAX_ATTEMPTS": "1",
            "DREAMING_QUEUE_URL": f"{self.url}/000000000000/consolidate.fifo",
        }

    def of(self, action: str) -> list[dict[str, Any]]:
        """The parameters of one action's requests."""
        return [parameters for name, parameters in self.requests if name == action]


@contextmanager
def sqs_service() -> Iterator[SqsService]:
    """Serve for the length of the block."""
    service = SqsService()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_class(service))
    service.url = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield service
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler_class(service: SqsService) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            parameters = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or b"{}")
            service.requests.append((self.headers["X-Amz-Target"].partition(".")[2], parameters))
            body = parameters.get("MessageBody", "")
            answer = {"MessageId": "m", "SequenceNumber": "1", "MD5OfMessageBody": md5(body.encode()).hexdigest()}
            self.send_response(503 if service.refuse else 200)
            self.send_header("Content-Type", "application/x-amz-json-1.0")
            self.end_headers()
            self.wfile.write(json.dumps(answer if body else {}).encode())

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
            return

    return Handler
