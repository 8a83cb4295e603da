-- Statements that bring a database of the last release to sql/schema; see README.md.

-- The sample of runs of a journey. Locks the table against writes while it is built: about a second for a million runs.
create index if not exists journey_runs_sample_idx on svc.journey_runs
  (environment_id, journey_id, (hashtextextended(customer_id, 0) & 9223372036854775807));

-- Webhooks that say who: what deliveries tell besides their emission, and where their links lead. Changes of the catalog alone.
alter table svc.webhooks add column if not exists include text[] not null default '{}';
alter table svc.webhooks add column if not exists format text not null default 'json';
alter table svc.webhooks drop constraint if exists webhooks_include_bounded;
alter table svc.webhooks add constraint webhooks_include_bounded check (cardinality(include) <= 32);
alter table svc.webhooks drop constraint if exists webhooks_format_known;
alter table svc.webhooks add constraint webhooks_format_known check (format in ('json', 'slack', 'teams'));
comment on column svc.webhooks.include is
  'What of the customer deliveries tell besides: name, owner, renewal, url, facts, and traits by name, for example traits.plan.';
comment on column svc.webhooks.format is 'How a delivery is written: json, or a message as slack or teams takes it.';
create table if not exists svc.delivery_bodies (
  environment_id integer not null,
  webhook_id text not null,
  emission_seq bigint not null,
  body text not null,
  primary key (environment_id, webhook_id, emission_seq)
);
comment on table svc.delivery_bodies is
  'What is sent of the deliveries that tell more than their emission: written with the delivery, so that every attempt says the same.';
comment on column svc.delivery_bodies.environment_id is 'The environment.';
comment on column svc.delivery_bodies.webhook_id is 'The webhook.';
comment on column svc.delivery_bodies.emission_seq is 'The emission.';
comment on column svc.delivery_bodies.body is 'The body of every attempt, byte for byte.';

create table if not exists svc.public_url (
  is_only boolean primary key default true,
  url text not null,
  constraint public_url_one_row check (is_only)
);
comment on table svc.public_url is 'Where people reach the service, for links in deliveries: one row, written when an HTTP process starts.';
comment on column svc.public_url.is_only is 'Always true, so that there is one row.';
comment on column svc.public_url.url is 'SVC_PUBLIC_URL, else the address that the process listens on; without a slash at the end.';
-- Webhooks that say who: to here.
