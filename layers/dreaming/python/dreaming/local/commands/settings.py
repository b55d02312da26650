"""`dream settings`: every setting with its value, where that comes from, and who may change it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from dreaming.errors import InvalidInput
from dreaming.local.commands.command import DreamCommand, DreamFamily, with_session
from dreaming.local.commands.session import Session
from dreaming.local.home import keep_variable
from dreaming.local.output import minute, styled, table

if TYPE_CHECKING:
    from dreaming.database import Database
    from dreaming.settings.records import Enrolment, Setting
    from dreaming.settings.resolution import Settings
    from dreaming.settings.store import AuditEntry

KEPT = "home"

_WIDTH_WITH_SENTENCES = 110

_CONSENTS = {
    "enrolled": "Whether runs are planned for the organization.",
    "model_consent": "Whether its text may be sent to the chat model.",
    "embedding_consent": "Whether its text may be sent to the embedder.",
    "embedding_excluded_sources": "Sources whose text is never embedded, separated by commas.",
}


@dataclass(frozen=True)
class Shown:
    """A setting or a consent as people see it; `origin` says where its value comes from."""

    name: str
    value: Any
    origin: str
    changed_by: str
    sentence: str
    default: Any = None
    environment: str | None = None
    allowed: str = "true or false"
    reader: str | None = None


@click.group(
    cls=DreamFamily,
    invoke_without_command=True,
    examples="""
    dream settings                           # all of them
    dream settings set enabled true          # the master switch, kept in the home folder
    dream settings set model_consent true    # the organization's, audited
    dream settings audit                     # who changed what
    """,
)
@click.pass_context
def settings(ctx: click.Context) -> None:
    """Show and change settings, enrolment and consent.

    Deployment settings come from the environment or the home folder; what an organization may change
    is kept in the database, wins over those, and is audited.
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_settings)


@settings.command(name="list", cls=DreamCommand, examples="dream settings list --json")
@with_session
def list_settings(session: Session) -> None:
    """List every setting with its value, its origin and who may change it."""
    with session.database() as database:
        shown = shown_settings(session, database)
    if session.output.as_json:
        session.output.document({"org": session.org, "settings": shown})
        return
    # Where there is no room for the sentences, `settings get` has them.
    has_room = session.output.width >= _WIDTH_WITH_SENTENCES
    columns = ("from", "changed by", *((("what it does", {"ratio": 1}),) if has_room else ()))
    made = table(("setting", {"no_wrap": True}), ("value", {"overflow": "fold"}), *columns)
    for one in shown:
        value = styled(_text(one.value), "" if one.origin == "default" else "bold")
        sentence = (styled(one.sentence, "dim"),) if has_room else ()
        made.add_row(one.name, value, one.origin, one.changed_by, *sentence)
    session.output.show(made)
    session.output.line(f"One of them in full: {session.invocation} settings get NAME")


@settings.command(cls=DreamCommand, examples="dream settings get model_consent")
@click.argument("name")
@with_session
def get(session: Session, name: str) -> None:
    """Show one setting."""
    with session.database() as database:
        shown = {one.name: one for one in shown_settings(session, database)}
    if name not in shown:
        _require_setting(name)
    one = shown[name]
    if session.output.as_json:
        session.output.document(one)
        return
    session.output.line(f"{one.name} = {_text(one.value)} (from {one.origin})", "bold")
    session.output.line(one.sentence)
    session.output.line(f"takes {one.allowed}; changed by the {one.changed_by}")
    if one.environment:
        session.output.line(f"default {_text(one.default)}; environment variable {one.environment}")
    if one.reader:
        session.output.line(f"read by {one.reader}")


@settings.command(
    name="set",
    cls=DreamCommand,
    examples="""
    dream settings set enrolled true
    dream settings set jaccard_threshold 0.8
    """,
    # A negative number is a value and no option.
    context_settings={"ignore_unknown_options": True},
)
@click.argument("name")
@click.argument("value", type=click.UNPROCESSED)
@with_session
def set_setting(session: Session, name: str, value: str) -> None:
    """Change a setting, enrolment or a consent."""
    if name not in _CONSENTS:
        setting = _require_setting(name)
        if setting.changed_by.value == "deployment":
            _keep(session, setting, value)
            return
    from dreaming.settings.service import change_from_text

    with session.database() as database, database.transaction(session.tenant) as tx:
        change = change_from_text(tx, session.org, name, value, actor=session.actor, now=session.now())
    old, new = (None, None) if change is None else (change.old, change.new)
    _show_change(session, name, old, new, changed=change is not None, kept_in="database")


@settings.command(cls=DreamCommand, examples="dream settings reset jaccard_threshold")
@click.argument("name")
@with_session
def reset(session: Session, name: str) -> None:
    """Return a setting to the deployment's value, or a deployment setting to its default."""
    if name in _CONSENTS:
        raise InvalidInput(name, "has no default to return to", f"use: {session.invocation} settings set {name} false")
    from dreaming.settings.registry import REGISTRY
    from dreaming.settings.service import reset_setting

    setting = REGISTRY.get(name)
    if setting is not None and setting.changed_by.value == "deployment":
        _keep(session, setting, None)
        return
    # A name that is no setting may still be stored: an older version's, which stops every run.
    with session.database() as database, database.transaction(session.tenant) as tx:
        change = reset_setting(tx, session.org, name, actor=session.actor, now=session.now())
    old = None if change is None else change.old
    _show_change(session, name, old, None, changed=change is not None, kept_in="database")


@settings.command(cls=DreamCommand, examples="dream settings audit --limit 20")
@click.option("--limit", type=click.IntRange(1, 1000), default=50, show_default=True, help="How many changes.")
@click.option("--before", type=int, metavar="ID", help="Only changes before this one.")
@click.option(
    "--kind",
    type=click.Choice(["settings", "beliefs", "erasure"]),
    help="Only settings and consents, what people did to beliefs, or what was erased.",
)
@with_session
def audit(session: Session, limit: int, before: int | None, kind: str | None) -> None:
    """List who changed what in the organization, the newest first."""
    from dreaming.settings.records import AuditKind
    from dreaming.settings.service import list_audit

    wanted = None if kind is None else AuditKind(kind)
    with session.database() as database, database.transaction(session.tenant) as tx:
        entries = list_audit(tx, session.org, limit=limit, before=before, kind=wanted)
    if session.output.as_json:
        session.output.document({"audit": entries})
    elif not entries:
        session.output.line("Nothing was changed yet.")
    else:
        _show_audit(session, entries)


def shown_settings(session: Session, database: Database) -> list[Shown]:
    """Return the consents of the organization and all settings, as people see them."""
    values, enrolment = session.organization(database)
    return [*_consents(enrolment), *_settings(session, values)]


def _consents(enrolment: Enrolment) -> list[Shown]:
    shown = []
    for name, sentence in _CONSENTS.items():
        value = getattr(enrolment, name)
        origin = "organization" if value else "default"
        listed = isinstance(value, tuple)
        shown.append(
            Shown(
                name,
                list(value) if listed else value,
                origin,
                "organization",
                sentence,
                default=[] if listed else False,
                allowed="names separated by commas" if listed else "true or false",
            )
        )
    return shown


def _settings(session: Session, values: Settings) -> list[Shown]:
    from dreaming.settings.registry import REGISTRY
    from dreaming.settings.resolution import allowed

    shown = []
    for name, setting in REGISTRY.items():
        resolved = values.resolved(name)
        kept = resolved.variable is not None and resolved.variable not in session.environment
        shown.append(
            Shown(
                name,
                resolved.value,
                KEPT if kept else resolved.origin.value,
                setting.changed_by.value,
                setting.sentence,
                setting.default,
                setting.environment,
                allowed(setting),
                setting.reader,
            )
        )
    return shown


def _keep(session: Session, setting: Setting, text: str | None) -> None:
    """Keep a deployment setting in the home folder; the process's own environment still wins over it."""
    from dreaming.settings.resolution import parse_value, resolve

    old = resolve(session.variables, {})[setting.name]
    value = None if text is None else parse_value(setting, text)
    session.make_home()
    keep_variable(session.home, setting.environment, None if value is None else _text(value))
    new = setting.default if value is None else value
    _show_change(session, setting.name, old, new, changed=old != new, kept_in=str(session.home))
    winning = next((name for name in (setting.environment, *setting.aliases) if session.environment.get(name)), None)
    if winning:
        session.output.notice(f"warning: {winning} is set in the environment and wins over it; unset it")


def _show_change(session: Session, name: str, old: Any, new: Any, *, changed: bool, kept_in: str) -> None:
    if session.output.as_json:
        session.output.document({"name": name, "changed": changed, "old": old, "new": new, "kept_in": kept_in})
    elif not changed:
        session.output.line(f"{name} was that already.")
    else:
        session.output.line(f"{name}: {_text(old, 'default')} → {_text(new, 'default')}")


def _show_audit(session: Session, entries: list[AuditEntry]) -> None:
    made = table(("id", {"justify": "right"}), "when", "who", "what", "from", "to")
    for entry in entries:
        made.add_row(
            str(entry.audit_id),
            minute(entry.happened_at),
            styled(entry.actor),
            entry.subject,
            styled(_text(entry.old_value, "default")),
            styled(_text(entry.new_value, "default")),
        )
    session.output.show(made)


def _require_setting(name: str) -> Setting:
    from dreaming.settings.resolution import find_setting

    return find_setting(name)


def _text(value: Any, missing: str = "-") -> str:
    if value is None or value == "":
        return missing
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or missing
    return str(value)
