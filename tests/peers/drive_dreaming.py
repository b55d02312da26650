"""Dreaming by its local runtime: ingest, then ticks of the real handler until no note waits."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from dreaming.local.runtime import LocalRuntime
from dreaming.notes.records import IncomingNote, SliceKey
from dreaming.notes.service import ingest, retry_retired
from dreaming.notes.store import find_slice, read_counters
from dreaming.settings.service import change_consent
from tests.peers.protocol import Failures, Note, serve

MOST_TICKS = 60
_TABLES = ("notes", "beliefs", "sources", "belief_tokens", "belief_terms", "extractions", "note_versions")


class Dreaming:
    """An organization for each store, all settings but the model's as they come."""

    def __init__(self) -> None:
        environment = {
            "DATABASE_URL": os.environ["PEER_DATABASE_URL"],
            "DREAMING_ENABLED": "true",
            "DREAMING_CHAT_PROVIDER": "openai",
            "DREAMING_CHAT_MODEL": "stub",
            "DREAMING_CHAT_BASE_URL": os.environ["PEER_MODEL_URL"],
            "DREAMING_PACKING": os.environ["PEER_PACKING"],
            "DREAMING_MODEL_CONCURRENCY": os.environ["PEER_CALLERS"],
        }
        self._runtime = LocalRuntime.open(Path(os.environ["PEER_FOLDER"]) / "home", environment)
        self._key = SliceKey("none")

    def open(self, store: str, callers: int) -> None:
        """`callers` is the setting `model_concurrency`, which is set for the whole process."""
        self._key = SliceKey(store)
        with self._runtime.database.transaction(self._key.tenant) as tx:
            for consent in ("enrolled", "model_consent"):
                change_consent(tx, store, consent, True, actor="peers", now=self._runtime.clock())

    def remember(self, notes: Sequence[Note], failures: Failures) -> None:
        """Take notes in and drain; a tick that leaves notes waiting was held, as after a failed call."""
        runtime = self._runtime
        incoming = [
            IncomingNote(
                external_id=note_id, source="peers", text=text, occurred_at=datetime.fromisoformat(at), origin=note_id
            )
            for note_id, text, at in notes
        ]
        retired = self._retired()
        ingest(
            runtime.database, self._key, incoming, now=runtime.clock(), new_id=runtime.new_id,
            max_note_characters=2_000_000,
        )  # fmt: skip
        self._drain(failures)
        failures.failed.extend(sorted(self._retired() - retired))

    def recover(self, notes: Sequence[Note], failures: Failures) -> None:
        """Retry what was retired, as `dream retired --retry` does; what a call held goes on by itself."""
        runtime = self._runtime
        retry_retired(runtime.database, self._key, None, now=runtime.clock())
        self._drain(failures)
        failures.failed.extend(sorted(self._retired()))

    def _drain(self, failures: Failures) -> None:
        for _ in range(MOST_TICKS):
            self._runtime.tick()
            self._runtime.drain()
            if not self._waiting():
                return
            failures.raised["held until the next tick"] += 1

    def count(self) -> tuple[dict[str, int], dict[str, list[str]]]:
        with self._runtime.database.transaction(self._key.tenant) as tx:
            rows = {}
            for table in _TABLES:
                row = tx.execute(f"select count(*) from {table}").fetchone()
                rows[table] = int(row[0]) if row else 0
            held = tx.execute("select statement from beliefs where archived_at is null").fetchall()
        return rows, {"beliefs": [row[0] for row in held]}

    def _waiting(self) -> int:
        with self._runtime.database.transaction(self._key.tenant) as tx:
            found = find_slice(tx, self._key)
            return read_counters(tx, found.slice_id).waiting if found else 0

    def _retired(self) -> set[str]:
        with self._runtime.database.transaction(self._key.tenant) as tx:
            return {row[0] for row in tx.execute("select external_id from notes where state = 'retired'").fetchall()}


if __name__ == "__main__":
    serve(Dreaming())
