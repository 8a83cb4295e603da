-- Writes what is sent of deliveries that tell more than their emission, or tell it in another format: of those that these webhooks have
-- of the emissions from first_seqs to last_seqs, each webhook with its span. It is what there is now of the customer, in the deliveries'
-- own transaction; of one that has a body already nothing is changed, and webhooks that ask for neither are passed over.
-- Raises nothing. Locks nothing more than the rows it writes; the caller holds the deliveries or their emissions against erasure.
create or replace function svc.write_delivery_bodies(
  environment_id integer, webhook_ids text[], first_seqs bigint[], last_seqs bigint[]
)
returns void
language plpgsql
volatile
set search_path = ''
-- By key, whatever the statistics say; that is also why rows are looked up laterally with a limit. The costs this pretends must not set
-- off compilation.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set jit = off
as $$
#variable_conflict use_column
begin
  insert into svc.delivery_bodies (environment_id, webhook_id, emission_seq, body)
  with place as materialized (
    select
      e.name as environment, e.project_id,
      u.url || '/console/' || o.slug || '/' || p.slug || '/' || e.name || '/customer?id=' as page
    from svc.environments as e
    join svc.projects as p on p.project_id = e.project_id
    join iam.organizations as o on o.organization_id = p.organization_id
    left join svc.public_url as u on true
    where e.environment_id = write_delivery_bodies.environment_id
    limit 1
  ),
  told as materialized (
    select w.webhook_id, w.include, w.format, m.emission
    from unnest(write_delivery_bodies.webhook_ids, write_delivery_bodies.first_seqs, write_delivery_bodies.last_seqs)
      as r (webhook_id, first_seq, last_seq)
    cross join lateral (
      select k.webhook_id, k.include, k.format
      from svc.webhooks as k
      where k.environment_id = write_delivery_bodies.environment_id and k.webhook_id = r.webhook_id
        and (k.include <> '{}' or k.format <> 'json')
      limit 1
    ) as w
    cross join lateral (
      select k.emission_seq
      from svc.deliveries as k
      where k.environment_id = write_delivery_bodies.environment_id and k.webhook_id = r.webhook_id
        and k.emission_seq between r.first_seq and r.last_seq
      -- Keeps this a look-up by key.
      offset 0
    ) as d
    cross join lateral (
      select k as emission
      from svc.emissions as k
      where k.environment_id = write_delivery_bodies.environment_id and k.emission_seq = d.emission_seq
      limit 1
    ) as m
  ),
  -- A snapshot is large: of each version it is read once.
  models as materialized (
    select v.version, v.snapshot -> 'display' as display, v.snapshot -> 'health' -> 'bands' as bands
    from (
      select distinct (t.emission).config_version as version
      from told as t
      where t.include && array['name', 'owner', 'renewal'] or t.format <> 'json'
    ) as n
    cross join place as p
    cross join lateral (
      select k.version, k.snapshot from svc.config_versions as k where k.project_id = p.project_id and k.version = n.version limit 1
    ) as v
  )
  select
    write_delivery_bodies.environment_id, t.webhook_id, (t.emission).emission_seq,
    case
      -- One more member of data, after the others.
      when t.format = 'json' then concat(
        left(svc.delivery_body(t.emission, p.environment)::text, -2), ', "customer" : ',
        o.customer, '}}'
      )
      else svc.chat_body(t.format, e.said, l.url)::text
    end
  from told as t
  cross join place as p
  cross join lateral (select p.page || svc.percent_encoded((t.emission).customer_id) as url) as l
  left join models as s on s.version = (t.emission).config_version
  left join lateral (
    select k.traits
    from svc.customers as k
    where k.environment_id = write_delivery_bodies.environment_id and k.customer_id = (t.emission).customer_id
    limit 1
  ) as c on true
  left join lateral (
    -- Asked only then, which is what offset 0 is for.
    select svc.emitting_run(t.emission) as run where (t.emission).source = 'rule' and 'facts' = any(t.include) offset 0
  ) as r on true
  left join lateral svc.told_customer(
    case when t.format = 'json' then t.include else '{name}' end, c.traits, s.display, l.url, r.run
  ) as o on true
  left join lateral (
    select k.said
    from svc.emission_text(
      (t.emission).event_type, (t.emission).source, (t.emission).metadata,
      coalesce(o.customer ->> 'name', left((t.emission).customer_id, 256)), s.bands
    ) as k
    where t.format <> 'json'
    offset 0
  ) as e on true
  order by t.webhook_id, (t.emission).emission_seq
  on conflict do nothing;
end;
$$;

comment on function svc.write_delivery_bodies(integer, text[], bigint[], bigint[]) is
  'Writes what is sent of deliveries that tell more than their emission, or in another format.';
