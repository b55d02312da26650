"""Conversations for the benchmark of recall: words by their natural frequencies, copied in in bulk."""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import psycopg
from numpy.typing import NDArray

from dreaming.beliefs.words import token
from dreaming.recall.records import conversation_key
from dreaming.recall.words import words

NOW = datetime(2026, 6, 1, tzinfo=UTC)
WORDS = 450  # of each conversation, with function words
TURNS = 5
LARGEST_SHARE = 0.13
LEAST_DISTINCT = 100

Matrix = NDArray[np.int32]


@dataclass(frozen=True)
class Vocabulary:
    """Words from the commonest with how likely each is, the number of its stem (-1: none), and stems' terms."""

    words: list[str]
    likely: NDArray[np.float64]
    stems: Matrix
    terms: NDArray[np.int64]

    @classmethod
    def load(cls) -> Vocabulary:
        path = Path(sys.modules["dreaming.beliefs.words"].__file__ or "").with_name("word_frequencies_1.txt")
        listed = [word for word in path.read_text("utf-8").split() if word.isalpha()]
        weight = 1.0 / (np.arange(len(listed)) + 2.7) ** 1.07
        numbers: dict[str, int] = {}
        stems = np.array(
            [numbers.setdefault(one[0], len(numbers)) if (one := list(words(word))) else -1 for word in listed],
            dtype=np.int32,
        )
        terms = np.array([token(stem) for stem in numbers], dtype=np.int64)
        return cls(listed, np.cumsum(weight / weight.sum()), stems, terms)

    def draw(self, random: np.random.Generator, shape: tuple[int, int]) -> Matrix:
        """Return word numbers by their frequency."""
        return np.minimum(np.searchsorted(self.likely, random.random(shape)), len(self.words) - 1).astype(np.int32)


@dataclass(frozen=True)
class Organization:
    """One organization's conversations: ids, word numbers, unit vectors."""

    org_id: str
    slice_id: int
    first: int
    said: Matrix
    vectors: NDArray[np.float32]

    @property
    def ids(self) -> NDArray[np.int64]:
        return np.arange(self.first, self.first + len(self.said), dtype=np.int64)

    def name(self, document: int) -> str:
        return f"c{document}"


def sizes(total: int, organizations: int) -> list[int]:
    """Return sizes that fall by a power of the rank from the largest to about a thousandth of all."""
    largest = round(total * LARGEST_SHARE)
    ranks = np.arange(1, organizations + 1)
    low, high = 0.0, 3.0
    for _ in range(60):
        power = (low + high) / 2
        low, high = (power, high) if (largest / ranks**power).sum() > total else (low, power)
    return [max(1, round(float(largest / rank**low))) for rank in ranks]


def organizations(total: int, count: int, dimension: int, seed: int, vocabulary: Vocabulary) -> Iterator[Organization]:
    random = np.random.default_rng(seed)
    first = 1_000_000
    for number, size in enumerate(sizes(total, count)):
        said = vocabulary.draw(random, (size, WORDS))
        vectors = random.standard_normal((size, dimension), dtype=np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        yield Organization(
            f"org{number:03}", number + 1_000, first, said, vectors.astype(np.float16).astype(np.float32)
        )
        first += size


def load(connection: psycopg.Connection, organization: Organization, vocabulary: Vocabulary) -> None:
    """Copy an organization's conversations in, as captures would have left them."""
    connection.execute(
        "insert into slices (slice_id, org_id, scope) overriding system value values (%s, %s, 'org')"
        " on conflict do nothing",
        (organization.slice_id, organization.org_id),
    )
    for start in range(0, len(organization.said), 2_000):
        said = organization.said[start : start + 2_000]
        ids = organization.ids[start : start + 2_000]
        lengths = (vocabulary.stems[said] >= 0).sum(axis=1)
        _copy_terms(connection, organization.slice_id, ids, said, vocabulary)
        _copy_conversations(connection, organization, ids, lengths, organization.vectors[start : start + 2_000])
        _copy_turns(connection, organization.slice_id, ids, said, vocabulary)


def _copy_terms(
    connection: psycopg.Connection, slice_id: int, ids: NDArray[np.int64], said: Matrix, vocabulary: Vocabulary
) -> None:
    stems = vocabulary.stems[said].astype(np.int64)
    keys = (np.arange(len(said))[:, None] * len(vocabulary.terms) + stems)[stems >= 0]
    distinct, counts = np.unique(keys, return_counts=True)
    places, numbers = np.divmod(distinct, len(vocabulary.terms))
    held = np.bincount(places, minlength=len(said))
    if held.min() < LEAST_DISTINCT:
        raise AssertionError(f"a conversation has {held.min()} distinct words")
    row = [("n", ">i2")]
    for name, kind in (("slice", ">i8"), ("term", ">i8"), ("document", ">i8"), ("frequency", ">i4")):
        row += [(f"{name}_length", ">i4"), (name, kind)]
    rows = np.zeros(len(distinct), dtype=row)
    rows["n"] = 4
    for name, size in (("slice", 8), ("term", 8), ("document", 8), ("frequency", 4)):
        rows[f"{name}_length"] = size
    rows["slice"], rows["term"] = slice_id, vocabulary.terms[numbers]
    rows["document"], rows["frequency"] = ids[places], counts
    with connection.cursor().copy("copy conversation_terms from stdin (format binary)") as copy:
        copy.write(_BINARY_HEAD + rows.tobytes() + _BINARY_END)


_BINARY_HEAD = b"PGCOPY\n\xff\r\n\0" + struct.pack(">ii", 0, 0)
_BINARY_END = struct.pack(">h", -1)


def _copy_conversations(
    connection: psycopg.Connection,
    organization: Organization,
    ids: NDArray[np.int64],
    lengths: NDArray[np.int64],
    vectors: NDArray[np.float32],
) -> None:
    halves = vectors.astype(">f2")
    moment = struct.pack(">q", round((NOW - datetime(2000, 1, 1, tzinfo=UTC)).total_seconds() * 1_000_000))
    summary = b"What was said last, and what tells most of the rest of it. " * 20
    rows = [_BINARY_HEAD]
    for document, length, half in zip(ids.tolist(), lengths.tolist(), halves, strict=True):
        name = organization.name(document)
        fields = (
            struct.pack(">q", document),
            conversation_key(organization.org_id, name),
            struct.pack(">q", organization.slice_id),
            name.encode(),
            struct.pack(">i", TURNS),
            bytes(31) + b"\x01",
            struct.pack(">i", length),
            summary,
            *(moment, moment, moment, moment),
            struct.pack(">hh", len(half), 0) + half.tobytes(),
            b"bench",
            b"\x00",
        )
        rows.append(struct.pack(">h", len(fields)))
        rows += [struct.pack(">i", len(field)) + field for field in fields]
    columns = """document_id, conversation_id, slice_id, external_id, turns, turns_sha256, length, summary,
        started_at, last_at, changed_at, captured_at, vector, vector_model, vector_stale"""
    with connection.cursor().copy(f"copy conversations ({columns}) from stdin (format binary)") as copy:
        copy.write(b"".join([*rows, _BINARY_END]))


def _copy_turns(
    connection: psycopg.Connection, slice_id: int, ids: NDArray[np.int64], said: Matrix, vocabulary: Vocabulary
) -> None:
    columns = "document_id, position, slice_id, speaker, text, terms"
    with connection.cursor().copy(f"copy conversation_turns ({columns}) from stdin") as copy:
        for document, numbers in zip(ids.tolist(), said, strict=True):
            for position, part in enumerate(np.array_split(numbers, TURNS)):
                stems = np.unique(vocabulary.stems[part])
                terms = ",".join(map(str, vocabulary.terms[stems[stems >= 0]].tolist()))
                text = " ".join([vocabulary.words[number] for number in part.tolist()])
                copy.write(f"{document}\t{position}\t{slice_id}\tana\t{text}\t{{{terms}}}\n")
