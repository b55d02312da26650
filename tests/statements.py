"""What a test executes on the database, statement by statement."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg.rows import TupleRow


class Statements:
    """Counts what is executed on the connections that it opens."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def connect(self, conninfo: str, **options: Any) -> psycopg.Connection[TupleRow]:
        texts = self.texts

        class CountingCursor(psycopg.Cursor[TupleRow]):
            def execute(self, query: Any, *arguments: Any, **settings: Any) -> Any:
                texts.append(str(query))
                return super().execute(query, *arguments, **settings)

            def executemany(self, query: Any, params_seq: Any, *, returning: bool = False) -> None:
                raise AssertionError(f"a statement for each row: {query}")

        return psycopg.connect(conninfo, cursor_factory=CountingCursor, **options)
