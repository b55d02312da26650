"""The order in which notes come in never changes what is believed in the end, nor from when until when."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from dreaming.database import Database
from dreaming.models.protocols import ChatRequest
from dreaming.notes.records import Scope, SliceKey, Trust
from tests.database.contradictions.worlds import Examined, judge, told
from tests.world import open_world

STORIES = {
    "moves and a return": [
        told("Lena lives in Oslo.", "2024-01-10"),
        told("Lena lives in Bergen.", "2024-08-10"),
        told("Lena lives in Oslo.", "2025-03-10"),
        told("Lena plays the oboe.", "2025-03-11"),
    ],
    "a chain of changes, one back-dated": [
        told("Kai is on project Fern.", "2025-01-10"),
        told("Kai moved from Fern to Moss.", "2025-04-10"),
        told("Kai moved from Moss to Reed.", "2025-06-10"),
        told("Before that, Kai was on project Alder until December 2024.", "2025-07-01"),
    ],
    "names, a denial and a stranger": [
        told("Robert, whom everyone calls Bob, is tall.", "2025-01-10"),
        told("Bob works at the mill.", "2025-02-10"),
        told("Robert no longer works at the mill.", "2025-03-10"),
        told("Bob works at the harbour.", "2025-04-10", trust=Trust.UNTRUSTED),
    ],
    "two of one time, then a third": [
        told("The fair is on 3 March.", "2025-01-10", name="a"),
        told("The fair is on 4 March.", "2025-01-10", name="b"),
        told("The fair costs 5 euros.", "2025-01-11"),
    ],
}


JUDGED = {
    "Agnes looks after the greenhouse.": "successive",
    "Agnes handed the greenhouse over to Bruno.": "successive",
    "Bruno waters the plants in the greenhouse of Agnes.": "unrelated",
    "The greenhouse is hot in July.": "unrelated",
}


def _told_by_outcome(request: ChatRequest) -> str:
    """Say of each pair what a judge who knows the outcome says, whichever of the two is named first."""
    first, *others = request.passages
    said = [
        {
            "candidate": one.label,
            "relation": "successive"
            if {JUDGED.get(first.text), JUDGED.get(one.text)} == {"successive"}
            else "unrelated",
        }
        for one in others
    ]
    return json.dumps({"relations": said})


def test_every_order_ends_alike_with_a_judge_too(database: Database, tmp_path: Path) -> None:
    notes = [told(text, f"2025-0{month}-10") for month, text in enumerate(JUDGED, 1)]
    seen = {}
    for place, order in enumerate(itertools.permutations(notes)):
        if place % 7:
            continue
        folder = tmp_path / str(place)
        folder.mkdir()
        key = SliceKey("acme", Scope.PRIVATE, f"judged {place}")
        examined = Examined(open_world(database, folder), folder, judge=judge(_told_by_outcome), key=key)
        for at, note in enumerate(order):
            examined.tell(note, examine=at % 2 == 1 or at == len(order) - 1)
        examined.world.check(key)
        seen[frozenset(examined.standing().items()), frozenset(examined.intervals())] = [note.text for note in order]
    assert len(seen) == 1, "\n".join(f"{order}: {outcome}" for outcome, order in seen.items())
    ((standing, _),) = seen
    assert dict(standing)["Agnes looks after the greenhouse."] == "superseded"
    assert sum(state == "superseded" for _, state in standing) == 1


@pytest.mark.parametrize("story", STORIES)
def test_every_order_of_arrival_ends_alike(database: Database, tmp_path: Path, story: str) -> None:
    notes = STORIES[story]
    seen = {}
    for place, order in enumerate(itertools.permutations(notes)):
        if len(notes) > 3 and place % 5:
            continue  # every fifth of the 24 orders; each note comes first in some
        folder = tmp_path / str(place)
        folder.mkdir()
        key = SliceKey("acme", Scope.PRIVATE, f"reader {place}")
        examined = Examined(open_world(database, folder), folder, key=key)
        for at, note in enumerate(order):
            examined.tell(note, examine=at % 2 == 1 or at == len(order) - 1)
        examined.world.check(key)
        seen[frozenset(examined.standing().items()), frozenset(examined.intervals())] = [note.text for note in order]
    assert len(seen) == 1, "\n".join(f"{order}: {outcome}" for outcome, order in seen.items())
