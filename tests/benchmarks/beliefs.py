"""Many beliefs at once for benchmarks: sentences by natural word frequencies, stored as consolidation does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from uuid import UUID

import numpy as np
import psycopg

from dreaming.beliefs.similarity import StoredTokens, hash_of, stored_tokens
from dreaming.beliefs.terms.words import terms
from dreaming.database import Database
from dreaming.notes.records import SliceKey
from dreaming.notes.store import create_slice
from tests.benchmarks.conversations import Vocabulary

DAY = datetime(2026, 5, 1, tzinfo=UTC)

_BELIEFS = """belief_id, slice_id, kind, statement, statement_hash, words_version, confidence, confirmed_at,
    first_seen_at, importance, decay_class, trust, sources, origins, created_at, updated_at"""
_SOURCES = """source_id, slice_id, belief_id, source_type, sequence, origin, trust, occurred_at, statement, confidence,
    kind, importance, decay_class, created_at"""


def sentences(count: int, *, seed: int) -> list[str]:
    """Return sentences of 8 to 14 words that begin with a name."""
    vocabulary = Vocabulary.load()
    random = np.random.default_rng(seed)
    lengths = random.integers(7, 14, count)
    drawn = vocabulary.draw(random, (count, 14))
    people = random.integers(0, 5_000, count)
    return [
        f"Person{person} {' '.join(vocabulary.words[number] for number in numbers[:length])}"
        for person, numbers, length in zip(people.tolist(), drawn, lengths.tolist(), strict=True)
    ]


def stored_slice(url: str, org: str, statements: Sequence[str]) -> None:
    """Make the organization's slice and copy the statements, of words alone, in as beliefs of one source each."""
    database = Database(url)
    key = SliceKey(org)
    with database.transaction(key.tenant) as tx:
        slice_id = create_slice(tx, key).slice_id
    database.close()
    first = slice_id << 64
    with psycopg.connect(url, autocommit=True, options="-c search_path=dreaming,public") as connection:
        connection.execute("set session_replication_role = replica")
        for table, rows in _tables(slice_id, first, statements).items():
            with connection.cursor().copy(f"copy {table} from stdin") as copy:
                for row in rows:
                    copy.write("\t".join(map(str, row)) + "\n")
        length = sum(sum(terms(text).values()) for text in statements)
        connection.execute(
            "insert into belief_term_statistics values (%s, %s, %s)", (slice_id, len(statements), length)
        )
        connection.execute(
            "update slice_counters set beliefs_fact = %s where slice_id = %s", (len(statements), slice_id)
        )
        connection.execute("vacuum analyze")


def _tables(slice_id: int, first: int, statements: Sequence[str]) -> dict[str, Iterator[tuple[object, ...]]]:
    ids = [UUID(int=first + number) for number in range(len(statements))]
    pairs = list(zip(ids, statements, strict=True))
    return {
        f"beliefs ({_BELIEFS})": (
            (key, slice_id, "fact", text, hash_of(text), 1, 0.8, DAY, DAY, "normal", "permanent", "trusted", 1, 1, DAY,
             DAY) for key, text in pairs
        ),
        f"sources ({_SOURCES})": (
            (key, slice_id, key, "confirmation", 0, "bench", "trusted", DAY, text, 0.8, "fact", "normal", "permanent",
             DAY) for key, text in pairs
        ),
        "belief_tokens (slice_id, token, size, position, belief_id)": (
            row for key, text in pairs for row in _tokens(slice_id, key, stored_tokens(text))
        ),
        "belief_terms (slice_id, term, belief_id, occurrences, length)": (
            (slice_id, term, key, occurrences, sum(counts.values()))
            for key, text in pairs
            if (counts := terms(text))
            for term, occurrences in counts.items()
        ),
    }  # fmt: skip


def _tokens(slice_id: int, key: UUID, stored: StoredTokens) -> Iterator[tuple[object, ...]]:
    for position, token in enumerate(stored.tokens):
        yield slice_id, token, stored.size, position, key
    for part in stored.parts:
        yield slice_id, part, 0, 0, key
