"""Recall of conversations measured: for each way of indexing them, how often the right one is among the first.

The ways are scored by the same functions that a recall uses.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dreaming.local.evaluation.conversations import Collection, Query
from dreaming.local.evaluation.records import Figure
from dreaming.models.protocols import Embedder
from dreaming.recall.chunks import chunks
from dreaming.recall.records import StoredTurn
from dreaming.recall.rules import K1, B, Floats, Postings, bm25, rank
from dreaming.recall.summary import last_turns, summarize
from dreaming.recall.words import query_terms, terms

FIRST = 5

_BATCH = 128

GOALS = {("whole", "summary"): 87.0, ("summary", "summary"): 70.0}
"""Least hit@5 of all QMSum meetings together, in percent."""


@dataclass(frozen=True, slots=True)
class Way:
    """One way to index conversations; `lexical_weight` 0 compares vectors only, 1 words only."""

    name: str
    title: str
    text: Callable[[Sequence[StoredTurn]], list[str]]
    lexical_weight: float | None  # None: the setting's


def _whole(turns: Sequence[StoredTurn]) -> list[str]:
    return [chunk.text for chunk in chunks(turn.written for turn in turns)]


WAYS = (
    Way("last_six", "last six turns, one vector", lambda turns: [last_turns(turns, None)], 0.0),
    Way("last_six_words", "last six turns, words", lambda turns: [last_turns(turns, None)], 1.0),
    Way("summary", "one bounded text, words", lambda turns: [summarize(turns, None)], 1.0),
    Way("mean", "whole text, mean vector", _whole, 0.0),
    Way("words", "whole text, words", _whole, 1.0),
    Way("whole", "whole text, both", _whole, None),
)


class VectorCache:
    """Vectors of texts, kept in a file between measurements."""

    def __init__(self, path: Path, embedder: Embedder) -> None:
        """Read what `path` holds of this embedder; nothing when there is no such file."""
        self._path, self._embedder = path, embedder
        self._known: dict[bytes, NDArray[np.float32]] = {}
        if path.exists():
            with np.load(path) as held:
                keys = [row.tobytes() for row in held["keys"]]
                self._known = dict(zip(keys, held["vectors"], strict=True))

    def fill(self, texts: Sequence[str], show: Callable[[int], object]) -> None:
        """Embed the texts that are not known yet, and save; `show` is told how many of them are done."""
        new = [text for text in dict.fromkeys(texts) if self._key(text) not in self._known]
        for start in range(0, len(new), _BATCH):
            part = new[start : start + _BATCH]
            vectors = self._embedder.embed(part, timeout=600)
            self._known.update(zip(map(self._key, part), vectors, strict=True))
            show(start + len(part))
            if start // _BATCH % 20 == 19:
                self._save()
        if new:
            self._save()

    def missing(self, texts: Sequence[str]) -> int:
        """Return how many distinct texts would be embedded."""
        return len({text for text in texts if self._key(text) not in self._known})

    def __getitem__(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a text that is known."""
        return self._known[self._key(text)]

    def _key(self, text: str) -> bytes:
        return sha256(f"{self._embedder.name}\0{text}".encode()).digest()

    def _save(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        keys = np.frombuffer(b"".join(self._known), dtype=np.uint8).reshape(-1, 32)
        unfinished = self._path.with_suffix(".part.npz")
        np.savez(unfinished, keys=keys, vectors=np.stack(list(self._known.values())))
        unfinished.replace(self._path)


@dataclass(frozen=True, slots=True)
class Scores:
    """How many queries of a kind were asked of a part, and how often the right one came first or among five."""

    queries: int = 0
    first: int = 0
    among: int = 0

    def __add__(self, other: Scores) -> Scores:
        """Add up two measurements."""
        return Scores(self.queries + other.queries, self.first + other.first, self.among + other.among)


def texts_to_embed(collections: Sequence[Collection], ways: Sequence[Way] = WAYS) -> list[str]:
    """Return every text whose vector some way compares."""
    found: dict[str, None] = {}
    for collection in collections:
        for way in ways:
            if way.lexical_weight != 1.0:
                found.update(dict.fromkeys(text for turns in collection.conversations for text in way.text(turns)))
        found.update(dict.fromkeys(query.text for asked in collection.queries.values() for query in asked))
    return list(found)


def measure(
    collections: Sequence[Collection],
    ways: Sequence[Way],
    vectors: Mapping[str, NDArray[np.float32]] | VectorCache | None,
    *,
    lexical_weight: float,
    k1: float = K1,
    b: float = B,
) -> dict[tuple[str, str, str], Scores]:
    """Return the scores by way, part and kind of query; ways that need vectors are left out without any."""
    found: defaultdict[tuple[str, str, str], Scores] = defaultdict(Scores)
    for collection in collections:
        for way in ways:
            weight = lexical_weight if way.lexical_weight is None else way.lexical_weight
            if weight < 1 and vectors is None:
                continue
            index = _Index(collection, way, vectors if weight < 1 else None, k1, b)
            for kind, asked in collection.queries.items():
                for query in asked:
                    found[way.name, collection.part, kind] += index.ask(query, weight)
    return dict(found)


def merged(collections: Sequence[Collection], part: str = "all") -> Collection:
    """Return collections as one in which all conversations are searched together."""
    queries: defaultdict[str, list[Query]] = defaultdict(list)
    conversations: list[Sequence[StoredTurn]] = []
    for collection in collections:
        moved = len(conversations)
        for kind, asked in collection.queries.items():
            queries[kind] += [Query(one.text, frozenset(place + moved for place in one.right)) for one in asked]
        conversations += collection.conversations
    return Collection(part, conversations, queries)


class _Index:
    """One collection indexed in one way."""

    def __init__(
        self,
        collection: Collection,
        way: Way,
        vectors: Mapping[str, NDArray[np.float32]] | VectorCache | None,
        k1: float,
        b: float,
    ) -> None:
        texts = [way.text(turns) for turns in collection.conversations]
        counts = [sum((terms(part) for part in parts), Counter()) for parts in texts]
        self._ids = np.arange(len(texts), dtype=np.int64)
        self._lengths = np.array([one.total() for one in counts], dtype=np.float64)
        places: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        for place, one in enumerate(counts):
            for term, count in one.items():
                places[term].append((place, count))
        self._postings = {
            term: Postings(*np.array(held, dtype=np.int64).reshape(-1, 2).T) for term, held in places.items()
        }
        self._k1, self._b = k1, b
        self._vectors = vectors
        self._means = None if vectors is None else np.stack([_mean([vectors[part] for part in one]) for one in texts])

    def ask(self, query: Query, weight: float) -> Scores:
        found = {term: self._postings[term] for term in query_terms(query.text) if term in self._postings}
        lexical = bm25(found, self._ids, self._lengths, k1=self._k1, b=self._b)
        likeness: Floats = np.full(len(self._ids), np.nan)
        if self._means is not None and self._vectors is not None:
            likeness = (self._means @ self._vectors[query.text]).astype(np.float64)
            lexical = lexical if weight else np.zeros(len(self._ids))
        best = [one.document for one in rank(self._ids, lexical, likeness, lexical_weight=weight, limit=FIRST)]
        return Scores(1, int(bool(best) and best[0] in query.right), int(bool(query.right & set(best))))


def _mean(vectors: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    total = np.sum(vectors, axis=0)
    unit: NDArray[np.float32] = (total / max(float(np.linalg.norm(total)), 1e-9)).astype(np.float32)
    return unit


def figures(found: Mapping[tuple[str, str, str], Scores]) -> dict[str, Figure]:
    """Return hit@5 and hit@1 of each way, part and kind, in percent; goals hold for QMSum's parts together."""
    made: dict[str, Figure] = {}
    for (way, part, kind), scores in found.items():
        bound = GOALS.get((way, kind)) if part == "all" else None
        goal = None if bound is None else (">=", bound)
        made[f"{way}.{part}.{kind}.hit5"] = Figure.of(100 * scores.among / max(1, scores.queries), "%", goal)
        made[f"{way}.{part}.{kind}.hit1"] = Figure.of(100 * scores.first / max(1, scores.queries), "%", None)
    return made


def tried(
    collections: Sequence[Collection], vectors: VectorCache | None
) -> Iterator[tuple[float, float, float, Mapping[tuple[str, str, str], Scores]]]:
    """Yield the scores of the last way under each choice of k1, b and the lexical weight, words alone first."""
    for k1 in (0.9, 1.2, 2.0, 3.0):
        for b in (0.4, 0.75, 0.9, 1.0):
            yield k1, b, 1.0, measure(collections, WAYS[-1:], None, lexical_weight=1.0, k1=k1, b=b)
    if vectors is not None:
        for weight in (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9):
            yield K1, B, weight, measure(collections, WAYS[-1:], vectors, lexical_weight=weight)
