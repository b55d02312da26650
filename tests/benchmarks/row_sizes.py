"""How many bytes a row takes, and how many rows a note: `python -m tests.benchmarks.row_sizes`.

    python -m tests.benchmarks.row_sizes [--notes 2000] [--page]

Fills a database by the system itself: notes of about 1,600 characters with two claims each, a quarter of the notes
repeating what is believed, consolidated and examined, each belief with a vector; and conversations of 450 words,
captured. Prints for every table its rows and what `pg_total_relation_size`, indexes and all, is for one of them.
`--page` writes the numbers into docs/scale.md.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg

from dreaming.database import Database
from dreaming.models.scripted import ScriptedChatModel
from dreaming.notes.records import IncomingNote, SliceKey, Tenant
from dreaming.recall.capture import Capturing
from dreaming.recall.records import IncomingConversation, IncomingTurn
from dreaming.settings.service import change_consent
from tests.benchmarks.beliefs import sentences
from tests.benchmarks.contradictions import examine
from tests.benchmarks.database import benchmark_address
from tests.benchmarks.profiling import OneVector
from tests.benchmarks.scale import PAGE, with_measured
from tests.world import NOON, claim, note, open_world

DIMENSION = 1_024
SENTENCES = 20
ORG = "bench"

_VECTORS = """
insert into belief_vectors (slice_id, belief_id, model, dimension, statement_hash, vector, embedded_at)
select slice_id, belief_id, 'bench', %(dimension)s, statement_hash,
    (select array_agg(random()::real + n * 0) from generate_series(1, %(dimension)s) n
     where b.belief_id is not null)::halfvec, now()
from beliefs b
"""

_SIZES = """
select c.relname, pg_table_size(c.oid) - coalesce(pg_total_relation_size(c.reltoastrelid), 0),
    coalesce(pg_total_relation_size(c.reltoastrelid), 0), pg_indexes_size(c.oid), pg_total_relation_size(c.oid)
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where n.nspname = 'dreaming' and c.relkind = 'r' order by pg_total_relation_size(c.oid) desc
"""


@dataclass(frozen=True, slots=True)
class TableSize:
    """A table: rows, and bytes of it, of what is stored beside it, of its indexes, and altogether."""

    name: str
    rows: int
    table: int
    toast: int
    indexes: int
    total: int

    @property
    def each(self) -> float:
        """Bytes of a row with its part of the indexes."""
        return self.total / self.rows


def told(count: int) -> list[IncomingNote]:
    """Notes of 20 sentences; the claims of each fourth note are those of an earlier one."""
    drawn = sentences(count * SENTENCES, seed=1)
    made = []
    for at in range(count):
        own = drawn[at * SENTENCES : (at + 1) * SENTENCES]
        if at % 4 == 3:
            own[:2] = drawn[(at - 3) * SENTENCES : (at - 3) * SENTENCES + 2]
        text = ". ".join(own) + "."
        made.append(note(f"note-{at}", text, occurred_at=NOON - timedelta(minutes=count - at), origin=f"origin-{at}"))
    return made


def claims(request: Any) -> list[dict[str, Any]]:
    """The script: the first two sentences, word for word, with a subject and an attribute."""
    return [
        claim(one, note=passage.label, subject=one.split()[0], attribute=one.split()[1], value=one.split()[2])
        for passage in request.passages
        for one in passage.text.split(". ")[:2]
    ]


def fill(url: str, count: int) -> int:
    """Fill the database; returns how many conversations it holds."""
    database = Database(url)
    key = SliceKey(ORG)
    with tempfile.TemporaryDirectory(prefix="dreaming-bench-") as name:
        world = open_world(database, Path(name), ScriptedChatModel(claims))
        world.environment |= {"DREAMING_BATCH_NOTES": "100", "DREAMING_CONTRADICTION_JUDGE": "false"}
        world.enrol(ORG)
        notes = told(count)
        for at in range(0, count, 500):
            world.ingest(*notes[at : at + 500], key=key)
        world.drain()
        examine(world, world.slice(key).slice_id, Path(name))
    conversations = capture(database, count // 5)
    database.close()
    return conversations


def capture(database: Database, count: int) -> int:
    """Capture conversations of 450 words."""
    tenant = Tenant(ORG, "ana")
    with database.transaction(tenant) as tx:
        change_consent(tx, ORG, "embedding_consent", True, actor="bench", now=NOON)
    embedder = OneVector(DIMENSION)
    capturing = Capturing(
        database, {"DREAMING_CONVERSATION_MEMORY": "true"}, lambda *_: embedder, lambda: NOON, lambda *_: None
    )
    said = sentences(count * 40, seed=9)
    for at in range(count):
        turns = tuple(IncomingTurn(speaker="ana", text=text) for text in said[at * 40 : (at + 1) * 40])
        answer = capturing.capture(tenant, IncomingConversation(conversation_id=f"c{at}", turns=turns))
        if not answer.captured:
            raise AssertionError(answer)
    return count


def sizes(url: str) -> list[TableSize]:
    """Return all tables that hold rows, the largest first."""
    with psycopg.connect(url, autocommit=True, options="-c search_path=dreaming,public") as admin:
        admin.execute(_VECTORS, {"dimension": DIMENSION})
        admin.execute("vacuum analyze")
        found = [
            TableSize(name, _rows(admin, name), int(table), int(toast), int(indexes), int(total))
            for name, table, toast, indexes, total in admin.execute(_SIZES).fetchall()
        ]
    return [one for one in found if one.rows]


def _rows(admin: psycopg.Connection[Any], table: str) -> int:
    row = admin.execute(f'select count(*) from "{table}"').fetchone()
    return int(row[0]) if row else 0


def measured(url: str, notes: int) -> dict[str, tuple[float, float]]:
    """Return for each table bytes of a row and rows of a note, or of a conversation where it is one's."""
    conversations = fill(url, notes)
    return {
        one.name: (one.each, one.rows / (conversations if one.name.startswith("conversation") else notes))
        for one in _shown(sizes(url))
        if one.rows >= notes / 10
    }


def _shown(found: list[TableSize]) -> list[TableSize]:
    sys.stdout.write(f"{'table':<26}{'rows':>10}{'table':>9}{'toast':>9}{'indexes':>9}{'together':>10}  bytes a row\n")
    for one in found:
        parts = [one.table / one.rows, one.toast / one.rows, one.indexes / one.rows]
        sys.stdout.write(
            f"{one.name:<26}{one.rows:>10,}{parts[0]:>9.0f}{parts[1]:>9.0f}{parts[2]:>9.0f}{one.each:>10.0f}\n"
        )
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; write the page when asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=int, default=2_000)
    parser.add_argument("--page", action="store_true", help="write the numbers into docs/scale.md")
    given = parser.parse_args(arguments)
    with benchmark_address(durable=False) as (url, _):
        found = measured(url, given.notes)
    if given.page:
        PAGE.write_text(with_measured(PAGE.read_text("utf-8"), found), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
