"""Settings, consents and the record of their changes."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field, JsonValue

from dreaming.api.schemas.schema import Name, Schema
from dreaming.settings.records import ChangedBy
from dreaming.settings.resolution import Origin


class SettingReading(Schema):
    """A setting with the value in force, where it comes from, and the module that reads it."""

    name: str
    value: JsonValue
    default: JsonValue
    origin: Origin
    changed_by: ChangedBy
    reader: str
    sentence: str
    environment: str = Field(description="The variable that sets the deployment's default.")
    minimum: float | None
    maximum: float | None
    choices: tuple[str, ...]


class Consents(Schema):
    """What the organization has agreed to."""

    enrolled: bool
    model_consent: bool
    embedding_consent: bool
    embedding_excluded_sources: tuple[str, ...]


class Capabilities(Schema):
    """Every setting and consent in force for the caller's organization."""

    consents: Consents
    settings: tuple[SettingReading, ...]


class NewValue(Schema):
    """A value to be set; its type is the setting's."""

    value: bool | int | float | Name | tuple[Name, ...]


class Changed(Schema):
    """What a change came to; null stands for the default, and `changed` is false when it was so before."""

    name: str
    changed: bool
    old_value: JsonValue
    new_value: JsonValue


class AuditEntry(Schema):
    """One change: who changed what, when, from and to; null stands for the default."""

    audit_id: int
    happened_at: datetime
    actor: str
    action: str
    subject: str
    old_value: JsonValue
    new_value: JsonValue


class AuditPage(Schema):
    """Some changes, the latest first."""

    entries: tuple[AuditEntry, ...]
    next_cursor: str | None
