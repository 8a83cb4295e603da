-- Checks that a language model may be asked for a project, and records the question in the audit log: facts leave the service with each
-- question, so the log shows who sent how many bytes of them for which task.
-- Raises what iam.authorize and iam.record_audit raise, SV004 PROJECT_NOT_FOUND. Locks nothing beyond its row.
create or replace function svc_api.record_question(
  token_hash bytea, organization_id text, request_id text, project_slug text, environment_name text,
  task text, model text, fact_bytes integer
)
returns void
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _environment record := svc.authorize_environment(token_hash, organization_id, project_slug, environment_name, 'ask_language_model');
begin
  perform iam.record_audit(
    _environment.actor, record_question.request_id, 'ai.asked', record_question.project_slug, record_question.environment_name,
    record_question.task,
    jsonb_build_object('model', record_question.model, 'factBytes', record_question.fact_bytes)
  );
end;
$$;

comment on function svc_api.record_question(bytea, text, text, text, text, text, text, integer) is
  'Records in the audit log that a language model is asked; raises if that is not allowed.';
