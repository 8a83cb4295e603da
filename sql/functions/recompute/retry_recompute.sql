-- Puts a recompute or dry run that was given up or cancelled back into the queue, where it was: it resumes after the customers that are
-- done, with the same pins.
-- Raises what iam.authorize and iam.record_audit raise, SV004 PROJECT_NOT_FOUND or RECOMPUTE_NOT_FOUND, SV005 RECOMPUTE_NOT_DEAD, SV009
-- QUOTA_EXCEEDED. Locks its row and before it, if it may be put back, the environment's, like svc.require_room.
create or replace function svc_api.retry_recompute(
  token_hash bytea, organization_id text, request_id text, project_slug text, environment_name text, recompute_id text
)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _environment constant record := svc.authorize_environment(token_hash, organization_id, project_slug, environment_name, 'retry_recompute');
  _recompute svc.recomputes := svc.find_job(_environment.environment_id, retry_recompute.recompute_id, 'recompute');
begin
  if _recompute.status = 'dead_letter' then
    perform svc.require_room(retry_recompute.organization_id, _environment.environment_id, 'recomputes');
  end if;
  update svc.recomputes as r
  set status = 'queued', failures = 0, error = null, finished_at = null
  where r.environment_id = _environment.environment_id and r.recompute_id = _recompute.recompute_id and r.status = 'dead_letter'
  returning r.* into _recompute;
  if not found then
    _recompute := svc.find_job(_environment.environment_id, retry_recompute.recompute_id, 'recompute');
    raise exception using
      errcode = 'SV005',
      message = 'RECOMPUTE_NOT_DEAD',
      detail = jsonb_build_object(
        'message', format('The recompute "%s" is %s, so there is nothing to retry.', _recompute.recompute_id, _recompute.status),
        'reason', 'Only one that was given up or cancelled (dead_letter) can be put back into the queue.',
        'fix', case
          when _recompute.status = 'completed' then 'Queue a new recompute if you need another one.'
          else 'Wait for it: failed attempts are retried automatically.'
        end
      )::text;
  end if;
  perform svc.request_recompute(_environment.environment_id);

  perform iam.record_audit(
    _environment.actor, retry_recompute.request_id, 'recompute.retried', retry_recompute.project_slug, retry_recompute.environment_name,
    _recompute.recompute_id,
    jsonb_build_object('kind', _recompute.kind, 'version', 'v' || _recompute.version, 'customersDone', _recompute.customers_done)
  );
  return svc.recompute_document(_recompute, retry_recompute.environment_name);
end;
$$;

comment on function svc_api.retry_recompute(bytea, text, text, text, text, text) is
  'Puts a recompute that was given up back into the queue.';
