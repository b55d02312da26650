"""Mem0 as a library, with its pgvector store: `Memory.add` for each note, from as many threads as there are callers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
from mem0 import Memory  # type: ignore[import-not-found]  # in its own environment only

from tests.peers.protocol import Failures, Note, serve

DIMENSION = 384


class Mem0:
    """A collection for each store."""

    def __init__(self) -> None:
        self._url = os.environ["PEER_DATABASE_URL"]
        self._model = os.environ["PEER_MODEL_URL"]
        self._folder = os.environ["MEM0_DIR"]
        self._memory: Any = None
        self._store = ""
        self._callers = 1

    def open(self, store: str, callers: int) -> None:
        self._store, self._callers = store, callers
        model = {"api_key": "stub", "openai_base_url": self._model}
        self._memory = Memory.from_config(
            {
                "llm": {"provider": "openai", "config": {"model": "stub", **model}},
                "embedder": {
                    "provider": "openai",
                    "config": {"model": "stub", "embedding_dims": DIMENSION, **model},
                },
                "vector_store": {
                    "provider": "pgvector",
                    "config": {
                        "connection_string": self._url, "collection_name": store, "embedding_model_dims": DIMENSION,
                        "hnsw": True,
                    },
                },
                "history_db_path": f"{self._folder}/{store}.db",
            }
        )  # fmt: skip
        # Callers at once that find no collection each create it, and all but one get an error.
        self._memory.vector_store.create_col()
        self._memory.entity_store.create_col()

    def remember(self, notes: Sequence[Note], failures: Failures) -> None:
        def add(note: Note) -> None:
            note_id, text, _ = note
            try:
                self._memory.add([{"role": "user", "content": text}], user_id="owner", metadata={"note": note_id})
            except Exception as problem:  # noqa: BLE001 - whatever reaches the caller is the finding
                failures.add(problem, [note_id])

        with ThreadPoolExecutor(self._callers) as callers:
            list(callers.map(add, notes))

    def recover(self, notes: Sequence[Note], failures: Failures) -> None:
        """Add them again: there is nothing else."""
        self.remember(notes, failures)

    def count(self) -> tuple[dict[str, int], dict[str, list[str]]]:
        with psycopg.connect(self._url) as connection:
            names = [
                row[0]
                for row in connection.execute(
                    "select tablename from pg_tables where schemaname = 'public' and tablename like %s",
                    (f"{self._store}%",),
                )
            ]
            rows = {name.replace(self._store, "memories", 1): _rows(connection, name) for name in names}
            held = connection.execute(f'select payload->>%s from "{self._store}"', ("data",)).fetchall()
        return rows, {"memories": [row[0] for row in held]}


def _rows(connection: Any, table: str) -> int:
    return int(connection.execute(f'select count(*) from "{table}"').fetchone()[0])


if __name__ == "__main__":
    serve(Mem0())
