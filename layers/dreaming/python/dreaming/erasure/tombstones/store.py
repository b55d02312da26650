"""The SQL of tombstones and of the key that names them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Literal

from dreaming.database import Transaction
from dreaming.erasure.tombstones.records import Graveyard
from dreaming.errors import Erased

TombstoneKind = Literal["note", "conversation", "organization"]


def read(tx: Transaction, org_id: str) -> Graveyard | None:
    """Return the organization's key and whether it is closed; None when nothing was ever erased."""
    row = tx.execute(
        """
        select k.key, exists (select from tombstones t where t.org_id = k.org_id and t.kind = 'organization')
        from erasure_keys k where k.org_id = %s
        """,
        (org_id,),
    ).fetchone()
    return None if row is None else Graveyard(bytes(row[0]), bool(row[1]))


def keep_key(tx: Transaction, org_id: str, fresh: bytes, *, now: datetime) -> None:
    """Keep `fresh` as the organization's key, unless it has one."""
    tx.execute(
        "insert into erasure_keys (org_id, key, made_at) values (%s, %s, %s) on conflict do nothing",
        (org_id, fresh, now),
    )


def add(tx: Transaction, org_id: str, kind: TombstoneKind, names: Collection[bytes], *, now: datetime) -> int:
    """Put up tombstones and return how many are new."""
    if not names:
        return 0
    return tx.execute(
        """
        insert into tombstones (org_id, name, kind, erased_at)
        select %s, name, %s, %s from unnest(%s::bytea[]) as given (name)
        on conflict do nothing
        """,
        (org_id, kind, now, list(names)),
    ).rowcount


def among(tx: Transaction, org_id: str, names: Sequence[bytes]) -> set[bytes]:
    """Return which of the names have a tombstone."""
    rows = tx.execute(
        "select name from tombstones where org_id = %s and name = any(%s::bytea[])", (org_id, list(names))
    ).fetchall()
    return {bytes(row[0]) for row in rows}


def remove(tx: Transaction, org_id: str, names: Collection[bytes]) -> int:
    """Take tombstones away and return how many there were."""
    return tx.execute(
        "delete from tombstones where org_id = %s and name = any(%s::bytea[])", (org_id, list(names))
    ).rowcount


def shut_out(tx: Transaction, org_id: str) -> None:
    """Wait for whoever is making a slice of the organization, and let nobody begin until the end."""
    tx.execute("select pg_advisory_xact_lock(hashtextextended(%s, 8))", (org_id,))


def require_open(tx: Transaction, org_id: str) -> None:
    """Keep the organization from being closed until the end; raises `Erased` when it is."""
    tx.execute("select pg_advisory_xact_lock_shared(hashtextextended(%s, 8))", (org_id,))
    row = tx.execute(
        "select exists (select from tombstones where org_id = %s and kind = 'organization')", (org_id,)
    ).fetchone()
    if row is None or row[0]:
        raise Erased("org_id", "was erased", "whoever operates the deployment lets it in again first")
