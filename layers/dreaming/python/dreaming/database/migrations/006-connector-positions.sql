-- How far each connector has read what it reads again and again: one mark for each branch or file.
-- Written in the transaction that stores the notes, so a mark never says more than what is stored.
create table connector_positions (
    slice_id bigint not null references slices on delete cascade,
    connector text not null check (connector <> ''),
    source text not null check (source <> ''),
    location text not null check (location <> ''), -- the folder or file, or its hash when it is long
    entry text not null check (entry <> ''), -- a branch, or a file below the location
    mark jsonb not null,
    saved_at timestamptz not null,
    primary key (slice_id, connector, source, location, entry)
);
call protect_by_slice('connector_positions');
grant select, insert, update, delete on connector_positions to dreaming_worker;
grant select on connector_positions to dreaming_api;
