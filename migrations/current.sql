-- Statements that bring a database of the last release to sql/schema; see README.md.

-- The sample of runs of a journey. Locks the table against writes while it is built: about a second for a million runs.
create index if not exists journey_runs_sample_idx on svc.journey_runs
  (environment_id, journey_id, (hashtextextended(customer_id, 0) & 9223372036854775807));
