"""Lambda's Runtime API on this machine, and a process that runs a handler under the true runtime client.

As AWS describes it ("Using the Lambda runtime API", AWS Lambda Developer Guide): the client asks for the
next event, and posts an answer or an error. A process that is silent past its deadline is killed, as
Lambda kills it; so is one that is idle, at the end.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import Any
from uuid import uuid4

from tests.architecture.modules import FUNCTIONS, PACKAGE_ROOT

_STARTING = 60.0
"""Seconds until a new process must have asked for its first event."""


class TimedOut(Exception):
    """The process was silent past its deadline, and was killed."""


@dataclass(frozen=True)
class Failure:
    """What the runtime client reported: the error's type and message."""

    type: str
    message: str


@dataclass
class Runtime:
    """One process of one function; a killed one is replaced at the next invocation, as a cold start."""

    name: str
    environment: Mapping[str, str]
    log: Path
    starts: int = 0
    _events: Queue[tuple[str, bytes, float] | None] = field(default_factory=Queue)
    _answers: Queue[tuple[str, str, Any]] = field(default_factory=Queue)
    _asked: Queue[None] = field(default_factory=Queue)
    _process: subprocess.Popen[bytes] | None = None
    address: str = ""

    def invoke(self, event: object, *, seconds: float) -> Any:
        """Return the handler's answer, or the `Failure` that was reported; raises `TimedOut`."""
        if self._process is None or self._process.poll() is not None:
            self._start()
        request_id = str(uuid4())
        self._events.put((request_id, json.dumps(event).encode(), time.time() + seconds))
        while True:
            try:
                answered, kind, body = self._answers.get(timeout=seconds)
            except Empty:
                self.kill()
                raise TimedOut from None
            if answered == request_id:  # a process may have answered just before it was killed
                return body if kind == "response" else Failure(body["errorType"], body["errorMessage"])

    def kill(self) -> None:
        """End the process without any notice."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def let_go(self) -> None:
        """End the requests for events that nobody waits for any more."""
        while not self._asked.empty():
            self._asked.get()
            self._events.put(None)

    def _start(self) -> None:
        while not self._asked.empty():
            self._asked.get()
        environment = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(PACKAGE_ROOT),
            "AWS_LAMBDA_RUNTIME_API": self.address,
            "AWS_LAMBDA_FUNCTION_NAME": self.name,
            "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "512",
            "AWS_LAMBDA_FUNCTION_VERSION": "1",
            "LAMBDA_TASK_ROOT": str(FUNCTIONS / self.name),
            "POWERTOOLS_TRACE_DISABLED": "true",
            "POWERTOOLS_METRICS_NAMESPACE": "Dreaming/test",
            **self.environment,
        }
        with self.log.open("ab") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "awslambdaric", "handler.handler"],
                cwd=FUNCTIONS / self.name,
                env=environment,
                stdout=output,
                stderr=output,
            )
        self.starts += 1
        self._asked.get(timeout=_STARTING)


@contextmanager
def runtime(name: str, environment: Mapping[str, str], log: Path) -> Iterator[Runtime]:
    """Serve the Runtime API to the function's processes for the length of the block."""
    made = Runtime(name, environment, log)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_class(made))
    made.address = f"127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        made.kill()
        made.let_go()
        server.shutdown()
        server.server_close()
        thread.join()


def _handler_class(made: Runtime) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            made._asked.put(None)
            event = made._events.get()
            if event is None:
                self.close_connection = True
                return
            request_id, body, deadline = event
            self.send_response(200)
            for header, value in (
                ("Lambda-Runtime-Aws-Request-Id", request_id),
                ("Lambda-Runtime-Deadline-Ms", str(round(deadline * 1000))),
                ("Lambda-Runtime-Invoked-Function-Arn", f"arn:aws:lambda:eu-west-1:000000000000:function:{made.name}"),
                ("Content-Type", "application/json"),
                ("Content-Length", str(len(body))),
            ):
                self.send_header(header, value)
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            *_, request_id, kind = self.path.split("/")
            made._answers.put((request_id, kind, body))
            self.send_response(202)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
            return

    return Handler
