-- The content of a rate bucket at an instant: it refills with time, up to its capacity. One that was refilled much later than that instant
-- was used before the clock was set back, and is full.
-- Raises nothing, locks nothing.
create or replace function svc.rate_tokens(
  tokens double precision, refilled_at timestamptz, at timestamptz, rate_per_second integer, rate_burst integer
)
returns double precision
language sql
immutable
parallel safe
return case
  when refilled_at > at + interval '10 seconds' then rate_burst
  else least(rate_burst, tokens + greatest(0, extract(epoch from at - refilled_at)::double precision) * rate_per_second)
end;

comment on function svc.rate_tokens(double precision, timestamptz, timestamptz, integer, integer) is
  'Content of a rate bucket at an instant.';
