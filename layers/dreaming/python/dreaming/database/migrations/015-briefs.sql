-- Which notes synthesis made of each conversation, and the order in which a brief reads beliefs.
alter table conversations add column synthesis_due_at timestamptz; -- null: all of its turns are in notes
create index on conversations (slice_id, synthesis_due_at) where synthesis_due_at is not null;

create table conversation_notes (
    document_id bigint not null references conversations on delete cascade,
    first_turn integer not null check (first_turn >= 0),
    part integer not null check (part >= 0), -- of a turn too long for one note
    end_turn integer not null, -- the turn behind the last one
    slice_id bigint not null references slices on delete cascade,
    external_id text not null check (external_id <> ''), -- of the note, whose source is conversation
    turns_sha256 bytea not null check (length(turns_sha256) = 32), -- chained over all turns up to the end
    occurred_at timestamptz not null,
    primary key (document_id, first_turn, part),
    unique (slice_id, external_id),
    check (end_turn > first_turn)
);
call protect_by_slice('conversation_notes');
grant select, insert, update, delete on conversation_notes to dreaming_worker, dreaming_api;

-- Within an importance and a decay class the aged confidence falls in this order at any moment: what fades
-- later is surer now, and what never fades comes by its confidence. So the first of each suffice for a brief.
create index on beliefs (slice_id, importance, decay_class, fades_at desc, confidence desc, belief_id)
    where archived_at is null;
