"""A Lambda sandbox in this process: one loaded handler, invoked with Lambda's context, its log kept."""

from __future__ import annotations

import importlib.util
import io
import json
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from time import monotonic
from types import ModuleType
from typing import Any
from uuid import uuid4

from dreaming.local.functions import LocalContext, failed_items, queue_event
from dreaming.local.queue import Received
from tests.architecture.modules import FUNCTIONS
from tests.world import World


@dataclass
class Sandbox:
    """One warm sandbox; `lines` are all log lines of its invocations, `metrics` all EMF documents."""

    name: str
    module: ModuleType
    lines: list[dict[str, Any]] = field(default_factory=list)
    metrics: list[dict[str, Any]] = field(default_factory=list)

    def invoke(self, event: dict[str, Any], *, seconds: float = 180.0, request_id: str | None = None) -> Any:
        """Invoke the handler with a context that ends after `seconds`."""
        context = LocalContext(self.name, request_id or uuid4().hex, monotonic() + seconds)
        log, output = io.StringIO(), io.StringIO()
        # The logger keeps the stream that the first sandbox of this process found.
        handler = self.module.logger.registered_handler
        before = handler.setStream(log)
        try:
            with redirect_stdout(output):
                return self.module.handler(event, context)
        finally:
            handler.setStream(before or io.StringIO())
            self.lines += [json.loads(line) for line in log.getvalue().splitlines()]
            self.metrics += [json.loads(line) for line in output.getvalue().splitlines()]

    def metric(self, name: str) -> float:
        """The sum of one metric over all invocations."""
        return float(sum(value for document in self.metrics for value in document.get(name, ())))


def load_sandbox(name: str) -> Sandbox:
    """Start a sandbox of `functions/<name>`."""
    spec = importlib.util.spec_from_file_location(f"handler_of_{name}", FUNCTIONS / name / "handler.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return Sandbox(name, module)


def sqs_event(*messages: Received) -> dict[str, Any]:
    """The event with which SQS delivers these messages at once."""
    records = [record for message in messages for record in queue_event("consolidate", message)["Records"]]
    return {"Records": records}


def drain(world: World, consolidate: Sandbox) -> int:
    """Deliver the queue's messages to the function until none is left; none may fail."""
    batches = 0
    while (received := world.queue.receive(holder="sqs", visibility_timeout=1080)) is not None:
        assert failed_items(consolidate.invoke(sqs_event(received))) == []
        world.queue.delete(received.receipt)
        batches += 1
    return batches
