-- Queues the periodic jobs: each has one job in the queue, which is due at its next time, is being done, or is tried again. One that failed
-- for good is queued again after its period; one that is due later than that was queued before the database's clock was set back.
-- Every worker calls it with each heartbeat; concurrent calls do no harm. Raises nothing. Locks the jobs that it replaces.
create or replace function svc.schedule_jobs()
returns void
language sql
volatile
set search_path = ''
as $$
  select graphile_worker.add_job(
    s.task, run_at => date_bin(s.period, now() - s.phase, '2000-01-01') + s.period + s.phase, max_attempts => 3, job_key => s.task
  )
  from (
    values
      ('count_trends', interval '1 minute', interval '0'),
      ('sweep_iam', '10 minutes', '0'),
      ('sweep_recomputes', '10 minutes', '2 minutes'),
      ('sweep_webhooks', '10 minutes', '5 minutes'),
      ('sweep_retention', '10 minutes', '8 minutes')
  ) as s (task, period, phase)
  where not exists (
    select from graphile_worker._private_jobs as j
    where j.key = s.task and (
      j.locked_at is not null
      or j.run_at <= now() + s.period and (j.attempts < j.max_attempts or j.run_at > now() - s.period)
    )
  )
$$;

comment on function svc.schedule_jobs() is 'Queues the periodic jobs that are not in the queue.';
