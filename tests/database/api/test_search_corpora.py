"""Sentences that people wrote, found by the questions that they answer."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from dreaming.api.beliefs.store import BeliefFilter
from dreaming.api.search.service import Searching
from dreaming.database import Database
from dreaming.models.minilm import OfflineEmbedder
from dreaming.notes.records import Tenant
from dreaming.notes.sentences import sentence_spans
from tests.embedding_world import EmbeddingWorld, open_embedding_world
from tests.world import KEY

CORPUS = Path(__file__).parents[4] / "shared" / "corpora" / "qmsum_academic.jsonl.gz"


def answers(meetings: int) -> dict[str, str]:
    """The first sentence of each human answer, with the question it answers."""
    found: dict[str, str] = {}
    with gzip.open(CORPUS, "rt", encoding="utf-8") as lines:
        for line, _ in zip(lines, range(meetings), strict=False):
            for query in json.loads(line)["queries"]:
                start, end = sentence_spans(query["summary"])[0]
                found.setdefault(query["summary"][start:end], query["question"])
    return {sentence: question for sentence, question in found.items() if 40 < len(sentence) < 400}


def hits(world: EmbeddingWorld, questions: dict[str, str], *, lexical_weight: float, first: int = 5) -> float:
    world.world.environment["DREAMING_SEARCH_LEXICAL_WEIGHT"] = str(lexical_weight)
    searching = Searching(
        world.world.database,
        Tenant("acme"),
        world.world.environment,
        world.world.now,
        lambda settings, org_id, name: world.embedder,
    )
    found = 0
    for sentence, question in questions.items():
        page = searching.search(KEY, BeliefFilter((question,)), limit=first)
        found += sentence in [one.reading.belief.statement for one in page.found]
    return found / len(questions)


@pytest.mark.corpora
@pytest.mark.skipif(not CORPUS.exists(), reason="the corpora are not beside the repository")
def test_both_parts_together_find_more_than_either(database: Database, tmp_path: Path) -> None:
    world = open_embedding_world(database, tmp_path)
    world.embedder = OfflineEmbedder()
    said = answers(20)
    world.believe(*said)
    world.drain()
    believed = set(world.world.statements())
    questions = {sentence: question for sentence, question in said.items() if sentence in believed}
    assert len(questions) > 60
    words, both, meaning = (hits(world, questions, lexical_weight=weight) for weight in (1.0, 0.5, 0.0))
    assert both > max(words, meaning) - 0.02
    assert both > words
    assert both >= 0.75
