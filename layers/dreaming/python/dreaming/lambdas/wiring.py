"""Builds what a handler needs from the environment, once per sandbox; other runtimes install their own."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from time import monotonic

from dreaming.database import Database
from dreaming.errors import Misconfigured
from dreaming.identifiers import NewId, uuid7
from dreaming.models.keys import EnvironmentKeys, KeyResolver
from dreaming.models.protocols import ChatModel
from dreaming.models.selection import chat_model
from dreaming.passes.consolidation.run import Consolidation
from dreaming.passes.engine import Engine
from dreaming.passes.records import Clock, Queue
from dreaming.settings.resolution import Settings

DATABASE_URL = "DATABASE_URL"
QUEUE_URL = "DREAMING_QUEUE_URL"


@dataclass(frozen=True, slots=True)
class Resources:
    """The outside world of a handler: database, queue, keys, deployment settings, time and ids."""

    database: Database
    queue: Queue
    keys: KeyResolver
    environment: Mapping[str, str]
    clock: Clock
    new_id: NewId


_installed: list[Resources] = []


def install(resources: Resources) -> None:
    """Make every handler of this process use `resources`."""
    _installed[:] = [resources]


def resources() -> Resources:
    """Return the installed resources, or build them from the environment and keep them.

    Raises `Misconfigured` naming the variable that is missing.
    """
    if not _installed:
        install(_from_environment(os.environ))
    return _installed[0]


def consolidation_engine() -> Engine:
    """Return the engine of the consolidation pass."""
    given = resources()
    work = Consolidation(given.database, partial(_chat_model, given.keys), given.clock, given.new_id)
    return Engine(work, given.database, given.queue, given.environment, given.clock, given.new_id)


def _chat_model(keys: KeyResolver, settings: Settings, org_id: str) -> ChatModel:
    return chat_model(settings, org_id, keys)


def _from_environment(environment: Mapping[str, str]) -> Resources:
    from dreaming.lambdas.queue import SqsQueue

    return Resources(
        database=Database(_required(environment, DATABASE_URL)),
        queue=SqsQueue(_required(environment, QUEUE_URL)),
        keys=KeyResolver(EnvironmentKeys(environment), clock=monotonic),
        environment=environment,
        clock=_now,
        new_id=uuid7,
    )


def _required(environment: Mapping[str, str], name: str) -> str:
    value = environment.get(name)
    if not value:
        raise Misconfigured(f"{name} is not set; set it in the function's environment")
    return value


def _now() -> datetime:
    return datetime.now(UTC)
