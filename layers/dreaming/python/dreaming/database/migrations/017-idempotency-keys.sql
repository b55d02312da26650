-- Posts to the API that carry a key of their own: what was answered, for those who send them again.
create table idempotency_keys (
    org_id text not null check (org_id <> ''),
    user_id text not null, -- empty: a caller who is no user
    key text not null check (key <> ''),
    request_sha256 bytea not null check (length(request_sha256) = 32),
    claimed_at timestamptz not null,
    answer jsonb, -- null while the first one is at work
    primary key (org_id, user_id, key)
);
create index on idempotency_keys (org_id, claimed_at);
alter table idempotency_keys enable row level security;
alter table idempotency_keys force row level security;
-- An answer may hold what only its user sees.
create policy tenant on idempotency_keys to dreaming_worker, dreaming_api
    using (org_id = tenant_org() and user_id = coalesce(tenant_user(), ''))
    with check (org_id = tenant_org() and user_id = coalesce(tenant_user(), ''));
grant select, insert, update, delete on idempotency_keys to dreaming_api;
grant select, delete on idempotency_keys to dreaming_worker;
