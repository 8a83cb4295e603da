-- Enabled webhooks that would receive nothing of a type, or of a pattern such as customer.*, any more: the active snapshot emits such
-- types, another one none. A type that neither emits was misspelt before; * means whatever there is. The path is empty, since a model has
-- no webhooks.
-- Raises nothing, locks nothing.
create or replace function svc.stranded_webhooks(environment_id integer, active json, snapshot json)
returns table (code text, message text, path text)
language sql
stable
set search_path = ''
-- Force index scans, whatever the statistics say.
set enable_seqscan = off
as $$
  with types as materialized (
    select svc.emission_types(stranded_webhooks.active) as before, svc.emission_types(stranded_webhooks.snapshot) as after
  )
  select
    'WEBHOOK_TYPE_REMOVED',
    format('The webhook %s is subscribed to "%s", and nothing of this type is emitted any more.', w.webhook_id, p.pattern),
    ''
  from svc.webhooks as w
  cross join types as t
  cross join lateral unnest(w.event_types) with ordinality as p (pattern, n)
  cross join lateral (
    select bool_or(e.is_former) as before, bool_or(not e.is_former) as after
    from (select unnest(t.before), true union all select unnest(t.after), false) as e (type, is_former)
    where svc.matches_type(e.type, p.pattern)
  ) as m
  where w.environment_id = stranded_webhooks.environment_id and w.deleted_at is null and w.disabled_at is null
    and p.pattern <> '*' and m.before and m.after is not true
  order by w.webhook_id, p.n;
$$;

comment on function svc.stranded_webhooks(integer, json, json) is 'Subscriptions of webhooks to types that a snapshot no longer emits.';
