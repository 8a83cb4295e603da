-- WEBHOOKS_FAILING if all attempts at a webhook have failed since the last success, or if some of its latest hundred deliveries were given
-- up, or the newest attempted one has not succeeded; else null. Disabled webhooks are reported by svc.check_disabled_webhooks; at most
-- a hundred webhooks are checked.
-- Raises nothing, locks nothing.
create or replace function svc.check_webhooks(environment_id integer, environment_name text)
returns json
language sql
stable
set search_path = ''
as $$
  select svc.finding(
    'WEBHOOKS_FAILING',
    'problem',
    svc.count_text(count(*), 'webhook does', 'webhooks do') || ' not accept deliveries. Figures are those of the latest hundred of each.',
    format(
      case
        -- The error of an attempt whose signing secret cannot be decrypted.
        when bool_or(f.last_failure ->> 'error' like '%SVC_SECRET%')
          then 'The service runs with another SVC_SECRET than the one that signing secrets were stored with: have the former one set, or '
            'give each webhook a new secret: svc webhooks rotate-secret <webhookId> --env %1$s. '
        else ''
      end
      || 'See what it answers: svc webhooks deliveries <webhookId> --env %1$s. Correct the receiver; what waits is tried again, the rest '
      'is sent by: svc webhooks resend <webhookId> --since 7d --env %1$s',
      check_webhooks.environment_name
    ),
    count(*),
    json_build_object('webhooks', json_agg(
      json_build_object(
        'webhookId', f.webhook_id, 'url', svc.url_origin(f.url), 'failingSince', svc.iso(f.failing_since),
        'delivered', f.delivered, 'retrying', f.retrying, 'failed', f.failed, 'lastFailure', f.last_failure
      )
      order by f.webhook_id
    ))
  )
  from (
    select w.webhook_id, w.url, w.failing_since, d.delivered, d.retrying, d.failed, a.last_failure
    from (
      select k.webhook_id, k.url, k.failing_since
      from svc.webhooks as k
      where k.environment_id = check_webhooks.environment_id and k.disabled_at is null and k.deleted_at is null
      order by k.webhook_id
      limit 100
    ) as w
    cross join lateral (
      select
        count(*) filter (where l.status = 'delivered') as delivered,
        count(*) filter (where l.status = 'pending' and l.attempts > 0) as retrying,
        count(*) filter (where l.status = 'failed') as failed,
        max(l.emission_seq) filter (where l.attempts > 0) as newest,
        max(l.emission_seq) filter (where l.attempts > 0 and l.status <> 'delivered') as newest_failing
      from (
        select k.emission_seq, k.status, k.attempts
        from svc.deliveries as k
        where k.environment_id = check_webhooks.environment_id and k.webhook_id = w.webhook_id
        order by k.emission_seq desc
        limit 100
      ) as l
    ) as d
    left join lateral (
      select json_build_object(
        'id', svc.emission_id(k.emission_seq), 'at', svc.iso(k.attempted_at), 'statusCode', k.status_code, 'error', k.error
      ) as last_failure
      from svc.delivery_attempts as k
      where k.environment_id = check_webhooks.environment_id
        and k.webhook_id = w.webhook_id
        and k.emission_seq = d.newest_failing
      order by k.attempt desc
      limit 1
    ) as a on true
    where w.failing_since is not null or d.failed > 0 or d.newest = d.newest_failing
  ) as f
  having count(*) > 0;
$$;

comment on function svc.check_webhooks(integer, text) is 'Diagnostics: webhooks that do not accept their deliveries.';
