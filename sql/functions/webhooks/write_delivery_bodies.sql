-- Writes the bodies of deliveries that add members to their emission, or have another format: of the deliveries that these webhooks have
-- of the emissions from first_seqs to last_seqs, one range per webhook. The bodies show the customer as of now, in the deliveries' own
-- transaction; existing bodies are not changed, and webhooks that need neither are skipped.
-- Raises nothing. Locks nothing more than the rows it writes; the caller protects the deliveries or their emissions against erasure.
create or replace function svc.write_delivery_bodies(
  environment_id integer, webhook_ids text[], first_seqs bigint[], last_seqs bigint[]
)
returns void
language plpgsql
volatile
set search_path = ''
-- Force look-ups by key, whatever the statistics say; that is also why rows are looked up laterally with a limit. The pretended costs must
-- not trigger JIT compilation.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set jit = off
as $$
declare
  _id constant integer := write_delivery_bodies.environment_id;
  _place record;
  _versions integer[];
  _displays json[];
  _bands json[];
begin
  select
    e.name as environment, e.project_id,
    u.url || '/console/' || o.slug || '/' || p.slug || '/' || e.name || '/customer?id=' as page
  into _place
  from svc.environments as e
  join svc.projects as p on p.project_id = e.project_id
  join iam.organizations as o on o.organization_id = p.organization_id
  left join svc.public_url as u on true
  where e.environment_id = _id
  limit 1;

  _versions := array(
    select distinct m.config_version
    from unnest(write_delivery_bodies.webhook_ids, write_delivery_bodies.first_seqs, write_delivery_bodies.last_seqs)
      as r (webhook_id, first_seq, last_seq)
    cross join lateral (
      select 1
      from svc.webhooks as k
      where k.environment_id = _id and k.webhook_id = r.webhook_id
        and (k.include && array['name', 'owner', 'renewal'] or k.format <> 'json')
      limit 1
    ) as w
    cross join lateral (
      select k.emission_seq
      from svc.deliveries as k
      where k.environment_id = _id and k.webhook_id = r.webhook_id and k.emission_seq between r.first_seq and r.last_seq
      -- Keeps this a look-up by key.
      offset 0
    ) as d
    cross join lateral (
      select k.config_version from svc.emissions as k where k.environment_id = _id and k.emission_seq = d.emission_seq limit 1
    ) as m
    where m.config_version is not null
  );
  -- A snapshot is large, so each version's is read only once.
  select array_agg(v.version), array_agg(v.display), array_agg(v.bands)
  into _versions, _displays, _bands
  from unnest(_versions) as n (version)
  cross join lateral (
    select k.version, k.snapshot -> 'display' as display, k.snapshot -> 'health' -> 'bands' as bands
    from svc.config_versions as k
    where k.project_id = _place.project_id and k.version = n.version
    limit 1
  ) as v;

  insert into svc.delivery_bodies (environment_id, webhook_id, emission_seq, body)
  select
    h.environment_id, r.webhook_id, m.emission_seq,
    case
      -- Append one more member to data.
      when w.format = 'json' then concat(
        left(
          svc.delivery_body(
            _place.environment, m.emission_seq, m.customer_id, m.event_type, m.source, m.metadata, m.emitted_at, m.cause_type,
            m.cause_id, m.config_version
          )::text,
          -2
        ),
        ', "customer" : ', o.customer, '}}'
      )
      else svc.chat_body(w.format, e.said, l.url)::text
    end
  from svc.homes as h
  cross join unnest(write_delivery_bodies.webhook_ids, write_delivery_bodies.first_seqs, write_delivery_bodies.last_seqs)
    as r (webhook_id, first_seq, last_seq)
  cross join lateral (
    select k.include, k.format
    from svc.webhooks as k
    where k.environment_id = _id and k.webhook_id = r.webhook_id and (k.include <> '{}' or k.format <> 'json')
    limit 1
  ) as w
  cross join lateral (
    select k.emission_seq
    from svc.deliveries as k
    where k.environment_id = _id and k.webhook_id = r.webhook_id and k.emission_seq between r.first_seq and r.last_seq
    offset 0
  ) as d
  cross join lateral (
    select k.* from svc.emissions as k where k.environment_id = _id and k.emission_seq = d.emission_seq limit 1
  ) as m
  cross join lateral (select _place.page || svc.percent_encoded(m.customer_id) as url) as l
  left join unnest(_versions, _displays, _bands) as s (version, display, bands) on s.version = m.config_version
  left join lateral (
    select k.traits, k.generation from svc.customers as k where k.environment_id = _id and k.customer_id = m.customer_id limit 1
  ) as c on true
  left join lateral (
    -- Like svc.emitting_run, but only if it is needed.
    select json_build_object('triggeredBy', x.triggered_by, 'conditions', x.conditions) as run
    from generate_series(0, c.generation) as g (generation)
    cross join lateral (
      select k.triggered_by, k.conditions
      from svc.rule_executions as k
      where k.environment_id = _id and k.customer_id = m.customer_id and k.generation = g.generation
        and k.executed_at = m.emitted_at and k.emission_seq = m.emission_seq
      limit 1
    ) as x
    where m.source = 'rule' and 'facts' = any(w.include)
    limit 1
  ) as f on true
  left join lateral svc.webhook_customer(
    case when w.format = 'json' then w.include else '{name}' end, c.traits, s.display, l.url, f.run
  ) as o on true
  left join lateral (
    select k.said
    from svc.emission_text(
      m.event_type, m.source, m.metadata, coalesce(o.customer ->> 'name', left(m.customer_id, 256)), s.bands
    ) as k
    where w.format <> 'json'
    offset 0
  ) as e on true
  where h.environment_id = _id
  order by r.webhook_id, m.emission_seq
  on conflict do nothing;
end;
$$;

comment on function svc.write_delivery_bodies(integer, text[], bigint[], bigint[]) is
  'Writes the bodies of deliveries that add members to their emission, or have another format.';
