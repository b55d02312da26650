"""Doing a post once, however often it is sent with the same key.

Every effect of the API is safe to repeat by itself, so a request that died between its effect and
its answer is simply done again; the key spares the others and gives them the same answer.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from dreaming.api.idempotency import store
from dreaming.database import Database, Role
from dreaming.errors import DreamingError, InvalidInput
from dreaming.notes.records import Tenant

HEADER = "Idempotency-Key"

KEPT = timedelta(hours=24)
"""How long an answer is kept for those who send the request again."""

AT_WORK = timedelta(seconds=60)
"""After so long a request without an answer is dead: API Gateway gives up after 30 seconds."""

_LONGEST_KEY = 200


class RequestAtWork(DreamingError):
    """The same request, sent before, has not been answered yet."""


def once(
    database: Database,
    tenant: Tenant,
    key: str | None,
    *,
    request_sha256: bytes,
    now: datetime,
    effect: Callable[[], Any],
) -> Any:
    """Return what `effect` answers, as JSON values, or what it answered to the same key within a day.

    Raises:
        InvalidInput: the key is no key, or belongs to another request.
        RequestAtWork: the first request with this key is still at work.
    """
    if key is None:
        return effect()
    if not 1 <= len(key) <= _LONGEST_KEY or not key.isprintable():
        raise InvalidInput(HEADER, "is no usable key", f"send 1 to {_LONGEST_KEY} printable characters")
    with database.transaction(tenant, role=Role.API) as tx:
        store.forget_older(tx, tenant, now=now, kept=KEPT)
        claimed = store.claim(tx, tenant, key, request_sha256=request_sha256, now=now)
        if claimed is not None:
            if claimed.request_sha256 != request_sha256:
                raise InvalidInput(HEADER, "was sent with another request", "make a new key for a new request")
            if claimed.answer is not None:
                return claimed.answer
            if claimed.claimed_at > now - AT_WORK:
                raise RequestAtWork("the same request is still at work")
            store.claim_again(tx, tenant, key, now=now)
    try:
        answer = effect()
    except BaseException:
        with database.transaction(tenant, role=Role.API) as tx:
            store.give_up(tx, tenant, key)
        raise
    with database.transaction(tenant, role=Role.API) as tx:
        store.keep_answer(tx, tenant, key, answer)
    return answer
