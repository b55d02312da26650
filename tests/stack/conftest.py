"""One deployment for all tests of this folder: emulator, database, stack, and the slices that drain through it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.architecture.modules import ROOT
from tests.databases import at_database, created_database
from tests.stack.deployment import CDK, bootstrap, deploy, synthesize
from tests.stack.emulator import install, processes_with, running
from tests.stack.system import SETTINGS, System, write_script
from tests.waiting import wait_until

HOST_LAYER = ROOT / "build" / "layers" / "host" / "python"


@pytest.fixture(scope="session")
def system(server_url: str) -> Iterator[System]:
    """The deployed system; at the end nothing of it may be left."""
    for needed in (CDK, HOST_LAYER):
        if not needed.exists():
            pytest.skip(f"{needed.relative_to(ROOT)} is missing: run `make stack-test`")
    program = install(ROOT / "build" / "ministack")
    with tempfile.TemporaryDirectory(prefix="dreaming stack ") as name, created_database(server_url) as database:
        folder = Path(name)
        script = write_script(folder / "script.json")
        url = at_database(server_url, database)
        with running(program, folder / "emulator") as emulator:
            context = {
                "stage": "local",
                "database_url": url,
                "timeout_seconds": 20,
                "visibility_seconds": 22,
                "max_receives": 3,
                "settings": {**SETTINGS, "chat_script": str(script)},
            }
            bootstrap(emulator, folder)
            assembly = synthesize(emulator, folder, context)
            deployment = deploy(emulator, folder, assembly)
            system = System(emulator, deployment, url, folder, context)
            with closing(system):
                system.migrate()
                yield system
        temporary = list((folder / "emulator").rglob("*"))
        wait_until(lambda: not processes_with(name), "no process of the emulator is left", within=30)
    assert [path.name for path in temporary] == ["emulator.log"]
