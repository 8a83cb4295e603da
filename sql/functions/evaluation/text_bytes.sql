-- How many bytes a stored document has as text. What is stored compressed may be a hundred times as long; only that is unpacked to be
-- measured. One expression, which the planner puts in the place of the call.
-- Raises nothing, locks nothing.
create or replace function svc.text_bytes(document jsonb)
returns integer
language sql
stable
parallel safe
return case
  when pg_column_compression(text_bytes.document) is null then pg_column_size(text_bytes.document)
  else octet_length(text_bytes.document::text)
end;

comment on function svc.text_bytes(jsonb) is 'How many bytes a stored document has as text.';
