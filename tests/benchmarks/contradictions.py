"""What examining a belief costs as the beliefs in its slice grow: `make bench-contradictions`.

    python -m tests.benchmarks.contradictions [--sizes 1000 5000 25000]

For each size a slice that holds that many examined beliefs. Then 150 people each work somewhere, and later
somewhere else; consolidation takes these notes in, read by a scripted model that takes no time, and the
contradictions pass examines the new beliefs and orders them, by its rules alone. Passes after that have nothing to do;
of those the quickest counts.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from time import perf_counter
from typing import Any

import psycopg

from dreaming.database import Database
from dreaming.identifiers import uuid7
from dreaming.local.queue import LocalQueue
from dreaming.models.scripted import ScriptedChatModel
from dreaming.notes.records import IncomingNote, SliceKey
from dreaming.passes.contradictions.run import Contradictions
from dreaming.passes.engine import Engine
from dreaming.passes.records import BatchMessage, Deadline
from tests.benchmarks.beliefs import sentences, stored_slice
from tests.benchmarks.database import benchmark_address
from tests.benchmarks.growth import Counting
from tests.benchmarks.report import Figure, write
from tests.world import NOON, World, claim, note, open_world

SIZES = (1_000, 5_000, 25_000)
PEOPLE = 150
BATCH = 40
AGAIN = 7
GOAL_RATIO = 1.5
PLACES = ("Harbour Bakery", "Elm Street Clinic", "Northern Railway", "Old Mill Theatre", "Lakeside Library")

_EXAMINED = """
insert into examined_beliefs (belief_id, slice_id, fingerprint, row_version, sense, examined_at)
select belief_id, slice_id, 'bench', xmin::text, '', now() from beliefs where slice_id = %s
"""


@dataclass(frozen=True, slots=True)
class Examined:
    """Seconds of consolidation, of the pass and of a pass again; beliefs, statements and what was ordered."""

    consolidated: float
    examined: float
    again: float
    beliefs: int
    statements: int
    superseded: int
    calls: int


def workplaces(people: int) -> list[tuple[str, str, str]]:
    """Name, first place and second place of every person."""
    names = [f"{first}{second}" for first in ("Lena", "Tomas", "Mirka", "Odile", "Janek") for second in _ENDINGS]
    return [
        (f"{name} Voss", PLACES[at % len(PLACES)], PLACES[(at + 2) % len(PLACES)])
        for at, name in enumerate(names[:people])
    ]


_ENDINGS = tuple(
    f"{left}{right}" for left in ("ra", "mo", "ti", "ke", "su", "li") for right in ("n", "s", "l", "d", "v")
)


def told(people: int) -> list[IncomingNote]:
    """A note for each person's first place, and one a year later for the second."""
    made = []
    for at, (name, first, second) in enumerate(workplaces(people)):
        for turn, place in enumerate((first, second)):
            day = NOON - timedelta(days=700 - 350 * turn)
            made.append(note(f"{at}-{turn}", f"{name} works at the {place}.", occurred_at=day))
    return made


def work(request: Any) -> list[dict[str, Any]]:
    """The script: who works where, with subject, attribute and value."""
    claims = []
    for passage in request.passages:
        name, _, place = passage.text.removesuffix(".").partition(" works at ")
        claims.append(
            claim(
                passage.text.strip(), note=passage.label, subject=name, attribute="employer", value=place,
                decay_class="permanent",
            )
        )  # fmt: skip
    return claims


def measure(url: str, size: int, people: int) -> Examined:
    """Fill a slice, tell the notes, and examine what they say."""
    org = f"examined-{size}"
    key = SliceKey(org)
    stored_slice(url, org, sentences(size, seed=1))
    notes = told(people)
    counting = Counting()
    database = Database(url, connect=counting.connect)
    with tempfile.TemporaryDirectory(prefix="dreaming-bench-") as name:
        world = open_world(database, Path(name), ScriptedChatModel(work))
        world.environment |= {"DREAMING_BATCH_NOTES": str(BATCH), "DREAMING_CONTRADICTION_JUDGE": "false"}
        world.enrol(org)
        slice_id = world.slice(key).slice_id
        with psycopg.connect(url, autocommit=True, options="-c search_path=dreaming,public") as admin:
            admin.execute(_EXAMINED, (slice_id,))
            admin.execute("vacuum analyze examined_beliefs")
        world.ingest(*notes, key=key)
        consolidated = timed(world.drain)
        before = counting.statements
        examined = timed(lambda: examine(world, slice_id, Path(name)))
        statements = counting.statements - before
        again = min(timed(lambda: examine(world, slice_id, Path(name))) for _ in range(AGAIN))
        superseded = world.rows("select count(*) from beliefs where archive_reason = 'superseded'", key=key)[0][0]
        calls = len(world.model.requests)  # type: ignore[attr-defined]
    database.close()
    return Examined(consolidated, examined, again, len(notes), statements, int(superseded), calls - len(notes))


def examine(world: World, slice_id: int, folder: Path) -> None:
    """A tick of the pass and all that follows from it."""
    queue = LocalQueue(folder / "contradictions.sqlite", "contradictions", clock=world.clock)
    pass_ = Contradictions(world.database, lambda *_: world.model, world.clock, uuid7)
    environment = world.environment | {"DREAMING_CHAT_PROVIDER": "scripted"}
    engine = Engine(pass_, world.database, queue, environment, world.clock, uuid7)
    engine.tick(slice_id)
    while (received := queue.receive(holder="bench", visibility_timeout=1080)) is not None:
        message = BatchMessage.model_validate_json(received.body)
        engine.batch(message, holder=received.receipt, deadline=Deadline(lambda: 180.0))
        queue.delete(received.receipt)
    queue.close()


def timed(call: Any) -> float:
    """Seconds that a call takes."""
    start = perf_counter()
    call()
    return perf_counter() - start


def figures(measured: dict[int, Examined]) -> dict[str, Figure]:
    """Return what was measured, for each size."""
    made: dict[str, Figure] = {}
    for size, one in measured.items():
        made[f"examining a belief at {size:,}"] = Figure.of(1000 * one.examined / one.beliefs, "ms", None)
        made[f"examining / consolidating at {size:,}"] = Figure.of(one.examined / one.consolidated, "times", None)
        made[f"a pass with nothing to do at {size:,}"] = Figure.of(1000 * one.again, "ms", None)
        made[f"statements for a belief at {size:,}"] = Figure.of(one.statements / one.beliefs, "statements", None)
        made[f"people whose first place is superseded at {size:,}"] = Figure.of(
            one.superseded, "beliefs", (">=", one.beliefs / 2)
        )
        made[f"model calls of the pass at {size:,}"] = Figure.of(one.calls, "calls", ("<=", 0))
    least, most = measured[min(measured)], measured[max(measured)]
    made["growth of examining over all sizes"] = Figure.of(
        most.examined / least.examined, "times", ("<=", GOAL_RATIO) if len(measured) > 1 else None
    )
    made["growth of a pass with nothing to do over all sizes"] = Figure.of(
        most.again / least.again, "times", ("<=", GOAL_RATIO) if len(measured) > 1 else None
    )
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure each size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--people", type=int, default=PEOPLE)
    given = parser.parse_args(arguments)
    with benchmark_address() as (url, _):
        measured = {size: measure(url, size, given.people) for size in given.sizes}
    return write(
        "contradictions",
        figures(measured),
        details={"people": given.people, "batch_notes": BATCH, "sizes": given.sizes},
    )


if __name__ == "__main__":
    sys.exit(main())
