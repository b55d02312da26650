"""Conversations for the benchmark of recall: words by their natural frequencies, copied in in bulk."""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import psycopg
from numpy.typing import NDArray

from dreaming.beliefs.words import token
from dreaming.recall.index.postings import BLOCK, block_of
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
    """One organization's conversations: ascending ids among those of all others, word numbers, unit vectors."""

    org_id: str
    slice_id: int
    ids: NDArray[np.int64]
    said: Matrix
    vectors: NDArray[np.float32]

    def name(self, place: int) -> str:
        return f"c{self.ids[place]}"

    def place(self, name: str) -> int:
        return int(np.searchsorted(self.ids, int(name[1:])))

    def parted(self, least: int) -> tuple[Organization, Organization]:
        """Return about the first `least`, up to the end of a block of the index, and the rest."""
        end = int(np.searchsorted(self.ids, block_of(int(self.ids[min(least, len(self.ids) - 1)])) + BLOCK))
        first, rest = (
            replace(self, ids=self.ids[part], said=self.said[part], vectors=self.vectors[part])
            for part in (slice(end), slice(end, None))
        )
        return first, rest


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
    """Yield organizations, the largest first, whose conversations came in turns as chance has it."""
    random = np.random.default_rng(seed)
    made = sizes(total, count)
    ids = 1_000_000 + random.permutation(sum(made))
    for number, size in enumerate(made):
        own, ids = np.sort(ids[:size]), ids[size:]
        said = vocabulary.draw(random, (size, WORDS))
        vectors = random.standard_normal((size, dimension), dtype=np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        yield Organization(f"org{number:03}", number + 1_000, own, said, vectors.astype(np.float16).astype(np.float32))


def load(connection: psycopg.Connection, organization: Organization, vocabulary: Vocabulary) -> None:
    """Copy an organization's conversations in, as captures would have left them."""
    connection.execute(
        "insert into slices (slice_id, org_id, scope) overriding system value values (%s, %s, 'org')"
        " on conflict do nothing",
        (organization.slice_id, organization.org_id),
    )
    _copy_terms(connection, organization, vocabulary)
    for start in range(0, len(organization.said), 2_000):
        said = organization.said[start : start + 2_000]
        ids = organization.ids[start : start + 2_000]
        lengths = (vocabulary.stems[said] >= 0).sum(axis=1)
        _copy_conversations(connection, organization, ids, lengths, organization.vectors[start : start + 2_000])
        _copy_turns(connection, organization.slice_id, ids, said, vocabulary)


def _copy_terms(connection: psycopg.Connection, organization: Organization, vocabulary: Vocabulary) -> None:
    """Copy all postings in blocks, in the order of conversations, as captures would have written them."""
    ids, said = organization.ids, organization.said
    edges = np.flatnonzero(np.diff(ids // BLOCK, prepend=-1)).tolist()
    with connection.cursor().copy("copy conversation_terms from stdin (format binary)") as copy:
        copy.write(_BINARY_HEAD)
        for start, end in zip(edges, [*edges[1:], len(ids)], strict=True):
            copy.write(_block(organization.slice_id, ids[start:end], vocabulary.stems[said[start:end]], vocabulary))
        copy.write(_BINARY_END)


def _block(slice_id: int, ids: NDArray[np.int64], stems: Matrix, vocabulary: Vocabulary) -> bytes:
    """Return the rows of the conversations of one block, one for each term."""
    places = np.broadcast_to((ids % BLOCK)[:, None], stems.shape)
    keys = (stems.astype(np.int64) * BLOCK + places)[stems >= 0]
    distinct, counts = np.unique(keys, return_counts=True)
    numbers, within = np.divmod(distinct, BLOCK)
    held = np.bincount(within, minlength=BLOCK)[ids % BLOCK]
    if held.min() < LEAST_DISTINCT:
        raise AssertionError(f"a conversation has {held.min()} distinct words")
    packed = np.stack([within, counts], axis=1).astype(">i2").tobytes()
    first = np.flatnonzero(np.diff(numbers, prepend=-1))
    ends = [*first[1:].tolist(), len(numbers)]
    head = struct.pack(">hiqi", 5, 8, slice_id, 8)
    block = struct.pack(">iqi", 8, block_of(int(ids[0])), 4)
    rows = []
    for term, start, end in zip(vocabulary.terms[numbers[first]].tolist(), first.tolist(), ends, strict=True):
        postings = packed[4 * start : 4 * end]
        rows.append(b"".join([head, _LONG.pack(term), block, _PAIR.pack(end - start, len(postings)), postings]))
    return b"".join(rows)


_LONG, _PAIR = struct.Struct(">q"), struct.Struct(">ii")
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
        name = f"c{document}"
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
