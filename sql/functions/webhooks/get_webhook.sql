-- A webhook with its pending deliveries: their number (counted up to 10,000, in the order in which they are due), and when the oldest
-- emission of those was written; and how the attempts of the last 24 hours ended, among the 1,000 for the newest emissions.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND and WEBHOOK_NOT_FOUND. Locks nothing.
create or replace function svc_api.get_webhook(
  token_hash bytea, organization_id text, project_slug text, environment_name text, webhook_id text
)
returns json
language plpgsql
stable
security definer
set search_path = ''
-- The plan is kept while the queue grows.
set enable_seqscan = off
as $$
declare
  _environment constant record := svc.authorize_environment(token_hash, organization_id, project_slug, environment_name, 'get_webhook');
  _webhook constant svc.webhooks := svc.find_webhook(_environment.environment_id, get_webhook.webhook_id);
  _pending integer;
  _oldest bigint;
  _oldest_at text;
  _last_day json;
begin
  select count(*), min(p.emission_seq)
  into _pending, _oldest
  from (
    select d.emission_seq
    from svc.deliveries as d
    where d.environment_id = _webhook.environment_id and d.webhook_id = _webhook.webhook_id and d.status = 'pending'
    order by d.next_attempt_at, d.emission_seq
    limit 10000
  ) as p;

  select svc.iso(m.created_at) into _oldest_at
  from svc.emissions as m
  where m.environment_id = _webhook.environment_id and m.emission_seq = _oldest;

  select json_build_object(
    'attempts', count(*),
    'accepted', count(*) filter (where a.status_code between 200 and 299),
    'medianLatencyMs', percentile_disc(0.5) within group (order by a.latency_ms),
    'p95LatencyMs', percentile_disc(0.95) within group (order by a.latency_ms)
  )
  into _last_day
  from (
    select k.attempted_at, k.status_code, k.latency_ms
    from svc.delivery_attempts as k
    where k.environment_id = _webhook.environment_id and k.webhook_id = _webhook.webhook_id
    order by k.emission_seq desc, k.attempt desc
    limit 1000
  ) as a
  where a.attempted_at > now() - interval '24 hours';

  return svc.with_members(
    svc.webhook_for_role(_webhook, (_environment.actor).role, get_webhook.environment_name),
    json_build_object('pending', _pending, 'oldestPendingAt', _oldest_at, 'lastDay', _last_day)
  );
end;
$$;

comment on function svc_api.get_webhook(bytea, text, text, text, text) is
  'A webhook, with its pending deliveries and how the last attempts ended.';
