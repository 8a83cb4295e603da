-- Writes the results of customers' replays, one transaction each, in their order, until one has changed since it was read or all are
-- written: done is then the number written. A procedure without settings, because only such can commit; svc_api.apply_recompute does the
-- work. For workers of the previous release; svc_api.apply_replays takes its place.
-- Raises what that raises; the customers before stay written. Locks what that locks, of one customer at a time.
create or replace procedure svc_api.apply_recomputes(
  environment_id integer, recompute_id text, attempt integer, version integer, customers json, inout done integer
)
language plpgsql
as $$
declare
  _customer json;
begin
  for _customer in select r.value from pg_catalog.json_array_elements(apply_recomputes.customers) as r (value) loop
    exit when svc_api.apply_recompute(
      apply_recomputes.environment_id, apply_recomputes.recompute_id, apply_recomputes.attempt, apply_recomputes.version, _customer
    ) = 'changed';
    commit;
    apply_recomputes.done := apply_recomputes.done + 1;
  end loop;
end;
$$;

comment on procedure svc_api.apply_recomputes(integer, text, integer, integer, json, integer) is
  'Writes the results of customers'' replays, one transaction each.';
