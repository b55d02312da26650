"""The pages of docs/reference say what the code says."""

from __future__ import annotations

import psycopg
import pytest
from psycopg.rows import TupleRow

from dreaming.local.cli import COMMANDS
from tests.documents.reference import FOLDER, written
from tests.documents.reference_tables import _plain

PAGES = ("api.md", "cli.md", "tables.md")


@pytest.fixture
def pages(database_url: str) -> dict[str, str]:
    return dict(written(database_url))


def test_the_committed_pages_are_up_to_date(pages: dict[str, str]) -> None:
    assert sorted(pages) == list(PAGES)
    for name, text in pages.items():
        assert (FOLDER / name).read_text("utf-8") == text, f"docs/reference/{name}: run `make docs`"


def test_every_command_and_every_table_is_there(pages: dict[str, str]) -> None:
    assert [name for name in COMMANDS if f"\n## `dream {name}`\n" not in pages["cli.md"]] == []
    assert "`--keep left/right/both/merge`" in pages["cli.md"]
    assert "## beliefs\n" in pages["tables.md"]
    assert "- `belief_id`: the key\n" in pages["tables.md"]


def test_every_table_says_what_it_is_for(admin: psycopg.Connection[TupleRow]) -> None:
    rows = admin.execute(
        "select relname from pg_class where relnamespace = 'dreaming'::regnamespace and relkind = 'r' "
        "and obj_description(oid, 'pg_class') is null"
    ).fetchall()
    assert rows == [], "a migration adds `comment on table`"


@pytest.mark.parametrize(
    ("written_there", "shown"),
    [
        ("((decided_by = ANY (ARRAY['rule'::text, 'model'::text])))", "decided_by in ('rule', 'model')"),
        ("(((a IS NULL) = (b IS NULL)))", "(a IS NULL) = (b IS NULL)"),
        ("('{}'::text[])", "'{}'"),
    ],
)
def test_an_expression_is_shown_without_what_the_catalogue_adds(written_there: str, shown: str) -> None:
    assert _plain(written_there) == shown
