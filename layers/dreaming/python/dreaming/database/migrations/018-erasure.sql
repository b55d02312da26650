-- Erasure: a role of its own, which alone may delete notes and beliefs, and keyed names of what must not come back.
do $$
begin
    begin
        if not exists (select from pg_roles where rolname = 'dreaming_eraser') then
            create role dreaming_eraser nologin noinherit;
        end if;
    exception when duplicate_object or unique_violation then
        null; -- another database's migration created it meanwhile
    end;
    if not pg_has_role(current_user, 'dreaming_eraser', 'set') then
        grant dreaming_eraser to current_user with inherit false, set true;
    end if;
end
$$;

grant usage on schema dreaming to dreaming_eraser;

-- What the names of one organization's tombstones are keyed with; not exported, and not in their table.
create table erasure_keys (
    org_id text primary key check (org_id <> ''),
    key bytea not null check (length(key) = 32),
    made_at timestamptz not null
);

-- What was erased and is not to come back, by names that tell nothing without the key.
create table tombstones (
    org_id text not null check (org_id <> ''),
    name bytea not null check (length(name) = 32),
    kind text not null check (kind in ('note', 'conversation', 'organization')),
    erased_at timestamptz not null,
    primary key (org_id, name)
);
create index on tombstones (org_id) where kind = 'organization';

call protect_by_org('erasure_keys');
call protect_by_org('tombstones');
grant select on erasure_keys, tombstones to dreaming_worker, dreaming_api;
grant insert on erasure_keys, tombstones to dreaming_eraser;

-- With a user it sees what that user sees; without one, every slice of the one organization.
create policy eraser on slices to dreaming_eraser
    using (org_id = tenant_org()
        and (tenant_user() is null or scope in ('org', 'shared') or owner_user_id = tenant_user()))
    with check (org_id = tenant_org()
        and (tenant_user() is null or scope in ('org', 'shared') or owner_user_id = tenant_user()));

create procedure let_eraser_in(erased regclass) language plpgsql as $$
declare
    condition text;
begin
    select case when bool_or(attname = 'slice_id') then 'slice_id in (select slice_id from slices)'
                when bool_or(attname = 'org_id') then 'org_id = tenant_org()' end
    into condition from pg_attribute where attrelid = erased and attnum > 0 and not attisdropped;
    if condition is null then
        raise exception 'table % belongs to no tenant', erased;
    end if;
    execute format(
        'create policy eraser on %s to dreaming_eraser using (%s) with check (%s)', erased, condition, condition
    );
    execute format('grant select, delete on %s to dreaming_eraser', erased);
end
$$;

do $$
declare
    erased regclass;
begin
    for erased in
        select oid::regclass from pg_class
        where relnamespace = 'dreaming'::regnamespace and relkind in ('r', 'p')
          and relname not in ('schema_migrations', 'slices')
    loop
        call let_eraser_in(erased);
    end loop;
end
$$;
grant select, delete on slices to dreaming_eraser;

-- Tables to come are reached without a further word.
create or replace procedure protect_by_slice(protected regclass) language plpgsql as $$
begin
    execute format('alter table %s enable row level security', protected);
    execute format('alter table %s force row level security', protected);
    execute format(
        'create policy tenant on %s to dreaming_worker, dreaming_api '
        'using (slice_id in (select slice_id from slices)) '
        'with check (slice_id in (select slice_id from slices))',
        protected
    );
    call let_eraser_in(protected);
end
$$;

create or replace procedure protect_by_org(protected regclass) language plpgsql as $$
begin
    execute format('alter table %s enable row level security', protected);
    execute format('alter table %s force row level security', protected);
    execute format(
        'create policy tenant on %s to dreaming_worker, dreaming_api '
        'using (org_id = tenant_org()) with check (org_id = tenant_org())',
        protected
    );
    call let_eraser_in(protected);
end
$$;

-- What folding anew writes, what keeps others out meanwhile, and where a person's name stands.
grant update (last_seq) on slices to dreaming_eraser; -- locks only
grant update (state) on notes to dreaming_eraser; -- locks only
grant update (vector_stale) on conversations to dreaming_eraser; -- locks only
grant insert, update on beliefs, relationships, slice_counters, belief_term_statistics, due_times to dreaming_eraser;
grant insert on belief_tokens, belief_terms, relationship_sources, outbox, audit to dreaming_eraser;
grant insert, update on belief_history, sources, enrolment to dreaming_eraser;
grant update on belief_lock, dream_cursor, dream_runs, merges, examined_beliefs to dreaming_eraser;
grant update (actor) on audit to dreaming_eraser;
grant update (updated_by) on settings to dreaming_eraser;
grant update (actor) on autonomy_audit to dreaming_eraser;
grant update (summary, conversation_id) on autonomy_actions to dreaming_eraser;
