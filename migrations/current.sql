-- Statements that bring a database of the last release to sql/schema; see README.md.

alter table iam.plans add column if not exists state_bytes integer not null default 1048576;
alter table iam.plans drop constraint if exists plans_state_bytes_positive;
alter table iam.plans add constraint plans_state_bytes_positive check (state_bytes > 0);
comment on column iam.plans.state_bytes is
  'What a model may remember for one customer at most, in bytes of JSON without the traits; one that may remember more is not deployed.';
