-- Which beliefs the contradictions pass has still to come to, so that finding them costs what changed, not what is
-- there. Triggers keep it, so no writer can forget to, nor one of a version before this.
create table unexamined_beliefs (
    belief_id uuid primary key references beliefs on delete cascade,
    slice_id bigint not null references slices on delete cascade,
    created_at timestamptz not null, -- of the belief: the earliest is examined first
    change bigint generated always as identity -- another one with each change
);
create index on unexamined_beliefs (slice_id, created_at, belief_id);
call protect_by_slice('unexamined_beliefs');
grant select, insert, update, delete on unexamined_beliefs to dreaming_worker, dreaming_api;
grant insert, update on unexamined_beliefs to dreaming_eraser;
comment on table unexamined_beliefs is
    'Which beliefs are new or have changed since the contradictions pass examined them; kept by triggers.';

-- Whether all beliefs that were there before this table are in it; the pass sees to that when it next comes.
alter table belief_lock add column lists_unexamined boolean not null default false;

create function list_written_beliefs() returns trigger language plpgsql as $$
begin
    insert into dreaming.unexamined_beliefs (belief_id, slice_id, created_at)
    select w.belief_id, w.slice_id, w.created_at from written w
    on conflict (belief_id) do update set change = default;
    return null;
end
$$;
create trigger list_created after insert on beliefs
    referencing new table as written for each statement execute function list_written_beliefs();
create trigger list_changed after update on beliefs
    referencing new table as written for each statement execute function list_written_beliefs();

-- One whose row is as it was examined goes, unless it was listed again meanwhile; any other is due.
create function list_by_examined() returns trigger language plpgsql as $$
begin
    delete from dreaming.unexamined_beliefs u
    using written w
    cross join lateral (
        select b.xmin::text as row_version from dreaming.beliefs b where b.belief_id = w.belief_id offset 0
    ) belief
    cross join lateral (
        select l.change from dreaming.unexamined_beliefs l where l.belief_id = w.belief_id offset 0
    ) listed
    where belief.row_version = w.row_version and u.belief_id = w.belief_id and u.change = listed.change;
    insert into dreaming.unexamined_beliefs (belief_id, slice_id, created_at)
    select w.belief_id, w.slice_id, belief.created_at
    from written w
    cross join lateral (
        select b.created_at, b.xmin::text as row_version from dreaming.beliefs b where b.belief_id = w.belief_id offset 0
    ) belief
    where belief.row_version is distinct from w.row_version
    on conflict (belief_id) do update set change = default;
    return null;
end
$$;
create trigger list_by_mark after insert on examined_beliefs
    referencing new table as written for each statement execute function list_by_examined();
create trigger list_by_change after update on examined_beliefs
    referencing new table as written for each statement execute function list_by_examined();

-- What goes with its belief or its slice is not listed: neither is there any more.
create function list_unmarked_beliefs() returns trigger language plpgsql as $$
begin
    insert into dreaming.unexamined_beliefs (belief_id, slice_id, created_at)
    select w.belief_id, w.slice_id, belief.created_at
    from written w
    cross join lateral (
        select b.created_at from dreaming.beliefs b where b.belief_id = w.belief_id offset 0
    ) belief
    where exists (select from dreaming.slices s where s.slice_id = w.slice_id)
    on conflict (belief_id) do update set change = default;
    return null;
end
$$;
create trigger list_unmarked after delete on examined_beliefs
    referencing old table as written for each statement execute function list_unmarked_beliefs();

-- What begins or ends by itself after it was derived: few rows, however many there are.
create index on timelines (slice_id, holds_from) where holds_from > derived_at;
create index on timelines (slice_id, holds_until) where holds_until > derived_at;

-- Pairs that may yet be put to a judge: without those that are left to a person.
create index on adjudications (slice_id, decided_at, left_belief_id, right_belief_id)
    where relation is null and attempts < 5;

-- A rule's word that two beliefs are unrelated is no longer remembered; the pass takes away what there is.
create index on adjudications (slice_id) where decided_by = 'rule' and relation = 'unrelated' and attempts = 0;
