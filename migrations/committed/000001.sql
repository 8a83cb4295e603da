--! Previous: -
--! Hash: sha1:37b132ba72feceaceb7f9f21a96b78fcdd94d623

-- sql/schema/010_schemas.sql

create schema iam;
comment on schema iam is 'Who may do what: users, organizations, memberships and access tokens.';

create schema svc;
comment on schema svc is 'Private tables of the service. Read svc_inspect instead; write through svc_api only.';

create schema svc_api;
comment on schema svc_api is 'The only door: every function the service processes may call.';

create schema svc_inspect;
comment on schema svc_inspect is 'Stable, commented views for people with psql.';

-- sql/schema/020_iam.sql

create table iam.plans (
  plan_id text primary key,
  cloud_execution boolean not null default true,
  rate_per_second integer not null,
  rate_burst integer not null,
  monthly_events bigint,
  constraint plans_rate_positive check (rate_per_second > 0),
  -- A legal batch of 1,000 operations must be able to pass a full bucket.
  constraint plans_burst_holds_a_batch check (rate_burst >= 1000),
  constraint plans_monthly_events_not_negative check (monthly_events >= 0)
);
comment on table iam.plans is 'What an organization may use. Limits are read on every request, so a change is effective at once.';
comment on column iam.plans.plan_id is 'Name of the plan.';
comment on column iam.plans.cloud_execution is 'Whether ingestion is allowed at all; false answers PLAN_REQUIRED.';
comment on column iam.plans.rate_per_second is 'Operations per second and API key that refill the rate bucket.';
comment on column iam.plans.rate_burst is 'Capacity of the rate bucket, in operations.';
comment on column iam.plans.monthly_events is
  'Track operations that an organization may store in a calendar month (UTC), over all its environments; null for no limit.';

insert into iam.plans (plan_id, cloud_execution, rate_per_second, rate_burst) values ('standard', true, 50000, 100000);

create table iam.organizations (
  organization_id text primary key,
  slug text not null,
  plan_id text not null default 'standard' references iam.plans,
  created_at timestamptz not null default now(),
  constraint organizations_slug_key unique (slug),
  constraint organizations_slug_form check (slug ~ '^[a-z0-9][a-z0-9-]{0,62}$')
);
comment on table iam.organizations is 'A customer of this installation: owns projects, has members and a plan.';
comment on column iam.organizations.organization_id is 'Public id, org_ and random hex; the value of the header X-Svc-Organization.';
comment on column iam.organizations.slug is 'Readable name, unique in the installation.';
comment on column iam.organizations.plan_id is 'The plan whose limits apply.';
comment on column iam.organizations.created_at is 'When the organization was created.';

create table iam.users (
  user_id text primary key,
  email text not null,
  created_at timestamptz not null default now(),
  constraint users_email_key unique (email),
  constraint users_email_lower_case check (email = lower(email) and email like '%_@_%')
);
comment on table iam.users is 'A person who may sign in.';
comment on column iam.users.user_id is 'Public id, usr_ and random hex.';
comment on column iam.users.email is 'Address in lower case, unique in the installation.';
comment on column iam.users.created_at is 'When the user was created.';

create table iam.memberships (
  organization_id text not null references iam.organizations,
  user_id text not null references iam.users,
  role text not null,
  created_at timestamptz not null default now(),
  primary key (organization_id, user_id),
  constraint memberships_role_known check (role in ('owner', 'administrator', 'developer', 'viewer'))
);
comment on table iam.memberships is 'Which user belongs to which organization, and as what.';
comment on column iam.memberships.organization_id is 'The organization.';
comment on column iam.memberships.user_id is 'The user.';
comment on column iam.memberships.role is 'owner, administrator, developer or viewer; iam.role_rank orders them.';
comment on column iam.memberships.created_at is 'When the membership began.';
create index memberships_user_idx on iam.memberships (user_id);

create table iam.access_tokens (
  token_hash bytea primary key,
  token_id text not null,
  kind text not null,
  user_id text not null references iam.users,
  organization_id text references iam.organizations,
  role text,
  label text not null,
  client_id text,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  revoked_at timestamptz,
  last_used_at timestamptz,
  constraint access_tokens_token_id_key unique (token_id),
  constraint access_tokens_kind_known check (kind in ('session', 'headless')),
  constraint access_tokens_organization_of_headless check ((kind = 'headless') = (organization_id is not null)),
  constraint access_tokens_role_known check (role in ('owner', 'administrator', 'developer', 'viewer'))
);
comment on table iam.access_tokens is 'Bearer tokens of the administrative API. Only the SHA-256 of a token is kept.';
comment on column iam.access_tokens.token_hash is 'SHA-256 of the token.';
comment on column iam.access_tokens.token_id is 'Public id, tok_ and random hex.';
comment on column iam.access_tokens.kind is
  'session: made by a sign-in of the command line, good for every organization of its user; headless: for programs, good for one.';
comment on column iam.access_tokens.user_id is 'Who acts with the token.';
comment on column iam.access_tokens.organization_id is 'The one organization that a headless token is good for; null for a session.';
comment on column iam.access_tokens.role is 'The most the token may do, where that is less than the role of its user; null for all of it.';
comment on column iam.access_tokens.label is 'What the token is for, in the words of who made it.';
comment on column iam.access_tokens.client_id is 'The OAuth client that a session was granted to; null for a headless token.';
comment on column iam.access_tokens.created_at is 'When the token was made.';
comment on column iam.access_tokens.expires_at is 'When the token stops by itself.';
comment on column iam.access_tokens.revoked_at is 'When the token was revoked; it stops at once.';
comment on column iam.access_tokens.last_used_at is 'When the token was last used, to a few minutes; null for never.';
create index access_tokens_organization_idx on iam.access_tokens (organization_id, created_at, token_id) where organization_id is not null;
create index access_tokens_user_idx on iam.access_tokens (user_id);
create index access_tokens_expires_idx on iam.access_tokens (expires_at);

create type iam.actor as (
  user_id text,
  email text,
  role text,
  token_id text,
  organization_id text,
  organization_slug text
);
comment on type iam.actor is 'Who does something in an organization, as iam.authorize found it.';
comment on column iam.actor.user_id is 'The user.';
comment on column iam.actor.email is 'Its address.';
comment on column iam.actor.role is 'What it may do here: its role in the organization, or the lesser one of its token.';
comment on column iam.actor.token_id is 'The token it acts with.';
comment on column iam.actor.organization_id is 'The organization.';
comment on column iam.actor.organization_slug is 'Its readable name.';

-- sql/schema/022_sign_in.sql

create table iam.identities (
  provider text not null,
  subject text not null,
  user_id text not null references iam.users,
  password_hash text,
  created_at timestamptz not null default now(),
  changed_at timestamptz not null default now(),
  primary key (provider, subject),
  constraint identities_password_hash_of_password check ((provider = 'password') = (password_hash is not null))
);
comment on table iam.identities is
  'How a user proves to be who it is. Apart from the user, so that a password and single sign-on can stand side by side.';
comment on column iam.identities.provider is 'password, or who vouches for the user: the issuer of a single sign-on.';
comment on column iam.identities.subject is 'The user''s id with the provider; for a password the user_id.';
comment on column iam.identities.user_id is 'The user.';
comment on column iam.identities.password_hash is 'argon2id in PHC form; null for every other provider.';
comment on column iam.identities.created_at is 'When the identity was added.';
comment on column iam.identities.changed_at is 'When the password was last set.';
create index identities_user_idx on iam.identities (user_id);

create table iam.sessions (
  session_hash bytea primary key,
  user_id text not null references iam.users,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
comment on table iam.sessions is 'Browsers that are signed in. Only the SHA-256 of a session''s cookie is kept.';
comment on column iam.sessions.session_hash is 'SHA-256 of the cookie.';
comment on column iam.sessions.user_id is 'Who is signed in.';
comment on column iam.sessions.created_at is 'When the user signed in.';
comment on column iam.sessions.expires_at is 'When the session ends by itself.';
create index sessions_user_idx on iam.sessions (user_id);
create index sessions_expires_idx on iam.sessions (expires_at);

create table iam.invitations (
  organization_id text not null references iam.organizations,
  invitation_id text not null,
  link_hash bytea not null,
  email text not null,
  role text not null,
  created_by text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  accepted_at timestamptz,
  revoked_at timestamptz,
  primary key (organization_id, invitation_id),
  constraint invitations_link_hash_key unique (link_hash),
  constraint invitations_email_lower_case check (email = lower(email) and email like '%_@_%'),
  constraint invitations_role_known check (role in ('owner', 'administrator', 'developer', 'viewer')),
  constraint invitations_ended_once check (accepted_at is null or revoked_at is null)
);
comment on table iam.invitations is
  'Invitations to organizations, each by a link that is good once. Only the SHA-256 of the link''s secret is kept.';
comment on column iam.invitations.organization_id is 'The organization.';
comment on column iam.invitations.invitation_id is 'Public id, inv_ and random hex.';
comment on column iam.invitations.link_hash is 'SHA-256 of the secret in the link.';
comment on column iam.invitations.email is 'Who is invited, in lower case; nobody else can accept.';
comment on column iam.invitations.role is 'The role that the new member gets.';
comment on column iam.invitations.created_by is 'E-mail address of who invited.';
comment on column iam.invitations.created_at is 'When the invitation was made.';
comment on column iam.invitations.expires_at is 'When the link stops by itself.';
comment on column iam.invitations.accepted_at is 'When it was accepted; the link is used up.';
comment on column iam.invitations.revoked_at is 'When it was revoked or replaced; the link stopped at once.';
-- One open invitation an address: a new one revokes the one before.
create unique index invitations_open_key on iam.invitations (organization_id, email) where accepted_at is null and revoked_at is null;

create table iam.password_links (
  link_hash bytea primary key,
  user_id text not null references iam.users,
  created_by text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  used_at timestamptz
);
comment on table iam.password_links is
  'Links by which a user sets a password, each good once. Only the SHA-256 of the link''s secret is kept.';
comment on column iam.password_links.link_hash is 'SHA-256 of the secret in the link.';
comment on column iam.password_links.user_id is 'Whose password it sets.';
comment on column iam.password_links.created_by is 'E-mail address of who made it, or operator.';
comment on column iam.password_links.created_at is 'When it was made.';
comment on column iam.password_links.expires_at is 'When it stops by itself.';
comment on column iam.password_links.used_at is 'When it was used or replaced by a newer one; it is good no more.';
create index password_links_user_idx on iam.password_links (user_id) where used_at is null;

create table iam.throttles (
  bucket bytea primary key,
  full_at timestamptz not null
);
comment on table iam.throttles is
  'How many attempts are left to guess something: token buckets, of a sign-in for example one for each address and e-mail together.';
comment on column iam.throttles.bucket is 'SHA-256 of what is counted; neither addresses nor e-mail addresses can be read from it.';
comment on column iam.throttles.full_at is
  'When all attempts will have come back; how far that lies ahead says how many were made.';
create index throttles_full_idx on iam.throttles (full_at);

create table iam.device_authorizations (
  device_code_hash bytea primary key,
  user_code text not null,
  client_id text not null,
  address text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  interval_seconds integer not null,
  last_polled_at timestamptz,
  status text not null default 'pending',
  user_id text references iam.users,
  decided_at timestamptz,
  constraint device_authorizations_user_code_key unique (user_code),
  constraint device_authorizations_status_known check (status in ('pending', 'approved', 'denied', 'redeemed')),
  constraint device_authorizations_decided_by_user check (
    (status = 'pending') = (user_id is null) and (user_id is null) = (decided_at is null)
  )
);
comment on table iam.device_authorizations is
  'Devices that ask to be signed in (RFC 8628): from the request until a user decides and the device fetches its token.';
comment on column iam.device_authorizations.device_code_hash is 'SHA-256 of the code that the device polls with.';
comment on column iam.device_authorizations.user_code is 'What the user types or confirms, 8 letters; worth nothing without a session.';
comment on column iam.device_authorizations.client_id is 'The program that asks.';
comment on column iam.device_authorizations.address is 'From which network address it asked; shown to the user who decides.';
comment on column iam.device_authorizations.created_at is 'When it asked.';
comment on column iam.device_authorizations.expires_at is 'When the codes stop by themselves.';
comment on column iam.device_authorizations.interval_seconds is
  'How long the device has to wait between two polls; longer each time it does not.';
comment on column iam.device_authorizations.last_polled_at is 'When it polled last.';
comment on column iam.device_authorizations.status is 'pending, approved or denied by the user, redeemed once the token was fetched.';
comment on column iam.device_authorizations.user_id is 'Who decided, and whose token it is.';
comment on column iam.device_authorizations.decided_at is 'When it was decided.';
create index device_authorizations_expires_idx on iam.device_authorizations (expires_at);

-- sql/schema/024_audit.sql

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

-- sql/schema/030_projects.sql

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

-- sql/schema/040_ingestion.sql

create sequence svc.batch_seq as bigint;
comment on sequence svc.batch_seq is 'Numbers ingest batches in order of acceptance.';

create table svc.ingest_batches (
  environment_id integer not null,
  batch_seq bigint not null,
  batch_id uuid not null,
  accepted_at timestamptz not null,
  tracked integer not null,
  identified integer not null,
  late boolean not null,
  primary key (environment_id, batch_seq),
  constraint ingest_batches_batch_id_key unique (environment_id, batch_id)
);
comment on table svc.ingest_batches is 'One row per accepted ingest call. Its trigger asks for evaluation. Insert-only.';
comment on column svc.ingest_batches.environment_id is 'The environment.';
comment on column svc.ingest_batches.batch_seq is
  'Order of acceptance; the operations of the call are numbered batch_seq * 1024 + position.';
comment on column svc.ingest_batches.batch_id is
  'Made by the calling process, so that a call repeated after a lost answer finds its first outcome.';
comment on column svc.ingest_batches.accepted_at is 'When the call was accepted; the default occurrence time of its events.';
comment on column svc.ingest_batches.tracked is 'Events stored by the call, repetitions not counted. Usage is the sum of this column.';
comment on column svc.ingest_batches.identified is 'Trait updates stored by the call.';
comment on column svc.ingest_batches.late is
  'Whether an event was accepted more than five minutes after it occurred; while such come, timers of backfilled customers wait.';
create index ingest_batches_late_idx on svc.ingest_batches (environment_id, accepted_at) where late;

create table svc.events (
  environment_id integer not null,
  event_seq bigint not null,
  customer_id text not null collate "C",
  event text not null collate "C",
  properties jsonb not null,
  occurred_at timestamptz not null,
  accepted_at timestamptz not null,
  idempotency_key text collate "C",
  primary key (environment_id, event_seq)
);
comment on table svc.events is
  'Track operations as accepted. Insert-only; the payload is kept exactly, numbers beyond double precision included.';
comment on column svc.events.environment_id is 'The environment.';
comment on column svc.events.event_seq is 'Order of acceptance. svc.event_id() makes the public id of it.';
comment on column svc.events.customer_id is 'Customer id of the caller''s system.';
comment on column svc.events.event is 'Event name.';
comment on column svc.events.properties is 'Event properties.';
comment on column svc.events.occurred_at is 'When it happened: the explicit timestamp, else accepted_at.';
comment on column svc.events.accepted_at is 'When it was accepted.';
comment on column svc.events.idempotency_key is
  'The caller''s key, for export and erasure to find it by; svc.idempotency_keys decides what is a repetition.';
create index events_customer_idx on svc.events (environment_id, customer_id, occurred_at, event_seq);
-- For lists. Every event passes their predicates, but only the statements that state one may take that index: whatever the statistics
-- say, a look-up by customer never reads an environment from its end, and a list of one event name never the others.
create index events_occurred_idx on svc.events (environment_id, occurred_at, event_seq) where event_seq >= 0;
create index events_event_idx on svc.events (environment_id, event, occurred_at, event_seq) where event <> '';

create table svc.trait_updates (
  environment_id integer not null,
  operation_seq bigint not null,
  customer_id text not null collate "C",
  traits jsonb not null,
  accepted_at timestamptz not null,
  primary key (environment_id, operation_seq)
);
comment on table svc.trait_updates is 'Identify operations as accepted. Insert-only.';
comment on column svc.trait_updates.environment_id is 'The environment.';
comment on column svc.trait_updates.operation_seq is 'Order of acceptance, shared with svc.events.event_seq.';
comment on column svc.trait_updates.customer_id is 'Customer id of the caller''s system.';
comment on column svc.trait_updates.traits is 'Traits to merge by key; null removes one.';
comment on column svc.trait_updates.accepted_at is 'When it was accepted.';
create index trait_updates_customer_idx on svc.trait_updates (environment_id, customer_id, operation_seq);

create table svc.idempotency_keys (
  environment_id integer not null,
  idempotency_key text not null collate "C",
  payload_hash bigint not null,
  event_seq bigint not null,
  created_at timestamptz not null,
  primary key (environment_id, idempotency_key)
);
comment on table svc.idempotency_keys is 'Keys seen, apart from events so that they outlive raw events. Insert-only.';
comment on column svc.idempotency_keys.environment_id is 'The environment; keys are isolated by it.';
comment on column svc.idempotency_keys.idempotency_key is 'The caller''s key.';
comment on column svc.idempotency_keys.payload_hash is 'Hash of customer, event, properties and explicit timestamp (svc.payload_hash).';
comment on column svc.idempotency_keys.event_seq is 'The event that the key made.';
comment on column svc.idempotency_keys.created_at is 'When the key was first seen.';

create table svc.inbox (
  environment_id integer not null,
  customer_id text not null collate "C",
  seq bigint not null,
  not_before timestamptz,
  primary key (environment_id, customer_id, seq)
);
comment on table svc.inbox is 'Operations still to be evaluated. Evaluation deletes its rows, so an event is pending while it has one.';
comment on column svc.inbox.environment_id is 'The environment.';
comment on column svc.inbox.customer_id is 'The customer.';
comment on column svc.inbox.seq is 'The operation: event_seq of svc.events or operation_seq of svc.trait_updates.';
comment on column svc.inbox.not_before is
  'Null while waiting for a worker. A time ahead for an event that lies ahead, infinity for a customer set aside.';
create index inbox_ready_idx on svc.inbox (environment_id, seq) where not_before is null;
create index inbox_ahead_idx on svc.inbox (environment_id, customer_id, not_before) where not_before is not null;

create table svc.schema_violations (
  environment_id integer not null,
  version integer not null,
  -- The empty name stands for the traits, as in svc.payload_checks.
  event text not null collate "C",
  code text not null collate "C",
  path text not null collate "C",
  operations bigint not null,
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  last_seq bigint,
  primary key (environment_id, version, event, code, path)
);
comment on table svc.schema_violations is
  'How accepted operations violate a schema that is not strict: one row per version and kind, at most 1,000 and one for all others.';
comment on column svc.schema_violations.environment_id is 'The environment.';
comment on column svc.schema_violations.version is 'The configuration version whose schema they violate.';
comment on column svc.schema_violations.event is 'The event name that was sent; empty for traits.';
comment on column svc.schema_violations.code is 'The diagnostic code, for example INVALID_PROPERTY_TYPE.';
comment on column svc.schema_violations.path is
  'Where in an operation, without positions in arrays: event, properties.plan, traits.tags[]; * for all beyond 1,000 rows.';
comment on column svc.schema_violations.operations is
  'How many stored operations have violated it so, at least: of a call with thousands of violations not all are counted.';
comment on column svc.schema_violations.first_seen_at is 'When the first of them was accepted.';
comment on column svc.schema_violations.last_seen_at is 'When the last of them was accepted.';
comment on column svc.schema_violations.last_seq is
  'The last of them: event_seq of svc.events or operation_seq of svc.trait_updates; null once its customer was erased.';

-- sql/schema/050_customers.sql

create table svc.customers (
  environment_id integer not null,
  customer_id text not null collate "C",
  created_at timestamptz not null,
  traits jsonb not null default '{}',
  lifecycle text collate "C",
  lifecycle_entered_at timestamptz,
  last_event_at timestamptz,
  evaluated_through timestamptz,
  next_due_at timestamptz,
  held_until timestamptz,
  config_version integer,
  -- json, not jsonb: components are shown in the author's order.
  health json,
  health_overall numeric(5, 2) generated always as ((health ->> 'overall')::numeric) stored,
  health_band text collate "C" generated always as (health ->> 'band') stored,
  state json,
  generation integer not null default 0,
  set_aside_at timestamptz,
  set_aside_error text,
  -- With the generation, so that what counts of a log is known without reading the customers.
  primary key (environment_id, customer_id) include (generation)
) with (fillfactor = 80);
comment on table svc.customers is
  'Derived state, one row per customer. Evaluation locks the row, so one customer is evaluated by one worker at a time.';
comment on column svc.customers.environment_id is 'The environment.';
comment on column svc.customers.customer_id is 'Customer id of the caller''s system.';
comment on column svc.customers.created_at is 'When the first operation of the customer was accepted.';
comment on column svc.customers.traits is 'Current traits, merged from svc.trait_updates in order of acceptance.';
comment on column svc.customers.lifecycle is 'Present lifecycle state; null where the model has no lifecycle.';
comment on column svc.customers.lifecycle_entered_at is 'When the present lifecycle state was entered.';
comment on column svc.customers.last_event_at is 'Latest occurrence time seen.';
comment on column svc.customers.evaluated_through is 'The customer''s clock: the latest instant it was evaluated at.';
comment on column svc.customers.next_due_at is 'The earliest instant at which something changes without a new operation.';
comment on column svc.customers.held_until is
  'Set while the last event was accepted more than five minutes after it occurred: until then, a day after that acceptance, its timers
wait for the environment to settle.';
comment on column svc.customers.config_version is 'The version that the state was last evaluated under.';
comment on column svc.customers.health is
  'Present health score: overall, components and band; null where there is none. Earlier ones are in svc.health_scores.';
comment on column svc.customers.health_overall is 'The overall score of health.';
comment on column svc.customers.health_band is 'The band of health.';
comment on column svc.customers.state is 'The engine''s working state. Not an interface.';
comment on column svc.customers.generation is
  'How many recomputes wrote the customer''s history anew. Of the logs of transitions, health and rules only its rows of this generation
count.';
comment on column svc.customers.set_aside_at is
  'When evaluation of the customer was given up after repeated failure; its events stay pending.';
comment on column svc.customers.set_aside_error is 'Why it was set aside.';
create index customers_due_idx on svc.customers (environment_id, next_due_at)
where next_due_at is not null and held_until is null and set_aside_at is null;
create index customers_held_due_idx on svc.customers (environment_id, next_due_at)
where next_due_at is not null and held_until is not null and set_aside_at is null;
-- While an environment is unsettled, a held customer is due when both have passed.
create index customers_overdue_idx on svc.customers (environment_id, greatest(next_due_at, held_until))
where next_due_at is not null and held_until is not null and set_aside_at is null;
create index customers_set_aside_idx on svc.customers (environment_id, customer_id) where set_aside_at is not null;
-- Partial, so that a look-up by customer never takes it for the primary key.
create index customers_lifecycle_idx on svc.customers (environment_id, lifecycle, customer_id) where lifecycle is not null;
-- Which versions the present states were computed under, 0 before the first deploy. Every customer passes the predicate; only a statement
-- that states it may take the index.
create index customers_version_idx on svc.customers (environment_id, coalesce(config_version, 0)) where coalesce(config_version, 0) >= 0;
-- Longest inactive first; with what statistics of many customers need, which is a tenth of what they are. Every customer passes the
-- predicate; only a statement that states it may take the index.
create index customers_inactive_idx on svc.customers (environment_id, coalesce(last_event_at, created_at), customer_id)
include (lifecycle, last_event_at, health_overall, health_band)
where coalesce(last_event_at, created_at) is not null;

create table svc.lifecycle_transitions (
  environment_id integer not null,
  customer_id text not null collate "C",
  transition_seq bigint generated always as identity,
  from_state text collate "C",
  to_state text not null collate "C",
  transitioned_at timestamptz not null,
  cause_type text not null,
  cause_id text,
  config_version integer,
  generation integer not null default 0,
  primary key (environment_id, customer_id, transition_seq),
  constraint lifecycle_transitions_cause_known check (cause_type in ('event', 'identify', 'timer', 'job'))
);
comment on table svc.lifecycle_transitions is 'Every lifecycle transition. Insert-only; readers see the customer''s present generation.';
comment on column svc.lifecycle_transitions.environment_id is 'The environment.';
comment on column svc.lifecycle_transitions.customer_id is 'The customer.';
comment on column svc.lifecycle_transitions.transition_seq is 'Order of writing.';
comment on column svc.lifecycle_transitions.from_state is 'State left; null for the first.';
comment on column svc.lifecycle_transitions.to_state is 'State entered.';
comment on column svc.lifecycle_transitions.transitioned_at is
  'The instant of the transition: of the operation or the due instant that caused it.';
comment on column svc.lifecycle_transitions.cause_type is 'event, identify, timer or job.';
comment on column svc.lifecycle_transitions.cause_id is 'Id of the event or job.';
comment on column svc.lifecycle_transitions.config_version is 'The version evaluated.';
comment on column svc.lifecycle_transitions.generation is 'That of the customer when it was written.';
create index lifecycle_transitions_state_idx on svc.lifecycle_transitions (environment_id, to_state, transition_seq);

create table svc.blocked_transitions (
  environment_id integer not null,
  customer_id text not null collate "C",
  from_state text not null collate "C",
  to_state text not null collate "C",
  blocked_at timestamptz not null,
  primary key (environment_id, customer_id, from_state, to_state)
) with (fillfactor = 80);
comment on table svc.blocked_transitions is
  'Transitions that did not happen although their condition held, because the state had been held at that instant already: a sign of a
lifecycle that flaps.';
comment on column svc.blocked_transitions.environment_id is 'The environment.';
comment on column svc.blocked_transitions.customer_id is 'The customer.';
comment on column svc.blocked_transitions.from_state is 'The state that was not left.';
comment on column svc.blocked_transitions.to_state is 'The state that was not entered.';
comment on column svc.blocked_transitions.blocked_at is 'The last instant at which it was blocked.';

create table svc.segment_memberships (
  environment_id integer not null,
  segment_id text not null collate "C",
  customer_id text not null collate "C",
  entered_at timestamptz not null,
  exited_at timestamptz,
  primary key (environment_id, customer_id, segment_id)
);
comment on table svc.segment_memberships is 'The present or last membership of a customer in a segment. Earlier ones are in svc.emissions.';
comment on column svc.segment_memberships.environment_id is 'The environment.';
comment on column svc.segment_memberships.segment_id is 'The segment.';
comment on column svc.segment_memberships.customer_id is 'The customer.';
comment on column svc.segment_memberships.entered_at is 'When the customer entered.';
comment on column svc.segment_memberships.exited_at is 'When the customer left; null for a member.';
create index segment_memberships_members_idx on svc.segment_memberships (environment_id, segment_id, customer_id) include (entered_at)
where exited_at is null;

-- sql/schema/052_journeys.sql

create table svc.journey_runs (
  environment_id integer not null,
  customer_id text not null collate "C",
  journey_id text not null collate "C",
  run integer not null,
  status text not null,
  current_step text not null collate "C",
  -- json, not jsonb: steps are shown in the author's order.
  steps json not null,
  started_at timestamptz not null,
  completed_at timestamptz,
  expired_at timestamptz,
  primary key (environment_id, customer_id, journey_id, run),
  constraint journey_runs_status_known check (status in ('active', 'complete', 'expired')),
  constraint journey_runs_ended_once check (
    (completed_at is not null) = (status = 'complete') and (expired_at is not null) = (status = 'expired')
  )
) with (fillfactor = 80);
comment on table svc.journey_runs is
  'Every run of a journey by a customer. The last one is the customer''s progress; a journey that never started has none.';
comment on column svc.journey_runs.environment_id is 'The environment.';
comment on column svc.journey_runs.customer_id is 'The customer.';
comment on column svc.journey_runs.journey_id is 'The journey.';
comment on column svc.journey_runs.run is 'Counts from 1 for each customer and journey.';
comment on column svc.journey_runs.status is 'active, complete or expired.';
comment on column svc.journey_runs.current_step is 'The first step not completed; the last one of all when complete.';
comment on column svc.journey_runs.steps is 'The completed steps by id: when (ISO 8601) and by what.';
comment on column svc.journey_runs.started_at is 'When the run started.';
comment on column svc.journey_runs.completed_at is 'When the last step was completed.';
comment on column svc.journey_runs.expired_at is 'When the time for the run was over.';
create index journey_runs_active_idx on svc.journey_runs (environment_id, journey_id, customer_id) where status = 'active';

-- sql/schema/054_health.sql

create table svc.health_scores (
  environment_id integer not null,
  customer_id text not null collate "C",
  generation integer not null default 0,
  score_seq bigint generated always as identity,
  overall numeric(5, 2) not null,
  -- json, not jsonb: components are shown in the author's order.
  components json not null,
  band text not null collate "C",
  scored_at timestamptz not null,
  cause_type text not null,
  cause_id text,
  config_version integer,
  primary key (environment_id, customer_id, generation, score_seq),
  constraint health_scores_cause_known check (cause_type in ('event', 'identify', 'timer', 'job')),
  constraint health_scores_overall_range check (overall between 0 and 100)
);
comment on table svc.health_scores is
  'Every change of a customer''s health score. Insert-only; readers see the customer''s present generation.
The present score is in svc.customers.';
comment on column svc.health_scores.environment_id is 'The environment.';
comment on column svc.health_scores.customer_id is 'The customer.';
comment on column svc.health_scores.generation is 'That of the customer when it was written.';
comment on column svc.health_scores.score_seq is 'Order of writing.';
comment on column svc.health_scores.overall is 'Weighted mean of the components, 0 to 100.';
comment on column svc.health_scores.components is 'The score of each component, 0 to 100.';
comment on column svc.health_scores.band is 'The band that the overall score lies in.';
comment on column svc.health_scores.scored_at is 'The instant of the change: of the operation or the due instant that caused it.';
comment on column svc.health_scores.cause_type is 'event, identify, timer or job.';
comment on column svc.health_scores.cause_id is 'Id of the event or job.';
comment on column svc.health_scores.config_version is 'The version evaluated.';

-- sql/schema/056_rules.sql

create table svc.rule_executions (
  environment_id integer not null,
  execution_seq bigint generated always as identity,
  customer_id text not null collate "C",
  rule_id text not null collate "C",
  result text not null,
  triggered_by text not null,
  -- json, not jsonb: an explanation is read in the order in which it was written.
  conditions json not null,
  action json not null,
  error text,
  executed_at timestamptz not null,
  cause_type text not null,
  cause_id text,
  config_version integer,
  generation integer not null default 0,
  -- Every read is of a customer's present generation or by one of the indexes below.
  primary key (environment_id, customer_id, generation, executed_at, execution_seq),
  constraint rule_executions_result_known check (result in ('pass', 'fail', 'skip', 'error')),
  constraint rule_executions_error_said check ((error is not null) = (result = 'error')),
  constraint rule_executions_cause_known check (cause_type in ('event', 'identify', 'timer', 'job'))
);
comment on table svc.rule_executions is
  'The log of the rules: every run and its outcome. Insert-only; readers see the customer''s present generation.';
comment on column svc.rule_executions.environment_id is 'The environment.';
comment on column svc.rule_executions.execution_seq is 'Order of writing.';
comment on column svc.rule_executions.customer_id is 'The customer.';
comment on column svc.rule_executions.rule_id is 'The rule.';
comment on column svc.rule_executions.result is 'pass, fail, skip (cooldown or once) or error.';
comment on column svc.rule_executions.triggered_by is
  'event:<name>, traits, segment.entered:<id>, segment.exited:<id>, signal.raised:<id> or signal.cleared:<id>.';
comment on column svc.rule_executions.conditions is 'How the rule''s condition came out, part by part; empty for a rule without one.';
comment on column svc.rule_executions.action is 'What the rule does when it passes.';
comment on column svc.rule_executions.error is 'Why it could not be run, where the result is error.';
comment on column svc.rule_executions.executed_at is 'The instant of the run: of the operation or the due instant that caused it.';
comment on column svc.rule_executions.cause_type is 'event, identify, timer or job.';
comment on column svc.rule_executions.cause_id is 'Id of the event or job.';
comment on column svc.rule_executions.config_version is 'The version evaluated.';
comment on column svc.rule_executions.generation is 'That of the customer when it was written.';
-- A list asks once for each result and merges. Every row passes the predicates, but only a statement that states one may take that index.
create index rule_executions_result_idx on svc.rule_executions (environment_id, result, executed_at, execution_seq)
where execution_seq >= 0;
create index rule_executions_rule_idx on svc.rule_executions (environment_id, rule_id, result, executed_at, execution_seq)
where rule_id <> '';

-- sql/schema/058_signals.sql

create table svc.signals (
  environment_id integer not null,
  customer_id text not null collate "C",
  signal_id text not null collate "C",
  severity text not null,
  message text,
  raised_at timestamptz not null,
  cleared_at timestamptz,
  primary key (environment_id, customer_id, signal_id),
  constraint signals_severity_known check (severity in ('info', 'warning', 'critical'))
) with (fillfactor = 80);
comment on table svc.signals is 'The present or last raise of a signal for a customer. Earlier ones are in svc.emissions.';
comment on column svc.signals.environment_id is 'The environment.';
comment on column svc.signals.customer_id is 'The customer.';
comment on column svc.signals.signal_id is 'The signal.';
comment on column svc.signals.severity is 'info, warning or critical, as declared when it was raised.';
comment on column svc.signals.message is 'The message declared when it was raised.';
comment on column svc.signals.raised_at is 'When it was raised.';
comment on column svc.signals.cleared_at is 'When it was cleared; null while it is raised.';
create index signals_raised_idx on svc.signals (environment_id, signal_id, customer_id) where cleared_at is null;

-- sql/schema/060_emissions.sql

create sequence svc.evaluation_seq as bigint;
comment on sequence svc.evaluation_seq is 'Numbers the write-backs of evaluation.';

create table svc.emissions (
  environment_id integer not null,
  emission_seq bigint not null,
  customer_id text not null collate "C",
  event_type text not null collate "C",
  source text not null,
  metadata jsonb not null,
  emitted_at timestamptz not null,
  cause_type text not null,
  cause_id text,
  config_version integer,
  created_at timestamptz not null default now(),
  primary key (environment_id, emission_seq),
  constraint emissions_cause_known check (cause_type in ('event', 'identify', 'timer', 'job'))
);
comment on table svc.emissions is 'What evaluation had to tell: the customer''s timeline and the source of webhooks. Insert-only.';
comment on column svc.emissions.environment_id is 'The environment.';
comment on column svc.emissions.emission_seq is 'Order: evaluation_seq * 65536 + position. svc.emission_id() makes the public id of it.';
comment on column svc.emissions.customer_id is 'The customer.';
comment on column svc.emissions.event_type is 'For example customer.activated or segment.entered.';
comment on column svc.emissions.source is 'What emitted it: lifecycle, segment, ….';
comment on column svc.emissions.metadata is 'Depends on the type, for example previous_lifecycle and new_lifecycle.';
comment on column svc.emissions.emitted_at is 'The instant of what happened: of the operation or the due instant that caused it.';
comment on column svc.emissions.cause_type is 'event, identify, timer or job.';
comment on column svc.emissions.cause_id is 'Id of the event or job.';
comment on column svc.emissions.config_version is 'The version evaluated.';
comment on column svc.emissions.created_at is 'When it was written.';
create index emissions_customer_idx on svc.emissions (environment_id, customer_id, emission_seq);
-- A recompute tells of an expiration only what was not told before.
create index emissions_expired_idx on svc.emissions (environment_id, customer_id, emitted_at)
where event_type = 'journey.expired' and source = 'journey';

create table svc.emission_batches (
  environment_id integer not null,
  evaluation_seq bigint not null,
  emissions integer not null,
  created_at timestamptz not null default now(),
  primary key (environment_id, evaluation_seq),
  -- Positions are the low 16 bits of emission_seq.
  constraint emission_batches_fit check (emissions between 1 and 65536)
);
comment on table svc.emission_batches is
  'Outbox: one row per write-back with emissions. Its trigger fans them out to the webhooks that match.';
comment on column svc.emission_batches.environment_id is 'The environment.';
comment on column svc.emission_batches.evaluation_seq is 'Its emissions are numbered evaluation_seq * 65536 + position.';
comment on column svc.emission_batches.emissions is 'How many there are.';
comment on column svc.emission_batches.created_at is 'When it was written.';
-- Where a span of time begins and ends among the emissions.
create index emission_batches_created_idx on svc.emission_batches (environment_id, created_at);

-- sql/schema/070_webhooks.sql

create table svc.webhooks (
  environment_id integer not null references svc.environments,
  webhook_id text not null,
  url text not null,
  event_types text[] not null,
  max_event_age text,
  max_concurrency integer not null default 10,
  max_per_second integer,
  sealed_secret bytea not null,
  previous_sealed_secret bytea,
  previous_secret_expires_at timestamptz,
  active_since timestamptz not null default now(),
  failing_since timestamptz,
  disabled_at timestamptz,
  disabled_reason text,
  leased_by text,
  leased_until timestamptz,
  created_at timestamptz not null default now(),
  deleted_at timestamptz,
  primary key (environment_id, webhook_id),
  constraint webhooks_event_types_not_empty check (cardinality(event_types) > 0),
  constraint webhooks_max_event_age_readable check (max_event_age ~ '^[1-9][0-9]{0,6}[mhdw]$'),
  constraint webhooks_max_concurrency_in_range check (max_concurrency between 1 and 100),
  constraint webhooks_max_per_second_in_range check (max_per_second between 1 and 1000),
  constraint webhooks_previous_secret_expires check ((previous_sealed_secret is null) = (previous_secret_expires_at is null)),
  constraint webhooks_disabled_for_a_reason check ((disabled_at is null) = (disabled_reason is null)),
  constraint webhooks_leased_for_a_time check ((leased_by is null) = (leased_until is null))
) with (fillfactor = 50);
comment on table svc.webhooks is 'Endpoints that receive emissions.';
comment on column svc.webhooks.environment_id is 'The environment.';
comment on column svc.webhooks.webhook_id is 'Public id, whk_ and random hex.';
comment on column svc.webhooks.url is 'Address that deliveries are posted to.';
comment on column svc.webhooks.event_types is 'Types to deliver; a trailing * matches any ending, for example customer.*.';
comment on column svc.webhooks.max_event_age is
  'Emissions of what happened longer before they were written are not delivered, for example 7d; null without a limit.';
comment on column svc.webhooks.max_concurrency is 'Deliveries under way at once at most.';
comment on column svc.webhooks.max_per_second is 'Deliveries begun per second at most; null without a limit.';
comment on column svc.webhooks.sealed_secret is 'The signing secret, encrypted by the service with SVC_SECRET.';
comment on column svc.webhooks.previous_sealed_secret is 'The secret before the last rotation, which signs too until it expires.';
comment on column svc.webhooks.previous_secret_expires_at is 'Until when the secret before the last rotation signs.';
comment on column svc.webhooks.active_since is
  'Since when it is as it is: created, enabled, or given another address; what was attempted before decides nothing.';
comment on column svc.webhooks.failing_since is
  'When the first attempt was made of those that have all failed since the last success; null while they succeed.';
comment on column svc.webhooks.disabled_at is 'From when nothing is delivered.';
comment on column svc.webhooks.disabled_reason is 'Why it was disabled.';
comment on column svc.webhooks.leased_by is 'The worker that alone delivers here while its lease lasts.';
comment on column svc.webhooks.leased_until is 'When that lease ends; afterwards that worker is taken for dead.';
comment on column svc.webhooks.created_at is 'When it was created; only later emissions are delivered.';
comment on column svc.webhooks.deleted_at is 'When it was deleted; it is gone for everybody, and its deliveries are removed bit by bit.';

-- Few, and soon removed.
create index webhooks_deleted_idx on svc.webhooks (deleted_at)
where deleted_at is not null;

create table svc.deliveries (
  environment_id integer not null,
  webhook_id text not null,
  emission_seq bigint not null,
  status text not null default 'pending',
  attempts integer not null default 0,
  resent_after integer not null default 0,
  next_attempt_at timestamptz not null default now(),
  finished_at timestamptz,
  primary key (environment_id, webhook_id, emission_seq),
  constraint deliveries_webhook_fkey foreign key (environment_id, webhook_id) references svc.webhooks on delete cascade,
  constraint deliveries_status_known check (status in ('pending', 'delivered', 'failed')),
  constraint deliveries_finished_unless_pending check ((status = 'pending') = (finished_at is null))
) with (fillfactor = 80);
comment on table svc.deliveries is 'One row per emission and webhook that matches.';
comment on column svc.deliveries.environment_id is 'The environment.';
comment on column svc.deliveries.webhook_id is 'The webhook.';
comment on column svc.deliveries.emission_seq is 'The emission.';
comment on column svc.deliveries.status is 'pending, delivered or failed.';
comment on column svc.deliveries.attempts is 'Attempts made.';
comment on column svc.deliveries.resent_after is
  'Attempts that had been made when it was last sent again; the schedule of attempts counts from there.';
comment on column svc.deliveries.next_attempt_at is 'When the next attempt is due.';
comment on column svc.deliveries.finished_at is 'When it was delivered or given up.';
create index deliveries_pending_idx on svc.deliveries (environment_id, webhook_id, next_attempt_at, emission_seq)
where status = 'pending';
-- Rare, and asked for by name after an outage.
create index deliveries_failed_idx on svc.deliveries (environment_id, webhook_id, emission_seq)
where status = 'failed';

create table svc.delivery_attempts (
  environment_id integer not null,
  webhook_id text not null,
  emission_seq bigint not null,
  attempt integer not null,
  attempted_at timestamptz not null,
  latency_ms integer not null,
  status_code integer,
  error text,
  response text,
  primary key (environment_id, webhook_id, emission_seq, attempt)
);
comment on table svc.delivery_attempts is
  'Every attempt to deliver and its outcome, for 30 days unless SVC_DELIVERY_ATTEMPT_DAYS says otherwise. Insert-only.';
comment on column svc.delivery_attempts.environment_id is 'The environment.';
comment on column svc.delivery_attempts.webhook_id is 'The webhook.';
comment on column svc.delivery_attempts.emission_seq is 'The emission.';
comment on column svc.delivery_attempts.attempt is 'Counts from 1.';
comment on column svc.delivery_attempts.attempted_at is 'When the request was sent.';
comment on column svc.delivery_attempts.latency_ms is 'Milliseconds until the answer or the failure.';
comment on column svc.delivery_attempts.status_code is 'HTTP status; null where there was no answer.';
comment on column svc.delivery_attempts.error is 'Why there was no answer.';
comment on column svc.delivery_attempts.response is 'First KiB of the answer.';
-- What is old is removed by it.
create index delivery_attempts_age_idx on svc.delivery_attempts (attempted_at);

-- sql/schema/075_recomputes.sql

create table svc.recomputes (
  environment_id integer not null,
  recompute_id text not null,
  recompute_seq bigint generated always as identity,
  kind text not null,
  customer_id text collate "C",
  sample_size integer,
  sample_share float8,
  version integer,
  snapshot json,
  hash text,
  pinned_at timestamptz not null,
  status text not null default 'queued',
  attempt integer not null default 0,
  failures integer not null default 0,
  done_at_attempt integer not null default 0,
  next_attempt_at timestamptz,
  error text,
  customers_total integer,
  customers_done integer not null default 0,
  last_customer_id text collate "C",
  customers_changed integer not null default 0,
  lifecycle_changed integer not null default 0,
  health_changed integer not null default 0,
  segments_entered integer not null default 0,
  segments_exited integer not null default 0,
  rules_added bigint not null default 0,
  rules_removed bigint not null default 0,
  emissions_added bigint not null default 0,
  outbox_seq bigint,
  outbox_emissions integer not null default 0,
  requested_by text not null,
  requested_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz,
  swept_at timestamptz,
  primary key (environment_id, recompute_id),
  constraint recomputes_kind_known check (kind in ('recompute', 'dry_run', 'preview')),
  constraint recomputes_status_known check (status in ('queued', 'running', 'retrying', 'completed', 'dead_letter')),
  constraint recomputes_preview_has_a_model check ((kind = 'preview') = (snapshot is not null and hash is not null)),
  constraint recomputes_sampled_by_previews check (sample_size is null or kind = 'preview'),
  constraint recomputes_retried_later check ((next_attempt_at is not null) = (status = 'retrying')),
  constraint recomputes_finished_once check ((finished_at is not null) = (status in ('completed', 'dead_letter'))),
  -- So that erasing a customer need not look through all that were ever completed.
  constraint recomputes_completed_at_no_customer check (status <> 'completed' or last_customer_id is null)
) with (fillfactor = 50);
comment on table svc.recomputes is
  'Recomputes, dry runs and previews of models: the queue, what each is pinned to, how far it has come, and what it came to. Of an
environment the oldest unfinished recompute or dry run runs, and beside it the oldest unfinished preview.';
comment on column svc.recomputes.environment_id is 'The environment.';
comment on column svc.recomputes.recompute_id is 'Public id.';
comment on column svc.recomputes.recompute_seq is 'Order in the queue.';
comment on column svc.recomputes.kind is
  'recompute writes what it finds, dry_run only tells, preview tells what another model would make of it.';
comment on column svc.recomputes.customer_id is 'The one customer it is for; null for all.';
comment on column svc.recomputes.sample_size is 'About how many customers a preview looks at; null for all.';
comment on column svc.recomputes.sample_share is 'The share of all that this was when it began.';
comment on column svc.recomputes.version is
  'Pinned: the version to replay under; of a preview the one to compare with. Null before the first deploy.';
comment on column svc.recomputes.snapshot is 'The model that a preview is of.';
comment on column svc.recomputes.hash is 'The hash of that.';
comment on column svc.recomputes.pinned_at is
  'Pinned: the instant to evaluate through. Customers that were created after it are left out.';
comment on column svc.recomputes.status is 'queued, running, retrying, completed or dead_letter.';
comment on column svc.recomputes.attempt is 'Counts whenever a worker takes it. What a former one still writes is refused.';
comment on column svc.recomputes.failures is 'Failures since it last got further.';
comment on column svc.recomputes.done_at_attempt is 'customers_done when the present attempt began.';
comment on column svc.recomputes.next_attempt_at is 'While retrying: when it is tried again.';
comment on column svc.recomputes.error is 'Why it failed last, and what to do.';
comment on column svc.recomputes.customers_total is 'How many customers there were when it began; null before.';
comment on column svc.recomputes.customers_done is 'How many of them are done.';
comment on column svc.recomputes.last_customer_id is
  'The last of them; they are taken in order of their ids. Null when it is completed. Erasing that customer puts the one before it here.';
comment on column svc.recomputes.customers_changed is
  'Customers who got a row in svc.recompute_customers, also where it was erased or swept since.';
comment on column svc.recomputes.lifecycle_changed is 'Customers whose final lifecycle state changes.';
comment on column svc.recomputes.health_changed is 'Customers whose final health changes.';
comment on column svc.recomputes.segments_entered is 'Memberships that begin.';
comment on column svc.recomputes.segments_exited is 'Memberships that end.';
comment on column svc.recomputes.rules_added is 'Runs of rules that were not in the log.';
comment on column svc.recomputes.rules_removed is 'Runs of rules in the log that the replay has not.';
comment on column svc.recomputes.emissions_added is 'Emissions of it: corrections and expirations.';
comment on column svc.recomputes.outbox_seq is
  'The evaluation_seq of emissions that are written and not in svc.emission_batches yet: they are told of together.';
comment on column svc.recomputes.outbox_emissions is 'How many these are.';
comment on column svc.recomputes.requested_by is 'E-mail address of who asked for it.';
comment on column svc.recomputes.requested_at is 'When it was asked for.';
comment on column svc.recomputes.started_at is 'When it was first taken.';
comment on column svc.recomputes.finished_at is 'When it was completed or given up.';
comment on column svc.recomputes.swept_at is
  'When its rows of svc.recompute_customers were removed. One that was given up, swept and then retried has some again when it ends anew.';
create index recomputes_seq_idx on svc.recomputes (environment_id, recompute_seq);
-- Erasure finds by them what is for a customer alone, and what may have come as far as that customer.
create index recomputes_customer_idx on svc.recomputes (environment_id, customer_id) where customer_id is not null;
create index recomputes_resumable_idx on svc.recomputes (environment_id, recompute_seq) where status <> 'completed';
-- What is still to be swept.
create index recomputes_unswept_idx on svc.recomputes (finished_at) where finished_at > coalesce(swept_at, '-infinity');
create index recomputes_unfinished_idx on svc.recomputes (recompute_seq) where status in ('queued', 'running', 'retrying');

create table svc.recompute_customers (
  environment_id integer not null,
  recompute_id text not null,
  customer_id text not null collate "C",
  weight real not null,
  -- json, not jsonb: components are shown in the author's order.
  difference json not null,
  primary key (environment_id, recompute_id, customer_id)
);
comment on table svc.recompute_customers is
  'What a recompute, a dry run or a preview changes: one row per customer with a difference, a run of a rule or an emission. Kept for
30 days after it was completed or given up.';
comment on column svc.recompute_customers.environment_id is 'The environment.';
comment on column svc.recompute_customers.recompute_id is 'The recompute.';
comment on column svc.recompute_customers.customer_id is 'The customer.';
comment on column svc.recompute_customers.weight is 'How telling the difference is: the greatest are shown first.';
comment on column svc.recompute_customers.difference is 'The customer''s state before and after, runs of rules and emissions.';
create index recompute_customers_weight_idx on svc.recompute_customers (environment_id, recompute_id, weight desc, customer_id);
-- Erasure finds a customer by it.
create index recompute_customers_customer_idx on svc.recompute_customers (environment_id, customer_id);

-- sql/schema/080_operations.sql

create table svc.workers (
  worker_id text primary key,
  started_at timestamptz not null default now(),
  seen_at timestamptz not null default now()
);
comment on table svc.workers is 'Heartbeats of worker processes. The jobs of one that fell silent are unlocked.';
comment on column svc.workers.worker_id is 'Id of the process in graphile-worker''s locks.';
comment on column svc.workers.started_at is 'When it started.';
comment on column svc.workers.seen_at is 'Its last heartbeat.';
