"""The real decay handler: its schedule plans, its queue archives, its sandbox says at the start what ages."""

from pathlib import Path

import pytest

from dreaming.database import Database
from dreaming.identifiers import uuid7
from dreaming.lambdas import wiring
from dreaming.lambdas.wiring import Resources
from dreaming.models.keys import EnvironmentKeys, KeyResolver
from dreaming.passes.decay.run import log_totals
from tests.ageing_world import AgeingWorld, open_ageing_world
from tests.functions.sandbox import Sandbox, load_sandbox, sqs_event

TEA = "Ines drinks green tea in the morning"


@pytest.fixture
def ageing(database: Database, tmp_path: Path) -> AgeingWorld:
    ageing = open_ageing_world(database, tmp_path)
    environment = ageing.world.environment
    keys = KeyResolver(EnvironmentKeys(environment), clock=lambda: 0.0)
    wiring.install(Resources(database, lambda _: ageing.decay_queue, keys, environment, ageing.world.clock, uuid7))
    log_totals.cache_clear()
    return ageing


@pytest.fixture
def decay(ageing: AgeingWorld) -> Sandbox:
    return load_sandbox("decay")


def test_a_tick_and_a_batch_archive_and_tell(ageing: AgeingWorld, decay: Sandbox) -> None:
    ageing.say(TEA, decay_class="fast_decay")
    ageing.at(100)
    answer = decay.invoke({})
    assert len(answer["started"]) == 1
    received = ageing.decay_queue.receive(holder="test", visibility_timeout=1080)
    assert received is not None
    assert decay.invoke(sqs_event(received)) == {"batchItemFailures": []}
    assert ageing.archived() == {TEA: "faded"}
    lines = {line["message"]: line for line in decay.lines}
    assert (lines["decay"]["beliefs_archived"], lines["decay"]["drained"]) == (1, True)
    assert lines["event"]["event_name"] == "belief.archived"
    assert lines["event"]["event_detail"]["belief_id"] == str(ageing.belief(TEA))
    assert [line["beliefs_ageing"] for line in decay.lines if line["message"] == "ageing"] == [1]
    assert all(TEA not in str(line) for line in decay.lines)
