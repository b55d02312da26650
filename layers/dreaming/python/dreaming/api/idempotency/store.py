"""The SQL of idempotency keys."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from psycopg.types.json import Jsonb

from dreaming.database import Transaction
from dreaming.notes.records import Tenant


@dataclass(frozen=True, slots=True)
class ClaimedKey:
    """A key that somebody has claimed before; `answer` is None while that one is at work."""

    request_sha256: bytes
    claimed_at: datetime
    answer: Any


def claim(tx: Transaction, tenant: Tenant, key: str, *, request_sha256: bytes, now: datetime) -> ClaimedKey | None:
    """Claim a key and return None, or return who has it; the row is locked either way."""
    user_id = tenant.user_id or ""
    inserted = tx.execute(
        """
        insert into idempotency_keys (org_id, user_id, key, request_sha256, claimed_at) values (%s, %s, %s, %s, %s)
        on conflict do nothing
        """,
        (tenant.org_id, user_id, key, request_sha256, now),
    ).rowcount
    if inserted:
        return None
    row = tx.execute(
        """
        select request_sha256, claimed_at, answer from idempotency_keys
        where org_id = %s and user_id = %s and key = %s for update
        """,
        (tenant.org_id, user_id, key),
    ).fetchone()
    return None if row is None else ClaimedKey(bytes(row[0]), row[1], row[2])


def claim_again(tx: Transaction, tenant: Tenant, key: str, *, now: datetime) -> None:
    """Take over the locked key of a request that died."""
    tx.execute(
        "update idempotency_keys set claimed_at = %s where org_id = %s and user_id = %s and key = %s",
        (now, tenant.org_id, tenant.user_id or "", key),
    )


def keep_answer(tx: Transaction, tenant: Tenant, key: str, answer: Any) -> None:
    """Keep what was answered."""
    tx.execute(
        "update idempotency_keys set answer = %s where org_id = %s and user_id = %s and key = %s",
        (Jsonb(answer), tenant.org_id, tenant.user_id or "", key),
    )


def give_up(tx: Transaction, tenant: Tenant, key: str) -> None:
    """Free a key whose request failed, so that it can be sent again."""
    tx.execute(
        "delete from idempotency_keys where org_id = %s and user_id = %s and key = %s and answer is null",
        (tenant.org_id, tenant.user_id or "", key),
    )


def forget_older(tx: Transaction, tenant: Tenant, *, now: datetime, kept: timedelta) -> None:
    """Forget the caller's keys that are older than `kept`."""
    tx.execute(
        "delete from idempotency_keys where org_id = %s and user_id = %s and claimed_at < %s",
        (tenant.org_id, tenant.user_id or "", now - kept),
    )
