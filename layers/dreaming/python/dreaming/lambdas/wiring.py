"""Builds what a handler needs from the environment, once per sandbox; other runtimes install their own.

Each builder imports what only it needs, so that the status API loads no model and no pass.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

from dreaming.database import Database
from dreaming.errors import Misconfigured
from dreaming.identifiers import NewId, uuid7
from dreaming.lambdas.database import DATABASE_URL, Login
from dreaming.models.keys import EnvironmentKeys, KeyResolver
from dreaming.passes.records import (
    AUTONOMY,
    CONSOLIDATION,
    CONTRADICTIONS,
    DECAY,
    EMBEDDING,
    SYNTHESIS,
    Clock,
    Queue,
)

if TYPE_CHECKING:
    from dreaming.models.protocols import ChatModel, Embedder
    from dreaming.passes.engine import Engine, Pass
    from dreaming.settings.resolution import Settings

__all__ = ["DATABASE_URL", "Resources", "engine", "install", "resources", "sandbox_login"]

QUEUE_URL = "DREAMING_QUEUE_URL"
KEYS_SECRET = "DREAMING_KEYS_SECRET"

WAIT_SECONDS = 60.0
"""How long a pass waits for its database: Aurora resumes in about 15 s, after a day's pause in 30 s or more."""


@dataclass(frozen=True, slots=True)
class Resources:
    """The outside world of a handler: database, queues, keys, deployment settings, time and ids.

    `queues` gives the queue of a pass by the pass's name, or None where there is none.
    """

    database: Database
    queues: Callable[[str], Queue | None]
    keys: KeyResolver
    environment: Mapping[str, str]
    clock: Clock
    new_id: NewId


_installed: list[Resources] = []


def install(resources: Resources) -> None:
    """Make every handler of this process use `resources`."""
    _installed[:] = [resources]


def resources(*, wait_seconds: float = WAIT_SECONDS) -> Resources:
    """Return the installed resources, or build them from the environment and keep them.

    `wait_seconds` bounds the wait for the database where they are built. Raises `Misconfigured`
    naming the variable that is missing.
    """
    if not _installed:
        install(_from_environment(os.environ, wait_seconds))
    return _installed[0]


def engine(pass_name: str) -> Engine:
    """Return the engine of a pass; raises `Misconfigured` where its queue is not named."""
    from dreaming.passes.engine import Engine  # noqa: PLC0415 - only where it runs

    given = resources()
    queue = given.queues(pass_name)
    if queue is None:
        raise Misconfigured(f"{QUEUE_URL} is not set; set it in the function's environment")
    work = _BUILDERS[pass_name](given)
    return Engine(work, given.database, queue, given.environment, given.clock, given.new_id)


def sandbox_login() -> Login:
    """Return how this function logs in to its database; raises `Misconfigured`."""
    return Login.from_environment(os.environ, _now)


def _consolidation(given: Resources) -> Pass:
    from dreaming.passes.consolidation.run import Consolidation  # noqa: PLC0415 - only where it runs

    return Consolidation(
        given.database,
        partial(_chat_model, given.keys),
        given.clock,
        given.new_id,
        partial(_embedder, given.keys),
    )


def _embedding(given: Resources) -> Pass:
    from dreaming.passes.embedding.run import Embedding  # noqa: PLC0415 - only where it runs

    return Embedding(given.database, partial(_embedder, given.keys), given.clock)


def _autonomy(given: Resources) -> Pass:
    from dreaming.passes.autonomy.run import Autonomy  # noqa: PLC0415 - only where it runs

    return Autonomy(given.database, partial(_chat_model, given.keys), given.clock)


def _decay(given: Resources) -> Pass:
    from dreaming.lambdas.events import event_sink  # noqa: PLC0415 - only where it runs
    from dreaming.passes.decay.run import Decay  # noqa: PLC0415

    return Decay(given.database, event_sink(given.environment), given.clock)


def _contradictions(given: Resources) -> Pass:
    from dreaming.passes.contradictions.run import Contradictions  # noqa: PLC0415 - only where it runs

    return Contradictions(given.database, partial(_chat_model, given.keys), given.clock, given.new_id)


def _synthesis(given: Resources) -> Pass:
    from dreaming.passes.synthesis.run import Synthesis  # noqa: PLC0415 - only where it runs

    return Synthesis(given.database, given.environment, given.clock, given.new_id)


_BUILDERS: Mapping[str, Callable[[Resources], Pass]] = {
    CONSOLIDATION: _consolidation,
    EMBEDDING: _embedding,
    CONTRADICTIONS: _contradictions,
    DECAY: _decay,
    AUTONOMY: _autonomy,
    SYNTHESIS: _synthesis,
}
"""How each pass is built; each builder imports what only its pass needs."""


def _chat_model(keys: KeyResolver, settings: Settings, org_id: str) -> ChatModel:
    from dreaming.models.selection import chat_model  # noqa: PLC0415 - only where it is called

    return chat_model(settings, org_id, keys)


def _embedder(keys: KeyResolver, settings: Settings, org_id: str) -> Embedder | None:
    from dreaming.models.selection import embedder  # noqa: PLC0415 - only where it is called

    return embedder(settings, org_id, keys)


def _from_environment(environment: Mapping[str, str], wait_seconds: float) -> Resources:
    queue = _queue(environment.get(QUEUE_URL))
    return Resources(
        database=Login.from_environment(environment, _now).open(wait_seconds=wait_seconds),
        queues=lambda _: queue,  # a function serves one pass, and its queue is that pass's
        keys=_keys(environment),
        environment=environment,
        clock=_now,
        new_id=uuid7,
    )


def _queue(url: str | None) -> Queue | None:
    if not url:
        return None
    from dreaming.lambdas.queue import SqsQueue  # noqa: PLC0415 - boto3 is heavy

    return SqsQueue(url)


def _keys(environment: Mapping[str, str]) -> KeyResolver:
    secret = environment.get(KEYS_SECRET)
    if not secret:
        return KeyResolver(EnvironmentKeys(environment), clock=monotonic)
    from dreaming.models.secrets_manager import SecretsManagerKeys  # noqa: PLC0415 - only where there is a secret

    return KeyResolver(SecretsManagerKeys(secret, clock=monotonic), clock=monotonic)


def _now() -> datetime:
    return datetime.now(UTC)
