-- What a worker may do: call these functions, and run graphile-worker's queue.
revoke execute on all routines in schema iam, svc, svc_api from public;

grant usage on schema svc_api to svc_worker;
grant execute on function
  svc_api.add_worker_counters(json),
  svc_api.append_recompute_logs(integer, integer, json, json),
  svc_api.apply_evaluation(integer, integer, text, json, text, json, json, json, json, json, json, json, json, json, json, json),
  svc_api.apply_recompute(integer, text, integer, integer, json),
  svc_api.apply_replay(
    integer, text, integer, integer, text, text, integer, text, bigint, bigint, bigint, bigint, bigint, json, json, json, real, json,
    json, json, json, json, json, json, json, json, boolean, json
  ),
  svc_api.begin_chunk(integer, integer, integer, interval, timestamptz),
  svc_api.begin_trial(integer, text, integer, integer),
  svc_api.begin_trial_chunk(integer, integer, integer, interval, timestamptz),
  svc_api.cancel_trial(integer, text),
  svc_api.claim_deliveries(text, text[], bigint[], text[], integer[], integer, integer, integer),
  svc_api.claim_job(integer),
  svc_api.compare_replays(integer, json, text),
  svc_api.continue_evaluation(integer, integer),
  svc_api.count_trends(integer, integer),
  svc_api.end_trial(integer, text, integer, integer),
  svc_api.environments_to_count(),
  svc_api.environments_to_sweep(),
  svc_api.fail_recompute(integer, text, integer, text, integer, interval),
  svc_api.finish_backtest(integer, text, integer, json),
  svc_api.finish_recompute(integer, text, integer),
  svc_api.heartbeat(text),
  svc_api.load_history(integer, text[], text[]),
  svc_api.load_history_pages(integer, json, integer),
  svc_api.load_snapshot(integer, integer),
  svc_api.lock_customer(integer, text),
  svc_api.read_backtest_chunk(integer, timestamptz, float8, text, text[], boolean, integer, integer, bigint, bigint),
  svc_api.read_backtest_samples(integer, text, integer, text),
  svc_api.read_recompute_chunk(integer, timestamptz, text, float8, text, text[], integer, integer, bigint, bigint),
  svc_api.read_recompute_events(integer, text, text, bigint, text[], integer, bigint),
  svc_api.read_recompute_executions(integer, text, integer, text, bigint, integer),
  svc_api.record_attempts(jsonb),
  svc_api.record_recompute_chunk(integer, text, integer, text, integer, json, json),
  svc_api.record_trial(integer, text, text[], text),
  svc_api.recount_usage(integer, integer),
  svc_api.release_recompute(integer, text, integer),
  svc_api.release_webhooks(text),
  svc_api.remove_worker(text),
  svc_api.request_due_evaluations(interval),
  svc_api.set_aside_customer(integer, text, text),
  svc_api.sign_off(text),
  svc_api.should_yield_job(integer),
  svc_api.suspect_environment(integer, text),
  svc_api.sweep_iam(),
  svc_api.sweep_keys(integer, integer),
  svc_api.sweep_logs(integer, integer),
  svc_api.sweep_operations(integer, bigint, integer),
  svc_api.sweep_quarantine(integer, integer),
  svc_api.sweep_recomputes(integer),
  svc_api.sweep_webhooks(integer, integer),
  svc_api.touch_recompute(integer, text, integer)
to svc_worker;

grant execute on procedure svc_api.apply_replays(integer, text, integer, integer, json, text, integer) to svc_worker;

grant usage on schema graphile_worker to svc_worker;
grant select, insert, update, delete on all tables in schema graphile_worker to svc_worker;
grant usage, select on all sequences in schema graphile_worker to svc_worker;
grant execute on all functions in schema graphile_worker to svc_worker;

-- graphile-worker protects its tables with row level security, so that only their owner sees rows.
drop policy if exists svc_worker on graphile_worker._private_jobs;
create policy svc_worker on graphile_worker._private_jobs to svc_worker using (true) with check (true);
drop policy if exists svc_worker on graphile_worker._private_job_queues;
create policy svc_worker on graphile_worker._private_job_queues to svc_worker using (true) with check (true);
drop policy if exists svc_worker on graphile_worker._private_known_crontabs;
create policy svc_worker on graphile_worker._private_known_crontabs to svc_worker using (true) with check (true);
drop policy if exists svc_worker on graphile_worker._private_tasks;
create policy svc_worker on graphile_worker._private_tasks to svc_worker using (true) with check (true);
