-- Removes the keys of a trait document whose value is null: an explicit null removes a trait. Nested values stay unchanged, which
-- is why jsonb_strip_nulls does not serve.
-- Raises nothing, locks nothing.
create or replace function svc.without_nulls(document jsonb)
returns jsonb
language sql
immutable
parallel safe
set search_path = ''
as $$
  select coalesce(jsonb_object_agg(e.key, e.value), '{}')
  from jsonb_each(without_nulls.document) as e
  where e.value <> 'null';
$$;

comment on function svc.without_nulls(jsonb) is 'The document without its top-level keys whose value is null.';
