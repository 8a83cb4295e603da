-- The status of emissions at each webhook of the environment that has a delivery of them: {emissionSeq: [delivery]}.
-- Raises nothing, locks nothing.
create or replace function svc.deliveries_of(environment_id integer, emission_seqs bigint[])
returns json
language sql
stable
strict
set search_path = ''
as $$
  select json_object_agg(e.emission_seq, e.deliveries)
  from (
    select
      s.emission_seq,
      coalesce(
        json_agg(
          json_build_object(
            'webhookId', d.webhook_id,
            'url', svc.url_origin(d.url),
            'status', d.status,
            'attempts', d.attempts,
            'nextAttemptAt', case when d.status = 'pending' then svc.iso(d.next_attempt_at) end,
            'finishedAt', svc.iso(d.finished_at)
          )
          order by d.webhook_id
        ) filter (where d.webhook_id is not null),
        '[]'
      ) as deliveries
    from unnest(deliveries_of.emission_seqs) as s (emission_seq)
    left join lateral (
      select w.webhook_id, w.url, k.status, k.attempts, k.next_attempt_at, k.finished_at
      from svc.webhooks as w
      cross join lateral (
        select d.*
        from svc.deliveries as d
        where d.environment_id = deliveries_of.environment_id and d.webhook_id = w.webhook_id and d.emission_seq = s.emission_seq
        limit 1
      ) as k
      where w.environment_id = deliveries_of.environment_id and w.deleted_at is null
    ) as d on true
    group by s.emission_seq
  ) as e;
$$;

comment on function svc.deliveries_of(integer, bigint[]) is 'The status of emissions at each webhook.';
