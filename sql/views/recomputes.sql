create or replace view svc_inspect.recomputes as
select
  o.slug as organization, p.slug as project, e.name as environment, r.recompute_id, r.kind, r.status, r.customer_id, r.sample_size,
  'v' || r.version as version, r.hash, r.pinned_at, r.attempt, r.failures, r.next_attempt_at, r.error, r.customers_total,
  r.customers_done, r.customers_changed, r.lifecycle_changed, r.health_changed, r.segments_entered, r.segments_exited, r.rules_added,
  r.emissions_added, r.requested_by, r.requested_at, r.started_at, r.finished_at, r.signals_raised, r.signals_cleared
from svc.recomputes as r
join svc.environments as e on e.environment_id = r.environment_id
join svc.projects as p on p.project_id = e.project_id
join iam.organizations as o on o.organization_id = p.organization_id;

comment on view svc_inspect.recomputes is
  'Recomputes, dry runs, previews and backtests: what each is pinned to, its progress and its results.';
comment on column svc_inspect.recomputes.organization is 'Slug of the organization.';
comment on column svc_inspect.recomputes.project is 'Slug of the project.';
comment on column svc_inspect.recomputes.environment is 'test or live.';
comment on column svc_inspect.recomputes.recompute_id is 'Public id.';
comment on column svc_inspect.recomputes.kind is
  'recompute writes its results, dry_run only shows them, preview shows those of another model, backtest what a model predicted.';
comment on column svc_inspect.recomputes.status is 'queued, running, retrying, completed or dead_letter.';
comment on column svc_inspect.recomputes.customer_id is 'The one customer it is for; null for all.';
comment on column svc_inspect.recomputes.sample_size is 'About how many customers a preview or backtest evaluates; null for all.';
comment on column svc_inspect.recomputes.version is
  'The version to replay under; for a preview, to compare with. Null before the first deploy, and for a backtest of a model not deployed.';
comment on column svc_inspect.recomputes.hash is 'For a preview or backtest: the hash of its model.';
comment on column svc_inspect.recomputes.pinned_at is
  'The instant to evaluate through. Customers created later are left out.';
comment on column svc_inspect.recomputes.attempt is 'How many times a worker claimed it.';
comment on column svc_inspect.recomputes.failures is 'Failures since it last made progress.';
comment on column svc_inspect.recomputes.next_attempt_at is 'While retrying: when the next attempt is due.';
comment on column svc_inspect.recomputes.error is 'Why it last failed, and what to do.';
comment on column svc_inspect.recomputes.customers_total is 'Number of customers when it began; null before.';
comment on column svc_inspect.recomputes.customers_done is 'Number of customers done.';
comment on column svc_inspect.recomputes.customers_changed is
  'Customers with a difference, a rule execution or an emission; for a backtest, with samples.';
comment on column svc_inspect.recomputes.lifecycle_changed is 'Customers whose final lifecycle state changes.';
comment on column svc_inspect.recomputes.health_changed is 'Customers whose final health changes.';
comment on column svc_inspect.recomputes.segments_entered is 'Memberships that begin.';
comment on column svc_inspect.recomputes.segments_exited is 'Memberships that end.';
comment on column svc_inspect.recomputes.rules_added is 'Rule executions that were not in the log.';
comment on column svc_inspect.recomputes.emissions_added is 'Emissions that it added: corrections and expirations.';
comment on column svc_inspect.recomputes.requested_by is 'E-mail address of the user who requested it.';
comment on column svc_inspect.recomputes.requested_at is 'When it was requested.';
comment on column svc_inspect.recomputes.started_at is 'When a worker first claimed it.';
comment on column svc_inspect.recomputes.finished_at is 'When it was completed, given up or cancelled.';
comment on column svc_inspect.recomputes.signals_raised is 'Signals that are raised.';
comment on column svc_inspect.recomputes.signals_cleared is 'Signals that are cleared.';
