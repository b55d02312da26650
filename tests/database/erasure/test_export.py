"""Export of everything held on an owner, or in a slice, and of nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dreaming.database import Database, Role
from dreaming.erasure.catalogue import store as catalogue_store
from dreaming.erasure.catalogue.rules import of_organizations, of_slices
from dreaming.erasure.export.records import DERIVED, ExportedRow, Place
from dreaming.erasure.export.rules import parts_of_slice
from dreaming.erasure.export.service import Export
from dreaming.erasure.service import KEPT
from dreaming.errors import InvalidInput
from dreaming.notes.records import Scope, SliceKey, Tenant
from tests.erasure_world import Admin, Everything, tables
from tests.rows import insert_every_row, insert_slice
from tests.world import KEY, NOON, note

ANA, BEN = Tenant("acme", "ana"), Tenant("acme", "ben")
ANAS = SliceKey("acme", Scope.PRIVATE, "ana")


def lines(export: Export) -> list[dict[str, Any]]:
    return [json.loads(line) for line in export.lines(now=NOON)]


@pytest.fixture
def shared(everything: Everything) -> Everything:
    everything.tell(note("1", "The zanzibar key hangs in the shed."), key=ANAS)
    everything.tell(note("1", "Ben keeps his ladder."), key=SliceKey("acme", Scope.PRIVATE, "ben"))
    everything.tell(note("1", "Acme ships on Fridays."))
    everything.capture("anas", "We chose zanzibar for the offsite.", "Noted.", by=ANA)
    everything.capture("bens", "We chose Lisbon for the party.", "Noted.", by=BEN)
    everything.synthesize()
    everything.act("anas", "Booked zanzibar rooms.")
    everything.act("bens", "Booked Lisbon rooms.")
    everything.confirm("Acme ships on Fridays.", ANA)
    return everything


def test_an_owner_gets_all_that_is_theirs_and_nothing_of_others(shared: Everything) -> None:
    head, *records, end = lines(Export(shared.world.database, ANA))
    assert (head["record"], head["format"], head["org_id"], head["user_id"]) == ("export", 1, "acme", "ana")
    assert end["counts"] == {
        name: sum(one["record"] == name for one in records) for name in {one["record"] for one in records}
    }
    whole = json.dumps(records)
    for own in ("The zanzibar key", "zanzibar for the offsite", "Booked zanzibar rooms."):
        assert own in whole
    for others in ("ladder", "Lisbon", "bens", 'ben"'):
        assert others not in whole
    confirmed = [
        one["row"] for one in records if one["record"] == "sources" and one["row"]["origin"] == "person:api:ana"
    ]
    assert [row["statement"] for row in confirmed] == ["Acme ships on Fridays."]


def test_a_slice_is_exported_row_by_row_as_it_is_stored(shared: Everything, admin: Admin) -> None:
    _, *records, _ = lines(Export(shared.world.database, Tenant("acme"), KEY))
    slice_id = shared.world.slice().slice_id
    for table in {one["record"] for one in records}:
        stored = admin.execute(f"select to_jsonb(t) from {table} t where slice_id = %s".encode(), [slice_id]).fetchall()
        exported = [one["row"] for one in records if one["record"] == table]
        assert sorted(map(json.dumps, exported)) == sorted(json.dumps(row[0]) for row in stored)
    assert "zanzibar key" not in json.dumps(records)


def test_pages_of_any_size_add_up_to_the_same(shared: Everything) -> None:
    export = Export(shared.world.database, ANA)
    whole = list(export.page(Place(0), rows=10_000).rows)
    for rows, characters in ((1, 10_000), (7, 10_000_000), (100, 1)):
        read: list[ExportedRow] = []
        place: Place | None = Place(0)
        while place is not None:
            page = export.page(place, rows=rows, characters=characters)
            read += page.rows
            place = page.next
        assert read == whole


def test_an_export_of_nobody_or_of_a_strange_place_is_refused(shared: Everything) -> None:
    with pytest.raises(InvalidInput, match="user"):
        Export(shared.world.database, Tenant("acme"))
    with pytest.raises(InvalidInput, match="cursor"):
        Export(shared.world.database, ANA).page(Place(1_000))
    with pytest.raises(InvalidInput, match="cursor"):
        Export(shared.world.database, ANA).page(Place(0, ("1", "2", "3", "4", "5", "6")))
    empty = lines(Export(shared.world.database, Tenant("bakery", "ana")))
    assert [one["record"] for one in empty] == ["export", "end"]


def test_every_table_is_reached_by_erasure_and_by_export(database: Database, admin: Admin) -> None:
    """Read from the catalogue: a table that is forgotten anywhere fails here."""
    with database.transaction(Tenant("acme"), role=Role.ERASER) as tx:
        catalogue = catalogue_store.read(tx)
    by_slice, by_organization = set(of_slices(catalogue)), set(of_organizations(catalogue))
    assert by_slice | by_organization | {"slices", "schema_migrations"} == set(tables(admin))
    assert by_organization >= KEPT
    exported = {part.table for part in parts_of_slice(catalogue, 1)}
    assert exported == (by_slice | {"slices"}) - DERIVED
    # What is left out holds numbers alone; those of `conversation_terms` are packed.
    held = {kind for name in DERIVED for kind in catalogue.tables[name].columns.values()}
    assert held <= {"bigint", "integer", "smallint", "uuid", "bytea"}
    assert all(table.key for table in catalogue.tables.values())


def test_the_export_of_a_slice_has_a_row_of_each_table(database: Database, admin: Admin) -> None:
    slice_id = insert_slice(admin, KEY)
    insert_every_row(admin, slice_id, "acme")
    _, *records, _ = lines(Export(database, Tenant("acme"), KEY))
    with database.transaction(Tenant("acme"), role=Role.ERASER) as tx:
        catalogue = catalogue_store.read(tx)
    assert {one["record"] for one in records} == (set(of_slices(catalogue)) | {"slices"}) - DERIVED
