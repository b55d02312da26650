-- How far each pass has come in each slice, who works on it, and what each run did.
create table dream_cursor (
    slice_id bigint not null references slices on delete cascade,
    pass text not null check (pass <> ''),
    position bigint not null default 0 check (position >= 0),
    last_occurred_at timestamptz,
    last_note_id uuid,
    generation bigint not null default 0, -- one more with each run; messages of an older one are dropped
    run_id uuid, -- the run in progress, or null
    batches_committed integer not null default 0, -- of that run
    batches_started integer not null default 0, -- the highest batch that an invocation took up
    lease_holder text, -- the invocation at work on a batch
    lease_expires_at timestamptz,
    progressed_at timestamptz, -- start of the run or its latest commit; a run silent for too long is replaced
    planned_at timestamptz, -- when a tick last gave this slice a run; the longest ago goes first
    held_reason text,
    held_detail text,
    held_since timestamptz,
    timeouts_in_row integer not null default 0, -- different notes without an answer in between; three are an outage
    last_timeout_note_id uuid,
    primary key (slice_id, pass),
    check ((lease_holder is null) = (lease_expires_at is null)),
    check ((held_reason is null) = (held_since is null))
);
call protect_by_slice('dream_cursor');
grant select, insert, update on dream_cursor to dreaming_worker;
grant select on dream_cursor to dreaming_api;
create policy planner on dream_cursor for select to dreaming_planner using (true);
grant select (slice_id, pass, position, generation, run_id, progressed_at, planned_at, lease_expires_at, held_since)
    on dream_cursor to dreaming_planner;

create table dream_runs (
    run_id uuid primary key,
    slice_id bigint not null references slices on delete cascade,
    pass text not null,
    generation bigint not null,
    status text not null check (status in ('running', 'drained', 'held', 'stalled', 'stopped', 'replaced')),
    started_at timestamptz not null,
    progressed_at timestamptz not null,
    finished_at timestamptz,
    held_reason text,
    batches integer not null default 0,
    notes_consolidated integer not null default 0,
    notes_empty integer not null default 0,
    notes_retired integer not null default 0,
    claims_extracted integer not null default 0,
    claims_rejected integer not null default 0,
    claims_suppressed integer not null default 0,
    claims_rejected_by_rule jsonb not null default '{}',
    beliefs_created integer not null default 0,
    beliefs_corroborated integer not null default 0,
    beliefs_restored integer not null default 0,
    beliefs_archived integer not null default 0,
    conflict_candidates integer not null default 0,
    partial_chunks integer not null default 0,
    model_calls integer not null default 0,
    input_tokens bigint not null default 0,
    output_tokens bigint not null default 0,
    check ((status = 'running') = (finished_at is null))
);
create index on dream_runs (slice_id, pass, started_at desc);
call protect_by_slice('dream_runs');
grant select, insert, update on dream_runs to dreaming_worker;
grant select on dream_runs to dreaming_api;

-- A call is recorded before it is made, so that a crash leaves a trace.
create table note_attempts (
    note_id uuid primary key references notes on delete cascade,
    slice_id bigint not null references slices on delete cascade,
    version integer not null,
    calls integer not null default 0 check (calls >= 0), -- answered or timed out, over all layers of retry
    attempts integer not null default 0 check (attempts between 0 and 3),
    in_flight text, -- the invocation whose call has not returned
    in_flight_alone boolean not null default false, -- no other note's call was in flight with it
    suspect boolean not null default false, -- was in flight with others at a crash; runs alone from now on
    last_failure text,
    last_failure_at timestamptz
);
create index on note_attempts (slice_id);
call protect_by_slice('note_attempts');
grant select, insert, update, delete on note_attempts to dreaming_worker;
grant select, delete on note_attempts to dreaming_api;

create table retired_notes (
    note_id uuid primary key references notes on delete cascade,
    slice_id bigint not null references slices on delete cascade,
    version integer not null,
    sequence bigint not null,
    reason text not null,
    attempts integer not null,
    run_id uuid not null,
    retired_at timestamptz not null
);
create index on retired_notes (slice_id, retired_at desc);
call protect_by_slice('retired_notes');
grant select, insert, delete on retired_notes to dreaming_worker;
grant select, delete on retired_notes to dreaming_api;

-- A model's answer from its arrival until the cursor has passed its note: a crash never pays twice.
create table extractions (
    note_id uuid not null references notes on delete cascade,
    version integer not null,
    chunk integer not null check (chunk >= 0),
    prompt_version text not null,
    model text not null,
    slice_id bigint not null references slices on delete cascade,
    answer jsonb not null, -- the parsed claims, still unchecked
    partial boolean not null,
    saved_at timestamptz not null,
    primary key (note_id, version, chunk, prompt_version, model)
);
create index on extractions (slice_id);
call protect_by_slice('extractions');
grant select, insert, delete on extractions to dreaming_worker;

create table usage (
    org_id text not null,
    day date not null, -- UTC
    pass text not null,
    model text not null,
    calls bigint not null default 0,
    failed_calls bigint not null default 0,
    input_tokens bigint not null default 0,
    output_tokens bigint not null default 0,
    primary key (org_id, day, pass, model)
);
call protect_by_org('usage');
grant select, insert, update on usage to dreaming_worker;
grant select on usage to dreaming_api;

-- Events written with the effect they announce and sent after its commit; ids only, never text.
create table outbox (
    outbox_id bigint generated always as identity primary key,
    slice_id bigint not null references slices on delete cascade,
    event text not null,
    detail jsonb not null,
    created_at timestamptz not null,
    sent_at timestamptz
);
create index on outbox (slice_id, outbox_id) where sent_at is null;
call protect_by_slice('outbox');
grant select, insert, update (sent_at), delete on outbox to dreaming_worker;
grant select, insert on outbox to dreaming_api;
