-- Statements that bring a database of the last release to sql/schema; see README.md.

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
