-- Takes customers of an environment for evaluation: those with the oldest waiting operations, then those with due timers. Answers
-- {now (ms), version, hash, settled, customers: […]} with everything the engine needs, in the transaction that apply_evaluation ends.
-- Locks the customers' rows, in id order, passing over those another worker holds: that worker looks at the inbox once more after it
-- commits. The operations are read in a later statement than the lock, so what was committed meanwhile is seen.
create or replace function svc_api.begin_evaluation(
  environment_id integer, customer_limit integer, operation_limit integer, settle interval
)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _now constant timestamptz := date_trunc('milliseconds', clock_timestamp());
  _settled boolean;
  _waiting text[];
  _locked text[];
  _due text[];
  _set_aside text[];
begin
  select array_agg(distinct w.customer_id) into _waiting
  from (
    select i.customer_id
    from svc.inbox as i
    where i.environment_id = begin_evaluation.environment_id and i.not_before is null
    order by i.seq
    limit begin_evaluation.operation_limit
  ) as w;

  if _waiting is not null then
    insert into svc.customers (environment_id, customer_id, created_at)
    select i.environment_id, i.customer_id, b.accepted_at
    from (
      select i.environment_id, i.customer_id, min(i.seq) as seq
      from svc.inbox as i
      where i.environment_id = begin_evaluation.environment_id
        and i.customer_id = any(_waiting)
        and not exists (
          select 1 from svc.customers as c where c.environment_id = i.environment_id and c.customer_id = i.customer_id
        )
      group by i.environment_id, i.customer_id
    ) as i
    join svc.ingest_batches as b on b.environment_id = i.environment_id and b.batch_seq = i.seq / 1024
    order by i.customer_id
    on conflict do nothing;

    select array_agg(l.customer_id) filter (where l.set_aside_at is null), array_agg(l.customer_id) filter (where l.set_aside_at is not null)
    into _locked, _set_aside
    from (
      select c.customer_id, c.set_aside_at
      from svc.customers as c
      where c.environment_id = begin_evaluation.environment_id and c.customer_id = any(_waiting)
      order by c.customer_id
      limit begin_evaluation.customer_limit
      for update skip locked
    ) as l;

    if _set_aside is not null then
      -- Out of the way of the others until it is released.
      update svc.inbox as i
      set not_before = 'infinity'
      where i.environment_id = begin_evaluation.environment_id and i.customer_id = any(_set_aside) and i.not_before is null;
    end if;
  end if;

  -- While late events come in, the timers of the customers they belong to wait.
  _settled := not exists (
    select 1
    from svc.ingest_batches as b
    where b.environment_id = begin_evaluation.environment_id and b.late and b.accepted_at > _now - begin_evaluation.settle
  );

  if coalesce(cardinality(_locked), 0) < begin_evaluation.customer_limit then
    select array_agg(d.customer_id) into _due
    from (
      select c.customer_id
      from svc.customers as c
      where c.environment_id = begin_evaluation.environment_id
        and c.customer_id in (
          select due.customer_id
          from svc.due_customers(begin_evaluation.environment_id, _now, _settled, begin_evaluation.customer_limit) as due (customer_id)
        )
        and c.customer_id <> all(coalesce(_locked, '{}'))
      order by c.customer_id
      for update skip locked
    ) as d;
  end if;

  return svc.evaluation_input(
    begin_evaluation.environment_id, coalesce(_locked, '{}') || coalesce(_due, '{}'), begin_evaluation.operation_limit, _now, _settled
  );
end;
$$;

comment on function svc_api.begin_evaluation(integer, integer, integer, interval) is
  'Takes customers with waiting operations or due timers and answers all that the engine needs.';
