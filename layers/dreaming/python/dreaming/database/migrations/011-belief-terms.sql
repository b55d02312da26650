-- The words of each statement, so that BM25 finds what is about the same thing: an inverted table read by
-- equality alone, because row-level security keeps a text search index from being used.
create table belief_terms (
    slice_id bigint not null references slices on delete cascade,
    term bigint not null,
    belief_id uuid not null references beliefs on delete cascade,
    occurrences smallint not null check (occurrences > 0),
    length smallint not null check (length > 0), -- of the whole statement, in terms
    primary key (slice_id, term, belief_id)
);
create index on belief_terms (belief_id);
call protect_by_slice('belief_terms');
grant select, insert, delete on belief_terms to dreaming_worker, dreaming_api;

-- How many statements have been indexed and how long they are together; how many hold a term is counted in
-- the scan of its postings.
create table belief_term_statistics (
    slice_id bigint primary key references slices on delete cascade,
    statements bigint not null,
    length bigint not null
);
call protect_by_slice('belief_term_statistics');
grant select, insert, update on belief_term_statistics to dreaming_worker, dreaming_api;

-- The latest live beliefs of one kind. "Nulls last", although there are none, tells it from the index without
-- the kind, which would be scanned whole for a kind that is rare.
create index on beliefs (slice_id, kind, confirmed_at desc nulls last, belief_id) where archived_at is null;
