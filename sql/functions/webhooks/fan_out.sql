-- Adds one delivery per emission and enabled webhook that wants it, in the emissions' own transaction, for the emissions numbered by the
-- given write-backs of an environment. A webhook that this statement sees existed before them, so the rule "only what is emitted after its
-- creation" needs a comparison of times only for emissions that a recompute wrote earlier.
-- Whether a webhook wants a type is decided once per type among the emissions, because there may be a thousand of either; inline, because
-- a call of svc.webhook_wants, the same check for one emission, would cost more than all the rest.
-- Bodies with additional members or in another format are written here, too: they show the state at the emissions' instant, and stay the
-- same at every attempt.
-- Raises nothing. Locks the webhooks against deletion (foreign key).
create or replace function svc.fan_out(environment_id integer, evaluation_seqs bigint[])
returns void
language plpgsql
volatile
set search_path = ''
as $$
#variable_conflict use_column
declare
  _id constant integer := fan_out.environment_id;
  _telling text[];
  _seq bigint;
  -- Not the start of the transaction: one that waited for a lock must not come before one that did not.
  _now constant timestamptz := clock_timestamp();
begin
  -- Most environments have no webhooks, and then the emissions need not be read.
  if not exists (
    select from svc.webhooks as w where w.environment_id = _id and w.disabled_at is null and w.deleted_at is null
  ) then
    return;
  end if;

  foreach _seq in array fan_out.evaluation_seqs loop
    insert into svc.deliveries (environment_id, webhook_id, emission_seq, next_attempt_at)
    with types as materialized (
      select
        m.environment_id, m.event_type, array_agg(m.emission_seq) as seqs,
        -- In seconds, because the length of a day depends on the time zone.
        array_agg(extract(epoch from m.created_at - m.emitted_at)) as ages,
        -- A recompute fans its emissions out a moment after it wrote them.
        array_agg(case when m.cause_type = 'job' then m.created_at else 'infinity' end) as written
      from svc.emissions as m
      where m.environment_id = _id and m.emission_seq between _seq << 16 and (_seq << 16) + 65535
      group by m.environment_id, m.event_type
    )
    select w.environment_id, w.webhook_id, m.emission_seq, _now
    from (
      select
        k.environment_id, k.webhook_id, k.created_at, extract(epoch from k.max_event_age::interval) as age_max, t.seqs, t.ages, t.written
      from types as t
      join svc.webhooks as k on k.environment_id = _id and k.disabled_at is null and k.deleted_at is null
      where exists (
        select 1
        from unnest(k.event_types) as p (pattern)
        where svc.matches_type(t.event_type, p.pattern)
      )
      -- Match the types first, then expand the emissions.
      offset 0
    ) as w
    cross join lateral unnest(w.seqs, w.ages, w.written) as m (emission_seq, age, written)
    where (w.age_max is null or m.age <= w.age_max) and m.written >= svc.active_from(w.created_at, _now)
    order by w.webhook_id, m.emission_seq
    -- Emissions of a recompute are visible, and can be sent again, before they are fanned out.
    on conflict (environment_id, webhook_id, emission_seq) do nothing;

    if found then
      -- A hint: workers also poll every second.
      perform pg_notify('svc_deliveries', '');
      -- Read after the deliveries were added: they may include those of a webhook that was created a moment ago.
      _telling := array(
        select w.webhook_id
        from svc.webhooks as w
        where w.environment_id = _id and w.deleted_at is null and (w.include <> '{}' or w.format <> 'json')
      );
      if _telling <> '{}' then
        perform svc.write_delivery_bodies(
          _id, _telling, array_fill(_seq << 16, array[cardinality(_telling)]),
          array_fill((_seq << 16) + 65535, array[cardinality(_telling)])
        );
      end if;
    end if;
  end loop;
end;
$$;

comment on function svc.fan_out(integer, bigint[]) is 'Adds the deliveries of new emissions.';
