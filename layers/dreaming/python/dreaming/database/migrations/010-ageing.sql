-- Confidence aged to a moment, the moment of fading, and what the decay pass keeps.

-- The half-life, in seconds, of a decay class; null: it never ages.
create function half_life_of(decay_class text, slow_half_life float8, fast_half_life float8)
    returns float8 language sql immutable parallel safe
    return case decay_class when 'slow_decay' then slow_half_life when 'fast_decay' then fast_half_life end;

-- As `dreaming.beliefs.rules.aged`. The exponent is clamped: `power` raises an underflow error beyond
-- about 1,074. `date_part`, not `extract`, whose numeric result would cost more than all the rest.
create function aged(confidence float8, confirmed_at timestamptz, half_life float8, at timestamptz)
    returns float8 language sql immutable parallel safe
    return case
        when half_life is null then confidence
        -- A product that underflows is an error here, and nothing elsewhere.
        when confidence < 1e-20 and (confidence <= 0 or ln(confidence) <
            least(greatest(date_part('epoch', at - confirmed_at) / half_life, 0), 1000) * ln(2::float8) - 700)
            then 0::float8
        else confidence *
            power(0.5::float8, least(greatest(date_part('epoch', at - confirmed_at) / half_life, 0), 1000)) end;

-- As `dreaming.beliefs.rules.fades_at`: when `aged` reaches the threshold; at the latest in 9999.
create function fading_moment(confidence float8, confirmed_at timestamptz, half_life float8, threshold float8)
    returns timestamptz language sql stable parallel safe
    return case
        when half_life is null then null
        when confidence <= threshold then confirmed_at
        else least(
            confirmed_at + make_interval(secs => half_life * ln(confidence / threshold) / ln(2::float8)),
            timestamptz '9999-01-01 00:00:00+00'
        ) end;

-- What every `fades_at` of the slice was computed under, in seconds, unless `recomputing` says that a pass
-- is on its way through the rows. Null: not known, so a pass must recompute. It lives with the belief lock,
-- which every writer of beliefs and the decay pass hold, so that none writes under settings of yesterday
-- without anybody noticing.
alter table belief_lock
    add column slow_half_life double precision check (slow_half_life > 0),
    add column fast_half_life double precision check (fast_half_life > 0),
    add column archive_threshold double precision check (archive_threshold > 0),
    add column warn_ahead double precision check (warn_ahead >= 0),
    add column recomputing text check (recomputing in ('beliefs', 'relationships')),
    add column recomputed_at timestamptz, -- the place in the list of beliefs, the latest confirmed first
    add column recomputed_id uuid; -- the belief at that place, or the origin of the last relationship
create policy planner on belief_lock for select to dreaming_planner using (true);
grant select (slice_id, slow_half_life, fast_half_life, archive_threshold, warn_ahead, recomputing)
    on belief_lock to dreaming_planner;

-- The planner compares with what the organizations have set, and sees no other setting.
create policy planner on settings for select to dreaming_planner
    using (name in ('slow_decay_days', 'fast_decay_days', 'archive_threshold', 'warn_days'));
grant select (org_id, name, value) on settings to dreaming_planner;

-- What an organization has set, where it is a number that such a setting can have; null otherwise.
create function number_set(wanted_org text, wanted_name text) returns float8 language sql stable
    return (select case when jsonb_typeof(value) = 'number' then
                case when value::numeric between 0 and 1000000 then value::numeric::float8 end end
            from settings where org_id = wanted_org and name = wanted_name);

-- Which slices have events to send, but not which.
create policy planner on outbox for select to dreaming_planner using (true);
grant select (slice_id, sent_at) on outbox to dreaming_planner;

alter table beliefs add column warned_at timestamptz; -- null: not announced since the latest evidence
create index on beliefs (slice_id, warned_at) where archived_at is null and warned_at is not null;

create index on beliefs (slice_id, confidence) where archived_at is null and fades_at is null;

alter table slice_counters add column beliefs_ageing bigint not null default 0 check (beliefs_ageing >= 0);
create policy planner on slice_counters for select to dreaming_planner using (true);
grant select (slice_id, beliefs_ageing, relationships_ageing) on slice_counters to dreaming_planner;

alter table belief_history drop constraint belief_history_event_check;
alter table belief_history add constraint belief_history_event_check check (event in ('created', 'corroborated',
    'source_replaced', 'source_ended', 'reworded', 'archived', 'restored', 'confirmed', 'warned'));
