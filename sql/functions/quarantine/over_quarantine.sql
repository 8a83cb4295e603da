-- Which of the operations to quarantine, {position: reason}, do not fit into an environment's quarantine: none, or all that would be new
-- there. keys are by position. Stored keys add none, and a key repeated within the call adds one, as in svc.over_quota.
-- Raises nothing, locks nothing.
create or replace function svc.over_quarantine(environment_id integer, keys text[], held jsonb)
returns jsonb
language plpgsql
stable
set search_path = ''
as $$
declare
  _new jsonb;
  _amount bigint;
begin
  select
    coalesce(jsonb_object_agg(o.n - 1, over_quarantine.held -> (o.n - 1)::text), '{}'),
    count(distinct o.idempotency_key) + count(*) filter (where o.idempotency_key is null)
  into _new, _amount
  from unnest(over_quarantine.keys) with ordinality as o (idempotency_key, n)
  where over_quarantine.held ? (o.n - 1)::text
    and not exists (
      select from svc.idempotency_keys as i
      where i.environment_id = over_quarantine.environment_id and i.idempotency_key = o.idempotency_key
    );
  return case when svc.has_quarantine_room(over_quarantine.environment_id, _amount) then '{}' else _new end;
end;
$$;

comment on function svc.over_quarantine(integer, text[], jsonb) is 'The operations to quarantine that do not fit into it.';
