-- Compiles declared fields to a jsonpath that is true for a payload whose declared members conform; svc.payload_conforms also checks that
-- there are no others. Names are quoted as JSON, which jsonpath reads the same way, so no name can inject other syntax.
-- kind is properties or traits: traits are never required, and null removes one.
-- Raises nothing, locks nothing.
create or replace function svc.payload_predicate(kind text, fields jsonb)
returns jsonpath
language sql
immutable
strict
parallel safe
set search_path = ''
return (
  select concat_ws(
    ' && ',
    'lax $.type() == "object"',
    string_agg(
      case
        when kind = 'traits' then format('(!exists(%1$s) || %1$s.type() == "null" || %2$s)', f.accessor, f.predicate)
        when f.optional then format('(!exists(%s) || %s)', f.accessor, f.predicate)
        else f.predicate
      end,
      ' && ' order by f.key
    )
  )::jsonpath
  from (
    select
      d.key,
      '$.' || to_json(d.key) as accessor,
      svc.value_predicate('$.' || to_json(d.key), d.value) as predicate,
      d.value ? 'optional' as optional
    from jsonb_each(fields) as d
  ) as f
);

comment on function svc.payload_predicate(text, jsonb) is 'A jsonpath that is true for a payload whose declared members conform.';
