-- Beliefs, the sources they are a fold of, their history, and the indexes that find near-duplicates.
create table belief_lock (
    slice_id bigint primary key references slices on delete cascade
);
call protect_by_slice('belief_lock');
grant select, insert, update on belief_lock to dreaming_worker, dreaming_api;

create table beliefs (
    belief_id uuid primary key,
    slice_id bigint not null references slices on delete cascade,
    kind text not null check (kind in ('fact', 'preference', 'decision', 'entity', 'constraint', 'observation')),
    statement text not null check (char_length(statement) between 1 and 500),
    statement_hash bigint not null, -- of the folded statement, for the exact match
    words_version smallint not null, -- of the word order behind belief_tokens
    confidence double precision not null check (confidence between 0 and 1),
    confirmed_at timestamptz not null,
    first_seen_at timestamptz not null,
    importance text not null check (importance in ('low', 'normal', 'high', 'critical')),
    decay_class text not null check (decay_class in ('permanent', 'slow_decay', 'fast_decay')),
    fades_at timestamptz, -- null: never
    subject text,
    attribute text,
    -- Columns, not an index on expressions: lower() is not leakproof, so under row-level security no index
    -- on it is ever used.
    subject_key text generated always as (lower(subject)) stored,
    attribute_key text generated always as (lower(attribute)) stored,
    value text,
    multi_valued boolean not null default false,
    valid_from timestamptz,
    valid_until timestamptz,
    trust text not null check (trust in ('trusted', 'untrusted')),
    provenance text not null default 'model_inference' check (provenance in ('model_inference', 'person')),
    sources integer not null check (sources >= 0), -- live ones
    origins integer not null check (origins >= 0), -- distinct witnesses among them
    created_at timestamptz not null,
    updated_at timestamptz not null,
    archived_at timestamptz,
    archive_reason text check (archive_reason in ('faded', 'person', 'superseded', 'sourceless')),
    check ((archived_at is null) = (archive_reason is null)),
    check (archived_at is not null or sources > 0),
    check ((decay_class = 'permanent') = (fades_at is null)),
    check (first_seen_at <= confirmed_at)
);
create index on beliefs (slice_id, statement_hash);
create index on beliefs (slice_id, confirmed_at desc, belief_id) where archived_at is null;
create index on beliefs (slice_id, fades_at) where archived_at is null;
create index on beliefs (slice_id, subject_key, attribute_key, confirmed_at desc) where archived_at is null;
call protect_by_slice('beliefs');
grant select, insert, update on beliefs to dreaming_worker, dreaming_api;

-- The prefix of each statement's word set under the rare-first order, as an exact Jaccard index.
create table belief_tokens (
    slice_id bigint not null references slices on delete cascade,
    token bigint not null,
    size smallint not null, -- of the whole word set
    position smallint not null, -- of the word in the set's order, from 0
    belief_id uuid not null references beliefs on delete cascade,
    primary key (slice_id, token, size, position, belief_id)
);
create index on belief_tokens (belief_id);
call protect_by_slice('belief_tokens');
grant select, insert, delete on belief_tokens to dreaming_worker, dreaming_api;

create table sources (
    source_id uuid primary key,
    slice_id bigint not null references slices on delete cascade,
    belief_id uuid not null references beliefs on delete cascade,
    source_type text not null check (source_type in ('note', 'confirmation')),
    note_id uuid references notes on delete cascade,
    note_version integer,
    sequence bigint not null,
    origin text not null,
    trust text not null check (trust in ('trusted', 'untrusted')),
    occurred_at timestamptz not null,
    statement text not null,
    confidence double precision not null check (confidence between 0 and 1),
    kind text not null,
    importance text not null,
    decay_class text not null,
    subject text,
    attribute text,
    value text,
    multi_valued boolean not null default false,
    valid_from timestamptz,
    valid_until timestamptz,
    quote text,
    quote_start integer, -- code points from the start of that version's text
    quote_end integer,
    model text,
    prompt_version text,
    run_id uuid,
    created_at timestamptz not null,
    ended_at timestamptz,
    ended_reason text check (ended_reason in ('edited', 'withdrawn', 'merged')),
    check ((source_type = 'note') = (note_id is not null)),
    check ((note_id is null) = (quote is null) and (note_id is null) = (note_version is null)),
    check ((quote is null) = (quote_start is null) and (quote is null) = (quote_end is null)),
    check (quote_end - quote_start = char_length(quote)),
    check ((ended_at is null) = (ended_reason is null)),
    check (trust = 'trusted' or confidence <= 0.5)
);
create unique index on sources (belief_id, note_id) where ended_at is null and note_id is not null;
create index on sources (slice_id, note_id) where ended_at is null;
create index on sources (belief_id);
call protect_by_slice('sources');
grant select, insert, update on sources to dreaming_worker, dreaming_api;

create table belief_history (
    history_id bigint generated always as identity primary key,
    slice_id bigint not null references slices on delete cascade,
    belief_id uuid not null references beliefs on delete cascade,
    happened_at timestamptz not null,
    event text not null check (event in ('created', 'corroborated', 'source_replaced', 'source_ended',
        'reworded', 'archived', 'restored', 'confirmed')),
    confidence double precision not null,
    confirmed_at timestamptz not null,
    statement text not null,
    source_id uuid,
    run_id uuid,
    detail jsonb not null default '{}' -- the evidence of a match, the reason of an archive
);
create index on belief_history (belief_id, history_id);
create index on belief_history (slice_id);
call protect_by_slice('belief_history');
grant select, insert on belief_history to dreaming_worker, dreaming_api;

-- Pairs that consolidation leaves for adjudication; each pair once, in the order of their ids.
create table conflict_candidates (
    slice_id bigint not null references slices on delete cascade,
    left_belief_id uuid not null references beliefs on delete cascade,
    right_belief_id uuid not null references beliefs on delete cascade,
    reason text not null, -- the guard that vetoed the match, or same_attribute
    evidence jsonb not null,
    run_id uuid,
    found_at timestamptz not null,
    primary key (left_belief_id, right_belief_id),
    check (left_belief_id < right_belief_id)
);
create index on conflict_candidates (slice_id, found_at);
create index on conflict_candidates (right_belief_id);
call protect_by_slice('conflict_candidates');
grant select, insert, delete on conflict_candidates to dreaming_worker;
grant select on conflict_candidates to dreaming_api;
