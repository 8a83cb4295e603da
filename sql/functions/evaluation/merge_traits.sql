-- Merges trait documents by top-level key, the later winning; nulls are kept, so that they can remove what was there before.
-- An aggregate: call it with an order by.
-- Raises nothing, locks nothing.
create or replace aggregate svc.merge_traits(jsonb) (
  sfunc = pg_catalog.jsonb_concat,
  stype = jsonb,
  initcond = '{}'
);

comment on aggregate svc.merge_traits(jsonb) is 'Merges trait documents by top-level key, in order.';
