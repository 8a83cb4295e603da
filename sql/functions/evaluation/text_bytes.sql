-- The size of a stored document as text, in bytes. A compressed document may be a hundred times as long as its stored form; only such a
-- one is decompressed to be measured. A single expression, which the planner inlines.
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

comment on function svc.text_bytes(jsonb) is 'The size of a stored document as text, in bytes.';
