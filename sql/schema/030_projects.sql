create table svc.projects (
  project_id integer generated always as identity primary key,
  organization_id text not null references iam.organizations,
  slug text not null,
  name text not null,
  created_at timestamptz not null default now(),
  constraint projects_slug_key unique (organization_id, slug),
  constraint projects_slug_form check (slug ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  constraint projects_name_length check (char_length(name) between 1 and 256)
);
comment on table svc.projects is 'One product whose customers are followed. Holds the two environments test and live.';
comment on column svc.projects.project_id is 'Internal id.';
comment on column svc.projects.organization_id is 'The organization that owns the project.';
comment on column svc.projects.slug is 'The name in addresses, unique in the organization.';
comment on column svc.projects.name is 'The name for people.';
comment on column svc.projects.created_at is 'When the project was created.';

create table svc.config_versions (
  project_id integer not null references svc.projects,
  version integer not null,
  hash text not null,
  -- json, not jsonb: the canonical bytes are what the hash was taken of.
  snapshot json not null,
  strict_schema boolean not null generated always as ((snapshot ->> 'strictSchema')::boolean) stored,
  on_violation text not null generated always as (coalesce(snapshot ->> 'onViolation', 'refuse')) stored,
  author text not null,
  provenance jsonb,
  created_at timestamptz not null default now(),
  primary key (project_id, version)
);
comment on table svc.config_versions is 'Deployed models, immutable. Shown to users as v1, v2, ….';
comment on column svc.config_versions.project_id is 'The project.';
comment on column svc.config_versions.version is 'Counts from 1 in each project.';
comment on column svc.config_versions.hash is 'SHA-256 (hex) of the canonical snapshot.';
comment on column svc.config_versions.snapshot is 'The compiled model as canonical JSON.';
comment on column svc.config_versions.strict_schema is 'Whether ingestion refuses payloads that violate the schema; read on every request.';
comment on column svc.config_versions.on_violation is 'What happens to them where it does: refuse, or quarantine, which keeps them apart.';
comment on column svc.config_versions.author is 'E-mail address of who deployed it.';
comment on column svc.config_versions.provenance is 'Where it was built: repository, commit, ref, workflow, run.';
comment on column svc.config_versions.created_at is 'When it was deployed.';

create table svc.payload_checks (
  project_id integer not null,
  version integer not null,
  -- The empty name stands for the traits: events have names of at least one character.
  event text not null collate "C",
  names text[] not null,
  predicate jsonpath not null,
  fields jsonb not null,
  primary key (project_id, version, event),
  constraint payload_checks_version_fkey foreign key (project_id, version) references svc.config_versions
);
comment on table svc.payload_checks is
  'The schema part of a version, compiled for ingestion: one row per declared event and one for the traits.';
comment on column svc.payload_checks.project_id is 'The project.';
comment on column svc.payload_checks.version is 'The version.';
comment on column svc.payload_checks.event is 'The declared event; empty for the traits.';
comment on column svc.payload_checks.names is 'The declared names.';
comment on column svc.payload_checks.predicate is 'True for a payload whose declared members conform; svc.payload_conforms asks it.';
comment on column svc.payload_checks.fields is 'The declared fields, as in the snapshot.';

create table svc.environments (
  environment_id integer generated always as identity primary key,
  project_id integer not null references svc.projects,
  name text not null,
  active_version integer,
  created_at timestamptz not null default now(),
  frozen_at timestamptz,
  imported_from uuid,
  constraint environments_name_key unique (project_id, name),
  constraint environments_name_known check (name in ('test', 'live')),
  constraint environments_active_version_fkey foreign key (project_id, active_version) references svc.config_versions
);
comment on table svc.environments is 'test and live of each project. environment_id leads every key of the data below it.';
comment on column svc.environments.environment_id is 'Internal id.';
comment on column svc.environments.project_id is 'The project.';
comment on column svc.environments.name is 'test or live.';
comment on column svc.environments.active_version is
  'The version that evaluation and ingestion use; null before the first deploy, when an empty model is active.';
comment on column svc.environments.created_at is 'When the environment was created.';
comment on column svc.environments.frozen_at is
  'Since when it takes nothing, evaluates nothing and delivers nothing, because it moves to another database; null as a rule.';
comment on column svc.environments.imported_from is 'The export that it was imported from; null where it was made here.';
-- Few, and looked for by who claims deliveries.
create index environments_frozen_idx on svc.environments (environment_id) where frozen_at is not null;

-- On a cluster this row lies on the environment's node, where svc.environments does not. A statement that inserts rows out of an array
-- reads it as well: so it names a table of the environment, and is sent to that node whole.
create table svc.homes (
  environment_id integer primary key,
  name text not null
);
comment on table svc.homes is 'One row per environment, which lies where the data of the environment lies.';
comment on column svc.homes.environment_id is 'The environment.';
comment on column svc.homes.name is 'test or live, as in svc.environments, for statements that run there.';

create table svc.config_activations (
  environment_id integer not null references svc.environments,
  activation_seq bigint generated always as identity,
  version integer not null,
  previous_version integer,
  kind text not null,
  actor text not null,
  activated_at timestamptz not null default now(),
  primary key (environment_id, activation_seq),
  constraint config_activations_kind_known check (kind in ('deploy', 'promote', 'rollback'))
);
comment on table svc.config_activations is 'Log of which version became active where, when and by whom. Insert-only.';
comment on column svc.config_activations.environment_id is 'The environment.';
comment on column svc.config_activations.activation_seq is 'Order of activation.';
comment on column svc.config_activations.version is 'The version that became active.';
comment on column svc.config_activations.previous_version is 'The version that was active before; null for the first.';
comment on column svc.config_activations.kind is 'deploy, promote or rollback.';
comment on column svc.config_activations.actor is 'E-mail address of who did it.';
comment on column svc.config_activations.activated_at is 'When it became active.';

create table svc.api_keys (
  key_hash bytea primary key,
  api_key_id text not null,
  environment_id integer not null references svc.environments,
  name text not null,
  hint text not null,
  created_by text not null,
  created_at timestamptz not null default now(),
  revoked_at timestamptz,
  constraint api_keys_id_key unique (environment_id, api_key_id)
);
comment on table svc.api_keys is 'Ingestion keys. Only the SHA-256 of a key is kept; the key is shown once, when it is made.';
comment on column svc.api_keys.key_hash is 'SHA-256 of the key.';
comment on column svc.api_keys.api_key_id is 'Public id, key_ and random hex.';
comment on column svc.api_keys.environment_id is 'The environment that the key selects.';
comment on column svc.api_keys.name is 'What the key is for.';
comment on column svc.api_keys.hint is 'The first characters of the key, enough to recognize it.';
comment on column svc.api_keys.created_by is 'E-mail address of who made the key.';
comment on column svc.api_keys.created_at is 'When the key was made.';
comment on column svc.api_keys.revoked_at is 'From when the key is refused; may lie ahead while a rotation is in its grace period.';
-- Counting the keys that work, however many were revoked.
create index api_keys_revoked_idx on svc.api_keys (environment_id, revoked_at);

create table svc.key_usage (
  key_hash bytea primary key references svc.api_keys on delete cascade,
  tokens double precision not null,
  refilled_at timestamptz not null,
  month date not null,
  month_events bigint not null
) with (fillfactor = 50);
comment on table svc.key_usage is
  'What an API key has used of its limits. Apart from the key, because it changes with every request.';
comment on column svc.key_usage.key_hash is 'The key.';
comment on column svc.key_usage.tokens is 'Operations left in the rate bucket at refilled_at; below zero by what was in flight at once.';
comment on column svc.key_usage.refilled_at is 'When tokens was last computed.';
comment on column svc.key_usage.month is 'First day of the calendar month (UTC) that month_events counts.';
comment on column svc.key_usage.month_events is
  'Track operations stored for the key in that month, repetitions not counted. An organization''s usage is the sum over its keys.';

create table svc.usage_checks (
  environment_id integer primary key references svc.environments on delete cascade,
  month date not null,
  counted_through bigint not null default 0,
  month_events bigint not null default 0
) with (fillfactor = 50);
comment on table svc.usage_checks is
  'How far what is stored was compared with what keys have used, one row per environment. Whoever compares holds its row.';
comment on column svc.usage_checks.environment_id is 'The environment.';
comment on column svc.usage_checks.month is 'First day of the calendar month (UTC) that month_events counts.';
comment on column svc.usage_checks.counted_through is 'Up to which batch_seq of svc.ingest_batches month_events counts.';
comment on column svc.usage_checks.month_events is 'Events that were stored in that month.';
