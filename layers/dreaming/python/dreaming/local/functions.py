"""Loads the real Lambda handlers and invokes them with the events and the context of Lambda."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from hashlib import md5
from io import TextIOBase
from pathlib import Path
from time import monotonic
from types import ModuleType
from typing import Any, ClassVar, TextIO
from warnings import catch_warnings, filterwarnings

from dreaming.errors import Misconfigured
from dreaming.local.home import private_file
from dreaming.local.queue import Received

Handler = Callable[[dict[str, Any], Any], dict[str, Any]]

_IN_PACKAGE = Path(__file__).parents[1] / "functions"
_IN_CHECKOUT = Path(__file__).parents[5] / "functions"


@dataclass(frozen=True, slots=True)
class LocalContext:
    """What Lambda's context tells a handler."""

    function_name: str
    aws_request_id: str
    ends_at: float
    memory_limit_in_mb: int = 512

    @property
    def invoked_function_arn(self) -> str:
        """An ARN of the right form."""
        return f"arn:aws:lambda:local:000000000000:function:{self.function_name}"

    def get_remaining_time_in_millis(self) -> int:
        """Milliseconds until the invocation's time-out."""
        return max(0, int((self.ends_at - monotonic()) * 1000))


class _HandlerLog(TextIOBase):
    """A stream to the log of the latest installation that this process opened.

    A handler's logger keeps the stream that it found when it was first loaded, so all of them write
    to whichever file is current.
    """

    current: ClassVar[TextIO | None] = None

    def __init__(self, path: Path) -> None:
        self._file = private_file(path).open("a", encoding="utf-8")
        type(self).current = self._file

    def write(self, text: str) -> int:
        """Append to the current file."""
        return self.current.write(text) if self.current else len(text)

    def flush(self) -> None:
        """Flush the current file."""
        if self.current:
            self.current.flush()

    def let_go(self) -> None:
        """Close this installation's file."""
        if type(self).current is self._file:
            type(self).current = None
        self._file.close()


class Function:
    """One handler, loaded from its file, writing what it logs to a file."""

    def __init__(self, name: str, *, log: Path, timeout_seconds: float) -> None:
        """Load `functions/<name>/handler.py`."""
        self.name = name
        self.timeout_seconds = timeout_seconds
        self._log = _HandlerLog(log)
        with redirect_stdout(self._log):
            module = _load(name)
        self._handler: Handler = module.handler
        self._metrics = getattr(module, "metrics", None)

    def invoke(self, event: dict[str, Any], *, request_id: str) -> dict[str, Any]:
        """Invoke the handler with a context that ends after the function's time-out."""
        context = LocalContext(self.name, request_id, monotonic() + self.timeout_seconds)
        # The structured log goes to standard output in Lambda; here that belongs to the command.
        with redirect_stdout(self._log), catch_warnings():
            # Metrics are switched off here, and an invocation that fails has none to miss.
            filterwarnings("ignore", message="No application metrics", category=UserWarning)
            try:
                return self._handler(event, context)
            finally:
                # Nobody flushes what is switched off, and a process may live for weeks.
                if self._metrics is not None:
                    self._metrics.clear_metrics()

    def close(self) -> None:
        """Let the log go; what the handler's logger still writes is dropped."""
        self._log.let_go()


def queue_event(function: str, message: Received) -> dict[str, Any]:
    """Return the event with which SQS invokes a function for one message."""
    return {
        "Records": [
            {
                "messageId": message.message_id,
                "receiptHandle": message.receipt,
                "body": message.body,
                "attributes": {
                    "ApproximateReceiveCount": str(message.receive_count),
                    "SentTimestamp": _milliseconds(message.sent_at.timestamp()),
                    "SequenceNumber": f"{message.sequence:020d}",
                    "MessageGroupId": message.group_id,
                    "SenderId": "local",
                    "MessageDeduplicationId": message.deduplication_id,
                    "ApproximateFirstReceiveTimestamp": _milliseconds(message.first_received_at.timestamp()),
                },
                "messageAttributes": {},
                "md5OfBody": md5(message.body.encode(), usedforsecurity=False).hexdigest(),
                "eventSource": "aws:sqs",
                "eventSourceARN": f"arn:aws:sqs:local:000000000000:{function}.fifo",
                "awsRegion": "local",
            }
        ]
    }


def schedule_event(only: int | None) -> Mapping[str, Any]:
    """Return the event with which the schedule invokes a function; `only` asks for one slice."""
    return {} if only is None else {"slice_id": only}


def failed_items(answer: Mapping[str, Any]) -> list[str]:
    """Return the message ids that a handler's answer reports as failed."""
    return [str(item["itemIdentifier"]) for item in answer.get("batchItemFailures", ())]


def _load(name: str) -> ModuleType:
    path = next(
        (folder / name / "handler.py" for folder in (_IN_CHECKOUT, _IN_PACKAGE) if (folder / name).is_dir()), None
    )
    if path is None:
        raise Misconfigured(f"the handler of '{name}' is not installed; install the package again")
    # Metrics are for CloudWatch; powertools must not look for X-Ray either.
    os.environ.setdefault("POWERTOOLS_METRICS_DISABLED", "true")
    os.environ.setdefault("POWERTOOLS_TRACE_DISABLED", "true")
    os.environ.setdefault("POWERTOOLS_METRICS_NAMESPACE", "Dreaming/local")
    spec = importlib.util.spec_from_file_location(f"dreaming_functions.{name}", path)
    if spec is None or spec.loader is None:
        raise Misconfigured(f"{path} cannot be loaded; install the package again")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _milliseconds(seconds: float) -> str:
    return str(int(seconds * 1000))
