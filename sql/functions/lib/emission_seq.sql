-- The number in the public id of an emission, which a receiver of webhooks quotes; null if the text is not such an id. For users of psql: a
-- look-up by it uses an index.
-- Raises nothing, locks nothing.
create or replace function svc_inspect.emission_seq(emission_id text)
returns bigint
language sql
immutable
strict
parallel safe
return case
  when emission_seq.emission_id ~ '^emi_[0-7][0-9a-f]{15}$' then ('x' || right(emission_seq.emission_id, 16))::bit(64)::bigint
end;

comment on function svc_inspect.emission_seq(text) is 'The number in the public id of an emission; null for any other text.';
