-- Queues the periodic jobs: each has one job in the queue, which is due at its next time, is being done, or is tried again. One that failed
-- for good is due again after its period; one that is due later than that was queued before the database's clock was set back.
-- Every worker calls it with each heartbeat; concurrent calls do no harm. Raises nothing. Locks the jobs that it changes.
create or replace function svc.schedule_jobs()
returns void
language plpgsql
volatile
set search_path = ''
as $$
declare
  _of record;
begin
  for _of in
    select s.task, date_bin(s.period, now() - s.phase, '2000-01-01') + s.period + s.phase as due_at, j.id
    from (
      values
        ('count_trends', interval '1 minute', interval '0'),
        ('sweep_iam', '10 minutes', '0'),
        ('sweep_recomputes', '10 minutes', '2 minutes'),
        ('sweep_webhooks', '10 minutes', '5 minutes'),
        ('sweep_retention', '10 minutes', '8 minutes')
    ) as s (task, period, phase)
    left join graphile_worker._private_jobs as j on j.key = s.task
    where j.id is null
      or j.locked_at is null and (
        j.run_at > now() + s.period
        or j.attempts >= j.max_attempts and j.run_at <= now() - s.period
      )
    -- In a new database each adds its name to those of all tasks, as the runner does in this order; see src/tasks/worker.ts.
    order by s.task collate "C"
  loop
    if _of.id is null then
      perform graphile_worker.add_job(_of.task, run_at => _of.due_at, max_attempts => 3, job_key => _of.task);
    else
      -- A new job of the key would leave the failed one in the queue for good.
      perform graphile_worker.reschedule_jobs(array[_of.id], run_at => _of.due_at, attempts => 0);
    end if;
  end loop;
end;
$$;

comment on function svc.schedule_jobs() is 'Queues the periodic jobs that are not in the queue.';
