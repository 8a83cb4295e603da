-- How often each rule of the active version ran since an instant with each result, in the customers' current histories: {since, rules:
-- [{ruleId, pass, fail, skip, error, more}]} in the author's order. For each rule and result the newest 1,000 executions are read, fewer
-- if there are many rules; those of former histories among them are not counted. more lists the results that have further executions.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND. Locks nothing.
create or replace function svc_api.count_rule_executions(
  token_hash bytea, organization_id text, project_slug text, environment_name text, since timestamptz
)
returns json
language plpgsql
stable
security definer
set search_path = ''
-- Force index scans, whatever the statistics say.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
  _environment constant record := svc.authorize_environment(
    token_hash, organization_id, project_slug, environment_name, 'count_rule_executions'
  );
  _id constant integer := _environment.environment_id;
  _rules constant text[] := svc.part_names(_environment.project_id, _environment.active_version, 'rule');
  _look_max constant integer := least(1000, 2400 / greatest(1, cardinality(_rules)));
begin
  return (
    with counted as (
      select r.rule_id, r.n, k.result, l.runs, l.looked > _look_max as more
      from unnest(_rules) with ordinality as r (rule_id, n)
      cross join unnest(array['pass', 'fail', 'skip', 'error']) as k (result)
      cross join lateral (
        select
          count(*) as looked,
          count(*) filter (
            where x.n <= _look_max
              -- By key: a scalar sub-query is never turned into a join that reads all customers.
              and x.generation = (
                select c.generation from svc.customers as c where c.environment_id = _id and c.customer_id = x.customer_id
              )
          ) as runs
        from (
          select t.customer_id, t.generation, row_number() over (order by t.executed_at desc, t.execution_seq desc) as n
          from svc.rule_executions as t
          where t.environment_id = _id
            and t.rule_id = r.rule_id
            and t.rule_id <> ''
            and t.result = k.result
            and t.executed_at >= count_rule_executions.since
          order by t.executed_at desc, t.execution_seq desc
          limit _look_max + 1
        ) as x
      ) as l
    )
    select json_build_object('since', svc.iso(count_rule_executions.since), 'rules', coalesce(json_agg(c.item order by c.n), '[]'))
    from (
      select
        k.n,
        json_build_object(
          'ruleId', k.rule_id,
          'pass', sum(k.runs) filter (where k.result = 'pass'),
          'fail', sum(k.runs) filter (where k.result = 'fail'),
          'skip', sum(k.runs) filter (where k.result = 'skip'),
          'error', sum(k.runs) filter (where k.result = 'error'),
          'more', coalesce(json_agg(k.result) filter (where k.more), '[]')
        ) as item
      from counted as k
      group by k.rule_id, k.n
    ) as c
  );
end;
$$;

comment on function svc_api.count_rule_executions(bytea, text, text, text, timestamptz) is
  'How often each rule of the active version ran since an instant with each result.';
