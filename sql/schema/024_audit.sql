create table iam.audit_log (
  organization_id text not null references iam.organizations,
  audit_seq bigint generated always as identity,
  at timestamptz not null default now(),
  actor_user_id text,
  actor text not null,
  token_id text,
  request_id text,
  action text not null,
  project text,
  environment text,
  target text,
  details jsonb not null default '{}',
  primary key (organization_id, audit_seq)
);
comment on table iam.audit_log is
  'Every change that somebody made in an organization, written in its transaction. Insert-only. Entries name no customer: they outlive it.';
comment on column iam.audit_log.organization_id is 'The organization.';
comment on column iam.audit_log.audit_seq is 'Order of writing.';
comment on column iam.audit_log.at is 'When it was done.';
comment on column iam.audit_log.actor_user_id is 'Who did it; null for the operator and the service.';
comment on column iam.audit_log.actor is 'Its e-mail address at the time, or operator, or svc for what the service does by itself.';
comment on column iam.audit_log.token_id is 'The token it was done with; null where it was none, as on a page.';
comment on column iam.audit_log.request_id is 'The request it was done by, as in the service''s log; null for the operator.';
comment on column iam.audit_log.action is 'What was done, for example key.rotated.';
comment on column iam.audit_log.project is 'Slug of the project, where there is one.';
comment on column iam.audit_log.environment is 'test or live, where there is one.';
comment on column iam.audit_log.target is 'What it was done to: the id or name of a thing, never of a customer.';
comment on column iam.audit_log.details is 'What more there is to say of it, depending on the action.';
create index audit_log_at_idx on iam.audit_log (organization_id, at, audit_seq);
create index audit_log_action_idx on iam.audit_log (organization_id, action, at, audit_seq);
create index audit_log_actor_idx on iam.audit_log (organization_id, actor, at, audit_seq);
