-- A delivery with its body, the rule execution that made it and the log of its attempts: newest first, at most a hundred.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND, WEBHOOK_NOT_FOUND and DELIVERY_NOT_FOUND. Locks nothing.
create or replace function svc_api.get_delivery(
  token_hash bytea, organization_id text, project_slug text, environment_name text, webhook_id text, delivery_id text
)
returns json
language plpgsql
stable
security definer
set search_path = ''
-- The plan is kept while the tables grow.
set enable_seqscan = off
as $$
declare
  _environment constant record := svc.authorize_environment(token_hash, organization_id, project_slug, environment_name, 'get_delivery');
  _webhook constant svc.webhooks := svc.find_webhook(_environment.environment_id, get_delivery.webhook_id);
  _seq constant bigint := svc_inspect.emission_seq(get_delivery.delivery_id);
  _item constant json := svc.delivery_item(_webhook.environment_id, _webhook.webhook_id, _seq);
  _emission svc.emissions;
  _body json;
  _log json;
begin
  if _item is null then
    perform svc.raise_delivery_not_found(get_delivery.delivery_id);
  end if;

  select m.* into _emission
  from svc.emissions as m
  where m.environment_id = _webhook.environment_id and m.emission_seq = _seq;

  select b.body::json into _body
  from svc.delivery_bodies as b
  where b.environment_id = _webhook.environment_id and b.webhook_id = _webhook.webhook_id and b.emission_seq = _seq;
  if not found then
    _body := svc.delivery_body(
      get_delivery.environment_name, _emission.emission_seq, _emission.customer_id, _emission.event_type, _emission.source,
      _emission.metadata, _emission.emitted_at, _emission.cause_type, _emission.cause_id, _emission.config_version
    );
  end if;

  select
    coalesce(
      json_agg(
        svc.attempt_item(k.attempt, k.attempted_at, k.latency_ms, k.status_code, k.error, k.response) order by k.attempt desc
      ),
      '[]'
    )
  into _log
  from (
    select a.*
    from svc.delivery_attempts as a
    where a.environment_id = _webhook.environment_id and a.webhook_id = _webhook.webhook_id and a.emission_seq = _seq
    order by a.attempt desc
    limit 100
  ) as k;

  return svc.with_members(
    _item, json_build_object('body', _body, 'ruleExecution', svc.emitting_run(_emission), 'attemptLog', _log)
  );
end;
$$;

comment on function svc_api.get_delivery(bytea, text, text, text, text, text) is 'A delivery with its body and the log of its attempts.';
