-- When each slice next has work for a pass that does not follow the notes, as the planner may read it:
-- written with the work itself, lowered by whoever makes more of it, set anew by the pass that did it.
create table due_times (
    slice_id bigint not null references slices on delete cascade,
    pass text not null check (pass <> ''),
    due_at timestamptz not null,
    primary key (slice_id, pass)
);
create index on due_times (pass, due_at);
call protect_by_slice('due_times');
grant select, insert, update, delete on due_times to dreaming_worker, dreaming_api;
create policy planner on due_times for select to dreaming_planner using (true);
grant select (slice_id, pass, due_at) on due_times to dreaming_planner;

grant select (embedding_consent) on enrolment to dreaming_planner;

-- What a pass counts beyond the columns of consolidation.
alter table dream_runs add column pass_counts jsonb not null default '{}';
