"""The SQL of settings: an organization's overrides, its enrolment and consent, and the audit."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from psycopg.rows import class_row
from psycopg.types.json import Jsonb
from pydantic import JsonValue

from dreaming.database import Transaction
from dreaming.settings.records import AuditKind, Enrolment

_ENROLMENT = "select enrolled, model_consent, embedding_consent, embedding_excluded_sources from enrolment"
_AUDIT = "select audit_id, happened_at, actor, action, subject, old_value, new_value from audit"


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One change: who changed what, when, from and to; None stands for the default."""

    audit_id: int
    happened_at: datetime
    actor: str
    action: str
    subject: str
    old_value: JsonValue
    new_value: JsonValue


def lock_changes(tx: Transaction, org_id: str) -> None:
    """Wait until no other transaction is changing the organization's settings or consent."""
    tx.execute("select pg_advisory_xact_lock(hashtextextended('dreaming settings ' || %s, 0))", (org_id,))


def read_enrolment(tx: Transaction, org_id: str) -> Enrolment:
    """Return the organization's enrolment and consent; all no when it has no row."""
    row = tx.execute(f"{_ENROLMENT} where org_id = %s", (org_id,)).fetchone()
    return Enrolment() if row is None else Enrolment(row[0], row[1], row[2], tuple(row[3]))


def write_enrolment(tx: Transaction, org_id: str, enrolment: Enrolment, *, actor: str, now: datetime) -> None:
    """Replace the organization's enrolment and consent."""
    tx.execute(
        "insert into enrolment (org_id, enrolled, model_consent, embedding_consent, embedding_excluded_sources,"
        " updated_at, updated_by) values (%s, %s, %s, %s, %s, %s, %s)"
        " on conflict (org_id) do update set enrolled = excluded.enrolled, model_consent = excluded.model_consent,"
        " embedding_consent = excluded.embedding_consent,"
        " embedding_excluded_sources = excluded.embedding_excluded_sources,"
        " updated_at = excluded.updated_at, updated_by = excluded.updated_by",
        (
            org_id,
            enrolment.enrolled,
            enrolment.model_consent,
            enrolment.embedding_consent,
            list(enrolment.embedding_excluded_sources),
            now,
            actor,
        ),
    )


def read_organization(tx: Transaction, org_id: str) -> tuple[dict[str, JsonValue], Enrolment]:
    """Return what `read_overrides` and `read_enrolment` do, in one statement: what most work begins with."""
    row = tx.execute(
        """
        select s.overrides, e.enrolled, e.model_consent, e.embedding_consent, e.embedding_excluded_sources
        from (select coalesce(json_object_agg(name, value order by name), '{}') as overrides
              from settings where org_id = %(org)s) s
        left join enrolment e on e.org_id = %(org)s
        """,
        {"org": org_id},
    ).fetchone()
    if row is None or row[1] is None:
        return ({} if row is None else row[0]), Enrolment()
    return row[0], Enrolment(row[1], row[2], row[3], tuple(row[4]))


def read_overrides(tx: Transaction, org_id: str) -> dict[str, JsonValue]:
    """Return what the organization has stored, by setting, unchecked."""
    return dict(tx.execute("select name, value from settings where org_id = %s order by name", (org_id,)).fetchall())


def write_override(tx: Transaction, org_id: str, name: str, value: JsonValue, *, actor: str, now: datetime) -> None:
    """Store the organization's value of a setting."""
    tx.execute(
        "insert into settings (org_id, name, value, updated_at, updated_by) values (%s, %s, %s, %s, %s)"
        " on conflict (org_id, name) do update set value = excluded.value,"
        " updated_at = excluded.updated_at, updated_by = excluded.updated_by",
        (org_id, name, Jsonb(value), now, actor),
    )


def delete_override(tx: Transaction, org_id: str, name: str) -> None:
    """Forget the organization's value of a setting."""
    tx.execute("delete from settings where org_id = %s and name = %s", (org_id, name))


def write_audit(
    tx: Transaction,
    org_id: str,
    *,
    actor: str,
    action: str,
    subject: str,
    old_value: JsonValue,
    new_value: JsonValue,
    now: datetime,
) -> None:
    """Record one change."""
    tx.execute(
        "insert into audit (org_id, happened_at, actor, action, subject, old_value, new_value)"
        " values (%s, %s, %s, %s, %s, %s, %s)",
        (org_id, now, actor, action, subject, _nullable(old_value), _nullable(new_value)),
    )


_KIND = """
    case when starts_with(action, 'setting_') or starts_with(action, 'enrolment_') then 'settings'
         when starts_with(action, 'belief_') then 'beliefs' else 'erasure' end
"""


def read_audit(
    tx: Transaction, org_id: str, *, limit: int, before: int | None = None, kind: AuditKind | None = None
) -> list[AuditEntry]:
    """Return up to `limit` changes, the newest first, from below the audit id `before`, of one kind or of all."""
    with tx.cursor(row_factory=class_row(AuditEntry)) as cursor:
        return cursor.execute(
            f"{_AUDIT} where org_id = %(org_id)s and (%(before)s::bigint is null or audit_id < %(before)s)"
            f" and (%(kind)s::text is null or {_KIND} = %(kind)s) order by audit_id desc limit %(limit)s",
            {"org_id": org_id, "before": before, "limit": limit, "kind": kind},
        ).fetchall()


def _nullable(value: JsonValue) -> Jsonb | None:
    return None if value is None else Jsonb(value)
