-- The log of rule executions, newest first, in each customer's current history, or with superseded also in those that recomputes replaced,
-- as far as they are kept; filtered by customer, rule, result and earliest instant. Null filters do not filter; detail
-- adds the conditions and the action. A page reads at most 2,000 executions, including those of former histories: if too few of them pass
-- the filters, it is short or even empty, and nextCursor continues the list.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND, SV006 VALIDATION_ERROR (cursor; a rule that never ran and
-- that the active version does not declare). Locks nothing.
create or replace function svc_api.search_rule_executions(
  token_hash bytea, organization_id text, project_slug text, environment_name text,
  customer_id text, rule_id text, result text, since timestamptz, detail boolean, superseded boolean, row_limit integer,
  "cursor" text
)
returns json
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  _environment constant record := svc.authorize_environment(
    token_hash, organization_id, project_slug, environment_name, 'search_rule_executions'
  );
  _after constant text[] := string_to_array(
    svc.decode_cursor('rule-executions', search_rule_executions.cursor, '^([0-9]{1,18}|-[0-9]{1,17}) [0-9]{1,18}$'), ' '
  );
  _after_at constant timestamptz := svc.instant_of(_after[1]::bigint);
  _after_seq constant bigint := _after[2]::bigint;
  _of_customer constant boolean := search_rule_executions.customer_id is not null;
  _newest_first constant text := ' order by t.executed_at desc, t.execution_seq desc ';
  _generation integer;
  _range text;
  _source text;
  _filter text;
  _items json[];
  _positions text[];
  _resume text;
begin
  if _of_customer then
    select c.generation into _generation
    from svc.customers as c
    where c.environment_id = _environment.environment_id and c.customer_id = search_rule_executions.customer_id;
  end if;

  -- The statements contain only the filters in use, so that each combination gets its own plan. The source is read in order: for one
  -- customer, or for each result, merged. The filter is checked for each of its rows, by key, in a separate sub-query, so that no plan
  -- can turn it into a join.
  _range := concat(
    case when search_rule_executions.since is not null then ' and t.executed_at >= $5 ' end,
    case when _after is not null then ' and (t.executed_at, t.execution_seq) < ($6, $7) ' end
  );
  _source := case
    when _of_customer and search_rule_executions.superseded
      then concat(
        $sql$
          select k.*
          from generate_series(0, $8) as g (generation)
          cross join lateral (
            select t.* from svc.rule_executions as t
            where t.environment_id = $1 and t.customer_id = $2 and t.generation = g.generation
        $sql$, _range, _newest_first, 'limit 2000) as k'
      )
    when _of_customer
      then concat(
        'select t.* from svc.rule_executions as t where t.environment_id = $1 and t.customer_id = $2 and t.generation = $8', _range
      )
    else (
      select string_agg(
        concat(
          '(select t.* from svc.rule_executions as t where t.environment_id = $1 and t.result = ', quote_literal(r.result),
          case
            when search_rule_executions.rule_id is not null then $sql$ and t.rule_id = $3 and t.rule_id <> '' $sql$
            else ' and t.execution_seq >= 0 '
          end,
          -- Each in order, so that they are merged, not sorted.
          _range, _newest_first, 'limit 2000)'
        ),
        ' union all '
      )
      from unnest(array['pass', 'fail', 'skip', 'error']) as r (result)
      where search_rule_executions.result is null or r.result = search_rule_executions.result
    )
  end;
  _filter := case
    when _of_customer
      then concat(
        case when search_rule_executions.rule_id is not null then ' and t.rule_id = $3 ' end,
        case when search_rule_executions.result is not null then ' and t.result = $4 ' end
      )
    -- A recompute replaces a customer's history: only the current generation counts.
    when not search_rule_executions.superseded then $sql$
      and t.generation = (
        select c.generation from svc.customers as c where c.environment_id = $1 and c.customer_id = t.customer_id
      )
    $sql$
    else ''
  end;

  execute concat(
    $sql$
      select
        array_agg(r.item order by r.executed_at desc, r.execution_seq desc),
        array_agg(concat(svc.microseconds(r.executed_at), ' ', r.execution_seq) order by r.executed_at desc, r.execution_seq desc)
      from (
        select
          t.executed_at,
          t.execution_seq,
          svc.rule_execution_item(
            t.customer_id, t.rule_id, t.result, t.triggered_by, t.executed_at, t.cause_type, t.cause_id, t.config_version, t.error,
            t.emission_seq, t.conditions, t.action, $10,
            case
              when $11
                then t.generation < (
                  select c.generation from svc.customers as c where c.environment_id = $1 and c.customer_id = t.customer_id
                )
            end
          ) as item
          from (select t.* from ($sql$, _source, ') as t', _newest_first, $sql$ limit 2000) as t
        where true $sql$, _filter, _newest_first,
    'limit $9 + 1) as r'
  )
  into _items, _positions
  using
    _environment.environment_id, search_rule_executions.customer_id, search_rule_executions.rule_id, search_rule_executions.result,
    search_rule_executions.since, _after_at, _after_seq, _generation, search_rule_executions.row_limit,
    search_rule_executions.detail, search_rule_executions.superseded;

  if _filter <> '' and coalesce(cardinality(_items), 0) <= search_rule_executions.row_limit then
    execute concat(
      $sql$ select concat(svc.microseconds(t.executed_at), ' ', t.execution_seq) from ( $sql$, _source, ') as t', _newest_first,
      'offset 1999 limit 1'
    )
    into _resume
    using
      _environment.environment_id, search_rule_executions.customer_id, search_rule_executions.rule_id, search_rule_executions.result,
      search_rule_executions.since, _after_at, _after_seq, _generation;
  end if;
  if _items is null and search_rule_executions.cursor is null and _resume is null then
    perform svc.require_part(
      _environment.project_id, _environment.active_version, 'rule', 'rule', search_rule_executions.rule_id
    );
  end if;
  return svc.partial_page('rule-executions', _items, _positions, search_rule_executions.row_limit, _resume);
end;
$$;

comment on function svc_api.search_rule_executions(
  bytea, text, text, text, text, text, text, timestamptz, boolean, boolean, integer, text
) is 'The log of rule executions, newest first, filtered.';
