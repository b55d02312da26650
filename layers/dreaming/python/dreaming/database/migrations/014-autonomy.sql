-- Agents with the score they have earned, the log of their actions, and the record of every change.
create table autonomy_agents (
    org_id text not null check (org_id <> ''),
    agent_id text not null check (agent_id <> ''),
    score smallint not null default 75 check (score between 0 and 100),
    changes integer not null default 0 check (changes >= 0), -- entries of its audit record
    scorings bigint not null default 0, -- one more with each action that was scored, or scored anew
    scorings_used bigint not null default 0, -- how many of them the latest adjustment has taken into account
    adjusted_run_id uuid, -- the run that last adjusted it: once a run
    manual_at timestamptz, -- when a person last set the score
    consider_at timestamptz, -- when its evidence is to be looked at next; null: when an action is scored
    created_at timestamptz not null,
    primary key (org_id, agent_id),
    check (scorings_used between 0 and scorings)
);
create index on autonomy_agents (org_id, consider_at) where consider_at is not null;
call protect_by_org('autonomy_agents');
grant select, insert, update on autonomy_agents to dreaming_worker, dreaming_api;

create table autonomy_actions (
    action_id uuid primary key,
    org_id text not null,
    agent_id text not null,
    external_id text not null check (external_id <> ''),
    tool text not null check (tool <> ''),
    summary text not null,
    risk text not null check (risk in ('none', 'low', 'medium', 'high', 'critical')),
    stated_confidence double precision check (stated_confidence between 0 and 1),
    conversation_id text,
    acted_at timestamptz not null,
    approval_requested_at timestamptz,
    decided_at timestamptz, -- when somebody approved, denied or rejected it, or it expired or was resolved elsewhere
    outcome text not null check (outcome in (
        'pending', 'approved', 'denied', 'rejected', 'expired', 'resolved_externally', 'success', 'failure')),
    outcome_at timestamptz not null, -- when that outcome came about
    needs_judge boolean not null generated always as (outcome in ('success', 'failure')) stored,
    outcome_no integer not null default 1 check (outcome_no >= 1), -- one more with each change of the outcome
    logged_at timestamptz not null,
    scoring text not null check (scoring in ('none', 'waiting', 'scored', 'dead')), -- none: still pending
    competence smallint check (competence in (0, 1)),
    commitment smallint check (commitment in (0, 1)),
    compatibility smallint check (compatibility in (0, 1)),
    factual_error boolean not null default false,
    judged_by text, -- the model, where one judged
    scored_at timestamptz,
    attempts integer not null default 0 check (attempts >= 0), -- answers of the judge that could not be read
    first_unreadable_at timestamptz,
    retry_at timestamptz, -- not to be scored before
    unique (org_id, agent_id, external_id),
    foreign key (org_id, agent_id) references autonomy_agents on delete cascade,
    check ((outcome = 'pending') = (scoring = 'none')),
    check ((scoring = 'waiting') = (retry_at is not null)),
    check ((scoring = 'scored') = (scored_at is not null)),
    check ((scoring = 'scored') = (coalesce(competence, commitment, compatibility) is not null))
);
create index on autonomy_actions (org_id, agent_id, acted_at desc, action_id desc);
create index on autonomy_actions (org_id, agent_id, acted_at desc, action_id desc) where scoring = 'scored';
create index on autonomy_actions (org_id, agent_id, acted_at desc) where factual_error;
-- Those for the judge apart: where nothing judges they pile up, and the others must not be searched among them.
create index on autonomy_actions (org_id, needs_judge, retry_at, action_id) where scoring = 'waiting';
call protect_by_org('autonomy_actions');
grant select, insert, update on autonomy_actions to dreaming_worker, dreaming_api;

-- Every change of a score, numbered without gaps for each agent: replayed from 75 they give the score.
create table autonomy_audit (
    org_id text not null,
    agent_id text not null,
    change_no integer not null check (change_no >= 1),
    happened_at timestamptz not null,
    action text not null check (action in ('adjusted', 'set')),
    old_score smallint not null check (old_score between 0 and 100),
    new_score smallint not null check (new_score between 0 and 100),
    reason text not null check (reason <> ''),
    actor text not null check (actor <> ''),
    evidence jsonb not null, -- what the decision saw
    run_id uuid,
    primary key (org_id, agent_id, change_no),
    foreign key (org_id, agent_id) references autonomy_agents on delete cascade
);
call protect_by_org('autonomy_audit');
grant select, insert on autonomy_audit to dreaming_worker, dreaming_api;

-- Actions that the judge could not score within three days, until somebody retries them.
create table autonomy_dead_letters (
    action_id uuid primary key references autonomy_actions on delete cascade,
    org_id text not null,
    agent_id text not null,
    reason text not null,
    attempts integer not null,
    first_unreadable_at timestamptz not null,
    dead_at timestamptz not null
);
create index on autonomy_dead_letters (org_id, dead_at desc);
call protect_by_org('autonomy_dead_letters');
grant select, insert, delete on autonomy_dead_letters to dreaming_worker, dreaming_api;
