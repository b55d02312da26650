"""Subsegments of X-Ray: what an invocation spent its time on, to be found by the id of its run.

Lambda traces an invocation as one segment and leaves the ids in an environment variable; a document
that is sent to the daemon beside the function becomes a part of it ("Sending trace data to AWS X-Ray"
and "Segment documents", AWS X-Ray Developer Guide). The daemon's own library imports botocore, which
would cost each cold start half a second.
"""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from secrets import token_hex

TRACE = "_X_AMZN_TRACE_ID"
DAEMON = "AWS_XRAY_DAEMON_ADDRESS"

_HEADER = b'{"format": "json", "version": 1}\n'

_enclosing: ContextVar[str | None] = ContextVar("enclosing", default=None)


@contextmanager
def subsegment(
    name: str,
    annotations: Mapping[str, str | int | bool],
    *,
    environment: Mapping[str, str] = os.environ,
    clock: Callable[[], float] = time.time,
) -> Iterator[dict[str, str | int | bool]]:
    """Record the block as a part of this invocation's trace, or do nothing where none is recorded.

    Traces can be searched by `annotations`, ids and counts only; the block may add to the yielded
    copy. An error of the block marks the subsegment as a fault and goes on its way. `clock` gives
    seconds since 1970.
    """
    told = dict(annotations)
    ids = _sampled(environment.get(TRACE, ""))
    daemon = _address(environment.get(DAEMON, ""))
    if ids is None or daemon is None:
        yield told
        return
    trace_id, segment_id = ids
    own_id = token_hex(8)
    document: dict[str, object] = {
        "name": name,
        "id": own_id,
        "trace_id": trace_id,
        "parent_id": _enclosing.get() or segment_id,
        "type": "subsegment",
        "start_time": clock(),
        "annotations": told,
    }
    enclosed = _enclosing.set(own_id)
    try:
        yield told
    except BaseException:
        document["fault"] = True
        raise
    finally:
        _enclosing.reset(enclosed)
        _send(document | {"end_time": clock()}, daemon)


def _sampled(trace: str) -> tuple[str, str] | None:
    """Return the ids of trace and segment, or None where this invocation is not recorded."""
    parts = dict(part.split("=", 1) for part in trace.split(";") if "=" in part)
    if parts.get("Sampled") != "1" or "Root" not in parts or "Parent" not in parts:
        return None
    return parts["Root"], parts["Parent"]


def _address(text: str) -> tuple[str, int] | None:
    host, _, port = text.rpartition(":")
    return (host, int(port)) if host and port.isascii() and port.isdecimal() else None


def _send(document: Mapping[str, object], daemon: tuple[str, int]) -> None:
    # A trace that is lost is no failure of the work that it tells of.
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.setblocking(False)
        sender.sendto(_HEADER + json.dumps(document).encode(), daemon)
