"""Notes that are all alike: the work for one stays the same however many there are, and what is left out is counted."""

from __future__ import annotations

from collections.abc import Set
from pathlib import Path
from typing import Any

import pytest

from dreaming.beliefs import store as beliefs_store
from dreaming.beliefs.similarity import SAME_ATTRIBUTE
from dreaming.beliefs.words import jaccard
from dreaming.database import Database
from dreaming.passes.consolidation import application, deduplication
from dreaming.passes.consolidation.deduplication import MOST_QUEUED
from tests.world import World, claim, note, open_world

BATCH = 60


def alike(count: int) -> list[str]:
    """Statements that differ in two numbers: many pairs of them reach the threshold, and none is a match."""
    return [f"The build of branch {at % 20} took {at} minutes on the machine" for at in range(count)]


def world_of(database: Database, folder: Path, monkeypatch: pytest.MonkeyPatch, most: int, **changes: Any) -> World:
    for module in (beliefs_store, application):
        monkeypatch.setattr(module, "MOST_ALIKE", most)
    world = open_world(database, folder, **changes)
    world.environment["DREAMING_BATCH_NOTES"] = str(BATCH)
    return world


class Comparisons:
    """Counts how often the words of two statements are compared."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.made = 0

        def counted(left: Set[str], right: Set[str]) -> float:
            self.made += 1
            return jaccard(left, right)

        monkeypatch.setattr(deduplication, "jaccard", counted)


def test_comparisons_and_queued_pairs_of_a_claim_do_not_grow_with_what_is_alike(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    most = 4
    world = world_of(database, tmp_path, monkeypatch, most)
    comparisons = Comparisons(monkeypatch)
    made = []
    for texts in (alike(240)[:120], alike(240)[120:]):
        world.ingest(*(note(f"n{text}", text) for text in texts))
        before = comparisons.made
        world.drain()
        made.append((comparisons.made - before) / len(texts))
    # Stored candidates are compared when it is found what matters, and when it is decided; the batch's own once.
    assert max(made) <= 3 * most
    assert len(world.statements()) == 240
    queued = world.rows("select count(*) from conflict_candidates")[0][0]
    assert 0 < queued <= 240 * MOST_QUEUED
    left_out = world.rows("select sum((pass_counts ->> 'candidates_left_out')::int) from dream_runs")[0][0]
    assert left_out > 0
    world.check()


def test_among_many_alike_what_is_repeated_is_still_found(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = world_of(database, tmp_path, monkeypatch, 4)
    texts = alike(100)
    world.ingest(*(note(f"n{text}", text) for text in texts))
    world.drain()
    world.ingest(note("same", texts[37].upper()), note("reworded", f"{texts[73]}!"))
    world.ingest(note("shorter", texts[51].replace(" on the machine", " on machine")))
    world.drain()
    corroborated = {row[0] for row in world.beliefs() if row[2] == 2}
    assert corroborated == {texts[37], texts[73], texts[51]}


def test_nothing_is_left_out_of_few(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = world_of(database, tmp_path, monkeypatch, 64)
    world.ingest(*(note(f"n{text}", text) for text in alike(100)))
    world.drain()
    assert world.rows("select pass_counts ? 'candidates_left_out' from dream_runs") == [(False,)]


def test_a_claim_meets_the_latest_of_many_about_the_same_attribute(database: Database, tmp_path: Path) -> None:
    def script(request: Any) -> list[dict[str, Any]]:
        return [
            claim(
                passage.text,
                note=passage.label,
                subject="the boat",
                attribute="berth",
                value=passage.text.split()[-1],
            )
            for passage in request.passages
        ]

    world = open_world(database, tmp_path, script)
    world.environment["DREAMING_BATCH_NOTES"] = str(BATCH)
    words = [first + second for first in "bdfgklmnprst" for second in ("a", "e", "i", "o", "u")]
    texts = [f"Harbour book {word}{word}{word}: {word}x{word} berth {word}m{word}q" for word in words[:BATCH]]
    world.ingest(*(note(f"n{at}", text) for at, text in enumerate(texts)))
    world.drain()
    assert len(world.statements()) == BATCH
    reasons = dict(world.rows("select reason, count(*)::int from conflict_candidates group by 1"))
    assert SAME_ATTRIBUTE < reasons["same_attribute"] <= SAME_ATTRIBUTE * BATCH
    assert reasons["same_attribute"] < BATCH * (BATCH - 1) / 2
