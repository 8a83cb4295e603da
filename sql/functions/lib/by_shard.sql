-- Groups environments so that one statement can name a whole group: on a single PostgreSQL there is one group; on a cluster one for each
-- shard, so that the whole of a statement with environment_id = any(…) goes to one node.
-- Raises nothing, locks nothing.
create or replace function svc.by_shard(environment_ids integer[])
returns setof integer[]
language plpgsql
stable
set search_path = ''
as $$
begin
  if to_regnamespace('svc_citus') is null then
    return query
    select array_agg(distinct u.environment_id)
    from unnest(by_shard.environment_ids) as u (environment_id)
    having count(*) > 0;
  else
    return query
    select array_agg(distinct u.environment_id)
    from unnest(by_shard.environment_ids) as u (environment_id)
    group by get_shard_id_for_distribution_column('svc.homes', u.environment_id);
  end if;
end;
$$;

comment on function svc.by_shard(integer[]) is 'Environments in groups, each of which one statement can name.';
