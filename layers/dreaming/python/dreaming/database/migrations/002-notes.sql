-- Raw notes at their current version, and the texts that edits replaced.
create table notes (
    note_id uuid primary key,
    slice_id bigint not null references slices on delete cascade,
    source text not null check (source <> ''),
    external_id text not null check (external_id <> ''),
    origin text not null check (origin <> ''),
    version integer not null default 1 check (version >= 1),
    sequence bigint not null check (sequence >= 1),
    state text not null check (state in ('waiting', 'consolidated', 'empty', 'retired', 'withdrawn')),
    trust text not null check (trust in ('trusted', 'untrusted')),
    occurred_at timestamptz not null,
    occurred_offset integer not null check (abs(occurred_offset) < 86400), -- seconds east of UTC, as written
    author text,
    participants text[] not null default '{}',
    text text not null,
    content_sha256 bytea not null check (length(content_sha256) = 32), -- over everything that reaches the model
    metadata jsonb not null default '{}',
    ingested_at timestamptz not null,
    changed_at timestamptz not null,
    unique (slice_id, source, external_id)
);
-- The condition always holds and keeps this index from being a key: an edit, which changes the sequence,
-- would else lock out everything that refers to the note.
create unique index on notes (slice_id, sequence) where slice_id is not null;
call protect_by_slice('notes');
grant select, insert, update on notes to dreaming_worker, dreaming_api;

create table note_versions (
    note_id uuid not null references notes on delete cascade,
    version integer not null,
    slice_id bigint not null references slices on delete cascade,
    sequence bigint not null,
    occurred_at timestamptz not null,
    occurred_offset integer not null,
    author text,
    text text not null,
    replaced_at timestamptz not null,
    primary key (note_id, version)
);
create index on note_versions (slice_id);
call protect_by_slice('note_versions');
grant select, insert on note_versions to dreaming_worker, dreaming_api;
