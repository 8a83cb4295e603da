-- svc_api.apply_replays for workers of the previous release, whose customers have their states with them.
-- Raises and locks what that does.
create or replace procedure svc_api.apply_recomputes(
  environment_id integer, recompute_id text, attempt integer, version integer, customers json, inout done integer
)
language plpgsql
as $$
begin
  call svc_api.apply_replays(environment_id, recompute_id, attempt, version, customers, null, done);
end;
$$;

comment on procedure svc_api.apply_recomputes(integer, text, integer, integer, json, integer) is
  'Writes the results of customers'' replays, one transaction each, for workers of the previous release.';
