"""Every store function, called by one tenant with the ids of another, finds nothing and changes nothing."""

from __future__ import annotations

import collections.abc
import dataclasses
import importlib
import inspect
import pkgutil
import types
import typing
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from enum import Enum
from typing import Any
from uuid import UUID, uuid4

import numpy as np
import psycopg
import pytest
from psycopg.rows import TupleRow
from pydantic import BaseModel

import dreaming
from dreaming.database import Database, Role, Transaction
from dreaming.erasure.catalogue import store as catalogue_store
from dreaming.erasure.catalogue.records import Catalogue
from dreaming.notes.records import SliceKey, Tenant
from tests.rows import insert_row, insert_slice, rows_of_every_table

Admin = psycopg.Connection[TupleRow]
ACME, BAKERY = SliceKey("acme"), SliceKey("bakery")
PHRASE = "a planted phrase"
NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
ROLES = (Role.WORKER, Role.API)


def store_functions() -> dict[str, Callable[..., Any]]:
    """Every public function of every store that works for a tenant; the planner's are for all of them."""
    found: dict[str, Callable[..., Any]] = {}
    for module_info in pkgutil.walk_packages(dreaming.__path__, "dreaming."):
        if module_info.name.rpartition(".")[2] != "store":
            continue
        module = importlib.import_module(module_info.name)
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if function.__module__ == module.__name__ and not name.startswith("_"):
                parameters = inspect.signature(function).parameters
                if "tx" in parameters:
                    found[f"{module.__name__.removeprefix('dreaming.')}.{name}"] = function
    return found


class Arguments:
    """Builds arguments of any type, with the ids and names of the planted rows wherever one is asked for."""

    def __init__(
        self, slice_id: int, rows: dict[str, dict[str, Any]], catalogue: Catalogue, stored: list[tuple[Any, ...]]
    ) -> None:
        self.catalogue = catalogue
        self.rows = stored
        self.slice_id = slice_id
        self.values: dict[str, Any] = {"org_id": "acme", "slice_id": slice_id}
        for row in rows.values():
            for name, value in row.items():
                if isinstance(value, str | UUID | int) and name not in ("kind", "dimension"):
                    self.values.setdefault(name, value)
        belief = rows["beliefs"]["belief_id"]
        right = rows["beliefs (the second of a pair)"]["belief_id"]
        self.values |= {"left": belief, "right": right, "kept": belief, "merged": right, "item_id": str(belief)}
        self.values |= {"kept_belief_id": belief, "merged_belief_id": right, "to_belief_id": right}
        self.values |= {
            "table": "notes",
            "column": "slice_id",
            "value": slice_id,
            "condition": "true",
            "pass_name": "consolidation",
        }
        self.values |= {"limit": 10, "most": 10, "rows": 10, "characters": 10_000, "user_id": None, "scopes": None}

    def call(self, function: Callable[..., Any], tx: Transaction) -> Any:
        hints = typing.get_type_hints(function, vars(importlib.import_module(function.__module__)))
        positional, named = [], {}
        for name, parameter in inspect.signature(function).parameters.items():
            value = tx if name == "tx" else self.build(hints[name], name)
            if parameter.kind is parameter.KEYWORD_ONLY:
                named[name] = value
            else:
                positional.append(value)
        return function(*positional, **named)

    def build(self, kind: Any, name: str) -> Any:  # noqa: C901, PLR0911 - one answer for each sort of type
        origin, arguments = typing.get_origin(kind), typing.get_args(kind)
        if kind is Catalogue:
            return self.catalogue
        if origin in (typing.Union, types.UnionType):
            return self.build(next(one for one in arguments if one is not type(None)), name)
        if origin is typing.Annotated:
            return self.build(arguments[0], name)
        if origin is typing.Literal:
            return arguments[0]
        if origin is tuple:
            return tuple(self.build(one, name) for one in arguments if one is not Ellipsis)
        if origin in (collections.abc.Mapping, dict):
            return {self.build(arguments[0], name): self.build(arguments[1], name)}
        if origin in (frozenset, set):
            return origin([self.build(arguments[0], name)])
        if origin is np.ndarray or kind is np.ndarray:
            return np.array([1.0, 0.0], dtype=np.float32)
        if origin in (collections.abc.Sequence, collections.abc.Collection, collections.abc.Iterable, list):
            return [self.build(arguments[0], name)]
        if isinstance(kind, type):
            return self._of_class(kind, name)
        raise TypeError(f"no argument for {kind}")

    def _of_class(self, kind: type, name: str) -> Any:  # noqa: PLR0911 - one answer for each sort of class
        if kind is Tenant:
            return Tenant("acme")
        if kind is SliceKey:
            return ACME
        if issubclass(kind, Enum):
            return next(iter(kind))
        if dataclasses.is_dataclass(kind) or issubclass(kind, BaseModel):
            hints = typing.get_type_hints(kind)
            names = (
                [field.name for field in dataclasses.fields(kind)]
                if dataclasses.is_dataclass(kind)
                else list(kind.model_fields)
            )
            return kind(**{one: self.build(hints[one], one) for one in names})
        plain = {
            bool: True,
            float: 0.5,
            datetime: NOW,
            date: NOW.date(),
            timedelta: timedelta(days=1),
            bytes: bytes(32),
        }
        if kind in plain:
            return plain[kind]
        if kind is UUID:
            return self._id(name)
        if kind is int:
            known = self.values.get(name)
            if "document" in name:
                return self.values["document_id"]
            return self.slice_id if name.startswith("slice") else known if isinstance(known, int) else 1
        if kind is str:
            known = self.values.get(name.removesuffix("s"), self.values.get(name))
            return known if isinstance(known, str) else "e"
        return None

    def _id(self, name: str) -> UUID:
        for known in (name, name.removesuffix("s"), f"{name.removesuffix('s')}_id"):
            if isinstance(self.values.get(known), UUID):
                return self.values[known]  # type: ignore[no-any-return]
        for word in ("belief", "note", "source", "relationship", "merge", "action", "run"):
            if word in name:
                return self.values.get(f"{word}_id", uuid4())  # type: ignore[no-any-return]
        return self.values["belief_id"]  # type: ignore[no-any-return]


@pytest.fixture
def arguments(admin: Admin, database: Database) -> Arguments:
    """Arguments that name rows of acme, one in every table; bakery has a row in every table too."""
    insert_slice_of_rows(admin, BAKERY, "a bakery's own")
    slice_id, rows = insert_slice_of_rows(admin, ACME, PHRASE)
    with database.transaction(ACME.tenant, role=Role.ERASER) as tx:
        catalogue = catalogue_store.read(tx)
        return Arguments(slice_id, rows, catalogue, _rows(tx, catalogue))


def insert_slice_of_rows(admin: Admin, key: SliceKey, text: str) -> tuple[int, dict[str, dict[str, Any]]]:
    slice_id = insert_slice(admin, key)
    rows = rows_of_every_table(slice_id, key.org_id, text)
    for name in ("beliefs (the second of a pair)", *(one for one in rows if " " not in one)):
        insert_row(admin, name.partition(" ")[0], rows[name])
    return slice_id, rows


class Undone(Exception):
    """Ends a transaction whose effects were seen."""


@dataclasses.dataclass
class Outcome:
    """What came of one call: what it answered, the error if any, and whether acme's rows changed."""

    answer: str
    error: Exception | None
    changed: bool


def outcome(
    database: Database, arguments: Arguments, function: Callable[..., Any], tenant: Tenant, role: Role
) -> Outcome:
    """Call a function in a transaction that is undone; acme's rows are compared inside it, by a superuser."""
    seen: list[Outcome] = []
    try:
        with database.transaction(tenant, role=role) as tx:
            try:
                with tx.transaction():
                    answer = arguments.call(function, tx)
                    answer = list(answer) if isinstance(answer, Iterator) else answer
                    found = Outcome(repr(answer), None, changed=False)
            except Exception as error:  # noqa: BLE001 - whatever it is, nothing may have happened
                found = Outcome("", error, changed=False)
            found.changed = _rows(tx, arguments.catalogue) != arguments.rows
            seen.append(found)
            raise Undone  # noqa: TRY301 - so that the transaction is undone
    except Undone:
        return seen[0]


def _rows(tx: Transaction, catalogue: Catalogue) -> list[tuple[Any, ...]]:
    """A hash of acme's rows, table by table, in one statement, as the superuser that the login is."""
    tx.execute("select set_config('role', 'none', true)")
    acme = {"org_id": "org_id = 'acme'", "slice_id": "slice_id in (select slice_id from slices where org_id = 'acme')"}
    hashes = [
        f"select '{table.name}', md5(string_agg(t::text || t.xmin::text, ' ' order by t::text)) from {table.name} t "
        f"where {acme['org_id' if table.name == 'slices' else str(table.tenant_column)]}"
        for table in catalogue.tables.values()
    ]
    return tx.execute(" union all ".join(hashes).encode()).fetchall()


def test_the_functions_of_every_store_neither_find_nor_change_anything_of_another_tenant(
    database: Database, arguments: Arguments
) -> None:
    """The same calls by acme itself show that they reach what is there."""
    functions = store_functions()
    leaks, reached, broken = [], set(), {}
    for name, function in functions.items():
        roles = [Role.ERASER] if name.startswith("erasure.") and "tombstones" not in name else ROLES
        for role in roles:
            theirs = outcome(database, arguments, function, BAKERY.tenant, role)
            if theirs.changed or PHRASE in theirs.answer:
                leaks.append((name, role, theirs))
        own = outcome(database, arguments, function, ACME.tenant, roles[0])
        if own.changed or PHRASE in own.answer or str(arguments.values["belief_id"]) in own.answer:
            reached.add(name)
        if own.error is not None and not isinstance(own.error, psycopg.Error):
            broken[name] = own.error
    assert leaks == []
    assert len(functions) > 280
    # Of the rest many only lock, count, or refuse what was made up for them.
    assert len(reached) > 90, sorted(set(functions) - reached)
    assert len(broken) < 25, broken
