"""The systems that are compared, and a process for each."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from dreaming import __version__
from tests.architecture.modules import ROOT
from tests.databases import at_database
from tests.peers.environments import Installed, install
from tests.peers.notes import PeerNote


@dataclass(frozen=True, slots=True)
class System:
    """A name for people, the module that drives it, how many hand notes over at once, and its settings."""

    name: str
    driver: str
    callers: int
    settings: Mapping[str, str]
    package: str = ""

    def installed(self) -> Installed:
        """Return its interpreter, after making its environment where it needs one."""
        if not self.package:
            return Installed(sys.executable, __version__)
        return install(self.driver.rpartition("_")[2], self.package)


_HINDSIGHT = {
    "HINDSIGHT_API_RERANKER_PROVIDER": "rrf",
    "HINDSIGHT_API_ENABLE_AUTO_CONSOLIDATION": "false",
    # A run takes up 100 facts by default and leaves the rest to a worker's next; here it takes all.
    "HINDSIGHT_API_CONSOLIDATION_MAX_MEMORIES_PER_ROUND": "0",
    "HINDSIGHT_API_SKIP_LLM_VERIFICATION": "true",
}

SYSTEMS = (
    System("Dreaming", "drive_dreaming", 8, {"PEER_PACKING": "true"}),
    System("Dreaming, a call for each note", "drive_dreaming", 8, {"PEER_PACKING": "false"}),
    System("mem0, one caller", "drive_mem0", 1, {"MEM0_TELEMETRY": "false"}, "mem0ai"),
    System("mem0, eight callers", "drive_mem0", 8, {"MEM0_TELEMETRY": "false"}, "mem0ai"),
    System("Hindsight", "drive_hindsight", 8, _HINDSIGHT, "hindsight-api-slim"),
)


class Driven:
    """A system at work in its process."""

    def __init__(self, process: subprocess.Popen[str], callers: int, log: Path) -> None:
        self._process = process
        self._callers = callers
        self._log = log

    def open(self, store: str) -> None:
        """Begin a fresh store."""
        self._ask({"op": "open", "store": store, "callers": self._callers})

    def take(self, op: str, notes: Sequence[PeerNote]) -> dict[str, Any]:
        """`remember` or `recover` notes; returns what the driver answers."""
        return self._ask({"op": op, "notes": [[one.note_id, one.text, one.occurred_at] for one in notes]})

    def count(self) -> dict[str, Any]:
        """Return rows and what is held."""
        return self._ask({"op": "count"})

    def _ask(self, asked: dict[str, Any]) -> dict[str, Any]:
        reading, writing = self._process.stdout, self._process.stdin
        if reading is None or writing is None:
            raise AssertionError("a driver has pipes")
        try:
            writing.write(json.dumps(asked) + "\n")
            writing.flush()
        except BrokenPipeError:
            line = ""
        else:
            line = reading.readline()
        if not line:
            raise DriverEndedError(" | ".join(self._log.read_text("utf-8", "replace").splitlines()[-3:])[-500:])
        answered: dict[str, Any] = json.loads(line)
        return answered


class DriverEndedError(Exception):
    """The system's process ended; the text is the end of what it said."""


@contextmanager
def driven(system: System, python: str, server_url: str, model_url: str, folder: Path) -> Iterator[Driven]:
    """Start a system with a database of its own on the server, and end it."""
    database = "peer_" + system.name.lower().translate(str.maketrans(", ", "__"))
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(f'create database "{database}"'.encode())
    url = at_database(server_url, database)
    home = folder / database
    home.mkdir()
    log = home / "log"
    environment = _environment(system, _as_url(url), model_url, home)
    with log.open("w") as said:
        process = subprocess.Popen(
            [python, "-m", f"tests.peers.{system.driver}"], cwd=ROOT, env=environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said,
        )  # fmt: skip
        try:
            yield Driven(process, system.callers, log)
        finally:
            if process.stdin:
                process.stdin.close()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            if process.stdout:
                process.stdout.close()


def _environment(system: System, database_url: str, model_url: str, home: Path) -> dict[str, str]:
    """Everything that the process sees; no key and no setting of this session's own."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PEER_FOLDER": str(home),
        "PEER_DATABASE_URL": database_url,
        "PEER_MODEL_URL": model_url,
        "PEER_CALLERS": str(system.callers),
        "MEM0_DIR": str(home),
        "HINDSIGHT_API_DATABASE_URL": database_url,
        "HINDSIGHT_API_LLM_PROVIDER": "openai",
        "HINDSIGHT_API_LLM_API_KEY": "stub",
        "HINDSIGHT_API_LLM_BASE_URL": model_url,
        "HINDSIGHT_API_LLM_MODEL": "stub",
        "HINDSIGHT_API_LLM_MAX_CONCURRENT": str(system.callers),
        "HINDSIGHT_API_EMBEDDINGS_PROVIDER": "openai",
        "HINDSIGHT_API_EMBEDDINGS_OPENAI_API_KEY": "stub",
        "HINDSIGHT_API_EMBEDDINGS_OPENAI_BASE_URL": model_url,
        "HINDSIGHT_API_EMBEDDINGS_OPENAI_MODEL": "stub",
        **system.settings,
    }


def _as_url(connection: str) -> str:
    """Return a connection string as a URL, which is what every peer wants."""
    parts = psycopg.conninfo.conninfo_to_dict(connection)
    return "postgresql://{user}:{password}@{host}:{port}/{dbname}".format(**parts)
