"""Hindsight as a library: `retain_batch_async` for each note as a document, then `run_consolidation`."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import asyncpg  # type: ignore[import-not-found]  # in its own environment only
from hindsight_api import MemoryEngine  # type: ignore[import-not-found]
from hindsight_api.models import RequestContext  # type: ignore[import-not-found]

from tests.peers.protocol import Failures, Note, serve

_TABLES = ("documents", "chunks", "memory_units", "memory_links", "entities", "unit_entities")


class Hindsight:
    """A bank for each store, in one event loop."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._url = os.environ["HINDSIGHT_API_DATABASE_URL"]
        self._engine: Any = None
        self._bank = ""
        self._callers = 1

    def open(self, store: str, callers: int) -> None:
        self._bank, self._callers = store, callers
        if self._engine is None:
            self._engine = MemoryEngine()
            self._loop.run_until_complete(self._engine.initialize())

    def remember(self, notes: Sequence[Note], failures: Failures) -> None:
        self._loop.run_until_complete(self._remember(notes, failures))

    async def _remember(self, notes: Sequence[Note], failures: Failures) -> None:
        context = RequestContext(internal=True)
        turns = asyncio.Semaphore(self._callers)

        async def retain(note_id: str, text: str, written: str) -> None:
            content = {"content": text, "document_id": note_id, "event_date": datetime.fromisoformat(written)}
            async with turns:
                try:
                    await self._engine.retain_batch_async(self._bank, [content], request_context=context)
                except Exception as problem:  # noqa: BLE001 - whatever reaches the caller is the finding
                    failures.add(problem, [note_id])

        await asyncio.gather(*(retain(*one) for one in notes))
        try:
            await self._engine.run_consolidation(self._bank, request_context=context)
        except Exception as problem:  # noqa: BLE001 - whatever reaches the caller is the finding
            failures.add(problem, [])

    def recover(self, notes: Sequence[Note], failures: Failures) -> None:
        """Retain them again, and consolidate again what consolidation gave up."""
        context = RequestContext(internal=True)
        self._loop.run_until_complete(self._engine.retry_failed_consolidation(self._bank, request_context=context))
        self.remember(notes, failures)

    def count(self) -> tuple[dict[str, int], dict[str, list[str]]]:
        return self._loop.run_until_complete(self._count())

    async def _count(self) -> tuple[dict[str, int], dict[str, list[str]]]:
        connection = await asyncpg.connect(self._url)
        try:
            rows = {}
            for table in _TABLES:
                rows[table] = await connection.fetchval(_COUNT[table], self._bank)
            found = await connection.fetch("select fact_type, text from memory_units where bank_id = $1", self._bank)
        finally:
            await connection.close()
        held: dict[str, list[str]] = {"facts": [], "observations": []}
        for one in found:
            held["observations" if one["fact_type"] == "observation" else "facts"].append(one["text"])
        return rows, held


_OF_UNITS = "join memory_units u on u.id = t.{} where u.bank_id = $1"
_COUNT = {
    **{
        table: f"select count(*) from {table} where bank_id = $1"
        for table in ("documents", "chunks", "memory_units", "entities")
    },
    "memory_links": f"select count(*) from memory_links t {_OF_UNITS.format('from_unit_id')}",
    "unit_entities": f"select count(*) from unit_entities t {_OF_UNITS.format('unit_id')}",
}


if __name__ == "__main__":
    serve(Hindsight())
