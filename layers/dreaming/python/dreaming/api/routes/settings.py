"""The routes of settings, consents and their audit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver
from aws_lambda_powertools.event_handler.openapi.params import Body, Path, Query

from dreaming.api import paging
from dreaming.api.door import Caller, Door
from dreaming.api.routes.answers import PageCursor, PageLimit, answers
from dreaming.api.schemas.settings import (
    AuditEntry,
    AuditPage,
    Capabilities,
    Changed,
    Consents,
    NewValue,
    SettingReading,
)
from dreaming.database import Transaction
from dreaming.errors import InvalidInput, NotFound
from dreaming.settings.records import AuditKind
from dreaming.settings.registry import REGISTRY
from dreaming.settings.resolution import ResolvedSetting
from dreaming.settings.service import (
    CONSENTS,
    EXCLUDED_SOURCES,
    Change,
    change_consent,
    change_excluded_sources,
    change_setting,
    list_audit,
    reset_setting,
)
from dreaming.settings.store import read_enrolment

OfAuditKind = Annotated[
    AuditKind | None, Query(description="Only settings and consents, people's acts on beliefs, or erasure.")
]
SettingName = Annotated[str, Path(min_length=1, max_length=200, description="A setting's or a consent's name.")]


def add(app: APIGatewayHttpResolver, door: Door) -> None:
    """Add the routes."""
    _add_reading(app, door)
    _add_writing(app, door)


def _add_reading(app: APIGatewayHttpResolver, door: Door) -> None:
    @app.get(
        "/brain/capabilities",
        summary="Every setting in force, and where it comes from",
        tags=["settings"],
        responses=answers(Capabilities),
    )
    def capabilities() -> Capabilities:
        """All settings and consents with value, default, origin and the code that reads them."""
        caller = door.caller()
        with caller.database.transaction(caller.tenant) as tx:
            settings = caller.settings(tx)
            consents = Consents.model_validate(read_enrolment(tx, caller.tenant.org_id))
        return Capabilities(consents=consents, settings=tuple(_reading(settings.resolved(name)) for name in settings))

    @app.get(
        "/brain/settings/audit",
        summary="Who changed what",
        tags=["settings"],
        responses=answers(AuditPage, paged=True),
    )
    def audit(kind: OfAuditKind = None, limit: PageLimit = 50, cursor: PageCursor = None) -> AuditPage:
        """What was changed, acted upon or erased in the organization, the latest first."""
        caller = door.caller()
        listing = caller.listing("audit", kind=kind)
        place = listing.open(cursor)
        before = None if place is None else int(str(paging.read_cursor(place, [paging.Kind.NUMBER])[0]))
        with caller.database.transaction(caller.tenant) as tx:
            entries = list_audit(tx, caller.tenant.org_id, limit=limit + 1, before=before, kind=kind)
        page = paging.page_of(entries, limit, lambda entry: (entry.audit_id,))
        changes = tuple(AuditEntry.model_validate(entry) for entry in page.items)
        return AuditPage(entries=changes, next_cursor=listing.close(page.next_cursor))


def _add_writing(app: APIGatewayHttpResolver, door: Door) -> None:
    @app.put(
        "/brain/settings/<name>",
        summary="Change a setting or a consent",
        tags=["settings"],
        responses=answers(Changed, absent=True),
    )
    def change(name: SettingName, body: Annotated[NewValue, Body()]) -> Changed:
        """Store the organization's value; it holds from the next tick on. For administrators."""
        caller = door.caller()
        caller.require_administrator()
        _require_known(name)
        with caller.database.transaction(caller.tenant) as tx:
            return _changed(name, _change(tx, caller, name, body.value))

    @app.delete(
        "/brain/settings/<name>",
        summary="Return a setting to its default",
        tags=["settings"],
        responses=answers(Changed, absent=True),
    )
    def reset(name: SettingName) -> Changed:
        """Forget the organization's value of a setting. For administrators."""
        caller = door.caller()
        caller.require_administrator()
        with caller.database.transaction(caller.tenant) as tx:
            # One that is stored is forgotten even when this version knows it no longer.
            try:
                change = reset_setting(tx, caller.tenant.org_id, name, actor=caller.actor, now=caller.now)
            except InvalidInput as error:
                raise _unknown() from error
        return _changed(name, change)


def _require_known(name: str) -> None:
    if name not in {EXCLUDED_SOURCES, *CONSENTS, *REGISTRY}:
        raise _unknown()


def _unknown() -> NotFound:
    return NotFound("name", "no setting or consent has this name", "see /brain/capabilities")


def _change(tx: Transaction, caller: Caller, name: str, value: bool | float | str | Sequence[str]) -> Change | None:
    org_id, actor, now = caller.tenant.org_id, caller.actor, caller.now
    if name == EXCLUDED_SOURCES:
        if isinstance(value, bool | int | float | str):
            raise InvalidInput(name, "is not a list", "send a list of source names")
        return change_excluded_sources(tx, org_id, value, actor=actor, now=now)
    if not isinstance(value, bool | int | float | str):
        raise InvalidInput(name, "is a list", "send one value")
    if name in CONSENTS:
        if not isinstance(value, bool):
            raise InvalidInput(name, "is not true or false", "send true or false")
        return change_consent(tx, org_id, name, value, actor=actor, now=now)
    return change_setting(tx, org_id, name, value, actor=actor, now=now)


def _changed(name: str, change: Change | None) -> Changed:
    old, new = (None, None) if change is None else (change.old, change.new)
    return Changed(name=name, changed=change is not None, old_value=old, new_value=new)


def _reading(resolved: ResolvedSetting) -> SettingReading:
    setting = resolved.setting
    values: dict[str, Any] = {
        name: getattr(setting, name) for name in SettingReading.model_fields if hasattr(setting, name)
    }
    return SettingReading(**values, value=resolved.value, origin=resolved.origin)
