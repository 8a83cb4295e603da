-- Drops triggers of former releases, whose work functions do now. Without the triggers, rows that a function of a former release is about
-- to insert would be neither evaluated nor delivered, so this waits for transactions that are writing back an evaluation or a recompute:
-- they lock these tables from their first statement on. Functions that are no longer called stay and do no harm, except those at the end.
-- Workers of a former release still call some: svc_api.apply_evaluation with fifteen arguments needs svc.count_effects, and functions
-- that today's version also uses: svc.leave_inbox, svc.write_effects, svc.write_rule_executions, svc.fan_out.
do $$
begin
  if exists (
    select from pg_catalog.pg_trigger as t
    where t.tgrelid in ('svc.ingest_batches'::regclass, 'svc.emission_batches'::regclass) and not t.tgisinternal
      and t.tgname in ('_500_request_evaluation', '_500_fan_out')
  ) then
    lock table svc.evaluation_slots, svc.recomputes in exclusive mode;
    drop trigger if exists _500_request_evaluation on svc.ingest_batches;
    drop trigger if exists _500_fan_out on svc.emission_batches;
  end if;
end
$$;

drop function if exists svc.tg_ingest_batches__request_evaluation(), svc.tg_emission_batches__fan_out();

-- Workers of a former release cannot read the state as it is stored now: give them no customers until they end.
do $$
begin
  if to_regprocedure('svc_api.begin_evaluation(integer, integer, integer, interval, timestamptz)') is not null then
    create or replace function svc_api.begin_evaluation(
      environment_id integer, customer_limit integer, operation_limit integer, settle interval, instant timestamptz
    )
    returns json
    language sql
    security definer
    set search_path = ''
    return json_build_object('busy', true, 'customers', '[]'::json);
    comment on function svc_api.begin_evaluation(integer, integer, integer, interval, timestamptz) is
      'Called by workers of a former release: takes no customers.';
  end if;
  if to_regprocedure('svc_api.begin_trial_evaluation(integer, integer, integer, interval, timestamptz)') is not null then
    create or replace function svc_api.begin_trial_evaluation(
      environment_id integer, customer_limit integer, operation_limit integer, settle interval, instant timestamptz
    )
    returns json
    language sql
    security definer
    set search_path = ''
    return json_build_object('busy', true, 'customers', '[]'::json);
    comment on function svc_api.begin_trial_evaluation(integer, integer, integer, interval, timestamptz) is
      'Called by workers of a former release: takes no customers.';
  end if;
end
$$;
