"""What must hold of a deployment after any load: watched while it works, and counted at its end."""

from __future__ import annotations

from pathlib import Path

import psycopg
from psycopg.rows import TupleRow

from dreaming.api.service import recount
from dreaming.database import Database

Admin = psycopg.Connection[TupleRow]

WATCH = """
    create table watched_steps_back (slice_id bigint, pass text, was bigint, became bigint);
    create table watched_notes (note_id uuid, version integer, primary key (note_id, version));
    create table watched_events (outbox_id bigint primary key);

    create function watch_cursor() returns trigger language plpgsql security definer as $$
    begin
        if new.position < old.position or new.generation < old.generation then
            insert into dreaming.watched_steps_back values (new.slice_id, new.pass, old.position, new.position);
        end if;
        return null;
    end $$;
    create trigger watch_cursor after update on dream_cursor for each row execute function watch_cursor();

    create function watch_note() returns trigger language plpgsql security definer as $$
    begin
        insert into dreaming.watched_notes values (new.note_id, new.version);
        return null;
    end $$;
    create trigger watch_note after update on notes for each row
        when (new.state = 'consolidated' and old.state = 'waiting') execute function watch_note();

    create function watch_event() returns trigger language plpgsql security definer as $$
    begin
        insert into dreaming.watched_events values (new.outbox_id);
        return null;
    end $$;
    create trigger watch_event after insert on outbox for each row execute function watch_event();
"""
"""A note that is applied twice violates a key here, and takes its whole batch back with it."""

NONE_OF = {
    "cursor that moved back": "select * from watched_steps_back",
    "waiting note": "select * from notes where state = 'waiting'",
    "note that was passed without being applied": """
        select n.note_id from notes n where n.state = 'consolidated'
        and not exists (select 1 from watched_notes w where w.note_id = n.note_id and w.version = n.version)""",
    "note behind a cursor": """
        select s.slice_id from slices s join dream_cursor c using (slice_id)
        where c.pass = 'consolidation' and c.position < s.last_seq""",
    "lease": "select * from dream_cursor where lease_holder is not null",
    "run under way": "select * from dream_runs where status = 'running'",
    "cursor of a run": "select * from dream_cursor where run_id is not null",
    "kept answer": "select * from extractions",
    "call in flight": "select * from note_attempts where in_flight is not null",
    "event that was not sent": "select * from outbox",
    "note that supports a belief twice": """
        select note_id, belief_id from sources where ended_reason is null and note_id is not null
        group by 1, 2 having count(*) > 1""",
    "source of another version than the note's": """
        select f.source_id from sources f join notes n using (note_id)
        where f.ended_reason is null and f.note_version <> n.version""",
    "live belief without a source": """
        select b.belief_id from beliefs b where b.archived_at is null
        and not exists (select 1 from sources f where f.belief_id = b.belief_id and f.ended_reason is null)""",
    "two live beliefs of one statement": """
        select slice_id, kind, statement_hash from beliefs where archived_at is null
        group by 1, 2, 3 having count(*) > 1""",
    "relationship without a source": """
        select r.relationship_id from relationships r where r.archived_at is null and not exists
        (select 1 from relationship_sources f where f.relationship_id = r.relationship_id)""",
    "vector of an archived belief": """
        select v.belief_id from belief_vectors v join beliefs b using (belief_id)
        where b.archived_at < now() - interval '1 day'""",
    "conversation that was not made a note": "select * from due_times where pass = 'synthesis' and due_at <= now()",
    "action that waits for a score": "select * from autonomy_actions where scoring = 'waiting'",
}
"""Queries that must find nothing at the end."""


def broken(admin: Admin) -> dict[str, int]:
    """Of what there must be none, and how many there are."""
    counted = {name: len(admin.execute(query.encode()).fetchall()) for name, query in NONE_OF.items()}
    return {name: count for name, count in counted.items() if count}


def untold_events(admin: Admin, announced: Path) -> set[int]:
    """Events that were announced without having been committed, or committed and never announced."""
    told = {int(line) for line in announced.read_text("ascii").splitlines()} if announced.exists() else set()
    committed = {row[0] for row in admin.execute("select outbox_id from watched_events").fetchall()}
    return told ^ committed


def wrong_counters(database: Database) -> list[object]:
    """Counters that differ from a recount, and slices with a quote that is not at its place, as `dream doctor`."""
    return [one for one in recount(database) if one.differences or one.wrong_quotes]
