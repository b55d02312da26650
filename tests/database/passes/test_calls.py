"""An organization's day of model calls: what is booked is never more than its budget."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from dreaming.database import Database
from dreaming.notes.records import Tenant
from dreaming.passes.calls.store import book_call, reserve_calls

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
Book = Callable[..., bool]


@pytest.fixture
def book(database: Database) -> Book:
    def booked(
        pass_name: str, model: str = "m", *, budget: int, org: str = "acme", of_pass: bool = False, now: datetime = NOON
    ) -> bool:
        with database.transaction(Tenant(org)) as tx:
            return book_call(tx, org, pass_name, model, budget=budget, of_pass=of_pass, now=now)

    return booked


def test_the_day_is_counted_over_all_passes_and_models_of_the_organization(database: Database, book: Book) -> None:
    with database.transaction(Tenant("acme")) as tx:
        assert reserve_calls(tx, "acme", "consolidation", "chat", wanted=2, budget=5, now=NOON) == 2
    granted = [book("recall", model, budget=5) for model in ("a", "b", "a", "a")]
    assert granted == [True, True, True, False]
    assert book("recall", budget=5, org="bakery")
    assert book("recall", budget=5, now=NOON + timedelta(days=1))


def test_the_day_of_one_pass_is_counted_over_its_models_alone(book: Book) -> None:
    assert book("recall", budget=1)
    granted = [book("embedding", model, budget=2, of_pass=True) for model in ("a", "b", "a")]
    assert granted == [True, True, False]


def test_a_budget_of_none_grants_nothing(book: Book) -> None:
    assert not book("recall", budget=0)
    assert not book("embedding", budget=0, of_pass=True)


@pytest.mark.parametrize("of_pass", [False, True])
def test_calls_booked_at_once_stay_within_the_budget(database: Database, book: Book, of_pass: bool) -> None:
    with ThreadPoolExecutor(4) as pool:
        granted = list(pool.map(lambda _: book("recall", budget=5, of_pass=of_pass), range(12)))
    assert sum(granted) == 5
    with database.transaction(Tenant("acme")) as tx:
        assert tx.execute("select calls from usage").fetchall() == [(5,)]
