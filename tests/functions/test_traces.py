"""What a trace shows of an invocation: a subsegment for each tick, batch and sent message, in X-Ray's form."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from dreaming.lambdas.traces import DAEMON, TRACE, subsegment
from tests.functions.sandbox import Sandbox, sqs_event
from tests.world import World, note

ROOT_ID = "1-5e1b4151-43a0913a12345678"
PARENT_ID = "53995c3f42cd8ad8"
SAMPLED = f"Root={ROOT_ID};Parent={PARENT_ID};Sampled=1;Lineage=1:fc3b4ff1:0"


class Daemon:
    """Listens where Lambda's daemon would."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self.address = "{}:{}".format(*listener.getsockname())

    @property
    def environment(self) -> dict[str, str]:
        return {TRACE: SAMPLED, DAEMON: self.address}

    def documents(self) -> list[dict[str, Any]]:
        """Everything that came since the last call, by the time of its end."""
        found: list[dict[str, Any]] = []
        while True:
            try:
                packet = self._listener.recv(65_536)
            except BlockingIOError:
                return found
            header, _, body = packet.partition(b"\n")
            assert json.loads(header) == {"format": "json", "version": 1}
            found.append(json.loads(body))


@pytest.fixture
def daemon(monkeypatch: pytest.MonkeyPatch) -> Iterator[Daemon]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.setblocking(False)
        daemon = Daemon(listener)
        for name, value in daemon.environment.items():
            monkeypatch.setenv(name, value)
        yield daemon


def test_a_tick_and_a_batch_are_found_by_their_run(daemon: Daemon, installed: World, consolidate: Sandbox) -> None:
    installed.ingest(note("n", "The shed is green."))
    (started,) = consolidate.invoke({})["started"]
    (tick,) = daemon.documents()
    assert (tick["name"], tick["annotations"]) == ("tick", {"pass": "consolidation", "started": 1})
    assert (tick["trace_id"], tick["parent_id"], tick["type"]) == (ROOT_ID, PARENT_ID, "subsegment")
    assert re.fullmatch(r"[0-9a-f]{16}", tick["id"])
    assert tick["start_time"] <= tick["end_time"]

    received = installed.queue.receive(holder="sqs", visibility_timeout=1080)
    assert received is not None
    consolidate.invoke(sqs_event(received))
    (batch,) = daemon.documents()
    ids = {"run_id": started["run_id"], "slice_id": started["slice_id"], "batch": 1}
    assert batch["annotations"] == {"pass": "consolidation", **ids, "disposition": "done"}
    assert "fault" not in batch
    assert "green" not in json.dumps([tick, batch])


def test_an_error_is_a_fault_and_goes_on_its_way(daemon: Daemon) -> None:
    times = iter([10.0, 11.0, 12.0, 13.5])
    with pytest.raises(ValueError, match="rosebud"), subsegment("outer", {}, clock=lambda: next(times)):
        with subsegment("inner", {"n": 1}, clock=lambda: next(times)) as told:
            told["m"] = 2
        raise ValueError("rosebud")
    inner, outer = daemon.documents()
    assert (inner["annotations"], inner["start_time"], inner["end_time"]) == ({"n": 1, "m": 2}, 11.0, 12.0)
    assert inner["parent_id"] == outer["id"]
    assert (outer["parent_id"], outer["fault"], outer["end_time"]) == (PARENT_ID, True, 13.5)
    assert "rosebud" not in json.dumps(outer)


@pytest.mark.parametrize(
    ("name", "value"),
    [(TRACE, f"Root={ROOT_ID};Parent={PARENT_ID};Sampled=0"), (TRACE, ""), (TRACE, "nonsense"), (DAEMON, "")],
)
def test_what_is_not_recorded_is_not_sent(
    daemon: Daemon, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    with subsegment("work", {}) as told:
        told["done"] = True
    assert daemon.documents() == []


@pytest.mark.parametrize("address", ["127.0.0.1:0", "no address"])
def test_a_trace_that_cannot_be_sent_is_no_failure_of_the_work(address: str) -> None:
    done = False
    with subsegment("work", {}, environment={TRACE: SAMPLED, DAEMON: address}):
        done = True
    assert done
