"""An organization's settings and consents in the database, and the audit of their changes."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from psycopg.rows import TupleRow

from dreaming.database import Database, Role, Transaction
from dreaming.errors import InvalidInput
from dreaming.notes.records import Tenant
from dreaming.settings.records import Enrolment
from dreaming.settings.resolution import Origin
from dreaming.settings.service import (
    Change,
    change_consent,
    change_excluded_sources,
    change_from_text,
    change_setting,
    list_audit,
    load_organization,
    load_settings,
    reset_setting,
)
from dreaming.settings.store import read_enrolment, read_overrides

ACME = Tenant("acme")
NOW = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)
BY_MARA: dict[str, Any] = {"actor": "mara", "now": NOW}


def in_transaction(database: Database, act: Callable[[Transaction], object], org_id: str = "acme") -> Any:
    with database.transaction(Tenant(org_id)) as tx:
        return act(tx)


def audit(database: Database, org_id: str = "acme") -> list[tuple[object, ...]]:
    with database.transaction(Tenant(org_id)) as tx:
        return [(one.actor, one.action, one.subject, one.old_value, one.new_value) for one in list_audit(tx, org_id)]


def test_an_organization_that_said_nothing_has_the_environment_and_no_consent(database: Database) -> None:
    with database.transaction(ACME) as tx:
        settings = load_settings(tx, "acme", {"DREAMING_BATCH_NOTES": "4"})
        assert settings.integer("batch_notes") == 4
        assert read_enrolment(tx, "acme") == Enrolment(False, False, False, ())


def test_a_change_is_in_force_and_on_record(database: Database) -> None:
    def change(tx: Transaction) -> Change | None:
        return change_setting(tx, "acme", "batch_notes", 20, **BY_MARA)

    assert in_transaction(database, change) == Change("batch_notes", None, 20)
    with database.transaction(ACME) as tx:
        settings = load_settings(tx, "acme", {"DREAMING_BATCH_NOTES": "4"})
        (entry,) = list_audit(tx, "acme")
    assert settings.integer("batch_notes") == 20
    assert settings.resolved("batch_notes").origin is Origin.ORGANIZATION
    assert (entry.actor, entry.action, entry.subject) == ("mara", "setting_changed", "batch_notes")
    assert (entry.happened_at, entry.old_value, entry.new_value) == (NOW, None, 20)


def test_a_change_to_the_same_value_writes_nothing(database: Database, admin: psycopg.Connection[TupleRow]) -> None:
    for actor, now in (("mara", NOW), ("nils", NOW + timedelta(days=1))):
        with database.transaction(ACME) as tx:
            change_setting(tx, "acme", "jaccard_threshold", 0.8, actor=actor, now=now)
            change_consent(tx, "acme", "enrolled", True, actor=actor, now=now)
            change_excluded_sources(tx, "acme", ["mail", "hr"], actor=actor, now=now)
    assert len(audit(database)) == 3
    for table in ("settings", "enrolment"):
        assert admin.execute(f"select updated_by, updated_at from {table}".encode()).fetchall() == [("mara", NOW)]


def test_the_record_holds_from_and_to(database: Database) -> None:
    in_transaction(database, lambda tx: change_setting(tx, "acme", "chat_model", "small", **BY_MARA))
    in_transaction(database, lambda tx: change_setting(tx, "acme", "chat_model", "large", **BY_MARA))
    in_transaction(database, lambda tx: reset_setting(tx, "acme", "chat_model", **BY_MARA))
    in_transaction(database, lambda tx: change_consent(tx, "acme", "model_consent", True, **BY_MARA))
    in_transaction(database, lambda tx: change_consent(tx, "acme", "model_consent", False, **BY_MARA))
    in_transaction(database, lambda tx: change_excluded_sources(tx, "acme", ["mail", "hr", "hr"], **BY_MARA))
    assert audit(database) == [
        ("mara", "enrolment_changed", "embedding_excluded_sources", [], ["hr", "mail"]),
        ("mara", "enrolment_changed", "model_consent", True, False),
        ("mara", "enrolment_changed", "model_consent", False, True),
        ("mara", "setting_reset", "chat_model", "large", None),
        ("mara", "setting_changed", "chat_model", "small", "large"),
        ("mara", "setting_changed", "chat_model", None, "small"),
    ]


def test_one_consent_leaves_the_others_as_they_are(database: Database) -> None:
    in_transaction(database, lambda tx: change_consent(tx, "acme", "enrolled", True, **BY_MARA))
    in_transaction(database, lambda tx: change_excluded_sources(tx, "acme", ["mail"], **BY_MARA))
    in_transaction(database, lambda tx: change_consent(tx, "acme", "embedding_consent", True, **BY_MARA))
    enrolment = in_transaction(database, lambda tx: read_enrolment(tx, "acme"))
    assert enrolment == Enrolment(True, False, True, ("mail",))


def test_settings_and_consents_read_at_once_are_those_read_one_after_the_other(database: Database) -> None:
    environment = {"DREAMING_BATCH_NOTES": "4"}
    in_transaction(database, lambda tx: change_setting(tx, "acme", "jaccard_threshold", 0.9, **BY_MARA))
    in_transaction(database, lambda tx: change_setting(tx, "acme", "chat_model", "small", **BY_MARA))
    in_transaction(database, lambda tx: change_consent(tx, "acme", "embedding_consent", True, **BY_MARA))
    in_transaction(database, lambda tx: change_excluded_sources(tx, "acme", ["hr", "mail"], **BY_MARA))
    in_transaction(database, lambda tx: change_setting(tx, "bakery", "batch_notes", 9, **BY_MARA), "bakery")
    for org in ("acme", "bakery", "circus"):
        with database.transaction(Tenant(org)) as tx:
            settings, enrolment = load_organization(tx, org, environment)
            one_by_one = load_settings(tx, org, environment)
            assert [settings.resolved(name) for name in settings] == [one_by_one.resolved(name) for name in one_by_one]
            assert enrolment == read_enrolment(tx, org)


def test_a_change_that_is_rolled_back_leaves_no_record(database: Database) -> None:
    with pytest.raises(RuntimeError, match="crash"), database.transaction(ACME) as tx:
        change_setting(tx, "acme", "batch_notes", 20, **BY_MARA)
        change_consent(tx, "acme", "model_consent", True, **BY_MARA)
        raise RuntimeError("crash")
    assert audit(database) == []
    assert in_transaction(database, lambda tx: read_overrides(tx, "acme")) == {}
    assert in_transaction(database, lambda tx: read_enrolment(tx, "acme")) == Enrolment()


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda tx: change_setting(tx, "acme", "batch_notes", 0, **BY_MARA), "batch_notes: is 0, below the least"),
        (lambda tx: change_setting(tx, "acme", "batch_notes", True, **BY_MARA), "batch_notes: is True"),
        (lambda tx: change_setting(tx, "acme", "batch_note", 5, **BY_MARA), "did you mean batch_notes"),
        (lambda tx: change_setting(tx, "acme", "enabled", True, **BY_MARA), "set DREAMING_ENABLED"),
        (lambda tx: change_setting(tx, "acme", "batch_notes", 5, actor="", now=NOW), "actor"),
        (lambda tx: reset_setting(tx, "acme", "no_such", **BY_MARA), "'no_such': is not a setting"),
        (lambda tx: change_consent(tx, "acme", "updated_by", True, **BY_MARA), "updated_by: is no part"),
        (lambda tx: change_consent(tx, "acme", "enrolled", "no", **BY_MARA), "enrolled: is 'no'"),  # type: ignore[arg-type]
        (lambda tx: change_excluded_sources(tx, "acme", [""], **BY_MARA), "embedding_excluded_sources: contains ''"),
        (lambda tx: change_excluded_sources(tx, "acme", "mail", **BY_MARA), "embedding_excluded_sources: is not a li"),
        (lambda tx: change_from_text(tx, "acme", "model_consent", "yes", **BY_MARA), "use true or false"),
        (lambda tx: change_from_text(tx, "acme", "batch_notes", "many", **BY_MARA), "batch_notes: is 'many'"),
        (lambda tx: list_audit(tx, "acme", limit=0), "limit: is 0"),
    ],
)
def test_bad_input_is_refused_at_the_door(
    database: Database, act: Callable[[Transaction], object], message: str
) -> None:
    with database.transaction(ACME) as tx:
        with pytest.raises(InvalidInput) as caught:
            act(tx)
        assert message in str(caught.value)
        assert (read_overrides(tx, "acme"), read_enrolment(tx, "acme")) == ({}, Enrolment())
        assert list_audit(tx, "acme") == []


def test_text_from_the_command_line_changes_settings_and_consents(database: Database) -> None:
    def change(name: str, text: str) -> None:
        in_transaction(database, lambda tx: change_from_text(tx, "acme", name, text, **BY_MARA))

    change("jaccard_threshold", "0.9")
    change("model_consent", "true")
    change("embedding_excluded_sources", "mail, hr,")
    with database.transaction(ACME) as tx:
        assert load_settings(tx, "acme", {}).number("jaccard_threshold") == 0.9
        assert read_enrolment(tx, "acme") == Enrolment(False, True, False, ("hr", "mail"))


@pytest.mark.parametrize(
    ("name", "value"), [("batch_notes", '"20"'), ("batch_notes", "null"), ("jaccard_threshold", "7"), ("gone", "1")]
)
def test_a_value_edited_by_hand_raises_and_can_be_reset(
    database: Database, admin: psycopg.Connection[TupleRow], name: str, value: str
) -> None:
    admin.execute(
        "insert into settings (org_id, name, value, updated_at, updated_by) values ('acme', %s, %s::jsonb, now(), '')",
        (name, value),
    )
    with database.transaction(ACME) as tx, pytest.raises(InvalidInput, match=name):
        load_settings(tx, "acme", {})
    in_transaction(database, lambda tx: reset_setting(tx, "acme", name, **BY_MARA))
    with database.transaction(ACME) as tx:
        assert load_settings(tx, "acme", {}).integer("batch_notes") == 40


def test_a_value_edited_by_hand_can_be_changed(database: Database, admin: psycopg.Connection[TupleRow]) -> None:
    admin.execute("insert into settings values ('acme', 'batch_notes', '\"20\"', now(), '')")
    in_transaction(database, lambda tx: change_setting(tx, "acme", "batch_notes", 20, **BY_MARA))
    assert audit(database) == [("mara", "setting_changed", "batch_notes", "20", 20)]


def test_organizations_see_and_change_only_their_own(database: Database) -> None:
    in_transaction(database, lambda tx: change_setting(tx, "acme", "batch_notes", 20, **BY_MARA))
    in_transaction(database, lambda tx: change_consent(tx, "acme", "model_consent", True, **BY_MARA))
    with database.transaction(Tenant("other")) as tx:
        for org_id in ("acme", "other"):
            assert read_overrides(tx, org_id) == {}
            assert read_enrolment(tx, org_id) == Enrolment()
            assert list_audit(tx, org_id) == []
        with pytest.raises(psycopg.errors.InsufficientPrivilege), tx.transaction():
            change_consent(tx, "acme", "model_consent", True, **BY_MARA)
    assert in_transaction(database, lambda tx: read_enrolment(tx, "acme")).model_consent


def test_the_record_cannot_be_rewritten(database: Database) -> None:
    in_transaction(database, lambda tx: change_setting(tx, "acme", "batch_notes", 20, **BY_MARA))
    for role in (Role.WORKER, Role.API):
        for statement in ("update audit set actor = 'nobody'", "delete from audit"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege), database.transaction(ACME, role=role) as tx:
                tx.execute(statement.encode())


def test_the_record_is_read_in_pages(database: Database) -> None:
    for notes in range(1, 6):
        with database.transaction(ACME) as tx:
            change_setting(tx, "acme", "batch_notes", notes, **BY_MARA)
    with database.transaction(ACME) as tx:
        first = list_audit(tx, "acme", limit=2)
        second = list_audit(tx, "acme", limit=2, before=first[-1].audit_id)
    assert [entry.new_value for entry in first + second] == [5, 4, 3, 2]


def test_two_changes_at_once_make_one_chain_of_from_and_to(
    database: Database, admin: psycopg.Connection[TupleRow]
) -> None:
    def second() -> None:
        in_transaction(database, lambda tx: change_setting(tx, "acme", "batch_notes", 30, **BY_MARA))

    waiting_for_a_lock = b"select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
    with ThreadPoolExecutor(1) as pool:
        with database.transaction(ACME) as tx:
            change_setting(tx, "acme", "batch_notes", 20, **BY_MARA)
            other = pool.submit(second)
            while not admin.execute(waiting_for_a_lock).rowcount:
                assert not other.done()
        other.result(timeout=30)
    assert [entry[3:] for entry in audit(database)] == [(20, 30), (None, 20)]
