-- Adds the counts of one worker, [{counter, label, bucket, value}], to the totals of all workers.
-- Raises nothing. Locks the rows of these counters, in the order of their names, until the transaction ends.
create or replace function svc_api.add_worker_counters(counters json)
returns void
language sql
volatile
security definer
set search_path = ''
as $$
  insert into svc.worker_counters as w (counter, label, bucket, value)
  select c.counter, c.label, c.bucket, sum(c.value)
  from json_to_recordset(add_worker_counters.counters) as c (counter text, label text, bucket text, value double precision)
  group by c.counter, c.label, c.bucket
  order by c.counter collate "C", c.label collate "C", c.bucket collate "C"
  on conflict (counter, label, bucket) do update
  set value = w.value + excluded.value;
$$;

comment on function svc_api.add_worker_counters(json) is 'Adds the counts of a worker to the totals of the installation.';
