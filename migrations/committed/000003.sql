--! Previous: sha1:017a6bd15a961b82685782d87f39b6c3b0a18d20
--! Hash: sha1:2ccd76c9ebc1200129a7d6e914bfa6a397653d3b

create table if not exists svc.evaluation_slots (
  environment_id integer not null,
  slot smallint not null,
  primary key (environment_id, slot),
  constraint evaluation_slots_two check (slot in (1, 2))
);
comment on table svc.evaluation_slots is
  'Whoever evaluates customers of an environment locks one of these rows meanwhile, so that no environment takes all workers.';
comment on column svc.evaluation_slots.environment_id is 'The environment.';
comment on column svc.evaluation_slots.slot is '1 or 2; only who holds the first inserts customers that are new.';
insert into svc.evaluation_slots (environment_id, slot)
select e.environment_id, s.slot
from svc.environments as e
cross join generate_series(1, 2) as s (slot)
on conflict do nothing;

create table if not exists svc.suspect_environments (
  environment_id integer not null primary key,
  reason text not null,
  suspected_at timestamptz not null default now(),
  customer_limit integer,
  operation_limit integer,
  tried_by text,
  customer_ids text[] collate "C",
  failures integer not null default 0
);
comment on table svc.suspect_environments is
  'Environments whose evaluation ended without an outcome, as where it ends the worker: until a whole chunk succeeds, each chunk is written
down here before it is tried, and the next is smaller where it fails, until one customer is found.';
comment on column svc.suspect_environments.environment_id is 'The environment.';
comment on column svc.suspect_environments.reason is 'How the last evaluation ended.';
comment on column svc.suspect_environments.suspected_at is 'Since when.';
comment on column svc.suspect_environments.customer_limit is 'How many customers a chunk takes at most; null for as many as usual.';
comment on column svc.suspect_environments.operation_limit is 'How many operations a chunk takes at most; null for as many as usual.';
comment on column svc.suspect_environments.tried_by is 'The worker that is trying a chunk, or ended while it was; null between trials.';
comment on column svc.suspect_environments.customer_ids is 'The customers of that chunk, once they are known.';
comment on column svc.suspect_environments.failures is 'How often in a row a chunk of one operation failed.';

alter table iam.plans add column if not exists state_bytes integer not null default 1048576;
alter table iam.plans drop constraint if exists plans_state_bytes_positive;
alter table iam.plans add constraint plans_state_bytes_positive check (state_bytes > 0);
comment on column iam.plans.state_bytes is
  'What a model may remember for one customer at most, in bytes of JSON without the traits; one that may remember more is not deployed.';

-- Quotas. Defaults are constants, so no row is rewritten.
alter table iam.plans
  add column if not exists projects integer not null default 100,
  add column if not exists members integer not null default 1000,
  add column if not exists tokens integer not null default 200,
  add column if not exists versions integer not null default 10000,
  add column if not exists keys integer not null default 100,
  add column if not exists webhooks integer not null default 50,
  add column if not exists recomputes integer not null default 20,
  add column if not exists previews integer not null default 5;
alter table iam.plans drop constraint if exists plans_quotas_not_negative;
alter table iam.plans add constraint plans_quotas_not_negative check (
  least(projects, members, tokens, versions, keys, webhooks, recomputes, previews) >= 0
);
comment on column iam.plans.projects is 'Projects of an organization.';
comment on column iam.plans.members is 'Members and open invitations of an organization together.';
comment on column iam.plans.tokens is 'Headless tokens of an organization that still work.';
comment on column iam.plans.versions is 'Configuration versions of a project.';
comment on column iam.plans.keys is 'API keys of an environment that still work.';
comment on column iam.plans.webhooks is 'Webhooks of an environment; each emission becomes no more deliveries than that.';
comment on column iam.plans.recomputes is 'Recomputes and dry runs of an environment that are not finished.';
comment on column iam.plans.previews is 'Previews of an environment that are not finished.';

-- Counting the keys that work, however many were revoked.
create index if not exists api_keys_revoked_idx on svc.api_keys (environment_id, revoked_at);
-- Counting the tokens that work, however many were revoked.
create index if not exists access_tokens_working_idx on iam.access_tokens (organization_id, expires_at)
where organization_id is not null and revoked_at is null;

comment on column svc.recomputes.snapshot is 'The model that a preview is of; empty once it has finished.';

-- Addresses that are verified, and links that who made them never saw.
alter table iam.users add column if not exists email_verified_at timestamptz;
alter table iam.invitations add column if not exists mailed_hash bytea;
alter table iam.invitations drop constraint if exists invitations_mailed_hash_key;
alter table iam.invitations add constraint invitations_mailed_hash_key unique (mailed_hash);
alter table iam.password_links add column if not exists mailed_hash bytea;
alter table iam.password_links drop constraint if exists password_links_mailed_hash_key;
alter table iam.password_links add constraint password_links_mailed_hash_key unique (mailed_hash);
comment on column iam.users.email_verified_at is
  'When the password was last set by a link that was mailed to the address, or that the operator made; null where others may know it.';
comment on column iam.invitations.mailed_hash is
  'SHA-256 of the secret in the link that was mailed, which who invited never saw; null where none was.';
comment on column iam.password_links.mailed_hash is
  'SHA-256 of the secret in the link that was mailed, which who made it never saw; null where none was.';
