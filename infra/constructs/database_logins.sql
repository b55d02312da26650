-- The logins of a deployment, made once by the cluster's administrator. Nobody has a password: rds_iam
-- lets a login in by an IAM token alone. What a login may do is granted by the migrations; the planner and
-- the eraser are not inherited, so that a worker sees the slices of other tenants, and deletes what it may
-- not, only after taking on that role.
do $$
declare
    login text;
begin
    foreach login in array array['dreaming_worker', 'dreaming_api', 'dreaming_migrator'] loop
        if not exists (select from pg_roles where rolname = login) then
            execute format('create role %I login noinherit', login);
        end if;
        execute format('grant rds_iam to %I with inherit true', login);
    end loop;
    if not exists (select from pg_roles where rolname = 'dreaming_planner') then
        create role dreaming_planner nologin noinherit;
    end if;
    if not exists (select from pg_roles where rolname = 'dreaming_eraser') then
        create role dreaming_eraser nologin noinherit;
    end if;
    grant dreaming_planner to dreaming_worker with inherit false, set true;
    grant dreaming_eraser to dreaming_worker, dreaming_api with inherit false, set true;
    grant dreaming_worker, dreaming_api, dreaming_planner, dreaming_eraser to dreaming_migrator
        with inherit false, set true;
    execute format('grant create on database %I to dreaming_migrator', current_database());
    create extension if not exists vector;
end
$$
