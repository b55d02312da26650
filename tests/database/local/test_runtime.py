"""The local runtime drains through the real handler, and takes over what an interrupted or killed one left."""

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from dreaming.errors import DatabaseUnavailable
from dreaming.local.functions import Function
from dreaming.local.postgres import EmbeddedPostgres
from dreaming.local.runtime import LocalRuntime
from dreaming.notes.records import SliceKey
from dreaming.notes.service import ingest
from dreaming.notes.store import find_slice, read_counters
from dreaming.settings.service import change_consent
from tests.world import note

KEY = SliceKey("local")


@pytest.fixture
def environment(database_url: str) -> dict[str, str]:
    return {"DATABASE_URL": database_url, "DREAMING_ENABLED": "true", "DREAMING_BATCH_NOTES": "1"}


@pytest.fixture
def runtime(tmp_path: Path, environment: dict[str, str]) -> Iterator[LocalRuntime]:
    with LocalRuntime.open(tmp_path / "home", environment) as opened:
        with opened.database.transaction(KEY.tenant) as tx:
            for name in ("enrolled", "model_consent"):
                change_consent(tx, KEY.org_id, name, True, actor="test", now=datetime.now(UTC))
        yield opened


def bring_in(runtime: LocalRuntime, count: int) -> None:
    notes = [note(f"n{number}", f"Gate number {number} of the mill opens at dawn.") for number in range(count)]
    ingest(runtime.database, KEY, notes, now=runtime.clock(), new_id=runtime.new_id, max_note_characters=10_000)


def waiting(runtime: LocalRuntime) -> int:
    with runtime.database.transaction(KEY.tenant) as tx:
        found = find_slice(tx, KEY)
        assert found is not None
        return read_counters(tx, found.slice_id).waiting


def test_a_drain_empties_the_queue_and_logs_no_note_text(runtime: LocalRuntime) -> None:
    bring_in(runtime, 3)
    assert len(runtime.tick()["started"]) == 1
    report = runtime.drain()
    assert (report.batches, report.failed, report.dead) == (3, 0, 0)
    assert waiting(runtime) == 0
    log = (runtime.home / "handlers.log").read_text("utf-8")
    assert '"disposition":"done"' in log
    assert "dawn" not in log


def test_an_interrupted_drain_leaves_its_message_to_the_next_one_at_once(
    runtime: LocalRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    bring_in(runtime, 2)
    runtime.tick()

    def interrupted(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Function, "invoke", interrupted)
        with pytest.raises(KeyboardInterrupt):
            runtime.drain()
    assert runtime.queue("consolidation").counts().visible == 1
    runtime.drain()
    assert waiting(runtime) == 0


def test_what_a_killed_drain_had_in_flight_is_taken_over_at_once(
    runtime: LocalRuntime, environment: dict[str, str]
) -> None:
    bring_in(runtime, 5)
    runtime.tick()
    program = textwrap.dedent(
        """
        import os, sys
        from pathlib import Path
        from dreaming.local.runtime import LocalRuntime
        from dreaming.passes.consolidation import extraction

        def hang(*arguments, **options):
            sys.stderr.write("calling")
            sys.stderr.flush()
            sys.stdin.read()

        extraction.Extractor.extract = hang
        LocalRuntime.open(Path(sys.argv[1]), dict(os.environ)).drain()
        """
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(runtime.home)],
        env={**os.environ, **environment},
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as killed:
        assert killed.stderr is not None
        assert killed.stderr.read(7) == b"calling"
        assert runtime.queue("consolidation").counts().in_flight == 1
        killed.send_signal(signal.SIGKILL)
        killed.wait()
    runtime.drain()
    assert waiting(runtime) == 0
    with runtime.database.transaction(KEY.tenant) as tx:
        assert tx.execute("select count(*) from beliefs").fetchone() == (5,)


def test_a_drain_whose_database_is_gone_ends_and_the_next_one_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = {"DREAMING_ENABLED": "true", "DREAMING_BATCH_NOTES": "1"}
    home = tmp_path / "home"
    monkeypatch.setattr("dreaming.local.runtime._EMBEDDED_WAIT_SECONDS", 0.5)
    with LocalRuntime.open(home, environment) as runtime:
        with runtime.database.transaction(KEY.tenant) as tx:
            for name in ("enrolled", "model_consent"):
                change_consent(tx, KEY.org_id, name, True, actor="test", now=datetime.now(UTC))
        bring_in(runtime, 3)
        runtime.tick()
        EmbeddedPostgres(home).stop()
        with pytest.raises(DatabaseUnavailable):
            runtime.drain()
        assert runtime.queue("consolidation").counts().visible == 1
    with LocalRuntime.open(home, environment) as runtime:
        runtime.drain()
        assert waiting(runtime) == 0
    EmbeddedPostgres(home).stop()
