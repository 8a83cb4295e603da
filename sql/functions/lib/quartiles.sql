-- Quartiles as a document, rounded to three decimals (milliseconds, if they are seconds); their members are null if there are none.
-- Raises nothing, locks nothing.
create or replace function svc.quartiles(quartiles double precision[])
returns json
language sql
immutable
strict
parallel safe
set search_path = ''
return json_build_object(
  'lower', round(quartiles.quartiles[1]::numeric, 3)::double precision,
  'median', round(quartiles.quartiles[2]::numeric, 3)::double precision,
  'upper', round(quartiles.quartiles[3]::numeric, 3)::double precision
);

comment on function svc.quartiles(double precision[]) is 'Quartiles as a document.';
