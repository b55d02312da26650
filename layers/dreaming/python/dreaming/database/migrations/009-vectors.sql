-- Vectors of what is believed, and which space each slice's readers are in.
--
-- The column has no length of its own, because the vectors of the space that readers are in and of the one
-- that is being filled stand beside each other. There is no index of nearest neighbours: a search compares
-- all vectors of its slice, so that a small slice gets its own nearest whoever shares the table.
create extension if not exists vector with schema public; -- made by a deployment's administrator, where there is one

create table belief_vectors (
    slice_id bigint not null references slices on delete cascade,
    belief_id uuid not null references beliefs on delete cascade,
    model text not null check (model <> ''),
    dimension integer not null check (dimension between 1 and 4000),
    statement_hash bigint not null, -- of the wording it was made from; another one's is stale
    vector halfvec not null,
    embedded_at timestamptz not null,
    primary key (slice_id, model, belief_id),
    check (vector_dims(vector) = dimension),
    check (l2_norm(vector) > 0)
);
create index on belief_vectors (belief_id);
-- In the order in which the embedding pass goes through them.
create index on beliefs (slice_id, belief_id) where archived_at is null;
-- In the row itself, also where a vector is longer than what is moved out of it: scans read every one.
alter table belief_vectors alter column vector set storage plain;
call protect_by_slice('belief_vectors');
grant select, insert, update, delete on belief_vectors to dreaming_worker;
grant select on belief_vectors to dreaming_api;

create table vector_spaces (
    slice_id bigint primary key references slices on delete cascade,
    active_model text not null check (active_model <> ''), -- the space that readers search
    active_dimension integer not null check (active_dimension between 1 and 4000),
    target_model text not null check (target_model <> ''), -- the one that is being filled
    target_dimension integer not null check (target_dimension between 1 and 4000),
    target_since timestamptz not null,
    swept jsonb not null default '{}', -- the last item that the pass took up, by sort of text; ids only
    consent_at timestamptz, -- the enrolment's updated_at when consent was last obeyed
    excluded_sources text[] not null default '{}', -- what was excluded then
    check (active_model <> target_model or active_dimension = target_dimension)
);
call protect_by_slice('vector_spaces');
grant select, insert, update, delete on vector_spaces to dreaming_worker;
grant select on vector_spaces to dreaming_api;
create policy planner on vector_spaces for select to dreaming_planner using (true);
grant select (slice_id, active_model, target_model, consent_at) on vector_spaces to dreaming_planner;
grant select (updated_at) on enrolment to dreaming_planner;

-- Texts that the embedder refuses by themselves; the third time they are left out, loudly.
create table embedding_attempts (
    slice_id bigint not null references slices on delete cascade,
    source text not null check (source <> ''), -- the sort of text, such as beliefs
    item_id text not null check (item_id <> ''),
    model text not null,
    text_hash bigint not null, -- of the wording that was refused; another one is tried anew
    attempts integer not null check (attempts between 1 and 3),
    failure text not null,
    failed_at timestamptz not null,
    retry_at timestamptz, -- null: left out
    primary key (slice_id, source, model, item_id),
    check ((attempts = 3) = (retry_at is null))
);
call protect_by_slice('embedding_attempts');
grant select, insert, update, delete on embedding_attempts to dreaming_worker;
grant select on embedding_attempts to dreaming_api;
