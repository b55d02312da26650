"""Conversations captured by several processes at once, and tenants of unlike sizes."""

from __future__ import annotations

import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import numpy as np
import psycopg
import pytest
from psycopg.rows import TupleRow

from dreaming.database import Database
from dreaming.errors import InvalidInput
from dreaming.notes.records import Scope, Tenant
from dreaming.recall.index.store import read_documents, visible_slices
from tests.database.recall.conftest import ANA, NOON, Memory, memory

__all__ = ["memory"]

ROOT = Path(__file__).parents[2]

_PROGRAM = """
import sys
from datetime import timedelta
from dreaming.database import Database
from dreaming.recall.capture import Capturing
from tests.database.recall.conftest import ANA, NOON, WordVectors, conversation

url, number = sys.argv[1], int(sys.argv[2])
database = Database(url)
flag = {"DREAMING_CONVERSATION_MEMORY": "true"}
print("ready", flush=True)
sys.stdin.readline()
for place in range(number, 30, 4):
    clock = lambda: NOON + timedelta(seconds=place / 15)
    capturing = Capturing(database, flag, lambda settings, org_id: WordVectors(), clock, print)
    answer = capturing.capture(ANA, conversation("c", *(f"word{one}x" for one in range(place + 1))))
    print(place, answer.captured, answer.reason, answer.pending, flush=True)
database.close()
"""


def test_thirty_captures_from_four_processes_leave_the_last_text_in_one_row(database_url: str) -> None:
    """Within two seconds by their clocks; whichever process comes first, the text of the latest time stays."""
    memory = Memory(Database(database_url))
    memory.consent()
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, database_url, str(number)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(4)
    ]
    for worker in workers:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("go\n")
        worker.stdin.flush()
    outputs = [worker.communicate(timeout=120)[0] for worker in workers]
    assert [worker.returncode for worker in workers] == [0] * 4
    answers = [tuple(line.split()[1:]) for output in outputs for line in output.splitlines()]
    assert len(answers) == 30
    made = [answer for answer in answers if answer[0] == "True"]
    assert len(made) == 1
    assert set(answers) - set(made) <= {("False", "throttled", "True"), ("False", "superseded", "False")}
    said = [f"word{place}x" for place in range(30)]
    [(turns, changed_at, captured_at)] = memory.rows("select turns, changed_at, captured_at from conversations")
    assert (turns, changed_at) == (30, NOON + timedelta(seconds=29 / 15))
    assert memory.rows("select text from conversation_turns order by position") == [(text,) for text in said]
    memory.check()
    memory.now = captured_at + timedelta(seconds=120) - timedelta(microseconds=1)
    assert memory.capture("c", *said, "more").reason == "throttled"
    memory.now = captured_at + timedelta(seconds=120)
    assert memory.capture("c", *said, "more").captured
    assert memory.rows("select turns, vector_stale from conversations") == [(31, False)]
    memory.database.close()


def test_recall_of_a_misspelt_scope_is_an_error_and_not_nothing(memory: Memory) -> None:
    memory.capture("c", "a boat")
    with pytest.raises(InvalidInput, match="scope"):
        memory.recall("boat", scope="orgs")


def test_keywords_in_scripts_without_spaces_are_found(memory: Memory) -> None:
    memory.consent(given=False)
    memory.capture("c", "我们把数据库迁移到了云端。")
    memory.capture("d", "明天去海边。")
    assert memory.names("数据库") == ["c"]
    assert memory.names("库") == ["c"]


def test_a_small_tenant_gets_its_own_ten_nearest_beside_a_large_one(
    memory: Memory, admin: psycopg.Connection[TupleRow]
) -> None:
    """20,000 vectors of another organization lie nearer to the query than any of its own twelve."""
    small, large = Tenant("small", "ana"), Tenant("large", "ana")
    memory.consent("small")
    for number in range(12):
        memory.capture(f"c{number}", f"boat number{number} " + "filler " * number, by=small)
    memory.capture("x", "boat", by=large)
    admin.execute(
        """
        insert into conversations (conversation_id, slice_id, external_id, turns, turns_sha256, length, summary,
            started_at, last_at, changed_at, vector, vector_model, vector_stale)
        select sha256(g::text::bytea), c.slice_id, g::text, 1, c.turns_sha256, 1, '', c.started_at, c.last_at,
            c.changed_at, near.vector, 'words', false
        from conversations c, generate_series(1, 20000) g,
            (select vector from conversations where external_id = 'c0') near
        where c.external_id = 'x'
        """
    )
    admin.execute("analyze conversations")
    found = memory.recall("boat", small)
    query = memory.embedder.embed(["boat"], timeout=1)[0]
    with memory.database.transaction(small) as tx:
        slices = visible_slices(tx, "small", "ana", [Scope.ORG])
        documents = read_documents(tx, slices, query, "words")
        rows = tx.execute("select external_id, vector::real[] from conversations order by document_id").fetchall()
    vectors = np.array([row[1] for row in rows])
    exact = vectors @ query / np.linalg.norm(vectors, axis=1)
    assert np.allclose(documents.likeness, exact, atol=2e-3)
    assert len(found.conversations) == 10
    assert {one.conversation_id for one in found.conversations} <= {f"c{number}" for number in range(12)}
    by_name = {name: cosine for (name, _), cosine in zip(rows, exact, strict=True)}
    assert all(abs((one.likeness or 0) - by_name[one.conversation_id]) < 2e-3 for one in found.conversations)


def test_deleting_in_one_tenant_leaves_the_other_whole(memory: Memory) -> None:
    other = Tenant("bakery", "ana")
    for by in (ANA, other):
        memory.capture("c", "the same boat", by=by)
    before = memory.recall("boat", other).conversations
    memory.delete("c")
    assert memory.names("boat") == []
    assert memory.recall("boat", other).conversations == before
    memory.check(other)
