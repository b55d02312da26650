-- Typed edges between two beliefs, each a fold over the sources whose claims assert it.
create table relationships (
    relationship_id uuid primary key,
    slice_id bigint not null references slices on delete cascade,
    from_belief_id uuid not null references beliefs on delete cascade,
    type text not null check (char_length(type) between 1 and 80),
    to_belief_id uuid not null references beliefs on delete cascade,
    confidence double precision not null check (confidence between 0 and 1),
    confirmed_at timestamptz not null,
    first_seen_at timestamptz not null,
    decay_class text not null check (decay_class in ('permanent', 'slow_decay', 'fast_decay')),
    fades_at timestamptz, -- null: never
    sources integer not null check (sources >= 0), -- live ones
    origins integer not null check (origins >= 0), -- distinct witnesses among them
    created_at timestamptz not null,
    updated_at timestamptz not null,
    archived_at timestamptz,
    archive_reason text check (archive_reason in ('faded', 'endpoint', 'sourceless')),
    -- One row for good: asserted again after it was archived, it comes back with its id.
    unique (slice_id, from_belief_id, type, to_belief_id),
    check (from_belief_id <> to_belief_id),
    check ((archived_at is null) = (archive_reason is null)),
    check (archived_at is not null or sources > 0),
    check ((decay_class = 'permanent') = (fades_at is null)),
    check (first_seen_at <= confirmed_at)
);
create index on relationships (slice_id, fades_at) where archived_at is null;
create index on relationships (slice_id, to_belief_id);
create index on relationships (from_belief_id);
create index on relationships (to_belief_id);
call protect_by_slice('relationships');
grant select, insert, update on relationships to dreaming_worker, dreaming_api;

-- Which sources assert a relationship; those that have ended no longer count.
create table relationship_sources (
    slice_id bigint not null references slices on delete cascade,
    relationship_id uuid not null references relationships on delete cascade,
    source_id uuid not null references sources on delete cascade,
    primary key (relationship_id, source_id)
);
create index on relationship_sources (source_id);
create index on relationship_sources (slice_id);
call protect_by_slice('relationship_sources');
grant select, insert, delete on relationship_sources to dreaming_worker, dreaming_api;

alter table slice_counters
    add column relationships_live bigint not null default 0 check (relationships_live >= 0),
    add column relationships_ageing bigint not null default 0 check (relationships_ageing >= 0),
    add column relationships_archived bigint not null default 0 check (relationships_archived >= 0);
