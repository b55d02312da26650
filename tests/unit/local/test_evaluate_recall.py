"""The evaluation of recall: the corpora it reads, and its figures."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dreaming.errors import InvalidInput
from dreaming.local.evaluation.conversations import read_collections
from dreaming.local.evaluation.recall import WAYS, VectorCache, figures, measure, merged, texts_to_embed

CORPORA = Path(__file__).parents[4] / "shared" / "corpora"


class Letters:
    """Vectors by the letters of a text."""

    name = "letters"
    dimension = 26

    def __init__(self) -> None:
        self.asked = 0

    def embed(self, texts: Sequence[str], *, timeout: float) -> NDArray[np.float32]:
        self.asked += len(texts)
        rows = np.array([[text.lower().count(chr(97 + place)) + 0.01 for place in range(26)] for text in texts])
        unit: NDArray[np.float32] = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
        return unit


def qmsum(folder: Path) -> Path:
    for part, topics in (("product", ["remote", "kettle"]), ("academic", ["grammar", "lexicon"])):
        rows = [
            {
                "turns": [f"Ana: the {topic} is discussed at length", *["Ben: yes okay"] * 9],
                "queries": [{"question": f"What about the {topic}?", "summary": f"They spoke of the {topic}."}],
            }
            for topic in topics
        ]
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"qmsum_{part}.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    return folder


def test_meetings_are_read_in_parts_and_searched_together(tmp_path: Path) -> None:
    parts = read_collections(qmsum(tmp_path))
    assert [(one.part, len(one.conversations)) for one in parts] == [("academic", 2), ("product", 2)]
    together = merged(parts)
    assert [query.right for query in together.queries["summary"]] == [frozenset({place}) for place in range(4)]


def test_every_way_is_measured_and_vectors_are_embedded_once(tmp_path: Path) -> None:
    parts = read_collections(qmsum(tmp_path))
    embedder, path = Letters(), tmp_path / "cache" / "vectors.npz"
    cache = VectorCache(path, embedder)
    texts = texts_to_embed(parts)
    cache.fill(texts, lambda done: None)
    assert embedder.asked == len(texts)
    again = VectorCache(path, embedder)
    assert again.missing(texts) == 0
    found = figures(measure([*parts, merged(parts)], WAYS, again, lexical_weight=0.75))
    assert {name.split(".")[0] for name in found} == {way.name for way in WAYS}
    assert found["whole.all.summary.hit5"].value == 100
    assert found["whole.all.summary.hit5"].goal == ">= 87"
    assert found["last_six_words.all.summary.hit1"].value == 0


def test_without_vectors_ways_that_need_them_are_left_out(tmp_path: Path) -> None:
    found = figures(measure(read_collections(qmsum(tmp_path)), WAYS, None, lexical_weight=0.75))
    assert {name.split(".")[0] for name in found} == {"last_six_words", "summary", "words"}


def test_locomo_is_read_by_session_and_evidence(tmp_path: Path) -> None:
    sample = {
        "conversation": {
            "speaker_a": "Ana",
            "speaker_b": "Ben",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {
                    "speaker": "Ana",
                    "dia_id": "D1:1",
                    "text": "I bought a kettle",
                    "img_url": ["https://example.test/1.jpg"],
                    "blip_caption": "a photo of a copper kettle",
                    "query": "copper kettle",
                }
            ],
            "session_2_date_time": "2 pm on 9 May, 2023",
            "session_2": [],
            "session_3_date_time": "3 pm on 10 May, 2023",
            "session_3": [{"speaker": "Ben", "dia_id": "D3:1", "text": "The remote is broken"}],
        },
        "event_summary": {"events_session_1": {"Ana": ["buys a kettle"], "Ben": [], "date": "8 May, 2023"}},
        "observation": {"session_1_observation": {"Ana": [["Ana bought a kettle.", "D1:1"]]}},
        "session_summary": {"session_1_summary": "Ana bought a kettle."},
        "sample_id": "conv-26",
        "qa": [
            {"question": "What broke?", "answer": "remote", "evidence": ["D3:1; D3:2"], "category": 1},
            {"question": "What was not said?", "adversarial_answer": "x", "evidence": ["D1:1"], "category": 5},
            {"question": "And answered?", "answer": "y", "evidence": ["D1:1"], "category": 5},
            {"question": "Which?", "answer": "?", "evidence": [], "category": 2},
            {"question": "When?", "answer": 2022, "evidence": ["D1:1", "D"], "category": 2},
        ],
    }
    (tmp_path / "locomo.json").write_text(json.dumps([sample]))
    [collection] = read_collections(tmp_path / "locomo.json")
    assert [turns[0].written for turns in collection.conversations] == [
        "Ana: I bought a kettle [shares a photo of a copper kettle]",
        "Ben: The remote is broken",
    ]
    assert [(query.text, query.right) for query in collection.queries["question"]] == [
        ("What broke?", frozenset({1})),
        ("When?", frozenset({0})),
    ]


def test_longmemeval_has_sessions_of_its_own_for_each_question(tmp_path: Path) -> None:
    row = {
        "question_id": "e47becba",
        "question_type": "single-session-user",
        "question": "Which kettle?",
        "answer": "a red one",
        "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/20 (Sat) 02:57"],
        "haystack_session_ids": ["sharegpt_yywfIrx_0", "answer_280352e9"],
        "haystack_sessions": [
            [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "Hello!"}],
            [{"role": "user", "content": "a red kettle", "has_answer": True}],
        ],
        "answer_session_ids": ["answer_280352e9"],
    }
    (tmp_path / "long.json").write_text(json.dumps([row, row, row | {"question_id": "e47becba_abs"}]))
    collections = read_collections(tmp_path / "long.json")
    assert [[one.right for one in collection.queries["question"]] for collection in collections] == [[{1}], [{1}], []]
    found = figures(measure(collections, WAYS, None, lexical_weight=1.0))
    assert found["words.longmemeval.question.hit1"].value == 100


@pytest.mark.parametrize("content", ["[]x", "[1]", '[{"conversation": 5}]'])
def test_another_form_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(InvalidInput, match="PATH"):
        read_collections(tmp_path / "x.json")
    with pytest.raises(InvalidInput, match="no corpus"):
        read_collections(tmp_path / "missing.json")


@pytest.mark.corpora
@pytest.mark.slow
@pytest.mark.skipif(not CORPORA.exists(), reason="the corpora are not here")
def test_words_alone_reach_the_goals_on_meetings() -> None:
    together = merged(read_collections(CORPORA))
    # No goal is set for the other kind of query.
    together = replace(together, queries={"summary": together.queries["summary"]})
    ways: Any = [way for way in WAYS if way.name in {"summary", "words"}]
    found = measure([together], ways, None, lexical_weight=1.0)
    whole, bounded = found["words", "all", "summary"], found["summary", "all", "summary"]
    assert whole.queries > 1_000
    assert whole.among / whole.queries >= 0.87
    assert bounded.among / bounded.queries >= 0.70
