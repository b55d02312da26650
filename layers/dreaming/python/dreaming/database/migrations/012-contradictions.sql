-- Contradictions: pairs adjudicated once, timelines derived from them, merges that can be undone, aliases.
alter table beliefs drop constraint beliefs_archive_reason_check;
alter table beliefs add constraint beliefs_archive_reason_check
    check (archive_reason in ('faded', 'person', 'superseded', 'sourceless', 'merged', 'rejected'));
alter table belief_history drop constraint belief_history_event_check;
alter table belief_history add constraint belief_history_event_check
    check (event in ('created', 'corroborated', 'source_replaced', 'source_ended', 'reworded', 'archived', 'restored',
        'confirmed', 'warned', 'merged', 'unmerged'));

-- What the pass has seen of a belief: one whose row changed after that is examined again.
create table examined_beliefs (
    belief_id uuid primary key references beliefs on delete cascade,
    slice_id bigint not null references slices on delete cascade,
    fingerprint text not null, -- of the statement and what it claims
    subject text, -- as it was read, folded; null: not to be told
    attribute text,
    row_version text not null, -- the transaction that had written the belief's row when it was examined
    examined_at timestamptz not null
);
create index on examined_beliefs (slice_id, subject, attribute);
call protect_by_slice('examined_beliefs');
grant select, insert, update, delete on examined_beliefs to dreaming_worker, dreaming_api;

-- How two beliefs relate, decided once; a null relation is a pair that is still open.
create table adjudications (
    slice_id bigint not null references slices on delete cascade,
    left_belief_id uuid not null references beliefs on delete cascade,
    right_belief_id uuid not null references beliefs on delete cascade,
    relation text check (relation in ('duplicate', 'unrelated', 'successive', 'coexisting', 'incompatible')),
    decided_by text check (decided_by in ('rule', 'model', 'person')),
    reason text not null, -- the rule, the guard that left the pair, or what a person chose
    kept_belief_id uuid, -- which of two incompatible ones a person kept
    left_fingerprint text not null,
    right_fingerprint text not null,
    model text,
    prompt_version text,
    attempts integer not null default 0 check (attempts >= 0), -- calls whose answer did not decide the pair
    last_failure text,
    run_id uuid, -- of the latest attempt or decision
    decided_at timestamptz not null,
    primary key (left_belief_id, right_belief_id),
    check (left_belief_id < right_belief_id),
    check ((relation is null) = (decided_by is null))
);
create index on adjudications (right_belief_id);
create index on adjudications (slice_id, decided_at) where relation is null;
call protect_by_slice('adjudications');
grant select, insert, update, delete on adjudications to dreaming_worker, dreaming_api;

-- The stretches of time in which beliefs held, derived as a whole from the claims of one line of beliefs.
create table timelines (
    slice_id bigint not null references slices on delete cascade,
    belief_id uuid not null references beliefs on delete cascade,
    holds_from timestamptz not null,
    holds_until timestamptz, -- null: no end is known
    standing text not null check (standing in ('current', 'past', 'upcoming', 'rejected', 'review')),
    successor_id uuid references beliefs on delete cascade, -- what holds after it, or instead of it
    subject text not null,
    attribute text not null,
    derived_at timestamptz not null,
    primary key (belief_id, holds_from),
    check (holds_until is null or holds_until >= holds_from)
);
create index on timelines (slice_id, standing);
create index on timelines (successor_id);
call protect_by_slice('timelines');
grant select, insert, update, delete on timelines to dreaming_worker, dreaming_api;

-- A merge and what it takes to undo it: the rows of both beliefs before, and where each source came from.
create table merges (
    merge_id uuid primary key,
    place bigint generated always as identity, -- in the order of the merges: a later one is undone first
    slice_id bigint not null references slices on delete cascade,
    kept_belief_id uuid not null references beliefs on delete cascade,
    merged_belief_id uuid not null references beliefs on delete cascade,
    kept_before jsonb not null,
    merged_before jsonb not null,
    kept_after text not null, -- fingerprints of the rows and sources that the merge left
    merged_after text not null,
    decided_by text not null check (decided_by in ('rule', 'model', 'person')),
    evidence jsonb not null,
    run_id uuid,
    merged_at timestamptz not null,
    undone_at timestamptz
);
create index on merges (kept_belief_id);
create index on merges (merged_belief_id);
create index on merges (slice_id, merged_at desc);
call protect_by_slice('merges');
grant select, insert, update on merges to dreaming_worker, dreaming_api;

create table merged_sources (
    merge_id uuid not null references merges on delete cascade,
    source_id uuid not null references sources on delete cascade,
    slice_id bigint not null references slices on delete cascade,
    ended boolean not null, -- its note supported the kept belief already, so it stopped counting instead of moving
    primary key (merge_id, source_id)
);
create index on merged_sources (source_id);
create index on merged_sources (slice_id);
call protect_by_slice('merged_sources');
grant select, insert on merged_sources to dreaming_worker, dreaming_api;

-- Names for one thing, as statements tell them; a name goes when the belief that tells it is gone.
create table aliases (
    slice_id bigint not null references slices on delete cascade,
    belief_id uuid not null references beliefs on delete cascade,
    name text not null, -- folded
    other_name text not null,
    form text not null, -- which way of speaking tells it
    primary key (belief_id, name, other_name),
    check (name <> other_name)
);
create index on aliases (slice_id);
call protect_by_slice('aliases');
grant select, insert, delete on aliases to dreaming_worker, dreaming_api;

-- What a person decides is queued no longer.
grant delete on conflict_candidates to dreaming_api;
