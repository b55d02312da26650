-- Roles, the tenant of a transaction, and the slices that everything else hangs on.
--
-- Roles are shared by all databases of a server, so they may exist already. They cannot log in here;
-- a deployment grants its own logins, or lets the one login of DATABASE_URL take them on.
do $$
declare
    role_name text;
begin
    foreach role_name in array array['dreaming_worker', 'dreaming_api', 'dreaming_planner'] loop
        begin
            if not exists (select from pg_roles where rolname = role_name) then
                execute format('create role %I nologin noinherit', role_name);
            end if;
        exception when duplicate_object or unique_violation then
            null; -- another database's migration created it meanwhile
        end;
        -- Its creator may administer a role, but not yet take it on. Without inheriting, the login itself
        -- still sees no row.
        if not pg_has_role(current_user, role_name, 'set') then
            execute format('grant %I to current_user with inherit false, set true', role_name);
        end if;
    end loop;
end
$$;

grant usage on schema dreaming to dreaming_worker, dreaming_api, dreaming_planner;

create function tenant_org() returns text language sql stable parallel safe
    return nullif(current_setting('dreaming.org_id', true), '');

create function tenant_user() returns text language sql stable parallel safe
    return nullif(current_setting('dreaming.user_id', true), '');

create table slices (
    slice_id bigint generated always as identity primary key,
    org_id text not null check (org_id <> ''),
    scope text not null check (scope in ('org', 'private', 'shared')),
    owner_user_id text check (owner_user_id <> ''),
    last_seq bigint not null default 0 check (last_seq >= 0),
    created_at timestamptz not null default now(),
    unique nulls not distinct (org_id, scope, owner_user_id),
    check ((scope = 'private') = (owner_user_id is not null))
);
alter table slices enable row level security;
alter table slices force row level security;
-- Written so that both arms use the unique index, however many owners an organization has.
create policy tenant on slices to dreaming_worker, dreaming_api
    using (org_id = tenant_org()
        and (scope in ('org', 'shared') or (scope = 'private' and owner_user_id = tenant_user())))
    with check (org_id = tenant_org()
        and (scope in ('org', 'shared') or (scope = 'private' and owner_user_id = tenant_user())));
grant select, insert, update (last_seq) on slices to dreaming_worker, dreaming_api;

-- The planner lists slices of every tenant, column by column, and never sees text.
create policy planner on slices for select to dreaming_planner using (true);
grant select (slice_id, org_id, scope, owner_user_id, last_seq) on slices to dreaming_planner;

-- Every table of tenant data is protected by one of these two procedures.
create procedure protect_by_slice(protected regclass) language plpgsql as $$
begin
    execute format('alter table %s enable row level security', protected);
    execute format('alter table %s force row level security', protected);
    execute format(
        'create policy tenant on %s to dreaming_worker, dreaming_api '
        'using (slice_id in (select slice_id from slices)) '
        'with check (slice_id in (select slice_id from slices))',
        protected
    );
end
$$;

create procedure protect_by_org(protected regclass) language plpgsql as $$
begin
    execute format('alter table %s enable row level security', protected);
    execute format('alter table %s force row level security', protected);
    execute format(
        'create policy tenant on %s to dreaming_worker, dreaming_api '
        'using (org_id = tenant_org()) with check (org_id = tenant_org())',
        protected
    );
end
$$;

-- Kept true by every transaction that changes a note's or a belief's state; `dream doctor` recounts.
create table slice_counters (
    slice_id bigint primary key references slices on delete cascade,
    notes_total bigint not null default 0,
    notes_waiting bigint not null default 0 check (notes_waiting >= 0),
    notes_consolidated bigint not null default 0 check (notes_consolidated >= 0),
    notes_empty bigint not null default 0 check (notes_empty >= 0),
    notes_retired bigint not null default 0 check (notes_retired >= 0),
    notes_withdrawn bigint not null default 0 check (notes_withdrawn >= 0),
    beliefs_fact bigint not null default 0 check (beliefs_fact >= 0),
    beliefs_preference bigint not null default 0 check (beliefs_preference >= 0),
    beliefs_decision bigint not null default 0 check (beliefs_decision >= 0),
    beliefs_entity bigint not null default 0 check (beliefs_entity >= 0),
    beliefs_constraint bigint not null default 0 check (beliefs_constraint >= 0),
    beliefs_observation bigint not null default 0 check (beliefs_observation >= 0),
    beliefs_archived bigint not null default 0 check (beliefs_archived >= 0),
    check (notes_total = notes_waiting + notes_consolidated + notes_empty + notes_retired)
);
call protect_by_slice('slice_counters');
grant select, insert, update on slice_counters to dreaming_worker, dreaming_api;
