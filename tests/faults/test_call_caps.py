"""What a note may cost at most, whatever the model does: over all attempts, shared calls and ticks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from dreaming.database import Database
from dreaming.errors import Hold, ModelTimeout, ProviderUnavailable, Throttled
from dreaming.models.protocols import ChatAnswer, ChatRequest, StopReason
from dreaming.models.scripted import ScriptedChatModel
from dreaming.notes.chunking import split
from dreaming.passes.consolidation.extraction import OUTAGE_TIMEOUTS
from dreaming.passes.consolidation.work import SPARE_CALLS, chunk_characters
from tests.faults.test_packing import facts
from tests.world import World, note, open_world, verbatim

CAP = 1 + SPARE_CALLS
CONCURRENCY = 4

packing = pytest.mark.parametrize("packing", ["true", "false"], ids=["together", "alone"])


class Counting:
    """A script that counts, for each note text, the calls about it that were answered, refused, and not answered."""

    def __init__(self, script: Callable[[ChatRequest], Any]) -> None:
        self.answered: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.unanswered: Counter[str] = Counter()
        self.model = ScriptedChatModel(self._answer)
        self._script = script

    def _answer(self, request: ChatRequest) -> Any:
        reply = self._script(request)
        counter = self.refused if isinstance(reply, Hold) else self.answered
        counter = self.unanswered if isinstance(reply, ModelTimeout) else counter
        counter.update(passage.text for passage in request.passages)
        return reply


def capped_world(database: Database, folder: Path, counting: Counting, packing: str) -> World:
    world = open_world(database, folder, counting.model)
    world.environment |= {
        "DREAMING_PACKING": packing,
        "DREAMING_BATCH_NOTES": "40",
        "DREAMING_MODEL_CONCURRENCY": str(CONCURRENCY),
    }
    world.ingest(*(note(f"n{number}", text) for number, text in enumerate(facts(40))))
    return world


@packing
@pytest.mark.parametrize(
    "failure",
    ["never any claims", ChatAnswer('[{"kind": "fa', StopReason.TRUNCATED, "scripted")],
    ids=["prose", "cut off"],
)
def test_a_model_that_always_fails_costs_each_note_a_bounded_number_of_calls(
    database: Database, tmp_path: Path, packing: str, failure: Any
) -> None:
    counting = Counting(lambda request: failure)
    world = capped_world(database, tmp_path, counting, packing)
    for _ in range(6):
        world.drain()
        world.now += timedelta(hours=1)
    assert set(counting.answered) == set(facts(40))
    assert max(counting.answered.values()) <= (CAP if packing == "true" else 3)
    assert world.counters().retired == 40
    assert world.rows("select distinct attempts from retired_notes") == [(3,)]
    world.check()


@packing
def test_a_model_that_never_answers_is_an_outage_that_charges_nobody_however_long(
    database: Database, tmp_path: Path, packing: str
) -> None:
    counting = Counting(lambda request: ModelTimeout("60 s"))
    world = capped_world(database, tmp_path, counting, packing)
    for tick in range(1, 13):
        world.drain()
        assert counting.model.calls <= tick * (OUTAGE_TIMEOUTS + CONCURRENCY)
        assert max(counting.unanswered.values()) <= 2 * tick
        world.now += timedelta(hours=1)
    assert world.counters().waiting == 40
    assert world.rows("select held_reason from dream_cursor") == [("provider_unavailable",)]
    assert world.rows("select coalesce(sum(calls), 0)::int, coalesce(max(attempts), 0) from note_attempts") == [(0, 0)]


@packing
def test_a_storm_of_429_costs_a_tick_no_more_calls_than_were_in_flight(
    database: Database, tmp_path: Path, packing: str
) -> None:
    counting = Counting(lambda request: Throttled("slow down", retry_after=7))
    world = capped_world(database, tmp_path, counting, packing)
    for tick in range(1, 9):
        world.drain()
        assert counting.model.calls <= tick * CONCURRENCY
        assert max(counting.refused.values()) <= tick
        world.now += timedelta(hours=1)
    assert world.counters().waiting == 40
    assert world.rows("select coalesce(sum(calls), 0)::int, coalesce(max(attempts), 0) from note_attempts") == [(0, 0)]
    assert world.rows("select sum(calls)::int from usage") == [(0,)]
    assert world.rows("select sum(model_calls)::int from dream_runs") == [(0,)]


@packing
@pytest.mark.parametrize("seed", range(3))
def test_a_mixed_storm_keeps_to_the_cap_and_ends(database: Database, tmp_path: Path, packing: str, seed: int) -> None:
    chance = Random(seed)

    def storm(request: ChatRequest) -> Any:
        replies: list[Any] = [
            "prose",
            "",
            ChatAnswer('[{"kind": "fa', StopReason.TRUNCATED, "scripted"),
            Throttled("slow down", retry_after=7),
            ProviderUnavailable("HTTP 503"),
            ModelTimeout("60 s"),
            [],
            verbatim(request),
        ]
        return chance.choice(replies)

    counting = Counting(storm)
    world = capped_world(database, tmp_path, counting, packing)
    ticks = 0
    while world.counters().waiting:
        ticks += 1
        assert ticks < 400
        world.drain()
        world.now += timedelta(hours=1)
    assert max(counting.answered.values()) <= CAP
    assert max(counting.refused.values(), default=0) <= ticks
    assert max(counting.unanswered.values(), default=0) <= CAP + ticks
    assert world.counters().consolidated + world.counters().retired == 40
    returned = (
        world.rows("select sum(calls)::int from usage"),
        world.rows("select sum(model_calls)::int from dream_runs"),
    )
    assert returned[0] == returned[1]
    world.check()


def test_a_long_note_that_meets_a_429_goes_on_at_the_chunk_where_it_was(database: Database, tmp_path: Path) -> None:
    text = "".join(f"Entry {number}: {fact}. " for number in range(4) for fact in facts(140))[:40_000]
    calls: list[str] = []

    def script(request: ChatRequest) -> Any:
        calls.append(request.passages[0].text)
        return Throttled("slow down", retry_after=7) if len(calls) == 5 else verbatim(request)

    model = ScriptedChatModel(script, context_tokens=7_600)
    world = open_world(database, tmp_path, model)
    world.environment["DREAMING_MODEL_CONCURRENCY"] = "1"
    world.ingest(note("n1", text))
    chunks = [chunk.text for chunk in split(text, chunk_characters(text, 7_600, 4_000))]
    assert len(chunks) >= 6
    world.drain()
    assert calls == chunks[:5]
    assert world.rows("select held_reason from dream_cursor") == [("throttled",)]
    assert world.rows("select count(*) from extractions") == [(4,)]
    assert world.rows("select calls, attempts from note_attempts") == [(4, 0)]
    world.drain()
    assert calls == chunks[:5] + chunks[4:]
    assert world.counters().consolidated == 1
    assert world.rows("select sum(calls)::int from usage") == [(len(chunks),)]
