-- The words of conversations in blocks: a row holds the postings of one term in all conversations of a slice
-- whose ids begin alike, so that a recall reads a hundredth of the rows and need not leave words out.
--
-- From here on `document_id` is the first id of the block, `frequency` how many conversations of it hold the
-- term, and `postings` says which and how often: two big-endian smallints each, by ascending id.
alter table conversation_terms add column postings bytea;
-- In the row itself: at most 4 kB, written and read whole.
alter table conversation_terms alter column postings set storage plain;
alter table conversation_terms set (fillfactor = 80);

-- The owner must see the rows of every tenant for once.
alter table conversation_terms no force row level security;
do $$
declare
    before bigint;
    after bigint;
begin
    select count(*) into before from conversation_terms;
    insert into conversation_terms as held (slice_id, term, document_id, frequency, postings)
    select slice_id, term, document_id / 1024 * 1024, count(*), string_agg(
        int2send((document_id % 1024)::smallint) || int2send(least(frequency, 32767)::smallint), ''::bytea
        order by document_id
    )
    from conversation_terms
    group by slice_id, term, document_id / 1024
    on conflict (slice_id, term, document_id) do update
    set frequency = excluded.frequency, postings = excluded.postings;
    delete from conversation_terms where postings is null;
    select coalesce(sum(length(postings) / 4), 0) into after from conversation_terms;
    if before <> after then
        raise exception 'of % postings % were packed', before, after;
    end if;
end
$$;
alter table conversation_terms force row level security;

alter table conversation_terms alter column postings set not null;
alter table conversation_terms add check (length(postings) = 4 * frequency);
-- Without `frequency`, or no update of a row could stay in its page.
alter table conversation_terms drop constraint conversation_terms_pkey;
alter table conversation_terms add primary key (slice_id, term, document_id);

grant insert, update on conversation_terms to dreaming_eraser;

-- The embedding of what is asked and captured counts too, whoever asks.
grant insert, update on usage to dreaming_api;
