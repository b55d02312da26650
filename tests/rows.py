"""One row in each table of a tenant, for the tests that walk all tables."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import psycopg
from psycopg import sql
from psycopg.rows import TupleRow
from psycopg.types.json import Jsonb

from dreaming.notes.records import SliceKey

NOW = "2026-03-01T12:00:00+00:00"


def insert_row(connection: psycopg.Connection[TupleRow], table: str, row: dict[str, Any]) -> None:
    """Insert a row given by column names, unless a trigger has made it already."""
    statement = sql.SQL("insert into {} ({}) values ({}) on conflict do nothing").format(
        sql.Identifier(table),
        sql.SQL(", ").join(map(sql.Identifier, row)),
        sql.SQL(", ").join(sql.Placeholder() * len(row)),
    )
    connection.execute(statement, list(row.values()))


def insert_slice(connection: psycopg.Connection[TupleRow], key: SliceKey) -> int:
    """Insert a slice and return its id."""
    query = "insert into slices (org_id, scope, owner_user_id) values (%s, %s, %s) returning slice_id"
    row = connection.execute(query, [key.org_id, key.scope, key.owner_user_id]).fetchone()
    assert row is not None
    return int(row[0])


def rows_of_every_table(slice_id: int, org_id: str, text: str = "a planted phrase") -> dict[str, dict[str, Any]]:
    """Return one row for each table but `slices`, in an order in which they can be inserted."""
    note_id, left, right = uuid4(), UUID(int=uuid4().int >> 1), UUID(int=uuid4().int | 1 << 127)
    in_slice = {"slice_id": slice_id}
    document_id = uuid4().int >> 66
    agent, action_id = {"org_id": org_id, "agent_id": "bot"}, uuid4()
    source = {"sequence": 1, "origin": "o", "trust": "trusted", "occurred_at": NOW, "created_at": NOW}
    claim = {"statement": text, "kind": "fact", "importance": "low", "decay_class": "permanent", "confidence": 1}
    source_id, relationship_id, merge_id = uuid4(), uuid4(), uuid4()
    return {
        "slice_counters": in_slice,
        "notes": in_slice
        | {"note_id": note_id, "source": "s", "external_id": "e", "origin": "o", "sequence": 1, "state": "waiting"}
        | {"trust": "trusted", "occurred_at": NOW, "occurred_offset": 0, "text": text, "ingested_at": NOW}
        | {"changed_at": NOW, "content_sha256": bytes(32)},
        "note_versions": in_slice
        | {"note_id": note_id, "version": 1, "sequence": 1, "occurred_at": NOW, "occurred_offset": 0}
        | {"text": text, "replaced_at": NOW},
        "connector_positions": in_slice
        | {"connector": "c", "source": "s", "location": "l", "entry": "e", "mark": Jsonb({}), "saved_at": NOW},
        "dream_cursor": in_slice | {"pass": "consolidation"},
        "dream_runs": in_slice
        | {"run_id": uuid4(), "pass": "consolidation", "generation": 1, "status": "running"}
        | {"started_at": NOW, "progressed_at": NOW},
        "due_times": in_slice | {"pass": "decay", "due_at": NOW},
        "note_attempts": in_slice | {"note_id": note_id, "version": 1},
        "retired_notes": in_slice
        | {"note_id": note_id, "version": 1, "sequence": 1, "reason": "malformed", "attempts": 3}
        | {"run_id": uuid4(), "retired_at": NOW},
        "extractions": in_slice
        | {"note_id": note_id, "version": 1, "chunk": 0, "prompt_version": "p", "model": "m"}
        | {"answer": Jsonb([text]), "partial": False, "saved_at": NOW},
        "usage": {"org_id": org_id, "day": "2026-03-01", "pass": "consolidation", "model": "m"},
        "outbox": in_slice | {"event": "e", "detail": Jsonb({}), "created_at": NOW},
        "belief_lock": in_slice,
        "beliefs": in_slice | claim | _belief(left),
        "belief_tokens": in_slice | {"token": 1, "size": 1, "position": 0, "belief_id": left},
        "belief_terms": in_slice | {"term": 1, "belief_id": left, "occurrences": 1, "length": 1},
        "belief_term_statistics": in_slice | {"statements": 1, "length": 1},
        "sources": in_slice
        | claim
        | source
        | {"source_id": source_id, "belief_id": left, "source_type": "confirmation"},
        "relationships": in_slice
        | {"relationship_id": relationship_id, "from_belief_id": left, "type": "knows", "to_belief_id": right}
        | {"confidence": 1, "confirmed_at": NOW, "first_seen_at": NOW, "decay_class": "permanent", "sources": 1}
        | {"origins": 1, "created_at": NOW, "updated_at": NOW},
        "relationship_sources": in_slice | {"relationship_id": relationship_id, "source_id": source_id},
        "belief_history": in_slice
        | {"belief_id": left, "happened_at": NOW, "event": "created", "confidence": 1, "confirmed_at": NOW}
        | {"statement": text},
        "conflict_candidates": in_slice
        | {"left_belief_id": left, "right_belief_id": right, "reason": "numbers", "evidence": Jsonb({})}
        | {"found_at": NOW},
        "belief_vectors": in_slice
        | {"belief_id": left, "model": "m", "dimension": 2, "statement_hash": 1, "vector": "[1,0]", "embedded_at": NOW},
        "vector_spaces": in_slice
        | {"active_model": "m", "active_dimension": 2, "target_model": "m", "target_dimension": 2, "target_since": NOW},
        "embedding_attempts": in_slice
        | {"source": "beliefs", "item_id": str(left), "model": "m", "text_hash": 1, "attempts": 1, "failure": "f"}
        | {"failed_at": NOW, "retry_at": NOW},
        "examined_beliefs": in_slice
        | {"belief_id": left, "fingerprint": "f", "subject": text, "row_version": "1", "examined_at": NOW},
        "unexamined_beliefs": in_slice | {"belief_id": left, "created_at": NOW},
        "adjudications": in_slice
        | {"left_belief_id": left, "right_belief_id": right, "reason": "r", "left_fingerprint": "f"}
        | {"right_fingerprint": "f", "decided_at": NOW},
        "timelines": in_slice
        | {"belief_id": left, "holds_from": NOW, "standing": "current", "subject": text, "attribute": "a"}
        | {"derived_at": NOW},
        "merges": in_slice
        | {"merge_id": merge_id, "kept_belief_id": left, "merged_belief_id": right, "kept_before": Jsonb({})}
        | {"merged_before": Jsonb({}), "kept_after": "", "merged_after": "", "decided_by": "rule"}
        | {"evidence": Jsonb({}), "merged_at": NOW},
        "merged_sources": in_slice | {"merge_id": merge_id, "source_id": source_id, "ended": False},
        "aliases": in_slice | {"belief_id": left, "name": "a", "other_name": "b", "form": "aka"},
        "conversations": in_slice
        | {"document_id": document_id, "conversation_id": uuid4().bytes * 2, "external_id": "e", "turns": 1}
        | {"turns_sha256": bytes(32), "length": 1, "summary": text, "started_at": NOW, "last_at": NOW}
        | {"changed_at": NOW, "vector_stale": True},
        "conversation_turns": in_slice | {"document_id": document_id, "position": 0, "text": text, "terms": [1]},
        "conversation_notes": in_slice
        | {"document_id": document_id, "first_turn": 0, "part": 0, "end_turn": 1, "external_id": "e"}
        | {"turns_sha256": bytes(32), "occurred_at": NOW},
        "conversation_terms": in_slice
        | {"term": 1, "document_id": document_id // 1024 * 1024, "frequency": 1, "postings": bytes([0, 1, 0, 1])},
        "enrolment": {"org_id": org_id, "updated_at": NOW, "updated_by": "mia"},
        "settings": {"org_id": org_id, "name": "n", "value": Jsonb(1), "updated_at": NOW, "updated_by": "mia"},
        "idempotency_keys": {"org_id": org_id, "user_id": "", "key": "k", "request_sha256": bytes(32)}
        | {"claimed_at": NOW, "answer": Jsonb(text)},
        "audit": {"org_id": org_id, "happened_at": NOW, "actor": "mia", "action": "a", "subject": "s"},
        "erasure_keys": {"org_id": org_id, "key": bytes(32), "made_at": NOW},
        "tombstones": {"org_id": org_id, "name": bytes(32), "kind": "note", "erased_at": NOW},
        "autonomy_agents": {"org_id": org_id, "agent_id": "bot", "created_at": NOW},
        "autonomy_actions": agent
        | {"action_id": action_id, "external_id": "e", "tool": "t", "summary": text, "risk": "low", "acted_at": NOW}
        | {"outcome": "failure", "outcome_at": NOW, "logged_at": NOW, "scoring": "dead"},
        "autonomy_audit": agent
        | {"change_no": 1, "happened_at": NOW, "action": "set", "old_score": 75, "new_score": 60, "reason": text}
        | {"actor": "mia", "evidence": Jsonb({})},
        "autonomy_dead_letters": agent
        | {"action_id": action_id, "reason": "r", "attempts": 3, "first_unreadable_at": NOW, "dead_at": NOW},
        "beliefs (the second of a pair)": in_slice | claim | _belief(right),
    }


def insert_every_row(connection: psycopg.Connection[TupleRow], slice_id: int, org_id: str) -> None:
    """Insert one row (two beliefs) into each table, as a connection that may."""
    rows = rows_of_every_table(slice_id, org_id)
    insert_row(connection, "beliefs", rows.pop("beliefs (the second of a pair)"))
    connection.execute("delete from unexamined_beliefs where slice_id = %s", [slice_id])  # of a trigger's making
    for table, row in rows.items():
        insert_row(connection, table, row)


def _belief(belief_id: UUID) -> dict[str, Any]:
    return {
        "belief_id": belief_id,
        "statement_hash": 1,
        "words_version": 1,
        "confirmed_at": NOW,
        "first_seen_at": NOW,
        "trust": "trusted",
        "sources": 1,
        "origins": 1,
        "created_at": NOW,
        "updated_at": NOW,
    }
