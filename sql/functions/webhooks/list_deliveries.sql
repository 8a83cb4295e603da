-- The deliveries to one webhook, newest emission first, each with its last attempt.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND or WEBHOOK_NOT_FOUND, SV006 VALIDATION_ERROR (cursor).
-- Locks nothing.
create or replace function svc_api.list_deliveries(
  token_hash bytea, organization_id text, project_slug text, environment_name text, webhook_id text, row_limit integer, "cursor" text
)
returns json
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  _actor constant iam.actor := iam.authorize(
    list_deliveries.token_hash, list_deliveries.organization_id, 'list_deliveries', list_deliveries.environment_name
  );
  _environment record := svc.find_environment(
    list_deliveries.organization_id, list_deliveries.project_slug, list_deliveries.environment_name
  );
  _before constant bigint :=
    coalesce(svc.decode_cursor('deliveries', list_deliveries.cursor, '^[0-9]{1,18}$')::bigint, 9223372036854775807);
begin
  perform from svc.webhooks as w
  where w.environment_id = _environment.environment_id and w.webhook_id = list_deliveries.webhook_id;
  if not found then
    raise exception using
      errcode = 'SV004',
      message = 'WEBHOOK_NOT_FOUND',
      detail = jsonb_build_object(
        'message', format('There is no webhook "%s" in this environment.', left(list_deliveries.webhook_id, 256)),
        'fix', 'Check the id and the environment; GET /projects/:project/webhooks lists all of them.'
      )::text;
  end if;

  return (
    select svc.page(
      'deliveries', array_agg(r.item order by r.emission_seq desc), array_agg(r.emission_seq::text order by r.emission_seq desc), row_limit
    )
    from (
      select
        d.emission_seq,
        json_build_object(
          'id', svc.emission_id(d.emission_seq),
          'type', m.event_type,
          'customerId', m.customer_id,
          'status', d.status,
          'attempts', d.attempts,
          'nextAttemptAt', case when d.status = 'pending' then svc.iso(d.next_attempt_at) end,
          'finishedAt', svc.iso(d.finished_at),
          'lastAttempt', case
            when a.attempt is not null then json_build_object(
              'at', svc.iso(a.attempted_at), 'latencyMs', a.latency_ms, 'statusCode', a.status_code, 'error', a.error,
              'response', a.response
            )
          end
        ) as item
      from svc.deliveries as d
      join svc.emissions as m on m.environment_id = d.environment_id and m.emission_seq = d.emission_seq
      left join svc.delivery_attempts as a
        on a.environment_id = d.environment_id and a.webhook_id = d.webhook_id and a.emission_seq = d.emission_seq
        and a.attempt = d.attempts
      where d.environment_id = _environment.environment_id
        and d.webhook_id = list_deliveries.webhook_id
        and d.emission_seq < _before
      order by d.emission_seq desc
      limit row_limit + 1
    ) as r
  );
end;
$$;

comment on function svc_api.list_deliveries(bytea, text, text, text, text, integer, text) is
  'The deliveries to a webhook, newest first, each with its last attempt.';
