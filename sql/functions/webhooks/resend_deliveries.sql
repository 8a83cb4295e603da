-- Resends emissions written in a period (from since until before until, null for no end): those whose delivery to the webhook has one of
-- the statuses; "missing" are those that it wants and that have no delivery, because it was disabled or wanted other types then.
-- Reads at most 10,000 emissions; nextCursor continues if there may be more: {queued, nextCursor}.
-- Raises what iam.authorize and iam.record_audit raise, SV004 PROJECT_NOT_FOUND and WEBHOOK_NOT_FOUND, SV005 WEBHOOK_DISABLED, SV006
-- VALIDATION_ERROR (cursor). Locks those emissions against erasure, then the deliveries, both in key order.
create or replace function svc_api.resend_deliveries(
  token_hash bytea, organization_id text, request_id text, project_slug text, environment_name text,
  webhook_id text, since timestamptz, until timestamptz, statuses text[], "cursor" text
)
returns json
language plpgsql
volatile
security definer
set search_path = ''
-- Force look-ups by key, whatever the statistics say; that is also why rows are looked up laterally with a limit.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  _environment constant record := svc.authorize_environment(
    token_hash, organization_id, project_slug, environment_name, 'resend_deliveries'
  );
  _webhook constant svc.webhooks := svc.enabled_webhook(_environment.environment_id, resend_deliveries.webhook_id);
  -- When the batch of the last emission read was written, in microseconds since 1970, and the emission's number. Then the end of the
  -- period, which is fixed by the first page: the caller may have given it relative to the present.
  _after constant text[] := string_to_array(
    svc.decode_cursor('resend', resend_deliveries.cursor, '^([0-9]{1,18}|-[0-9]{1,17}) [0-9]{1,18}( ([0-9]{1,18}|-[0-9]{1,17}))?$'), ' '
  );
  _after_at constant timestamptz := svc.instant_of(_after[1]::bigint);
  _after_seq constant bigint := coalesce(_after[2]::bigint, 0);
  _until constant timestamptz := case when _after is null then resend_deliveries.until else svc.instant_of(_after[3]::bigint) end;
  _look_max constant integer := 10000;
  _resume text;
  _matching bigint[];
  _finished bigint[];
  _queued integer;
  _made bigint[];
  _seq bigint;
  _now constant timestamptz := now();
begin
  perform svc.require_unfrozen(_environment.environment_id);
  with batches as materialized (
    -- Enough batches for that many emissions, plus one if there is one. Their counts include emissions of erased customers.
    select b.evaluation_seq, b.created_at, sum(b.emissions) over (order by b.created_at, b.evaluation_seq) - b.emissions as emissions_before
    from (
      select k.evaluation_seq, k.created_at, k.emissions
      from svc.emission_batches as k
      where k.environment_id = _webhook.environment_id
        and k.created_at >= coalesce(_after_at, resend_deliveries.since)
        and k.created_at < coalesce(_until, 'infinity')
        and (_after_at is null or k.created_at > _after_at or (k.evaluation_seq << 16) + 65535 > _after_seq)
      order by k.created_at, k.evaluation_seq
      limit _look_max + 2
    ) as b
  ),
  found as materialized (
    select m.*, b.created_at as batch_at, row_number() over (order by b.created_at, m.emission_seq) as n
    from batches as b
    cross join lateral (
      select k.emission_seq, k.event_type, k.emitted_at, k.created_at
      from svc.emissions as k
      where k.environment_id = _webhook.environment_id
        and k.emission_seq between b.evaluation_seq << 16 and (b.evaluation_seq << 16) + 65535
        and (_after_at is null or b.created_at > _after_at or k.emission_seq > _after_seq)
      order by k.emission_seq
      limit _look_max + 1
    ) as m
    where b.emissions_before <= _look_max
  ),
  positions as (
    -- Where to continue: after the last emission read, or after the last batch.
    select f.batch_at as at, f.emission_seq as seq, 1 as choice
    from found as f
    where f.n = _look_max and exists (select from found as k where k.n > _look_max)
    union all
    (
      select b.created_at, (b.evaluation_seq << 16) + 65535, 2
      from batches as b
      where b.emissions_before <= _look_max and exists (select from batches as k where k.emissions_before > _look_max)
      order by b.created_at desc, b.evaluation_seq desc
      limit 1
    )
  )
  select
    array(
      select f.emission_seq
      from found as f
      left join lateral (
        select k.status
        from svc.deliveries as k
        where k.environment_id = _webhook.environment_id and k.webhook_id = _webhook.webhook_id and k.emission_seq = f.emission_seq
        limit 1
      ) as d on true
      where f.n <= _look_max
        and case
          when d.status is not null then d.status = any(resend_deliveries.statuses)
          else 'missing' = any(resend_deliveries.statuses)
            and f.created_at >= svc.active_from(_webhook.created_at, _now)
            and svc.webhook_wants(_webhook.event_types, _webhook.max_event_age, f.event_type, f.emitted_at, f.created_at)
        end
    ),
    (select concat_ws(' ', svc.microseconds(p.at), p.seq, svc.microseconds(_until)) from positions as p order by p.choice limit 1)
  into _matching, _resume;

  -- Waits for customers that are being erased; emissions that are gone then are not sent.
  _matching := array(
    select m.emission_seq
    from (select u.emission_seq from unnest(_matching) as u (emission_seq) order by u.emission_seq) as w
    cross join lateral (
      select k.emission_seq
      from svc.emissions as k
      where k.environment_id = _webhook.environment_id and k.emission_seq = w.emission_seq
      limit 1
      for key share
    ) as m
  );
  _finished := array(
    select d.emission_seq
    from unnest(_matching) as w (emission_seq)
    cross join lateral (
      select k.emission_seq
      from svc.deliveries as k
      where k.environment_id = _webhook.environment_id and k.webhook_id = _webhook.webhook_id and k.emission_seq = w.emission_seq
        and k.status = any(resend_deliveries.statuses)
      limit 1
      for no key update
    ) as d
  );
  -- The rows are locked, so their keys are still valid.
  update svc.deliveries as d
  set status = 'pending', resent_after = d.attempts, next_attempt_at = _now, finished_at = null
  where d.environment_id = _webhook.environment_id and d.webhook_id = _webhook.webhook_id and d.emission_seq = any(_finished);
  _queued := cardinality(_finished);

  if 'missing' = any(resend_deliveries.statuses) then
    for _seq in
      insert into svc.deliveries (environment_id, webhook_id, emission_seq)
      select h.environment_id, _webhook.webhook_id, w.emission_seq
      from svc.homes as h
      cross join unnest(_matching) as w (emission_seq)
      where h.environment_id = _webhook.environment_id
      order by w.emission_seq
      on conflict (environment_id, webhook_id, emission_seq) do nothing
      returning emission_seq
    loop
      _made := array_append(_made, _seq);
    end loop;
    _queued := _queued + coalesce(cardinality(_made), 0);
    if _made is not null then
      perform svc.write_delivery_bodies(
        _webhook.environment_id, array_fill(_webhook.webhook_id, array[cardinality(_made)]), _made, _made
      );
    end if;
  end if;

  if _queued > 0 then
    perform iam.record_audit(
      _environment.actor, resend_deliveries.request_id, 'webhook.resent', resend_deliveries.project_slug,
      resend_deliveries.environment_name, _webhook.webhook_id,
      jsonb_build_object(
        'since', svc.iso(resend_deliveries.since), 'until', svc.iso(_until), 'statuses', resend_deliveries.statuses,
        'queued', _queued
      )
    );
    perform pg_notify('svc_deliveries', '');
  end if;
  return json_build_object('queued', _queued, 'nextCursor', svc.encode_cursor('resend', _resume));
end;
$$;

comment on function svc_api.resend_deliveries(bytea, text, text, text, text, text, timestamptz, timestamptz, text[], text) is
  'Resends to a webhook what was written in a period.';
