"""Reading the settings in force for an organization, and changing what it has set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from pydantic import JsonValue

from dreaming.database import Transaction
from dreaming.errors import InvalidInput
from dreaming.settings import store
from dreaming.settings.records import AuditKind, Enrolment
from dreaming.settings.resolution import (
    Settings,
    Value,
    check_value,
    find_setting,
    parse_value,
    require_organization_may_change,
    resolve,
)

CONSENTS = ("enrolled", "model_consent", "embedding_consent")
EXCLUDED_SOURCES = "embedding_excluded_sources"

MAX_ACTOR_LENGTH = 200
MAX_EXCLUDED_SOURCES = 1_000
MAX_SOURCE_LENGTH = 200
MAX_PAGE = 1_000


@dataclass(frozen=True, slots=True)
class Change:
    """A change that was made and recorded; None stands for the default."""

    name: str
    old: JsonValue
    new: JsonValue


def load_settings(tx: Transaction, org_id: str, environment: Mapping[str, str]) -> Settings:
    """Return the settings in force for the organization.

    Raises:
        InvalidInput: a variable or a stored value cannot be read; it is never taken for the default.
    """
    return resolve(environment, store.read_overrides(tx, org_id))


def load_organization(tx: Transaction, org_id: str, environment: Mapping[str, str]) -> tuple[Settings, Enrolment]:
    """Return the settings in force for the organization and what it has agreed to, read in one statement.

    Raises:
        InvalidInput: as `load_settings`.
    """
    overrides, enrolment = store.read_organization(tx, org_id)
    return resolve(environment, overrides), enrolment


def change_setting(
    tx: Transaction, org_id: str, name: str, value: Value, *, actor: str, now: datetime
) -> Change | None:
    """Store and record the organization's value of a setting; None when it was that already.

    Raises:
        InvalidInput: no such setting, not the organization's to change, or a value it does not take.
    """
    _check_actor(actor)
    setting = find_setting(name)
    require_organization_may_change(setting)
    checked = check_value(setting, value)
    store.lock_changes(tx, org_id)
    old = store.read_overrides(tx, org_id).get(name)
    if type(old) is type(checked) and old == checked:
        return None
    store.write_override(tx, org_id, name, checked, actor=actor, now=now)
    return _recorded(tx, org_id, "setting_changed", Change(name, old, checked), actor=actor, now=now)


def reset_setting(tx: Transaction, org_id: str, name: str, *, actor: str, now: datetime) -> Change | None:
    """Forget the organization's value of a setting, also one that can no longer be read.

    Returns None when it had none.

    Raises:
        InvalidInput: nothing of that name is stored, and no such setting exists.
    """
    _check_actor(actor)
    store.lock_changes(tx, org_id)
    overrides = store.read_overrides(tx, org_id)
    if name not in overrides:
        find_setting(name)
        return None
    store.delete_override(tx, org_id, name)
    return _recorded(tx, org_id, "setting_reset", Change(name, overrides[name], None), actor=actor, now=now)


def change_consent(tx: Transaction, org_id: str, name: str, value: bool, *, actor: str, now: datetime) -> Change | None:
    """Store and record the organization's enrolment or one of its consents; None when it was that already.

    Raises:
        InvalidInput: `name` is none of `CONSENTS`, or the value is not true or false.
    """
    _check_actor(actor)
    if name not in CONSENTS:
        raise InvalidInput(name[:60], "is no part of an enrolment", f"use one of {', '.join(CONSENTS)}")
    if not isinstance(value, bool):
        raise InvalidInput(name, f"is {str(value)[:60]!r}", "use true or false")
    store.lock_changes(tx, org_id)
    enrolment = store.read_enrolment(tx, org_id)
    old = bool(getattr(enrolment, name))
    if old == value:
        return None
    changed = {consent: getattr(enrolment, consent) for consent in CONSENTS} | {name: value}
    store.write_enrolment(tx, org_id, replace(enrolment, **changed), actor=actor, now=now)
    return _recorded(tx, org_id, "enrolment_changed", Change(name, old, value), actor=actor, now=now)


def change_excluded_sources(
    tx: Transaction, org_id: str, sources: Sequence[str], *, actor: str, now: datetime
) -> Change | None:
    """Store and record which sources' text is never embedded; None when it was these already.

    Raises:
        InvalidInput: too many sources, or a name that no source can have.
    """
    _check_actor(actor)
    checked = _checked_sources(sources)
    store.lock_changes(tx, org_id)
    enrolment = store.read_enrolment(tx, org_id)
    old = enrolment.embedding_excluded_sources
    if old == checked:
        return None
    store.write_enrolment(tx, org_id, replace(enrolment, embedding_excluded_sources=checked), actor=actor, now=now)
    change = Change(EXCLUDED_SOURCES, list(old), list(checked))
    return _recorded(tx, org_id, "enrolment_changed", change, actor=actor, now=now)


def change_from_text(tx: Transaction, org_id: str, name: str, text: str, *, actor: str, now: datetime) -> Change | None:
    """Change a setting or a consent to a value written as text, as on the command line.

    Sources to exclude are separated by commas. Raises what the other two raise.
    """
    if name == EXCLUDED_SOURCES:
        sources = [part.strip() for part in text.split(",") if part.strip()]
        return change_excluded_sources(tx, org_id, sources, actor=actor, now=now)
    if name in CONSENTS:
        answer = {"true": True, "false": False}.get(text.strip())
        if answer is None:
            raise InvalidInput(name, f"is {text[:60]!r}", "use true or false")
        return change_consent(tx, org_id, name, answer, actor=actor, now=now)
    return change_setting(tx, org_id, name, parse_value(find_setting(name), text), actor=actor, now=now)


def list_audit(
    tx: Transaction, org_id: str, *, limit: int = 100, before: int | None = None, kind: AuditKind | None = None
) -> list[store.AuditEntry]:
    """Return the organization's changes, the newest first; `before` is the last page's lowest audit id."""
    if not 1 <= limit <= MAX_PAGE:
        raise InvalidInput("limit", f"is {limit}", f"use 1 to {MAX_PAGE}")
    return store.read_audit(tx, org_id, limit=limit, before=before, kind=kind)


def _recorded(tx: Transaction, org_id: str, action: str, change: Change, *, actor: str, now: datetime) -> Change:
    store.write_audit(
        tx,
        org_id,
        actor=actor,
        action=action,
        subject=change.name,
        old_value=change.old,
        new_value=change.new,
        now=now,
    )
    return change


def _checked_sources(sources: Sequence[str]) -> tuple[str, ...]:
    if isinstance(sources, str):
        raise InvalidInput(EXCLUDED_SOURCES, "is not a list", "name the sources")
    checked = tuple(sorted(set(sources)))
    if len(checked) > MAX_EXCLUDED_SOURCES:
        raise InvalidInput(EXCLUDED_SOURCES, f"has {len(checked)} sources", f"name at most {MAX_EXCLUDED_SOURCES}")
    for source in checked:
        if not 1 <= len(source) <= MAX_SOURCE_LENGTH or "\0" in source:
            remedy = f"use names of 1 to {MAX_SOURCE_LENGTH} characters"
            raise InvalidInput(EXCLUDED_SOURCES, f"contains {source[:60]!r}", remedy)
    return checked


def _check_actor(actor: str) -> None:
    if not 1 <= len(actor) <= MAX_ACTOR_LENGTH or "\0" in actor:
        raise InvalidInput("actor", "does not name who makes the change", f"use 1 to {MAX_ACTOR_LENGTH} characters")
