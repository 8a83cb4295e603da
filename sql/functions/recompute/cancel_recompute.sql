-- Ends a recompute or dry run before all of its customers are done. What is written stays, and it can be resumed like one that was given
-- up; its failures are 0, which tells them apart. The customer that a worker is writing is written before, or not at all.
-- Raises what iam.authorize and iam.record_audit raise, SV004 PROJECT_NOT_FOUND or RECOMPUTE_NOT_FOUND, SV005 RECOMPUTE_FINISHED. Locks its
-- row.
create or replace function svc_api.cancel_recompute(
  token_hash bytea, organization_id text, request_id text, project_slug text, environment_name text, recompute_id text
)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _environment constant record := svc.authorize_environment(
    token_hash, organization_id, project_slug, environment_name, 'cancel_recompute'
  );
  _id constant integer := _environment.environment_id;
  _recompute svc.recomputes := svc.find_job(_id, cancel_recompute.recompute_id, 'recompute');
begin
  select * into _recompute
  from svc.recomputes as r
  where r.environment_id = _id and r.recompute_id = _recompute.recompute_id
  for update;
  if not found then
    -- It was erased with its customer while this waited for it: raises the error.
    _recompute := svc.find_job(_id, cancel_recompute.recompute_id, 'recompute');
  end if;
  if _recompute.status in ('completed', 'dead_letter') then
    raise exception using
      errcode = 'SV005',
      message = 'RECOMPUTE_FINISHED',
      detail = jsonb_build_object(
        'message', format('The recompute "%s" has ended: %s.', _recompute.recompute_id, _recompute.status),
        'reason', 'Only one that is queued, running or retrying can be cancelled.'
      )::text;
  end if;
  perform svc.end_failed_recompute(_recompute, 0, format('Cancelled by %s.', (_environment.actor).email));

  perform iam.record_audit(
    _environment.actor, cancel_recompute.request_id, 'recompute.cancelled', cancel_recompute.project_slug,
    cancel_recompute.environment_name, _recompute.recompute_id,
    jsonb_build_object('kind', _recompute.kind, 'version', 'v' || _recompute.version, 'customersDone', _recompute.customers_done)
  );
  return svc.recompute_document(svc.find_job(_id, _recompute.recompute_id, 'recompute'), cancel_recompute.environment_name);
end;
$$;

comment on function svc_api.cancel_recompute(bytea, text, text, text, text, text) is
  'Ends a recompute before all of its customers are done.';
