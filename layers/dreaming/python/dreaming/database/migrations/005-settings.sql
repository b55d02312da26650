-- What an organization has set, and who changed what. Enrolment and consent stand apart from the
-- other settings because the planner must read them for every tenant, and nothing else.
create table enrolment (
    org_id text primary key check (org_id <> ''),
    enrolled boolean not null default false,
    model_consent boolean not null default false,
    embedding_consent boolean not null default false,
    embedding_excluded_sources text[] not null default '{}',
    updated_at timestamptz not null,
    updated_by text not null
);
call protect_by_org('enrolment');
grant select, insert, update on enrolment to dreaming_worker, dreaming_api;
create policy planner on enrolment for select to dreaming_planner using (true);
grant select (org_id, enrolled, model_consent) on enrolment to dreaming_planner;

create table settings (
    org_id text not null check (org_id <> ''),
    name text not null,
    value jsonb not null,
    updated_at timestamptz not null,
    updated_by text not null,
    primary key (org_id, name)
);
call protect_by_org('settings');
grant select, insert, update, delete on settings to dreaming_worker, dreaming_api;

create table audit (
    audit_id bigint generated always as identity primary key,
    org_id text not null,
    happened_at timestamptz not null,
    actor text not null,
    action text not null,
    subject text not null,
    old_value jsonb,
    new_value jsonb
);
create index on audit (org_id, audit_id desc);
call protect_by_org('audit');
grant select, insert on audit to dreaming_worker, dreaming_api;
