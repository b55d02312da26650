"""The real handlers, as a Lambda sandbox keeps them: loaded once, invoked again and again."""

from __future__ import annotations

from pathlib import Path

import pytest
from aws_lambda_powertools import Metrics

from dreaming.database import Database
from dreaming.identifiers import uuid7
from dreaming.lambdas import wiring
from dreaming.lambdas.wiring import Resources
from dreaming.models.keys import EnvironmentKeys, KeyResolver
from tests.functions.sandbox import Sandbox, load_sandbox
from tests.world import World, open_world


@pytest.fixture(autouse=True)
def fresh_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that another test has installed or switched off."""
    monkeypatch.setattr(wiring, "_installed", [])
    monkeypatch.setenv("POWERTOOLS_METRICS_DISABLED", "false")
    monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", "Dreaming/test")
    Metrics(namespace="Dreaming/test").clear_metrics()
    for name in ("DATABASE_URL", "DATABASE_HOST", "DREAMING_QUEUE_URL", "DREAMING_KEYS_SECRET"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """The file of the model's answers; without a rule it claims nothing."""
    path = tmp_path / "script.json"
    path.write_text('{"rules": []}', "utf-8")
    return path


@pytest.fixture
def world(database: Database, tmp_path: Path, script: Path) -> World:
    """A world whose handlers answer from the script and read two notes a batch."""
    world = open_world(database, tmp_path)
    world.environment |= {
        "DREAMING_CHAT_PROVIDER": "scripted",
        "DREAMING_CHAT_SCRIPT": str(script),
        "DREAMING_BATCH_NOTES": "2",
    }
    return world


@pytest.fixture
def installed(world: World) -> World:
    """The world, as what every handler of this process finds around it."""
    install(world)
    return world


def install(world: World) -> None:
    """Put the world around every handler of this process."""
    keys = KeyResolver(EnvironmentKeys(world.environment), clock=lambda: 0.0)
    wiring.install(Resources(world.database, lambda _: world.queue, keys, world.environment, world.clock, uuid7))


@pytest.fixture
def consolidate(installed: World) -> Sandbox:
    """One warm sandbox of the consolidation function."""
    return load_sandbox("consolidate")


@pytest.fixture
def api(installed: World) -> Sandbox:
    """One warm sandbox of the API's function."""
    return load_sandbox("api")
