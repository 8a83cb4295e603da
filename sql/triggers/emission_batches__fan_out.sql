-- Every emission becomes one delivery per enabled webhook that wants it, in the emissions' own transaction. A webhook that this
-- statement sees existed before them, so the rule "only what is emitted after its creation" needs a comparison of times only for what a
-- recompute wrote before this.
-- What a webhook wants is asked once per type among the emissions, because there may be a thousand of either; in place, because a call of
-- svc.webhook_wants, which says the same of one emission, costs more than all the rest.
-- What webhooks tell besides, or in another format, is written here, too: it is that of the emissions' instant, and the same at every
-- attempt.
-- Raises nothing. Locks the webhooks against deletion (foreign key).
create or replace function svc.tg_emission_batches__fan_out()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _formats boolean;
begin
  -- Most environments have none, and then the emissions need not be read.
  select bool_or(w.include <> '{}' or w.format <> 'json') into _formats
  from new_batches as b
  join svc.webhooks as w on w.environment_id = b.environment_id and w.disabled_at is null and w.deleted_at is null;
  if _formats is null then
    return null;
  end if;

  insert into svc.deliveries (environment_id, webhook_id, emission_seq, next_attempt_at)
  with types as materialized (
    select
      m.environment_id, m.event_type, array_agg(m.emission_seq) as seqs,
      -- In seconds, because how long a day is depends on the time zone.
      array_agg(extract(epoch from m.created_at - m.emitted_at)) as ages,
      -- A recompute tells of its emissions a moment after it wrote them.
      array_agg(case when m.cause_type = 'job' then m.created_at else 'infinity' end) as written
    from new_batches as b
    join svc.emissions as m
      on m.environment_id = b.environment_id
      and m.emission_seq between b.evaluation_seq << 16 and (b.evaluation_seq << 16) + 65535
    group by m.environment_id, m.event_type
  )
  -- Not when the transaction began: one that waited for a lock must not come before one that did not.
  select w.environment_id, w.webhook_id, m.emission_seq, clock_timestamp()
  from (
    select
      k.environment_id, k.webhook_id, k.created_at, extract(epoch from k.max_event_age::interval) as age_max, t.seqs, t.ages,
      t.written
    from types as t
    join svc.webhooks as k on k.environment_id = t.environment_id and k.disabled_at is null and k.deleted_at is null
    where exists (
      select
      from unnest(k.event_types) as p (pattern)
      where p.pattern = t.event_type
        or (right(p.pattern, 1) = '*' and starts_with(t.event_type, left(p.pattern, -1)))
    )
    -- First this, then the emissions one by one.
    offset 0
  ) as w
  cross join lateral unnest(w.seqs, w.ages, w.written) as m (emission_seq, age, written)
  where (w.age_max is null or m.age <= w.age_max) and m.written >= w.created_at
  order by w.environment_id, w.webhook_id, m.emission_seq;

  if found then
    -- A hint: workers look for themselves every second.
    perform pg_notify('svc_deliveries', '');
  end if;
  if _formats then
    perform svc.write_delivery_bodies(
      b.environment_id, array_agg(w.webhook_id), array_agg(b.evaluation_seq << 16), array_agg((b.evaluation_seq << 16) + 65535)
    )
    from new_batches as b
    join svc.webhooks as w on w.environment_id = b.environment_id and (w.include <> '{}' or w.format <> 'json')
    group by b.environment_id;
  end if;
  return null;
end;
$$;

comment on function svc.tg_emission_batches__fan_out() is 'Makes the deliveries of new emissions.';

create or replace trigger _500_fan_out
after insert on svc.emission_batches
referencing new table as new_batches
for each statement
execute function svc.tg_emission_batches__fan_out();

comment on trigger _500_fan_out on svc.emission_batches is 'Makes the deliveries of new emissions.';
