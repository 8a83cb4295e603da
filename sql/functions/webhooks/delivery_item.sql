-- A delivery in the format of lists and changes: the emission with its cause and version, the status, and the last attempt as long as it is
-- in the log. Null if the delivery does not exist.
-- Raises nothing, locks nothing.
create or replace function svc.delivery_item(environment_id integer, webhook_id text, emission_seq bigint)
returns json
language sql
stable
strict
set search_path = ''
as $$
  select json_build_object(
    'id', svc.emission_id(d.emission_seq),
    'eventType', m.event_type,
    'type', m.event_type,
    'customerId', m.customer_id,
    'source', m.source,
    'configVersion', 'v' || m.config_version,
    'cause', json_build_object('type', m.cause_type, 'id', m.cause_id),
    'emittedAt', svc.iso(m.emitted_at),
    'createdAt', svc.iso(m.created_at),
    'sequence', d.emission_seq,
    'status', d.status,
    'attempts', d.attempts,
    'nextAttemptAt', case when d.status = 'pending' then svc.iso(d.next_attempt_at) end,
    'finishedAt', svc.iso(d.finished_at),
    'lastAttempt', case when a.attempt is not null then
      svc.attempt_item(a.attempt, a.attempted_at, a.latency_ms, a.status_code, a.error, a.response)
    end
  )
  from svc.deliveries as d
  join svc.emissions as m on m.environment_id = delivery_item.environment_id and m.emission_seq = d.emission_seq
  left join svc.delivery_attempts as a
    on a.environment_id = delivery_item.environment_id and a.webhook_id = d.webhook_id and a.emission_seq = d.emission_seq
    and a.attempt = d.attempts
  where d.environment_id = delivery_item.environment_id
    and d.webhook_id = delivery_item.webhook_id
    and d.emission_seq = delivery_item.emission_seq;
$$;

comment on function svc.delivery_item(integer, text, bigint) is 'A delivery in the format of lists and changes.';
