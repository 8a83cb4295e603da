-- How far an emission came at each webhook of the environment that it is or was to be delivered to.
-- Raises nothing, locks nothing.
create or replace function svc.deliveries_of(environment_id integer, emission_seq bigint)
returns json
language sql
stable
strict
set search_path = ''
as $$
  select coalesce(
    json_agg(
      json_build_object(
        'webhookId', w.webhook_id,
        'url', w.url,
        'status', d.status,
        'attempts', d.attempts,
        'nextAttemptAt', case when d.status = 'pending' then svc.iso(d.next_attempt_at) end,
        'finishedAt', svc.iso(d.finished_at)
      )
      order by w.webhook_id
    ),
    '[]'
  )
  from svc.webhooks as w
  cross join lateral (
    select k.*
    from svc.deliveries as k
    where k.environment_id = deliveries_of.environment_id and k.webhook_id = w.webhook_id and k.emission_seq = deliveries_of.emission_seq
    limit 1
  ) as d
  where w.environment_id = deliveries_of.environment_id and w.deleted_at is null;
$$;

comment on function svc.deliveries_of(integer, bigint) is 'How far an emission came at each webhook.';
